# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # ELMo로 스팸 문자 분류하기
#
# 문자 메시지 데이터를 살펴보고, 훈련 데이터와 테스트 데이터로 나눈 뒤, ELMo 층 위에 Dense 층 두
# 개를 쌓아 한 번의 에포크만 훈련합니다. 그리고 정확도와 혼동 행렬, 잘못 분류한 메시지를 차례로
# 확인합니다. CPU 코어 두 개에서 전체를 실행하는 데 1분이 걸리지 않습니다.
#
# `hub.Module`을 `Lambda` 층으로 감싸던 예제를 따라 해 보셨다면 순서는 그대로입니다. 다만 세션을
# 만들거나 초기화할 필요가 없고, 내려받을 것도 없습니다.

# %%
import csv
import os
from pathlib import Path

import numpy as np

from keras_elmo_launcher import stderr_held_back

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # 셀 아래에 텐서플로우 로그가 찍히지 않게 합니다
with stderr_held_back():
    import keras

    import keras_elmo
    from keras_elmo import plots

# %matplotlib inline
keras.utils.set_random_seed(0)

# %% [markdown]
# ## 1. 데이터 불러오기
#
# [캐글](https://www.kaggle.com/datasets/uciml/sms-spam-collection-dataset)의 SMS Spam Collection은
# `v1` 열에 레이블이, `v2` 열에 메시지 본문이 들어 있습니다. `spam.csv`를 이 노트북과 같은 폴더에
# 두면 그 파일을 사용합니다. 파일이 없으면 패키지에 들어 있는 예제 메시지를 대신 사용합니다.

# %%
shared = Path(os.environ.get("KERAS_ELMO_SHARED") or "../../shared")
places = [Path("spam.csv"), shared / "sms_spam" / "spam.csv"]
kaggle = next((place for place in places if place.is_file()), None)

if kaggle:
    with open(kaggle, encoding="latin-1", newline="") as file:
        rows = list(csv.DictReader(file))
    texts, labels = [row["v2"] for row in rows], [row["v1"] for row in rows]
else:
    texts, labels = keras_elmo.load_sms_sample()

print("데이터:", kaggle or "패키지에 든 예제")
print("메시지 수:", len(texts))

# %% [markdown]
# ## 2. 데이터 살펴보기
#
# 처음 다섯 개의 메시지와 레이블별 개수를 출력합니다. ham은 정상 메시지, spam은 스팸 메시지입니다.

# %%
for text, label in zip(texts[:5], labels[:5], strict=True):
    print(f"{label:5}{text[:90]}")

for label in ("ham", "spam"):
    print(f"{label}: {labels.count(label)}")

# %% [markdown]
# ## 3. 훈련 데이터와 테스트 데이터로 나누기
#
# 앞의 80%는 훈련에, 나머지는 테스트에 사용합니다. 레이블은 숫자로 바꿉니다. ham은 0, spam은
# 1입니다.
#
# 정상 메시지가 스팸보다 훨씬 많습니다. 따라서 모든 메시지를 ham이라고 답했을 때의 정확도보다 높아야
# 의미가 있습니다. 비교할 수 있도록 그 값을 미리 출력해 둡니다.

# %%
y = np.array([label == "spam" for label in labels], dtype=int)
n_train = int(len(texts) * 0.8)
x_train, y_train = texts[:n_train], y[:n_train]
x_test, y_test = texts[n_train:], y[n_train:]

print("훈련 메시지 수:", len(x_train))
print("테스트 메시지 수:", len(x_test))
print(f"모두 ham이라고 답할 때의 정확도: {np.mean(y_test == 0):.4f}")

# %% [markdown]
# ## 4. 모델 설계하기
#
# `ELMoEmbedding`은 텍스트를 입력받아 텍스트마다 벡터 하나를 출력합니다. 이 벡터는 단어 벡터들의
# 평균입니다. 그 아래에 있는 언어 모델은 패키지에 포함되어 있으며, 가중치는 고정되어 있습니다. 이
# 층에서 훈련되는 값은 네 개뿐입니다. 언어 모델의 세 층에 대한 가중치 세 개와, 벡터의 크기를 정하는
# 값 하나입니다.

