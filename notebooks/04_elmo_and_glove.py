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
# # ELMo beside GloVe
#
# The paper does not throw static vectors away: it writes ELMo's vector beside GloVe's at the input
# of a task's own network, and for some tasks a second mix beside the network's output (Peters et
# al. 2018, section 3.3). You will build a part-of-speech tagger with GloVe alone, with ELMo at
# the input, and with ELMo at the input and the output, and see that padding never counts. It takes
# about a minute on two processor cores.

# %%
import collections
import os
from pathlib import Path

import numpy as np

from keras_elmo_launcher import stderr_held_back

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # no log lines of TensorFlow below the cells
with stderr_held_back():
    import keras

    import keras_elmo

keras.utils.set_random_seed(0)
Path("runs").mkdir(exist_ok=True)

# %% [markdown]
# ## 1. Tagged sentences
#
# A part of UD English-EWT where it is found, sentences of up to 30 tokens, and else
# `data/tagged.tsv`, a hundred short sentences that were written for these notebooks.

# %%
shared = Path(os.environ.get("KERAS_ELMO_SHARED") or "../../shared")
ewt = shared / "eval" / "pos_ewt"

if ewt.is_dir():
    train = keras_elmo.read_conll(ewt / "train.tsv")
    test = keras_elmo.read_conll(ewt / "dev.tsv")
    kept = [n for n, row in enumerate(train.tokens) if len(row) <= 30][::20]
    tokens, tags = [train.tokens[n] for n in kept], [train.labels[n] for n in kept]
    kept = [n for n, row in enumerate(test.tokens) if len(row) <= 30][::6]
    test_tokens, test_tags = [test.tokens[n] for n in kept], [test.labels[n] for n in kept]
else:
    tagged = keras_elmo.read_conll("data/tagged.tsv")
    tokens, tags = tagged.tokens[:76], tagged.labels[:76]
    test_tokens, test_tags = tagged.tokens[76:], tagged.labels[76:]

print("Data:", ewt if ewt.is_dir() else "data/tagged.tsv")
print(f"Training: {len(tokens)} sentences, {sum(map(len, tokens))} tokens")
print(f"Test:     {len(test_tokens)} sentences, {sum(map(len, test_tokens))} tokens")

# %% [markdown]
# ## 2. Static vectors
#
# Any file in GloVe's format will do: put `glove.6B.100d.txt` of the
# [GloVe project](https://nlp.stanford.edu/projects/glove/) beside this notebook to use it.
#
# Where there is none, the next two cells make vectors of the same form from the little text at
# hand: they count which words stand near each other and take the main directions of these counts
# (a singular value decomposition). They are *not* GloVe, and know far less: with them, the
# notebook shows how things are connected, not how good GloVe is.

# %%
places = [Path("glove.6B.100d.txt"), *sorted((shared / "glove").glob("glove*10k.txt.gz"))]
glove_file = next((place for place in places if place.is_file()), None)


def own_vectors(sentences, dim=50, window=4):
    """Words, and for each a vector of the words that stand near it."""
    words = sorted({word for row in sentences for word in row})
    number = {word: n for n, word in enumerate(words)}
    near = np.zeros((len(words), len(words)))
    for row in sentences:
        for place, word in enumerate(row):
            for other in row[max(0, place - window) : place]:
                near[number[word], number[other]] += 1
    near += near.T
    by_chance = np.outer(near.sum(axis=0), near.sum(axis=1)) / near.sum()
    likeness = np.log(np.maximum(near / np.maximum(by_chance, 1e-9), 1))
    directions, sizes, _ = np.linalg.svd(likeness)
    return words, directions[:, :dim] * np.sqrt(sizes[:dim])


# %%
if glove_file is None:
    messages = keras_elmo.tokenize(keras_elmo.load_sms_sample()[0], "words").to_list()
    messages = [[word.decode() for word in row] for row in messages]
    sentences = [[word.lower() for word in row] for row in [*messages, *tokens]]
    glove_file = Path("runs/own-vectors.txt")
    with open(glove_file, "w", encoding="utf-8") as file:
        for word, vector in zip(*own_vectors(sentences), strict=True):
            file.write(word + " " + " ".join(f"{value:.4f}" for value in vector) + "\n")

vectors = keras_elmo.load_glove(glove_file)
known = np.mean([word.lower() in vectors for row in test_tokens for word in row])
print(f"{glove_file}: {len(vectors)} words, {vectors.dim} values each")
print(f"Test tokens that have a vector: {known:.1%}")

# %% [markdown]
# ## 3. Arrays
#
# Sentences are padded with `""` to one length, and tags with 0. The 0 is a valid tag too: what
# keeps it out is the mask, which both layers make from the empty tokens.

# %%
classes = sorted({tag for row in tags for tag in row})
number = {tag: n for n, tag in enumerate(classes)}


def arrays(tokens, tags):
    """Tokens padded with "", and the numbers of the tags padded with 0."""
    x = keras_elmo.as_tokens(tokens).to_tensor("")
    y = np.zeros(x.shape, int)
    for row, labels in zip(y, tags, strict=True):
        row[: len(labels)] = [number.get(label, 0) for label in labels]
    return x, y


x, y = arrays(tokens, tags)
x_test, y_test = arrays(test_tokens, test_tags)
is_token = x_test.numpy() != b""
print("Padded training tokens:", x.shape, f"- padding is {np.mean(x.numpy() == b''):.0%} of it")

