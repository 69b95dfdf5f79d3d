"""The four tasks: what is read, the baselines, and the probes over frozen layers.

A task has `key`, `title`, `measures` and `aims`, and

- `held_out`: what the figures are measured on;
- `sentences(tokenizer)`: the tokenised sentences to embed, of the training part and of dev;
- `baselines()`: scores without a biLM, a dict of name to a number a measure;
- `probes(train, dev)`: the same of the probes over `Layers` of both parts, and the learned mix.
"""

from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from keras_elmo.text.tokenize import tokenize
from probing import heads, linear, tagging
from probing.data import read_labelled, read_uses
from probing.tagging import Tagged

CURVE = (1_000, 5_000, 20_000)
ALL = "all layers"


class TokenTask:
    """A tag for each token.

    Subclasses give `scores`, the `tokens` that linear probes are trained on, and `choose_by`, the
    score that chooses their penalty.
    """

    def __init__(self, directory, seed=0, share=1.0):
        self.seed = seed
        self.train = Tagged.read(directory / self.key / "train.tsv", share)
        self.dev = Tagged.read(directory / self.key / "dev.tsv")
        self.rows = self.train.sample(self.tokens, seed)
        self.classes = np.unique(self.train.tags)
        self.held_out = (
            f"dev.tsv, {len(self.dev.tags):,} tokens in {len(self.dev.sentences):,} sentences; "
            f"trained on {len(self.rows):,} tokens of train.tsv in random sentences"
        )

    def sentences(self, tokenizer):
        return self.train.sentences, self.dev.sentences

    def baselines(self):
        by_hand = tagging.hand_feature_tags(self.train, self.rows, self.dev)
        return {
            "most frequent tag": self.scores(tagging.most_frequent_tags(self.train, self.dev)),
            "words, affixes, shapes, neighbours": self.scores(by_hand),
        }

    def probes(self, train, dev):
        scores = {}
        for name, layers in _layer_sets(train):
            scores[name] = self.scores(self._linear(train, dev, self.rows, layers))
        parts = self._parts(train, dev, self.rows)
        found, mix = heads.learned_mix(*parts, len(self.classes), self.seed, epochs=10, rate=1e-2)
        return scores | {"learned mix": self.scores(self.classes[found])}, mix

    def _linear(self, train, dev, rows, layers=slice(None)):
        known, asked = linear.features(train.vectors[rows, layers], dev.vectors[:, layers])
        tags, groups = self.train.tags[rows], self.train.groups[rows]
        return linear.logistic(known, tags, groups, asked, self.choose_by)

    def _parts(self, train, dev, rows, reach=0):
        targets = np.searchsorted(self.classes, self.train.tags[rows])
        return (
            heads.Part(train, train.windows(reach)[rows], targets),
            heads.Part(dev, dev.windows(reach)),
        )


class PartsOfSpeech(TokenTask):
    """Universal tags in English web text; also with fewer labels, and small heads."""

    key, title, measures = "pos_ewt", "Parts of speech (pos_ewt)", ("accuracy",)
    tokens = 60_000
    choose_by = staticmethod(linear.accuracy)
    aims = {ALL: 0.940, "small head, all layers, all of train": 0.955}

    def scores(self, found):
        return (linear.accuracy(self.dev.tags, found),)

    def probes(self, train, dev):
        scores, mix = super().probes(train, dev)
        for tokens in CURVE:
            rows = self.train.sample(tokens, self.seed)
            scores[f"{ALL}, {tokens:,} tokens"] = self.scores(self._linear(train, dev, rows))
        for reach, name in enumerate(("all of train", "all of train, and neighbours")):
            parts = self._parts(train, dev, np.arange(len(self.train.tags)), reach)
            found = heads.small_head(*parts, len(self.classes), self.seed, epochs=12, rate=2e-3)
            scores[f"small head, {ALL}, {name}"] = self.scores(self.classes[found])
        return scores, mix


class NamedEntities(TokenTask):
    """BIO tags of emerging entities in noisy text, from each token's vectors alone."""

    key, title = "ner_wnut17", "Named entities (ner_wnut17)"
    measures = ("F1 of exact spans", "token accuracy")
    tokens = 100_000  # more than there are
    choose_by = staticmethod(tagging.span_f1)
    aims = {}

    def scores(self, found):
        true, groups = self.dev.tags, self.dev.groups
        return tagging.span_f1(true, found, groups), linear.accuracy(true, found)


