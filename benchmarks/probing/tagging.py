"""Tagged sentences, entities in tags, and taggers that know no biLM."""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC

import keras_elmo
from probing.data import read_tagged


class Tagged(NamedTuple):
    """Tagged sentences: tokens, and for all tokens in a row their tags and sentence numbers."""

    sentences: list
    tags: np.ndarray
    groups: np.ndarray

    @classmethod
    def read(cls, path, share=1.0):
        """The first `share` of a file's sentences."""
        sentences, tags = read_tagged(path)
        number = max(1, int(share * len(sentences)))
        lengths = [len(sentence) for sentence in sentences[:number]]
        flat = np.array([tag for row in tags[:number] for tag in row])
        return cls(sentences[:number], flat, np.repeat(np.arange(number), lengths))

    def sample(self, tokens, seed):
        """Numbers of `tokens` tokens of random sentences, rising; a larger sample holds it."""
        order = np.random.default_rng(seed).permutation(self.groups[-1] + 1)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return np.sort(np.argsort(place[self.groups], kind="stable")[:tokens])


def span_f1(true, found, groups):
    """F1 of the entities whose first token, last token and type are all right."""
    ends = np.flatnonzero(np.diff(groups)) + 1
    return keras_elmo.score_spans(np.split(true, ends), np.split(found, ends)).f1


def most_frequent_tags(train, dev):
    """Each word's most frequent tag in `train`; for a new word that of its shape, or of all.

    A shape's tags are counted over the words that `train` has once, as they are most like new ones.
    """
    of_word, of_shape, of_all = defaultdict(Counter), defaultdict(Counter), Counter(train.tags)
    for word, tag in zip(_words(train), train.tags, strict=True):
        of_word[word][tag] += 1
    for word, counts in of_word.items():
        if counts.total() == 1:
            of_shape[_shape(word)] += counts
    found = []
    for word in _words(dev):
        counts = of_word.get(word) or of_shape.get(_shape(word)) or of_all
        found.append(counts.most_common(1)[0][0])
    return np.array(found)


def hand_feature_tags(train, rows, dev):
    """Tags by a linear model on words, affixes, shape and neighbours, trained on some tokens."""
    vectorizer = CountVectorizer(analyzer=list, binary=True, dtype=np.float32)
    all_features = _hand_features(train)
    known = vectorizer.fit_transform([all_features[row] for row in rows])
    model = LinearSVC(C=0.1, random_state=0).fit(known, train.tags[rows])
    return model.predict(vectorizer.transform(_hand_features(dev)))


def _words(tagged):
    return [word for sentence in tagged.sentences for word in sentence]


def _hand_features(tagged):
    rows = []
    for sentence in tagged.sentences:
        padded = ["<", "<", *sentence, ">", ">"]
        for index, word in enumerate(sentence):
            near = padded[index : index + 5]
            row = [f"{place}:{other.lower()}" for place, other in enumerate(near)]
            row += [f"^{word[:size].lower()}" for size in (1, 2, 3)]
            row += [f"{word[-size:].lower()}$" for size in (1, 2, 3, 4)]
            row += [f"shape:{place}:{_shape(near[place])}" for place in (1, 2, 3)]
            rows.append(row)
    return rows


def _shape(word):
    """The kinds of the characters, a run of one kind once: `Xx` for a capitalised word."""
    kinds = [
        "X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in word
    ]
    return "".join(
        kind for kind, before in zip(kinds, [None, *kinds], strict=False) if kind != before
    )
