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
# # One word, many vectors
#
# GloVe and word2vec give *bank* one vector, whether it lends money or lies along a river. ELMo
# gives it another one in every sentence. You will take these vectors, compare them layer by
# layer, look for nearest neighbours by context, and draw a map. It takes less than a minute on two
# processor cores.

# %%
import gzip
import itertools
import os
from pathlib import Path

import numpy as np

from keras_elmo_launcher import stderr_held_back

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # no log lines of TensorFlow below the cells
with stderr_held_back():
    import keras_elmo
    from keras_elmo import plots

# %matplotlib inline

# %% [markdown]
# ## 1. Sentences
#
# Twelve banks that hold money and twelve that hold water. *bank* is the last word of each, behind
# the same *the*: place and grammar are the same, so it is what comes before that must make the
# difference. Put other sentences and another word here, if you like: all below follows.

# %%
WORD = "bank"
MONEY = """
She opened an account at the bank .
He paid the cheque into the bank .
My wages go straight to the bank .
They borrowed money from the bank .
He works as a clerk in the bank .
I got a letter about my loan from the bank .
We owe ten thousand pounds to the bank .
She asked for a new card at the bank .
They sold the house to pay the bank .
The company has no credit with the bank .
The thieves took the cash from the bank .
I keep all my savings in the bank .
"""
RIVER = """
We sat in the grass on the bank .
The boat drifted slowly to the bank .
He fished all morning from the bank .
They pulled the canoe out of the water onto the bank .
Willows and reeds grow along the bank .
The swimmers climbed out on the bank .
A heron stood in the mud near the bank .
The path by the river follows the bank .
She slipped on the wet stones of the bank .
The current carried the raft to the bank .
The cows came down to drink at the bank .
They tied the boat to a tree on the bank .
"""

texts = [*MONEY.strip().splitlines(), *RIVER.strip().splitlines()]
senses = np.repeat(["money", "river"], [MONEY.count("\n") - 1, RIVER.count("\n") - 1])
sentences = [text.split() for text in texts]

# %% [markdown]
# ## 2. Vectors
#
# `output="layers"` gives all layers of the language model, unmixed: an array of (layers, tokens,
# dimension) for each sentence. Layer 0 is the token vector, made from the letters of the word
# alone; layers 1 and 2 have read the sentence from both sides. We keep what stands at *bank*.

# %%
embedder = keras_elmo.Embedder(output="layers")


def vectors_of_word(sentences):
    """The vectors of the word, (sentences, layers, dimension)."""
    arrays = embedder.embed(sentences)
    return np.stack(
        [array[:, words.index(WORD)] for array, words in zip(arrays, sentences, strict=True)]
    )


vectors = vectors_of_word(sentences)
print("sentences, layers, dimension:", vectors.shape)
for layer in range(vectors.shape[1]):
    spread = np.ptp(vectors[:, layer], axis=0).max()
    print(f"layer {layer}: largest difference between two sentences {spread:.3f}")

# %% [markdown]
# Layer 0 is the same everywhere, as a context-free vector is. The other layers differ.
#
# The first half of a vector comes from the model that reads forward, the second half from the one
# that reads backward. At the last word, the latter has read nothing but the full stop:

# %%
forward, backward = np.split(vectors[:, -1], 2, axis=1)
print(f"forward:  largest difference between two sentences {np.ptp(forward, axis=0).max():.3f}")
print(f"backward: largest difference between two sentences {np.ptp(backward, axis=0).max():.3f}")

# %% [markdown]
# ## 3. Does the difference tell the sense?
#
# The cosine of two vectors is 1 where they point the same way. Vectors of the same word are always
# close, so what counts is the gap: the mean cosine *inside* a sense less the one *across* senses.
# The last column is the share of sentences whose nearest neighbour has the same sense. Layer 0
# cannot know: all its neighbours are equally near.


# %%
def cosines(a, b):
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    return a @ b.T


same = senses[:, None] == senses
pairs = ~np.eye(len(senses), dtype=bool)
print("layer   inside   across      gap   nearest has the same sense")
for layer in range(vectors.shape[1]):
    table = cosines(vectors[:, layer], vectors[:, layer])
    inside, across = table[same & pairs].mean(), table[~same].mean()
    nearest = np.where(pairs, table, -1).argmax(axis=1)
    share = f"{np.mean(senses[nearest] == senses):.2f}" if layer else "-"
    print(f"{layer:5}{inside:9.3f}{across:9.3f}{inside - across:9.3f}   {share}")

# %% [markdown]
# By chance, about half would be right. Where the gap and the share grow from one layer to the next,
# the upper layer tells the senses apart better: the paper (Peters et al. 2018, section 5.3) found
# that on large data. With 24 sentences, one more or less that is right is 0.04.

# %% [markdown]
# ## 4. A map
#
# 512 dimensions on paper: the two directions in which the vectors differ most (their principal
# components). They are chosen without a look at the senses, so if the colours part, it is the
# vectors that part them.

# %%
short = [" ".join(words[:-2][-5:]) for words in sentences]
plots.sense_map(vectors[:, -1], list(senses), texts=short)

# %% [markdown]
# ## 5. Nearest neighbours by context
#
# A search that a context-free vector cannot do: which sentences use the word as this one does? We
# search in lines of the pretraining text where it is found, and else in the sentences above.

# %%
shared = Path(os.environ.get("KERAS_ELMO_SHARED") or "../../shared")
corpus = shared / "corpus" / "train-00.txt.gz"

if corpus.is_file():
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        found = (line.split() for line in file)
        found = (words for words in found if WORD in words and 6 <= len(words) <= 25)
        library = list(itertools.islice(found, 200))
else:
    library = sentences

library_vectors = vectors_of_word(library)
print("Lines to search in:", len(library), "of", corpus if corpus.is_file() else "this notebook")


# %%
def print_neighbours(query, k=4):
    likeness = cosines(vectors_of_word([query.split()])[:, -1], library_vectors[:, -1])[0]
    print(query)
    for number in np.argsort(-likeness)[:k]:
        print(f"  {likeness[number]:.3f}  {' '.join(library[number])[:90]}")


print_neighbours("He has no money left in the bank .")
print_neighbours("We came out of the water and lay on the bank .")

# %% [markdown]
# A neighbour is near for more than its sense: its place in the sentence and its part in the grammar
# count too. A *bank* that begins its sentence, as in "The bank was steep .", finds others that
# begin theirs. Try queries of your own.

# %% [markdown]
# ## Where to go next
#
# - `keras_elmo embed corpus.txt.gz vectors.hdf5 --layers top` writes the vectors of a whole corpus.
# - [03_what_layers_know.py](03_what_layers_know.py) asks which layer knows about grammar, and
#   which layers a task takes.
# - `docs/pictures.md` tells of `keras_elmo senses`, which does this on the command
#   line, and of TensorBoard's Embedding Projector.
