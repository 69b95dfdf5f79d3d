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
# # Spam or not, step by step
#
# You will look at text messages, split them, put two Dense layers on an ELMo layer, train them for
# one epoch, and read the accuracy, the confusion matrix and the mistakes. All of it takes less than
# a minute on two processor cores.
#
# If you come from the recipe with `hub.Module` in a `Lambda` layer: the steps are the same, but
# there is no session, nothing to initialise and nothing to download.

# %%
import csv
import os
from pathlib import Path

import numpy as np

from keras_elmo_launcher import stderr_held_back

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # no log lines of TensorFlow below the cells
with stderr_held_back():
    import keras

    import keras_elmo
    from keras_elmo import plots

# %matplotlib inline
keras.utils.set_random_seed(0)

# %% [markdown]
# ## 1. Load
#
# The SMS Spam Collection of
# [Kaggle](https://www.kaggle.com/datasets/uciml/sms-spam-collection-dataset) has a label in column
# `v1` and a text in column `v2`. Put `spam.csv` beside this notebook to use it. Where it is not
# found, a sample of messages that comes with the package takes its place.

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

print("Data:", kaggle or "the sample of the package")
print("Messages:", len(texts))

# %% [markdown]
# ## 2. Look
#
# The first five messages, and how many there are of each kind.

# %%
for text, label in zip(texts[:5], labels[:5], strict=True):
    print(f"{label:5}{text[:90]}")

for label in ("ham", "spam"):
    print(f"{label}: {labels.count(label)}")

# %% [markdown]
# ## 3. Split
#
# The first 80 % train, the others test. Labels become numbers: 0 is ham, 1 is spam.
#
# More ham than spam comes in. An accuracy is worth something only where it is above that of
# answering "ham" every time, so we print that one now.

# %%
y = np.array([label == "spam" for label in labels], dtype=int)
n_train = int(len(texts) * 0.8)
x_train, y_train = texts[:n_train], y[:n_train]
x_test, y_test = texts[n_train:], y[n_train:]

print("Training messages:", len(x_train))
print("Test messages:", len(x_test))
print(f"Always ham: accuracy {np.mean(y_test == 0):.4f}")

# %% [markdown]
# ## 4. The model
#
# `ELMoEmbedding` takes texts and gives one vector a text: the mean over its words. The language
# model below it is in the package and stays frozen. The layer itself trains four numbers: the
# weights of the language model's three layers, and a scale.

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
    print(f"{layer.name:16}{layer.count_params():>10,} numbers, {trained:>7,} of them trained")

# %% [markdown]
# ## 5. One epoch
#
# The tutorials take 60 messages a step. The sample of the package is small, so we take 8 there: an
# epoch would otherwise have five steps. `MixHistory` writes down the loss and the layer weights
# of each step.

# %%
batch_size = 60 if len(x_train) > 1000 else 8
steps = keras_elmo.MixHistory()
history = model.fit(x_train, y_train, epochs=1, batch_size=batch_size, callbacks=[steps], verbose=2)

# %% [markdown]
# The loss should fall, quickly at first.

# %%
plots.learning_curves(steps)

# %% [markdown]
# ## 6. Accuracy
#
# On messages that the model has never seen. Compare it with "always ham" above, and keep in mind
# how many test messages there are: one mistake more or less moves the figure by the second number.

# %%
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"Test accuracy: {accuracy:.4f}")
print(f"One message is worth {1 / len(x_test):.4f}")

# %% [markdown]
# ## 7. Confusion
#
# Rows are what a message is, columns are what the model says. Ham that is taken for spam (upper
# right) is a message that somebody misses; spam taken for ham (lower left) is only a nuisance.

# %%
probabilities = model.predict(x_test, verbose=0)[:, 0]
predicted = (probabilities > 0.5).astype(int)
matrix = np.zeros((2, 2), int)
np.add.at(matrix, (y_test, predicted), 1)

plots.confusion(matrix, ["ham", "spam"])

# %% [markdown]
# ## 8. Mistakes
#
# The most confident ones first. Read them: some are hard for people too.

# %%
wrong = np.flatnonzero(predicted != y_test)
for number in sorted(wrong, key=lambda n: -abs(probabilities[n] - 0.5))[:8]:
    kind = "spam" if y_test[number] else "ham"
    print(f"{kind:5}P(spam) = {probabilities[number]:.2f}  {x_test[number][:80]}")

# %% [markdown]
# ## 9. What the layer learned
#
# The three weights start equal and sum to 1. One epoch moves them a little towards what helps.

# %%
elmo = model.layers[0]
print(f"gamma: {elmo.gamma:.3f}")
plots.layer_weights(elmo.layer_weights)

# %% [markdown]
# ## 10. Keep it
#
# The file holds the language model too. In another process `import keras_elmo` first, then load.

# %%
Path("runs").mkdir(exist_ok=True)
model.save("runs/spam.keras")
again = keras.models.load_model("runs/spam.keras")

messages = ["URGENT! Txt CLAIM to 61234 to win your prize", "home by six, love mum"]
for message, probability in zip(messages, again.predict(messages, verbose=0)[:, 0], strict=True):
    print(f"P(spam) = {probability:.2f}  {message}")

# %% [markdown]
# ## Where to go next
#
# - `keras_elmo.TextClassifier` takes mean and maximum over the words and standardises them, which
#   is the better head; `keras_elmo-train classifier spam.csv` does all of the above in one command.
# - Train on for some epochs with `keras_elmo.FeatureCache(model).fit(...)`, so that the frozen
#   language model runs only once for each message.
# - [02_contextual_vectors.py](02_contextual_vectors.py) shows what the vectors of one word look
#   like in different sentences.
