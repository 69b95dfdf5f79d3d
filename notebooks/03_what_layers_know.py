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
# # What the layers know
#
# ELMo does not take the last layer of its language model but a mix of all of them, and each task
# learns its own mix. You will ask each layer by itself what it knows about parts of speech (a
# *probe*), then let a tagger and a spam filter choose their mixes and see the layer weights move.
# It takes about a minute on two processor cores.

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
    from keras_elmo import plots

# %matplotlib inline
keras.utils.set_random_seed(0)

# %% [markdown]
# ## 1. Tagged sentences
#
# A token and its part of speech on each line, a blank line between sentences. Where UD English-EWT
# is found we take a part of it, and else `data/tagged.tsv`, a hundred short sentences that were
# written for this notebook. They are full of words that are now a noun and now a verb.

# %%
shared = Path(os.environ.get("KERAS_ELMO_SHARED") or "../../shared")
ewt = shared / "eval" / "pos_ewt"

if ewt.is_dir():
    tokens, tags, _ = keras_elmo.read_conll(ewt / "train.tsv")
    test_tokens, test_tags, _ = keras_elmo.read_conll(ewt / "dev.tsv")
    tokens, tags = tokens[::25], tags[::25]
    test_tokens, test_tags = test_tokens[::8], test_tags[::8]
else:
    tokens, tags, _ = keras_elmo.read_conll("data/tagged.tsv")
    tokens, test_tokens = tokens[:76], tokens[76:]
    tags, test_tags = tags[:76], tags[76:]

print("Data:", ewt if ewt.is_dir() else "data/tagged.tsv")
print(f"Training: {len(tokens)} sentences, {sum(map(len, tokens))} tokens")
print(f"Test:     {len(test_tokens)} sentences, {sum(map(len, test_tokens))} tokens")
for row, labels in zip(tokens[:3], tags[:3], strict=True):
    print("  ".join(f"{word}/{tag}" for word, tag in zip(row, labels, strict=True)))

# %% [markdown]
# ## 2. What must be beaten
#
# The tag that each word had most often in training; the most frequent tag of all for new words.

# %%
flat_tags = [tag for row in tags for tag in row]
flat_test_tags = [tag for row in test_tags for tag in row]
counts = collections.defaultdict(collections.Counter)
for word, tag in zip((word for row in tokens for word in row), flat_tags, strict=True):
    counts[word][tag] += 1

default = collections.Counter(flat_tags).most_common(1)[0][0]
known = {word: seen.most_common(1)[0][0] for word, seen in counts.items()}
guesses = [known.get(word, default) for row in test_tokens for word in row]
print(f"Most frequent tag: {np.mean(np.array(guesses) == flat_test_tags):.3f}")

# %% [markdown]
# ## 3. A probe for each layer
#
# A probe is a model so simple that what it finds must already lie open in the vectors: here one
# softmax layer. The language model runs once and stays as it is.

# %%
embedder = keras_elmo.Embedder(output="layers")
x = np.concatenate(embedder.embed(tokens), axis=1)
x_test = np.concatenate(embedder.embed(test_tokens), axis=1)
print("layers, tokens, dimension:", x.shape)

classes, y = np.unique(flat_tags, return_inverse=True)
y_test = np.array(
    [{tag: n for n, tag in enumerate(classes)}.get(tag, -1) for tag in flat_test_tags]
)


# %%
def probe(vectors, test_vectors):
    """Accuracy on the test tokens of a softmax layer over standardised vectors."""
    normalise = keras.layers.Normalization()
    normalise.adapt(vectors)
    softmax = keras.layers.Dense(len(classes), activation="softmax")
    model = keras.Sequential([normalise, keras.layers.Dropout(0.3), softmax])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(vectors, y, epochs=15, batch_size=32, verbose=0)
    return np.mean(np.argmax(model(test_vectors), axis=1) == y_test)


for layer in range(len(x)):
    print(f"Layer {layer}: {probe(x[layer], x_test[layer]):.3f}")
print(f"Mean:    {probe(x.mean(axis=0), x_test.mean(axis=0)):.3f}")

# %% [markdown]
# Layer 0 sees the letters of a word and no context: it can guess that a word in *-ing* is a verb,
# but not what *watch* is here. In the paper (section 5.3), the first LSTM layer knew most about
# parts of speech, the second most about word sense. Small data make a point or two of difference
# mean little: run it with another seed before you believe in an order.

# %% [markdown]
# ## 4. A tagger chooses its mix
#
# `Tagger` with `units=0` is the same kind of probe, over the *mix*: gamma times the weighted sum of
# the layers. The weights start equal and train with the softmax layer. `layer_norm=True` brings all
# layers to one scale first, or else a layer with large values would count for more than its weight
# says. `MixHistory` writes the weights down after each step.

# %%
tagger = keras_elmo.Tagger(units=0, mix=keras_elmo.ScalarMix(layer_norm=True))
steps = keras_elmo.MixHistory()
epochs, batch_size = (10, 32) if len(tokens) > 500 else (20, 8)
tagger.fit(tokens, tags, epochs=epochs, batch_size=batch_size, callbacks=[steps], verbose=0)

start = np.full(len(x), 1 / len(x))
end = tagger.embedding.layer_weights
print("Weights at the start:", start.round(3))
print("Weights at the end:  ", end.round(3))
print(f"Test accuracy: {tagger.evaluate(test_tokens, test_tags, verbose=0)['accuracy']:.3f}")

# %% [markdown]
# The way of the weights, step by step, and of gamma below.

# %%
plots.layer_weights(steps.layer_weights, gamma=steps.gamma, steps=steps.steps)

# %% [markdown]
# And where they end. The dotted line is where they began.

# %%
plots.layer_weights(end)

# %% [markdown]
# ## 5. Another task, another mix
#
# The same for the spam filter, on the messages that come with the package.

# %%
texts, labels = keras_elmo.load_sms_sample()
classifier = keras_elmo.TextClassifier(mix=keras_elmo.ScalarMix(layer_norm=True))
classifier.fit(texts, labels, epochs=15, batch_size=8, verbose=0)

spam = classifier.embedding.layer_weights
print("layer       tagger    spam filter")
for layer, (a, b) in enumerate(zip(end, spam, strict=True)):
    print(f"{layer:5}{a:13.3f}{b:15.3f}")

# %%
plots.layer_weights(spam)

# %% [markdown]
# Weights tell what training took, not what a layer knows: layers share much, so that one can stand
# in for another, and after a short training on little data the weights have not gone far from
# equal. Hold them beside the probes, and run both with other seeds.

# %% [markdown]
# ## Where to go next
#
# - `benchmarks/probes.py` probes a biLM on parts of speech, word sense and more, beside baselines.
# - [02_contextual_vectors.py](02_contextual_vectors.py) asks the layers about word sense.
# - [04_elmo_and_glove.py](04_elmo_and_glove.py) puts two mixes into one tagger, each with
#   weights of its own.
