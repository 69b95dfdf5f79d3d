"""A run over a corpus, which begins or goes on where it was interrupted."""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from keras_elmo.basics.checks import check_choice, check_count, check_flag
from keras_elmo.corpora import tally
from keras_elmo.corpora.hdf5_store import HDF5Store
from keras_elmo.corpora.journaled_file import JournaledFile
from keras_elmo.corpora.npz_store import NpzStore
from keras_elmo.corpora.output_file import DTYPES, check_output, format_of, partial_of
from keras_elmo.corpora.reader import CorpusReader
from keras_elmo.corpora.sentence_index import SentenceIndex
from keras_elmo.corpora.settings import differences, settings_of

STORES = {"hdf5": HDF5Store, "npz": NpzStore}
MOST_BYTES = 1 << 30  # of all layers of a line; what it takes beside is a small multiple of it.
START_AGAIN = "start again with overwrite (`overwrite=True`, `--overwrite`)"


class Progress(NamedTuple):
    """How far a run is.

    Attributes:
        lines: int, lines that are embedded, those of an interrupted run before it included.
        tokens: int, their tokens.
        total: int, lines of the text; None where it can be read only once.
    """

    lines: int
    tokens: int
    total: int | None


class CorpusRun:
    """Embeds the lines of a text one after the other into a file that is whole or absent.

    Until the end everything lies in the directory `output` + `.partial`. After each window of
    lines what was done is made lasting there, so that a run over the same text with the same
    options goes on behind the last whole window, whatever ended the one before. To be used in
    `with`, which lets go of the file.

    Args:
        files: sequence of paths and binary file objects, as for a `CorpusReader`.
        output: path to write.
        embedder: Embedder whose layer has no `max_tokens`.
        max_tokens: int, tokens of a line that are kept; None keeps all.
        dtype: one of `DTYPES`.
        form: one of `FORMATS`; None goes by the ending of `output`.
        overwrite: bool, whether to replace `output`, and an interrupted run that does not fit.

    Raises:
        OSError: The text cannot be read, or `output` exists or cannot be written.
        ValueError: The text is no UTF-8, or an interrupted run was another one; the message tells
            in what.
    """

    def __init__(
        self, files, output, embedder, max_tokens=None, dtype="float32", form=None, overwrite=False
    ):
        self._files, self._output = tuple(files), Path(output)
        self._embedder, self._dtype = embedder, dtype
        self._max_tokens = None if max_tokens is None else check_count("max_tokens", max_tokens)
        self._overwrite = check_flag("overwrite", overwrite)
        check_choice("dtype", dtype, DTYPES)
        form = format_of(output, form)
        check_output(output, self._files, overwrite)
        is_read_again = all(isinstance(file, (str, os.PathLike)) for file in self._files)
        self._measured = self._measure() if is_read_again else None
        self._settings = settings_of(embedder.layer, form, dtype, self._max_tokens)
        self._file = JournaledFile(partial_of(output), overwrite)
        try:
            if not self._can_go_on():
                self._begin()
            is_new = self._file.seek(0, os.SEEK_END) == 0
            self._store = STORES[form](self._file, is_new)
        except BaseException:
            self._file.close()
            raise

    @property
    def saved(self):
        """`Progress` that the next run would begin with, if this one ended now."""
        note = self._file.note
        return Progress(note["lines"], note["tokens"], self._total)

    @property
    def remarks(self):
        """What the user should know of the lines that are saved, list of str."""
        blank, cut = self._file.note["blank"], self._file.note["cut"]
        remarks = []
        if not self._file.note["lines"]:
            remarks.append("the text has no line, so no vectors")
        if blank["lines"]:
            remarks.append(f"{tally.told(blank)} without tokens, so without vectors")
        if cut["lines"]:
            remarks.append(f"{tally.told(cut)} cut to the first {self._max_tokens} tokens")
        return remarks

    def reports(self):
        """Embed the lines that are left, and move the file to its place.

        Yields:
            Progress, after each run of the biLM.

        Raises:
            OSError: The disk is full, say; what is saved can be gone on with.
            ValueError: The text has changed, or a vector is not finite.
        """
        reader, index = CorpusReader(self._files), SentenceIndex()
        self._skip_saved(reader, index)
        for lines in reader.windows():
            note = dict(self._file.note)
            yield from self._embed(lines, note)
            index.add(lines)
            self._store.flush()
            self._file.commit({**note, "lines": reader.n_lines, "sha256": reader.sha256})
        self._finish(reader, index)

    def close(self):
        """Lets go of the file; what is not saved yet is given up."""
        self._file.abandon()
        with contextlib.suppress(Exception):  # it can only miss what is given up
            self._store.close()
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def _total(self):
        return self._measured and self._measured[0]

    def _measure(self):
        """Reads the text once to find what is wrong with it; its lines and sha256."""
        reader = CorpusReader(self._files)
        for lines in reader.windows():
            self._check_lengths(lines, reader.n_lines - len(lines))
        return [reader.n_lines, reader.sha256]

    def _check_lengths(self, lines, first):
        """Raises where a line is so long that it would take more memory than there may be."""
        layer = self._embedder.layer
        most = MOST_BYTES // (4 * layer.num_layers * layer.output_dim)
        if self._max_tokens is not None and self._max_tokens <= most:
            return
        for number, line in enumerate(lines, start=first + 1):
            if len(line) <= most:  # a token has a byte or more
                continue
            length = int(self._embedder.tokens([line]).row_lengths()[0])
            if length > most:
                raise ValueError(
                    f"Line {number}: a line must have at most {most:,} tokens, whose layers take "
                    f"{MOST_BYTES:,} bytes. Received: {length:,}. Split it into sentences, or cut "
                    "long lines (`max_tokens=N`, `--max-tokens N`)."
                )

    def _can_go_on(self):
        """Whether there is an interrupted run that fits; raises where one would be lost."""
        note = self._file.note
        if note is None:
            return False
        differing = differences(note["settings"], self._settings)
        if None not in (self._measured, note["text"]) and self._measured != note["text"]:
            differing.append(f"the text was {_told(note['text'])}, now {_told(self._measured)}")
        if differing and not self._overwrite:
            raise ValueError(
                f"{partial_of(self._output)} must be of a run with the same text and options. "
                f"Received others: {'; '.join(differing)}. Give the earlier ones to go on, or "
                f"{START_AGAIN}."
            )
        return not differing

    def _begin(self):
        self._file.reset()
        self._file.commit(
            {
                "settings": self._settings,
                "text": self._measured,
                "lines": 0,
                "tokens": 0,
                "sha256": CorpusReader([]).sha256,
                "blank": tally.NOTHING,
                "cut": tally.NOTHING,
                "finished": False,
            }
        )

    def _skip_saved(self, reader, index):
        """Reads what is embedded already, and checks that it is the same text."""
        note = self._file.note
        for lines in reader.windows(note["lines"]):
            index.add(lines)
        if (reader.n_lines, reader.sha256) != (note["lines"], note["sha256"]):
            raise ValueError(
                f"The text must begin with the {note['lines']:,} lines that are in "
                f"{partial_of(self._output)}. Received other lines. Give the same text to go on, "
                f"or {START_AGAIN}."
            )

    def _embed(self, lines, note):
        """Embeds a window; changes the note to what is true after it."""
        first = n_lines = note["lines"]
        tokens, lengths = self._tokens(lines, note)
        for numbers, outputs in self._embedder.runs(tokens):
            for number, vectors in zip(numbers, outputs, strict=True):
                vectors = self._converted(vectors, first + number)
                self._store.add(first + number, vectors, lines[number].decode("utf-8"))
            n_lines += len(numbers)
            note["tokens"] += int(lengths[numbers].sum())
            yield Progress(n_lines, note["tokens"], self._total)

    def _tokens(self, lines, note):
        first, most = note["lines"], self._max_tokens
        self._check_lengths(lines, first)
        tokens = self._embedder.tokens(lines)
        lengths = tokens.row_lengths().numpy()
        note["blank"] = tally.add(note["blank"], first + np.flatnonzero(lengths == 0))
        if most is not None:
            note["cut"] = tally.add(note["cut"], first + np.flatnonzero(lengths > most))
            tokens, lengths = tokens[:, :most], np.minimum(lengths, most)
        return tokens, lengths

    def _converted(self, vectors, number):
        with np.errstate(over="ignore"):
            converted = vectors.astype(self._dtype, copy=False)
        if not np.isfinite(converted).all():
            raise ValueError(
                f"Line {number + 1}: vectors must be finite in {self._dtype}. Received NaN, "
                "infinity or too large a number. Write float32, or train the biLM again."
            )
        return converted

    def _finish(self, reader, index):
        if self._measured not in (None, [reader.n_lines, reader.sha256]):
            raise ValueError(
                f"The text must stay as it is while it is embedded, {_told(self._measured)}. "
                f"Received: {_told([reader.n_lines, reader.sha256])}. To embed it as it is now, "
                f"{START_AGAIN}."
            )
        note = self._file.note
        if not note["finished"]:
            facts = {name: value for name, value in self._settings.items() if value is not None}
            facts |= {"lines": note["lines"], "tokens": note["tokens"]}
            self._store.finish({**facts, "text_sha256": note["sha256"]}, index.to_json())
        self._store.close()
        if not note["finished"]:
            self._file.commit({**note, "finished": True})
        check_output(self._output, self._files, self._overwrite)
        self._file.publish(self._output)


def _told(text):
    lines, sha256 = text
    return f"{lines:,} lines of sha256 {sha256[:12]}..."