# %% [markdown]
# ## 4. Three taggers
#
# All have the same bidirectional LSTM. `num_mixes=2` gives two mixes, each with its own weights,
# over *one* run of the language model. It is frozen, so with a `FeatureCache` it reads each
# sentence once, however many epochs there are.

# %%
bilm = keras_elmo.BiLM.load("english-small")


def make_tagger(at_input, at_output):
    """A tagger over static vectors, with ELMo at the input, the output, both or neither."""
    inputs = keras.Input((None,), dtype="string", name="tokens")
    below, above = [keras_elmo.GloVeEmbedding(vectors)(inputs)], []
    if at_input or at_output:
        elmo = keras_elmo.ELMoEmbedding(
            bilm, output="elmo", inputs="tokens", num_mixes=at_input + at_output
        )
        mixes = elmo(inputs) if at_input and at_output else [elmo(inputs)]
        below += mixes[:at_input]
        above += mixes[at_input:]
    hidden = keras.layers.Concatenate()(below) if at_input else below[0]
    hidden = keras.layers.Dropout(0.3)(hidden)
    lstm = keras.layers.LSTM(64, return_sequences=True)
    hidden = keras.layers.Bidirectional(lstm)(hidden)
    hidden = keras.layers.Concatenate()([hidden, *above]) if at_output else hidden
    outputs = keras.layers.Dense(len(classes), activation="softmax")(hidden)
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy")
    return model


epochs, batch_size = (6, 32) if len(tokens) > 500 else (20, 8)
taggers = {
    "Static vectors": make_tagger(False, False),
    "Static + ELMo at the input": make_tagger(True, False),
    "Static + ELMo at the input and the output": make_tagger(True, True),
}
for name, tagger in taggers.items():
    trained = keras_elmo.FeatureCache(tagger) if "ELMo" in name else tagger
    history = trained.fit(x, y, epochs=epochs, batch_size=batch_size, verbose=0)
    print(f"{name:42}last training loss {history.history['loss'][-1]:.3f}")

# %% [markdown]
# ## 5. Compare
#
# Accuracy is counted over real tokens only, beside that of the most frequent tag of each word. The
# LSTM over ELMo has more numbers to train only because its input is longer.

# %%
counts = collections.defaultdict(collections.Counter)
for row, labels in zip(tokens, tags, strict=True):
    for word, tag in zip(row, labels, strict=True):
        counts[word][number[tag]] += 1
guess = {word: seen.most_common(1)[0][0] for word, seen in counts.items()}
noun = number["NOUN"]
guesses = np.array([[guess.get(word.decode(), noun) for word in row] for row in x_test.numpy()])

print(f"{'accuracy':>52}{'trained numbers':>20}")
print(f"{'Most frequent tag of the word':42}{np.mean((guesses == y_test)[is_token]):10.3f}")
for name, tagger in taggers.items():
    right = tagger.predict(x_test, verbose=0).argmax(axis=-1) == y_test
    trained = sum(int(np.prod(weight.shape)) for weight in tagger.trainable_weights)
    print(f"{name:42}{right[is_token].mean():10.3f}{trained:20,}")
print(f"One token is worth {1 / is_token.sum():.4f}")

# %% [markdown]
# A difference of a few tokens means nothing: run it with other seeds before you choose. In the
# paper, a mix at the output too helped question answering and inference, and not the labelling of
# semantic roles.

# %% [markdown]
# ## 6. Each mix has its own weights
#
# The mix at the input feeds the LSTM, the one at the output goes straight to the softmax: they may
# want different layers.

# %%
both = taggers["Static + ELMo at the input and the output"]
elmo = next(layer for layer in both.layers if isinstance(layer, keras_elmo.ELMoEmbedding))
for place, weights, gamma in zip(("input", "output"), elmo.layer_weights, elmo.gamma, strict=True):
    print(f"{place:8}layer weights {weights.round(3)}  gamma {gamma:.3f}")

# %% [markdown]
# ## 7. Padding does not count
#
# Two proofs. First, other tags at the padding leave the loss as it is. Second, more padding leaves
# each prediction as it is, although one of the LSTM's directions starts at the end of the row.

# %%
other = np.where(is_token, y_test, len(classes) - 1)
print(f"Loss, padding tagged {classes[0]:6}{both.evaluate(x_test, y_test, verbose=0):.6f}")
print(f"Loss, padding tagged {classes[-1]:6}{both.evaluate(x_test, other, verbose=0):.6f}")

wider = np.pad(x_test.numpy(), [(0, 0), (0, 7)], constant_values=b"")
wider = keras_elmo.as_tokens(wider).to_tensor("", shape=(None, wider.shape[1]))
before = both.predict(x_test, verbose=0)[is_token]
after = both.predict(wider, verbose=0)[:, : x_test.shape[1]][is_token]
print(f"Largest change of a probability by wider padding: {np.abs(after - before).max():.1e}")

# %% [markdown]
# ## Where to go next
#
# - `keras_elmo.Tagger(glove="vectors.txt")` is the tagger with ELMo and GloVe at its input, with
#   batches of about one length, accuracies over tokens and F1 of spans;
#   `keras_elmo-train tagger` is the same on the command line.
# - [05_train_your_own.py](05_train_your_own.py) trains a language model on text of your own.