# %%
model = keras_elmo.Sequential(
    [
        keras.Input(shape=(), dtype="string"),
        keras_elmo.ELMoEmbedding(),
        keras.layers.Dense(256, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

for layer in model.layers:
    trained = sum(int(np.prod(weight.shape)) for weight in layer.trainable_weights)
    print(f"{layer.name:16}{layer.count_params():>10,}개 가운데 {trained:>7,}개를 훈련합니다")

# %% [markdown]
# ## 5. 한 에포크 훈련하기
#
# 보통은 배치 크기를 60으로 둡니다. 패키지에 든 예제는 작아서 그렇게 하면 한 에포크가 다섯 스텝밖에
# 되지 않으므로, 이때는 8로 둡니다. `MixHistory`는 스텝마다 손실과 층 가중치를 기록합니다.

# %%
batch_size = 60 if len(x_train) > 1000 else 8
steps = keras_elmo.MixHistory()
history = model.fit(x_train, y_train, epochs=1, batch_size=batch_size, callbacks=[steps], verbose=2)

# %% [markdown]
# 손실은 처음에 빠르게, 그 뒤로는 천천히 줄어들어야 합니다.

# %%
plots.learning_curves(steps)

# %% [markdown]
# ## 6. 정확도
#
# 모델이 한 번도 보지 못한 메시지로 평가합니다. 위에서 구한 "모두 ham" 정확도와 비교해 보십시오.
# 테스트 메시지의 수도 함께 생각해야 합니다. 메시지 하나를 더 맞히거나 틀리면 정확도가 아래의 두
# 번째 값만큼 달라집니다.

# %%
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"테스트 정확도: {accuracy:.4f}")
print(f"메시지 하나의 몫: {1 / len(x_test):.4f}")

# %% [markdown]
# ## 7. 혼동 행렬
#
# 행은 실제 레이블이고 열은 모델의 예측입니다. 오른쪽 위는 스팸으로 잘못 분류한 정상 메시지로, 받는
# 사람이 중요한 연락을 놓칠 수 있습니다. 왼쪽 아래는 걸러 내지 못한 스팸으로, 조금 귀찮을 뿐입니다.

# %%
probabilities = model.predict(x_test, verbose=0)[:, 0]
predicted = (probabilities > 0.5).astype(int)
matrix = np.zeros((2, 2), int)
np.add.at(matrix, (y_test, predicted), 1)

plots.confusion(matrix, ["ham", "spam"])

# %% [markdown]
# ## 8. 잘못 분류한 메시지
#
# 모델이 강하게 확신한 것부터 출력합니다. 직접 읽어 보면 사람도 헷갈릴 만한 메시지가 있습니다.

# %%
wrong = np.flatnonzero(predicted != y_test)
for number in sorted(wrong, key=lambda n: -abs(probabilities[n] - 0.5))[:8]:
    kind = "spam" if y_test[number] else "ham"
    print(f"{kind:5}P(spam) = {probabilities[number]:.2f}  {x_test[number][:80]}")

# %% [markdown]
# ## 9. 층 가중치
#
# 세 가중치는 같은 값에서 출발하며, 합은 항상 1입니다. 한 에포크를 훈련하면 도움이 되는 층 쪽으로
# 조금 움직입니다.

# %%
elmo = model.layers[0]
print(f"gamma: {elmo.gamma:.3f}")
plots.layer_weights(elmo.layer_weights)

# %% [markdown]
# ## 10. 저장하고 다시 불러오기
#
# 저장한 파일에는 언어 모델도 들어 있습니다. 다른 프로세스에서는 `import keras_elmo`를 먼저 실행한
# 다음 불러오면 됩니다.

# %%
Path("runs").mkdir(exist_ok=True)
model.save("runs/spam.keras")
again = keras.models.load_model("runs/spam.keras")

messages = ["URGENT! Txt CLAIM to 61234 to win your prize", "home by six, love mum"]
for message, probability in zip(messages, again.predict(messages, verbose=0)[:, 0], strict=True):
    print(f"P(spam) = {probability:.2f}  {message}")

# %% [markdown]
# ## 다음 단계
#
# - `keras_elmo.TextClassifier`는 단어 벡터의 평균과 최댓값을 함께 쓰고 표준화까지 하므로, 이 예제의
#   Dense 층보다 성능이 좋습니다. `keras_elmo-train classifier spam.csv` 명령 하나로 위의 모든
#   과정을 실행할 수도 있습니다.
# - 여러 에포크를 훈련할 때는 `keras_elmo.FeatureCache(model).fit(...)`을 호출하십시오.
#   가중치가 고정된 언어 모델이 메시지마다 한 번만 실행됩니다.
# - 패키지에 든 언어 모델은 영어 텍스트로 훈련되었습니다. 한국어 모델은
#   [05_train_your_own.py](05_train_your_own.py)(영어)처럼 직접 훈련하면 됩니다.
# - [02_contextual_vectors.py](02_contextual_vectors.py)에서는 같은 단어의 벡터가 문장에 따라 어떻게
#   달라지는지 살펴봅니다(영어).
