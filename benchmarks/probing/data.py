"""The evaluation sets: tagged sentences, uses of words in a sense, labelled texts."""

import os
from pathlib import Path
from typing import NamedTuple

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
    sentences, tags = [[]], [[]]
    for line in Path(path).read_text(encoding="utf-8").split("\n"):
        if line:
            token, tag = line.split("\t")[:2]
            sentences[-1].append(as_written(token))
            tags[-1].append(tag)
        elif sentences[-1]:
            sentences.append([])
            tags.append([])
    return [row for row in sentences if row], [row for row in tags if row]


def read_uses(path):
    """Uses of a file `lemma<TAB>pos<TAB>sense<TAB>token_index<TAB>sentence`; a lemma has a pos."""
    uses = []
    for lemma, pos, sense, index, sentence in _rows(path):
        tokens = tuple(map(as_written, sentence.split(" ")))
        uses.append(Use(f"{lemma}/{pos}", sense, int(index), tokens))
    return uses


def read_labelled(path):
    """Texts of a file `label<TAB>text`: `(texts, labels)`."""
    rows = list(_rows(path))
    return [text for _, text in rows], [label for label, _ in rows]


def as_written(token):
    """The token as people write it: treebanks spell quotation marks with two characters."""
    return PENN_QUOTES.get(token, token)


def _rows(path):
    """The fields of each line but the first. Only a line feed ends a line, only a tab a field."""
    for line in Path(path).read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            yield line.split("\t")
