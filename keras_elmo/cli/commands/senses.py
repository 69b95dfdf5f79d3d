"""`keras_elmo senses`: the places of a word in a text, and which of them are alike."""

import argparse
import itertools
import re
from typing import NamedTuple

from keras_elmo.basics import options
from keras_elmo.cli.command import UserError, faults_of, written_to
from keras_elmo.cli.output import check_output_file, write_lines
from keras_elmo.cli.plots import add_plots, check_plots, write_plots
from keras_elmo.cli.reading import (
    SOURCE_HELP,
    add_files,
    check_source,
    find_files,
    lines_with_progress,
)
from keras_elmo.cli.report import add_output, record_lines
from keras_elmo.text.rules import TOKENIZERS
from keras_elmo_launcher import load_package

FIELDS = (
    "line", "position", "context", "rank", "cosine", "near_line", "near_position", "near_context",
)  # fmt: skip
MAP = "sense-map"
AROUND, ON_MAP = 4, 2  # tokens of context on each side
MOST = 500
DESCRIPTION = """Find a word in a text and tell, for each place where it stands, the places whose
vectors are most like its own: those of the same sense, as far as the biLM tells senses apart."""
EPILOG = f"""examples:
  keras_elmo senses english-small corpus.txt.gz --word bank --neighbours 3
  keras_elmo senses english-small corpus.txt.gz --word bank --word shore --plots pictures
  keras_elmo senses english-small corpus.txt.gz --word bank --projector logs
  tensorboard --logdir logs

columns, and keys in json:
  {", ".join(FIELDS)}
line counts through all FILEs from 1, position through a line's tokens from 0; cosine is that of
the two vectors, 1 for the same direction."""


class Place(NamedTuple):
    """Where a word stands: as it was asked for, line from 1, position from 0 among its tokens."""

    word: str
    line: int
    position: int
    tokens: list[str]

    def context(self, around: int = AROUND) -> str:
        """The token with those around it."""
        begin, end = max(0, self.position - around), self.position + around + 1
        cut = "…" if begin else "", "…" if end < len(self.tokens) else ""
        return " ".join(filter(None, [cut[0], *self.tokens[begin:end], cut[1]]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    add = parser.add_argument
    add("source", metavar="SOURCE", help=SOURCE_HELP)
    add_files(parser)
    add("--word", action="append", required=True, type=_word, help="a token, in capital or small "
        "letters; give the option again to compare several")  # fmt: skip
    add("--layer", type=_layer, default="top", metavar="N", help="of the vectors: 0 to L, top, or "
        "elmo, the plain mean of all (default: %(default)s)")  # fmt: skip
    add("--neighbours", type=options.positive_int, default=3, metavar="K", help="to print for "
        "each place")  # fmt: skip
    add("--most", type=options.positive_int, default=MOST, metavar="N", help="take the first N "
        "places")  # fmt: skip
    add("--tokenizer", choices=TOKENIZERS, help="rule that splits lines; none: the biLM's own, or "
        "space")  # fmt: skip
    group = add_output(parser)
    group.add_argument("--no-header", action="store_true", help="tsv without the line of names")
    add_plots(group, f"{MAP}, all places in two dimensions")
    group.add_argument("--projector", metavar="DIR", help="write the vectors there for "
                       "TensorBoard's Embedding Projector")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    paths = find_files(args.files)
    check_output_file(args.output, args.overwrite, paths)
    check_plots(args, [MAP], args.overwrite)
    _check_projector(args)
    check_source("SOURCE", args.source)
    load_package()
    embedder = _make_embedder(args)
    places = list(itertools.islice(_places(args, embedder.layer.tokenizer, paths), args.most))
    if len(places) < 2:
        raise UserError(
            f"--word {' '.join(args.word)}: {len(places)} of the 2 places in the text that are "
            "needed at least. Give more text, or another word."
        )
    vectors = _vectors(embedder, places)
    if args.plots is not None:
        contexts = [place.context(ON_MAP) for place in places]
        from keras_elmo import plots

        figure = plots.sense_map(vectors, [place.word for place in places], contexts)
        write_plots(args, {MAP: figure})
    if args.projector is not None:
        _write_projector(args, places, vectors)
    rows = _rows(places, vectors, args.neighbours)
    write_lines(record_lines(args.format, FIELDS, rows, not args.no_header), args.output)
    return 0


def _check_projector(args):
    if args.projector is not None:
        from keras_elmo.corpora.projector import check_directory

        with faults_of("--projector"):
            check_directory(args.projector, args.overwrite)


def _make_embedder(args):
    from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
    from keras_elmo.embedding.embedder import Embedder

    outputs = {"top": "top", "elmo": "elmo", 0: "word_emb"}
    output = outputs.get(args.layer, f"lstm_outputs{args.layer}")
    with faults_of(f"SOURCE {args.source}"):
        source = ELMoEmbedding(args.source).source
    last = source.num_layers - 1
    if isinstance(args.layer, int) and args.layer > last:
        raise UserError(
            f"--layer {args.layer}: the layers of {args.source} are 0 to {last}. Give one of "
            "these, top or elmo."
        )
    return Embedder(ELMoEmbedding(source, output=output, tokenizer=args.tokenizer, inputs="tokens"))


def _places(args, rule, paths):
    """Yields the places of the words, line by line."""
    from keras_elmo.text.tokenize import tokenize

    words = {word.casefold(): word for word in args.word}
    pattern = re.compile("|".join(map(re.escape, words)))
    for number, line in enumerate(lines_with_progress(paths, args.quiet), start=1):
        if pattern.search(line.decode().casefold()):
            tokens = [token.decode() for token in tokenize([line], rule).to_list()[0]]
            for position, token in enumerate(tokens):
                if token.casefold() in words:
                    yield Place(words[token.casefold()], number, position, tokens)


def _vectors(embedder, places):
    """The vector of each place, float (n, D); each line is run once."""
    import numpy as np

    lines = {place.line: place.tokens for place in places}
    found = dict(zip(lines, embedder.embed(list(lines.values())), strict=True))
    return np.stack([found[place.line][place.position] for place in places])


def _rows(places, vectors, k):
    """Yields the records: for each place its nearest ones, the nearest first."""
    from sklearn.metrics.pairwise import cosine_similarity

    cosines = cosine_similarity(vectors)
    for at, place in enumerate(places):
        order = [other for other in (-cosines[at]).argsort(kind="stable") if other != at]
        for rank, other in enumerate(order[:k], start=1):
            near = places[other]
            yield (
                *(place.line, place.position, place.context(), rank, float(cosines[at, other])),
                *(near.line, near.position, near.context()),
            )


def _write_projector(args, places, vectors):
    from keras_elmo.corpora.projector import export_projector

    metadata = {
        "context": [place.context() for place in places],
        "word": [place.word for place in places],
        "line": [place.line for place in places],
        "position": [place.position for place in places],
    }
    with written_to(f"--projector: {args.projector}"):
        export_projector(args.projector, vectors, metadata, args.overwrite)


def _word(text):
    if not text or text.split() != [text]:
        raise argparse.ArgumentTypeError(f"must be one word without spaces, not {text!r}")
    return text


def _layer(text):
    if text in ("top", "elmo"):
        return text
    if text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a layer's number from 0, top or elmo, not {text!r}")
