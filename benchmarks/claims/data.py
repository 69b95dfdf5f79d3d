"""The four sets of examples: two of texts with a label, two of sentences with a label a token."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from probing.data import data_directory, read_labelled, read_tagged
from sklearn.metrics import f1_score

import keras_elmo

SMS = Path("sms_spam", "spam.csv")
GLOVE = Path("glove", "glove.6B.100d.10k.txt.gz")
TITLES = {
    "sms": "SMS spam",
    "subj": "Subjectivity",
    "pos": "Parts of speech",
    "ner": "Named entities",
    "senses": "Word sense",
}
TEXTS = ("sms", "subj")
TOKENS = ("pos", "ner")


class Examples(NamedTuple):
    """Texts and their labels; or tokenised sentences, and a list of labels for each."""

    inputs: list
    labels: list

    def take(self, rows):
        """The examples of these numbers."""
        return Examples([self.inputs[row] for row in rows], [self.labels[row] for row in rows])

    def draw(self, number, seed):
        """Numbers of `number` random examples; all of them, in their order, if None."""
        if number is None:
            return np.arange(len(self.inputs))
        return np.random.default_rng(seed).permutation(len(self.inputs))[:number]


class Task(NamedTuple):
    """Examples to train on and to measure on, and the measures, the main one first."""

    key: str
    train: Examples
    test: Examples
    measures: dict

    def scores(self, found):
        """Dict of measure to score, of labels found for the test examples."""
        return {name: float(f(self.test.labels, found)) for name, f in self.measures.items()}


def check_folder(folder):
    """Raises a FileNotFoundError unless all sets are there."""
    data_directory(Path(folder) / "eval")
    for path in (Path(folder) / SMS, Path(folder) / GLOVE):
        if not path.is_file():
            raise FileNotFoundError(
                f"The data folder must hold {SMS}, {GLOVE} and the evaluation sets in `eval`. "
                f"There is no {path}. Give the folder with --data."
            )


def read_task(folder, key):
    """The Task of that key."""
    folder = Path(folder)
    if key == "sms":
        return _sms(folder / SMS)
    name = {"subj": "subj", "pos": "pos_ewt", "ner": "ner_wnut17"}[key]
    read = read_labelled if key == "subj" else read_tagged
    parts = (Examples(*read(folder / "eval" / name / f"{part}.tsv")) for part in ("train", "dev"))
    measures = {"span F1": span_f1} if key == "ner" else {"accuracy": accuracy}
    return Task(key, *parts, measures)


def accuracy(true, found):
    """Share of equal labels, over texts or over the tokens of all sentences."""
    return np.mean(np.hstack(true) == np.hstack(found))


def span_f1(true, found):
    """F1 of whole entities."""
    return keras_elmo.score_spans(true, found).f1


def spam_f1(true, found):
    """F1 of the label "spam"."""
    return f1_score(true, found, pos_label="spam")


def _sms(path):
    """The messages in file order: the first 80 % to train on, the rest to measure on."""
    table = pd.read_csv(path, encoding="latin-1")
    every = Examples(table["v2"].tolist(), table["v1"].tolist())
    end = int(0.8 * len(table))
    parts = (every.take(range(end)), every.take(range(end, len(table))))
    return Task("sms", *parts, {"accuracy": accuracy, "spam F1": spam_f1})
