"""The evaluation sets: tagged sentences, uses of words in a sense, labelled texts."""

import csv
import os
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import keras_elmo

SETS = ("pos_ewt", "ner_wnut17", "wsd_masc", "subj")
PENN_QUOTES = {"``": '"', "''": '"'}


class Use(NamedTuple):
    """A word in a sentence, and the sense that it has there."""

    lemma: str
    sense: str
    index: int
    tokens: tuple


def data_directory(given=None):
    """The folder that holds the sets; without `given`, `eval` of the shared test data.

    Raises:
        FileNotFoundError: a set is not there.
    """
    shared = os.environ.get("KERAS_ELMO_SHARED") or Path(__file__).parents[3] / "shared"
    directory = Path(given or Path(shared) / "eval")
    for path in (directory / name / f"{part}.tsv" for name in SETS for part in ("train", "dev")):
        if not path.is_file():
            raise FileNotFoundError(
                f"The evaluation sets must be at {directory}: a folder each for {', '.join(SETS)}, "
                f"with train.tsv and dev.tsv. There is no {path}. Give the folder with --data, or "
                "set KERAS_ELMO_SHARED to the folder that holds it as `eval`."
            )
    return directory


def read_tagged(path):
    """Sentences of a file `token<TAB>tag...` with empty lines between them: `(sentences, tags)`."""
    found = keras_elmo.read_conll(path)
    return [list(map(as_written, row)) for row in found.tokens], found.labels


def read_uses(path):
    """Uses of a file `lemma<TAB>pos<TAB>sense<TAB>token_index<TAB>sentence`; a lemma has a pos."""
    return [
        Use(f"{lemma}/{pos}", sense, int(index), tuple(map(as_written, sentence.split(" "))))
        for lemma, pos, sense, index, sentence in _table(path).itertuples(index=False)
    ]


def read_labelled(path):
    """Texts of a file `label<TAB>text`: `(texts, labels)`."""
    labels, texts = (column.tolist() for _, column in _table(path).items())
    return texts, labels


def as_written(token):
    """The token as people write it: treebanks spell quotation marks with two characters."""
    return PENN_QUOTES.get(token, token)


def _table(path):
    """The fields of a file: only a line feed ends a line, only a tab a field; all are texts."""
    options = {"quoting": csv.QUOTE_NONE, "lineterminator": "\n", "keep_default_na": False}
    return pd.read_csv(path, sep="\t", dtype=str, **options)
