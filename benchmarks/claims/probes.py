"""What each layer holds of syntax and of word sense, by the probes of `benchmarks/probing`."""

import numpy as np
from probing import linear
from probing.data import read_uses


def tags(study, seed):
    """Accuracy of the tags of tokens by layer, trained on the tokens of random sentences."""
    task, (train, test) = study.task("pos"), study.layers("pos")
    order = task.train.draw(len(train), seed)
    ends = np.cumsum([len(train[row]) for row in order])
    order = order[: 1 + np.searchsorted(ends, study.sizes.probe_tokens)]
    groups = np.repeat(np.arange(len(order)), [len(train[row]) for row in order])
    known, asked = np.concatenate([train[row] for row in order]), np.concatenate(test)
    labels, true = _flat(task.train.take(order).labels), _flat(task.test.labels)

    def score(layers):
        pair = linear.features(known[:, layers], asked[:, layers])
        found = linear.logistic(pair[0], labels, groups, pair[1], linear.accuracy)
        return linear.accuracy(true, found)

    return {name: score(layers) for name, layers in _sets(study.bilm.num_layers).items()}


def senses(study, seed):
    """Accuracy of the senses of words in a sentence by layer, trained on a share of the uses."""
    (uses, known), (dev, asked) = (_uses(study, part) for part in ("train", "dev"))
    number = int(study.sizes.probe_uses * len(uses))
    rows = np.sort(np.random.default_rng(seed).permutation(len(uses))[:number])
    lemmas, labels = (_column(uses, name)[rows] for name in ("lemma", "sense"))
    dev_lemmas, true = (_column(dev, name) for name in ("lemma", "sense"))

    def score(layers):
        pair = linear.standardized(known[rows][:, layers], asked[:, layers])
        found = linear.ridge_by_lemma(pair[0], labels, lemmas, pair[1], dev_lemmas)
        return linear.accuracy(true, found)

    return {name: score(layers) for name, layers in _sets(study.bilm.num_layers).items()}


def _uses(study, part):
    """The uses of a file, and the layers of their words, float16 (uses, L + 1, dim)."""

    def read():
        uses = read_uses(study.folder / "eval" / "wsd_masc" / f"{part}.tsv")
        sentences = list(dict.fromkeys(use.tokens for use in uses))
        layers = study.embed(sentences)
        start = dict(zip(sentences, layers.starts, strict=False))
        return uses, layers.vectors[[start[use.tokens] + use.index for use in uses]]

    return study.once(("uses", part), read)


def _sets(number):
    """Each layer alone, then all: names and slices."""
    names = ["token vector", *(f"layer {index}" for index in range(1, number))]
    single = {name: slice(index, index + 1) for index, name in enumerate(names)}
    return single | {"all layers": slice(None)}


def _column(uses, name):
    return np.array([getattr(use, name) for use in uses])


def _flat(rows):
    return np.array([label for row in rows for label in row])
