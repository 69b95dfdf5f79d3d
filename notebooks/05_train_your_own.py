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
# # Train your own language model
#
# From a folder of text to `ELMoEmbedding("my-bilm")`: you will write the text, train a small
# bidirectional language model (biLM) on it, watch its perplexity fall on text that it has not
# seen, ask it for words, and put it under a classifier. It takes about a minute on two processor
# cores. A useful model takes hours and millions of words; the steps are the same.

# %%
import gzip
import itertools
import math
import os
import random
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
# ## 1. A folder of text
#
# One sentence a line, as many files as you like. Where a corpus is found we take 20,000 lines of
# it, and 300 lines of its held-out documents. Else we let a little grammar write: four worlds, each
# with its own people, doings, things and places.

# %%
WORLDS = [
    ("cook baker waiter guest", "cut taste serve warm", "bread soup cheese fish", "kitchen inn"),
    ("sailor captain pilot fisher", "steer paint tie repair", "boat ship ferry raft", "bay port"),
    ("teacher student child writer", "read copy open lose", "book letter lesson story", "school"),
    ("farmer shepherd vet rider", "feed wash find sell", "horse cow sheep goat", "barn stable"),
]  # fmt: skip


def write_sentence(draw):
    """A sentence, and minus the log of the probability that the grammar gives it."""
    nats = 0.0

    def choose(options):
        nonlocal nats
        nats += math.log(len(options))
        return draw.choice(options)

    people, doings, things, places = (part.split() for part in choose(WORLDS))
    subject, ending = choose(
        [("The {}", "s"), ("Every {}", "s"), ("Two {}s", ""), ("Some {}s", "")]
    )
    who, does, what = choose(people), choose(doings), choose(things)
    place = choose(["", " in the ", " near the "])
    place = place and place + choose(places)
    return f"{subject.format(who)} {does}{ending} the {what}{place} .", nats


# %%
shared = Path(os.environ.get("KERAS_ELMO_SHARED") or "../../shared")
corpus = shared / "corpus"
text, held_out = Path("runs/text"), Path("runs/held-out.txt")
text.mkdir(parents=True, exist_ok=True)


def first_lines(path, n):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in itertools.islice(file, n)]


if corpus.is_dir():
    sentences = first_lines(corpus / "train-00.txt.gz", 20_000)
    unseen = first_lines(corpus / "valid.txt.gz", 300)
else:
    draw = random.Random(0)
    sentences = [write_sentence(draw)[0] for _ in range(8000)]
    unseen, nats = zip(*(write_sentence(draw) for _ in range(300)), strict=True)

for part in range(4):
    (text / f"part-{part}.txt").write_text("\n".join(sentences[part::4]) + "\n", encoding="utf-8")
held_out.write_text("\n".join(unseen) + "\n", encoding="utf-8")

print("Text:", corpus if corpus.is_dir() else "written by the grammar")
print(f"{len(sentences)} lines to train on, {len(unseen)} held out. The first three:")
print("\n".join(sentences[:3]))

# %% [markdown]
# The lower the perplexity, the better the next word is foreseen: a model with the perplexity 5 is
# as unsure as if it chose among 5 words each time. The grammar knows its own choices, so it
# tells how low any model could get on the held-out text. Nobody knows that of real text.

# %%
if not corpus.is_dir():
    predicted = sum(len(line.split()) + 1 for line in unseen)  # the words and the sentence end
    print(f"Perplexity of the grammar itself: {math.exp(sum(nats) / predicted):.2f}")

# %% [markdown]
# ## 2. Train
#
# `keras_elmo.pretrain` does what the command `keras_elmo-train bilm` does, with the same options,
# here all far below their defaults. It tells how far it is, so that we can print a line at each
# held-out evaluation.


# %%
def show(report):
    if report.evaluation is not None:
        found = report.evaluation
        print(
            f"step {report.step:3} of {report.steps}: held-out perplexity "
            f"forward {found.forward:6.1f}, backward {found.backward:6.1f}"
            f"{', the best so far' * report.best}"
        )


trained = keras_elmo.pretrain(
    text / "*.txt",
    "runs/my-bilm",
    held_out=held_out,
    overwrite=True,
    progress=show,
    lstm_dim=128,
    projection_dim=64,
    filters=((1, 16), (2, 16), (3, 32)),
    vocabulary_size=3000,
    batch_size=32,
    steps=200,
    evaluate_every=25,
    report_every=25,
    learning_rate=0.005,
)

# %% [markdown]
# ## 3. Watch the perplexity
#
# Every report is a line in `training.csv`, and a row of `trained.history`. The held-out curves
# should fall and level off. If they turn up while the training loss goes on falling, the model
# learns its text by heart: more text, `dropout` or `patience` helps.

# %%
plots.perplexity(trained.history)

# %% [markdown]
# ## 4. Ask it
#
# `LanguageModel` tells the perplexity of any text, how probable a sentence is (here one of the
# held-out text, and the same backwards), and which words fit at a place. On real text, a minute of
# training goes little further than the most frequent words.

# %%
language_model = keras_elmo.LanguageModel.load("runs/my-bilm")
found = language_model.perplexity(unseen)
print(f"Held-out perplexity: forward {found.forward:.2f}, backward {found.backward:.2f}")
print(f"Unknown words: {found.unknown_share:.1%}")

words = next(line.split() for line in unseen if 7 <= len(line.split()) <= 12)
for order in (words, words[::-1]):
    score = language_model.score([order])[0]
    print(f"log p = {score.combined:6.1f}  {' '.join(order)}")

# %%
for position in (1, 2, 4):
    shown = " ".join("___" if n == position else word for n, word in enumerate(words))
    best = language_model.predict_words(words, position, k=5)
    print(shown)
    print("   ", "  ".join(f"{word.word} {word.probability:.2f}" for word in best))

# %% [markdown]
# ## 5. Put it under a task
#
# The folder is a `source` like any other. Here is the spam filter of the first notebook with the
# biLM of this minute, and with the one in the package. Yours has never seen a message, and little
# text at all: what it can give are the letters of each word and their order. There are few test
# messages, so a difference of one or two of them means nothing.

# %%
messages, labels = keras_elmo.load_sms_sample()
spam = np.array([label == "spam" for label in labels], dtype=int)
n_train = int(len(messages) * 0.8)
print(f"Always ham: {np.mean(spam[n_train:] == 0):.3f}")

for source in ("runs/my-bilm", "english-small"):
    model = keras_elmo.Sequential(
        [keras_elmo.ELMoEmbedding(source), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    cache = keras_elmo.FeatureCache(model)
    cache.fit(messages[:n_train], spam[:n_train], epochs=10, batch_size=16, verbose=0)
    accuracy = model.evaluate(messages[n_train:], spam[n_train:], verbose=0)[1]
    print(f"{source}: {accuracy:.3f}")

# %% [markdown]
# ## Where to go next
#
# - `keras_elmo-train bilm --help` lists every option, by the same names, and `--dry-run` prints how
#   long a run will take. `resume=True` goes on after an interruption.
# - `init_from="english-small"` starts from the model of the package, which is the way to a domain
#   that you have only some megabytes of.
# - `docs/pretraining.md` tells how much text it takes, and what was measured.
