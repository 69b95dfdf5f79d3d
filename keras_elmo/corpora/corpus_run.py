"""A run over a corpus, which begins or goes on where it was interrupted."""

import os
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from keras_elmo.basics.checks import check_choice, check_count, check_flag
from keras_elmo.basics.text_files import STDIN
from keras_elmo.corpora.output_file import DTYPES, LAYERS, check_output, format_of, partial_of
from keras_elmo.corpora.partial_output import START_AGAIN, PartialOutput
from keras_elmo.corpora.reader import CorpusReader
from keras_elmo.corpora.writers import WRITERS
from keras_elmo.embedding.embedder import Embedder
from keras_elmo.embedding.outputs import output_shape

MOST_BYTES = 1 << 30  # of all layers of a line; what it takes beside is a small multiple of it.
LINES_NAMED = 10
NO_LINES = {"lines": 0, "first": []}  # how many lines, and the numbers of the first ones, from 1


class Progress(NamedTuple):
    """How far a run is."""

    lines: int  # that are embedded, those of an interrupted run before it included
    tokens: int
    total: int | None  # lines of the text; None where it can be read only once


class CorpusRun:
    """Embeds the lines of a text one after the other into a file that is whole or absent.

    Until the end everything lies in the directory `output` + `.partial`: each window of lines in
    a part of its own, so that a run over the same text with the same options goes on behind the
    last whole window, whatever ended the one before. To be used in `with`, which lets go of the
    directory. Arguments and errors are those of `embed_corpus`, but `embedder`, whose layer has no
    `max_tokens`.
    """

    def __init__(
        self,
        files: Sequence[str | os.PathLike | BinaryIO],
        output: str | os.PathLike,
        embedder: Embedder,
        max_tokens: int | None = None,
        dtype: str = "float32",
        form: str | None = None,
        overwrite: bool = False,
    ):
        self._files, self._output = tuple(files), Path(output)
        self._embedder, self._dtype = embedder, dtype
        self._max_tokens = None if max_tokens is None else check_count("max_tokens", max_tokens)
        self._overwrite = check_flag("overwrite", overwrite)
        check_choice("dtype", dtype, DTYPES)
        self._form = format_of(output, form)
        check_output(output, self._files, overwrite)
        self._measured = self._measure() if all(map(_is_read_again, self._files)) else None
        self._settings = self._settings_now()
        self._partial = PartialOutput(partial_of(output), overwrite)
        try:
            if not self._can_go_on():
                self._begin()
        except BaseException:
            self.close()
            raise

    @property
    def saved(self) -> Progress:
        """What the next run would begin with, if this one ended now."""
        note = self._partial.note
        return Progress(note["lines"], note["tokens"], self._total)

    @property
    def remarks(self) -> list[str]:
        """What the user should know of the lines that are saved."""
        note, remarks = self._partial.note, []
        if not note["lines"]:
            remarks.append("the text has no line, so no vectors")
        if note["blank"]["lines"]:
            remarks.append(f"{_named(note['blank'])} without tokens, so without vectors")
        if note["cut"]["lines"]:
            remarks.append(f"{_named(note['cut'])} cut to the first {self._max_tokens} tokens")
        return remarks

    def reports(self) -> Iterator[Progress]:
        """Embeds the lines that are left, and makes the file; yields after each run of the biLM."""
        reader = CorpusReader(self._files)
        self._skip_saved(reader)
        for lines in reader.windows():
            note = dict(self._partial.note)
            yield from self._embed(lines, note)
            self._partial.save({**note, "lines": reader.n_lines, "sha256": reader.sha256})
        self._finish(reader)

    def close(self) -> None:
        """Lets go of the directory; what is not saved yet is given up."""
        self._partial.close()

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

    def _settings_now(self):
        """Everything that the vectors depend on but the text, which the file tells too."""
        layer = self._embedder.layer
        settings = {
            "layers": next(name for name, out in LAYERS.items() if out == layer.output_names),
            "dtype": self._dtype,
            "format": self._form,
            "tokenizer": layer.tokenizer,
            "max_tokens": self._max_tokens,
            "keep_boundaries": layer.keep_boundaries,
            "bilm_sha256": layer.source.fingerprint(),
            "bilm_dtype": layer.source.compute_dtype,
            "keras_elmo_version": metadata.version("keras_elmo"),
        }
        if layer.mixes:
            settings["layer_weights"] = layer.layer_weights.tolist()
            settings["gamma"] = layer.gamma
            settings["layer_norm"] = layer.mixes[0].layer_norm
        return settings

    def _can_go_on(self):
        """Whether there is an interrupted run that fits; raises where one would be lost."""
        note = self._partial.note
        if note is None:
            return False
        # What only one of both has (the mix) is there by another that differs (`layers`).
        now = self._settings
        differing = [
            f"`{name}` was {value!r}, now {now[name]!r}"
            for name, value in note["settings"].items()
            if name in now and value != now[name]
        ]
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
        self._partial.begin(
            {
                "settings": self._settings,
                "text": self._measured,
                "lines": 0,
                "tokens": 0,
                "sha256": CorpusReader([]).sha256,
                "blank": NO_LINES,
                "cut": NO_LINES,
            }
        )

    def _skip_saved(self, reader):
        """Reads what is embedded already, and checks that it is the same text."""
        note = self._partial.note
        for _ in reader.windows(note["lines"]):
            pass
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
        texts = [line.decode("utf-8") for line in lines]
        with self._partial.next_part(texts, self._shapes(lengths), self._dtype) as put:
            for numbers, outputs in self._embedder.runs(tokens):
                for number, vectors in zip(numbers, outputs, strict=True):
                    put(number, self._converted(vectors, first + number))
                n_lines += len(numbers)
                note["tokens"] += int(lengths[numbers].sum())
                yield Progress(n_lines, note["tokens"], self._total)

    def _shapes(self, lengths):
        layer = self._embedder.layer
        around = 2 if layer.keep_boundaries else 0
        sizes = layer.num_layers, layer.output_dim
        name = layer.output_names
        return [output_shape(name, None, t + around, *sizes)[1:] for t in lengths.tolist()]

    def _tokens(self, lines, note):
        first, most = note["lines"], self._max_tokens
        self._check_lengths(lines, first)
        tokens = self._embedder.tokens(lines)
        lengths = tokens.row_lengths().numpy()
        note["blank"] = _with_more(note["blank"], first + np.flatnonzero(lengths == 0))
        if most is not None:
            note["cut"] = _with_more(note["cut"], first + np.flatnonzero(lengths > most))
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

    def _finish(self, reader):
        found = [reader.n_lines, reader.sha256]
        if self._measured not in (None, found):
            raise ValueError(
                f"The text must stay as it is while it is embedded, {_told(self._measured)}. "
                f"Received: {_told(found)}. To embed it as it is now, {START_AGAIN}."
            )
        note = self._partial.note
        facts = {name: value for name, value in self._settings.items() if value is not None}
        facts |= {"lines": note["lines"], "tokens": note["tokens"], "text_sha256": note["sha256"]}
        with self._partial.whole(self._output) as path:
            WRITERS[self._form](path, self._partial.lines(), facts)
            check_output(self._output, self._files, self._overwrite)


def _is_read_again(file):
    return isinstance(file, (str, os.PathLike)) and file != STDIN


def _told(text):
    lines, sha256 = text
    return f"{lines:,} lines of sha256 {sha256[:12]}..."


def _with_more(counted, numbers):
    """Counted lines, as `NO_LINES`, and more: NumPy integers from 0, rising."""
    first = counted["first"] + (numbers[:LINES_NAMED] + 1).tolist()
    return {"lines": counted["lines"] + len(numbers), "first": first[:LINES_NAMED]}


def _named(counted):
    """Counted lines in words, with their verb: "line 3 is", "2 lines (3, 7) are"."""
    named = ", ".join(map(str, counted["first"]))
    if counted["lines"] == 1:
        return f"line {named} is"
    more = ", ..." if counted["lines"] > len(counted["first"]) else ""
    return f"{counted['lines']:,} lines ({named}{more}) are"