class WordSense:
    """The sense of a word in a sentence, from the word's vectors, by one linear probe a lemma."""

    key, title, measures = "wsd_masc", "Word sense (wsd_masc)", ("accuracy",)

    def __init__(self, directory, seed=0, share=1.0):
        self.seed = seed
        uses = read_uses(directory / self.key / "train.tsv")
        self.train = uses[:: round(1 / share)]
        self.dev = read_uses(directory / self.key / "dev.tsv")
        self.lemmas, self.dev_lemmas = (_column(part, "lemma") for part in (self.train, self.dev))
        self.senses, self.dev_senses = (_column(part, "sense") for part in (self.train, self.dev))
        self.aims = {ALL: 0.74, "all but the token vector": 0.74}
        self.held_out = (
            f"dev.tsv, {len(self.dev):,} uses of {len(set(self.dev_lemmas))} lemmas in documents "
            f"of their own; trained on {len(self.train):,} uses of train.tsv"
        )

    def sentences(self, tokenizer):
        return [list(dict.fromkeys(use.tokens for use in part)) for part in (self.train, self.dev)]

    def baselines(self):
        words = CountVectorizer(analyzer=_context, binary=True)
        known = words.fit_transform(self.train).astype(np.float32)
        return {
            "most frequent sense": self._most_frequent(),
            "words around": self._linear(known, words.transform(self.dev).astype(np.float32)),
        }

    def probes(self, train, dev):
        rows, dev_rows = self._rows(train, self.train), self._rows(dev, self.dev)
        scores = {}
        for name, layers in (*_layer_sets(train), ("all but the token vector", slice(1, None))):
            parts = linear.standardized(train.vectors[rows, layers], dev.vectors[dev_rows, layers])
            scores[name] = self._linear(*parts)
        scores["learned mix"], mix = self._mix(train, dev, rows, dev_rows)
        return scores, mix

    def _most_frequent(self):
        found = [_most_frequent(self.senses[self.lemmas == lemma]) for lemma in self.dev_lemmas]
        return (linear.accuracy(self.dev_senses, found),)

    def _linear(self, known, asked):
        found = linear.ridge_by_lemma(known, self.senses, self.lemmas, asked, self.dev_lemmas)
        return (linear.accuracy(self.dev_senses, found),)

    def _mix(self, train, dev, rows, dev_rows):
        """One mix for all lemmas; each item may have the senses of its lemma."""
        pairs = np.char.add(np.char.add(self.lemmas, " "), self.senses)
        classes, first, targets = np.unique(pairs, return_index=True, return_inverse=True)
        owners = self.lemmas[first]
        found, mix = heads.learned_mix(
            heads.Part(train, rows[:, np.newaxis], targets, self.lemmas[:, np.newaxis] == owners),
            heads.Part(
                dev, dev_rows[:, np.newaxis], allowed=self.dev_lemmas[:, np.newaxis] == owners
            ),
            *(len(classes), self.seed),
            **{"epochs": 20, "rate": 1e-2, "l2": 2e-3},
        )
        return (linear.accuracy(self.dev_senses, self.senses[first][found]),), mix

    def _rows(self, layers, uses):
        """The token of each use in the `Layers` of the distinct sentences."""
        sentences = {tokens: None for tokens in (use.tokens for use in uses)}
        start = dict(zip(sentences, layers.starts, strict=False))
        return np.array([start[use.tokens] + use.index for use in uses])


class Subjectivity:
    """Subjective or objective sentences, from mean and maximum over the tokens."""

    key, title, measures = "subj", "Subjectivity (subj)", ("accuracy",)
    aims = {ALL: 0.88}

    def __init__(self, directory, seed=0, share=1.0):
        self.seed = seed
        texts, labels = read_labelled(directory / self.key / "train.tsv")
        number = int(share * len(texts))
        self.texts, self.labels = texts[:number], np.array(labels[:number])
        self.dev_texts, labels = read_labelled(directory / self.key / "dev.tsv")
        self.dev_labels = np.array(labels)
        self.held_out = (
            f"dev.tsv, {len(self.dev_texts):,} sentences; trained on {number:,} of train.tsv"
        )

    def sentences(self, tokenizer):
        return [tokenize(part, tokenizer).to_list() for part in (self.texts, self.dev_texts)]

    def baselines(self):
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
        model = make_pipeline(vectorizer, LogisticRegression(C=10, max_iter=1000))
        found = model.fit(self.texts, self.labels).predict(self.dev_texts)
        return {"TF-IDF, logistic regression": self._scores(found)}

    def probes(self, train, dev):
        scores, groups = {}, np.arange(len(self.labels))
        pooled, dev_pooled = train.pooled(), dev.pooled()
        for name, layers in _layer_sets(train):
            known, asked = linear.features(pooled[:, layers], dev_pooled[:, layers])
            scores[name] = self._scores(
                linear.logistic(known, self.labels, groups, asked, linear.accuracy)
            )
        classes, targets = np.unique(self.labels, return_inverse=True)
        found, mix = heads.learned_mix(
            *(heads.Part(train, train.rows(), targets), heads.Part(dev, dev.rows())),
            *(len(classes), self.seed),
            **{"epochs": 10, "rate": 3e-3, "pooling": "both", "l2": 3e-3, "size": 64},
        )
        return scores | {"learned mix": self._scores(classes[found])}, mix

    def _scores(self, found):
        return (linear.accuracy(self.dev_labels, found),)


TASKS = (PartsOfSpeech, NamedEntities, WordSense, Subjectivity)


def _layer_sets(layers):
    """Each layer alone, then all: pairs of a name and a slice of the layers."""
    single = [(name, slice(k, k + 1)) for k, name in enumerate(layers.names)]
    return [*single, (ALL, slice(None))]


def _column(uses, name):
    return np.array([getattr(use, name) for use in uses])


def _most_frequent(labels):
    return Counter(labels).most_common(1)[0][0] if len(labels) else ""


def _context(use):
    """The words of the sentence, and which words stand next to the use."""
    words = [word.lower() for word in use.tokens]
    padded = ["<", "<", *words, ">", ">"]
    left, word, right = (padded[use.index + place] for place in (1, 2, 3))
    near = [f"{place}:{padded[use.index + place]}" for place in (0, 1, 2, 3, 4)]
    return [*words, *near, f"{left}_{word}", f"{word}_{right}"]
