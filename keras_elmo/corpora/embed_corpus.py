"""Embeds whole corpora."""

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple

from keras_elmo.basics.checks import check_choice
from keras_elmo.corpora.corpus_run import CorpusRun, Progress
from keras_elmo.corpora.output_file import LAYERS
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.embedder import Embedder


class EmbeddedCorpus(NamedTuple):
    """What was embedded.

    Attributes:
        lines: lines of the text, as many as arrays in the file.
        tokens: their tokens.
    """

    lines: int
    tokens: int


def embed_corpus(
    text: str | os.PathLike | BinaryIO | Sequence[str | os.PathLike | BinaryIO],
    output: str | os.PathLike,
    layer: Any = "english-small",
    layers: str = "all",
    max_tokens: int | None = None,
    dtype: str = "float32",
    format: str | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], Any] | None = None,
    **kwargs: Any,
) -> EmbeddedCorpus:
    r"""Embeds every line of a text into a file.

    Line k, counted from 0, becomes the dataset `str(k)` of an HDF5 file or the array of that name
    of an npz file. A blank line has an array without tokens, and is told by a warning. HDF5 files
    also hold each line, as its dataset's attribute `text`, and `sentence_to_index`, the JSON
    object of sentence to first line that AllenNLP writes (where the distinct sentences have no
    more than 16 MiB).

    Memory does not grow with the text; but an npz file takes 0.4 kB a line while it is joined.

    The file appears when it is whole. Until then what is done lies in `output` + `.partial`, and
    while it is joined there, at the end, the disk holds it twice. After an interruption of any
    kind, a kill included, the same call goes on from there, to the same content.

    | `layers`    | line of t tokens | what                                                    |
    |-------------|------------------|---------------------------------------------------------|
    | `"all"`     | (L+1, t, D)      | all layers; layer 0 is the token vector written twice   |
    | `"top"`     | (t, D)           | the last layer                                          |
    | `"average"` | (t, D)           | plain mean over all layers                              |
    | `"elmo"`    | (t, D)           | the mix, `gamma * sum_j softmax(s)_j * h_j`             |
    | `"default"` | (D,)             | mean of `elmo` over the tokens, 0 where there are none  |

    Args:
        text: Path of a UTF-8 file of one sentence a line, gzip where its name ends in `.gz`;
            `"-"` for standard input or a binary file object, which are read once; or a list.
        output: The file to write.
        layer: What `ELMoEmbedding` takes as `source`, or an ELMoEmbedding, whose mix and
            tokenizer are taken.
        layers: Name from the table.
        max_tokens: Tokens that are kept of a line; None keeps all. Cutting is told by a warning.
            Memory grows with the longest line.
        dtype: "float32", or "float16" for half the size.
        format: "hdf5" or "npz"; None goes by the ending of `output`: `.hdf5`, `.h5` or `.npz`.
        overwrite: Whether to replace `output`, and what an interrupted run of other options or
            text has left.
        progress: Function that is called as lines are done with an object of `lines`, `tokens` and
            `total` (None where the text is read only once). What it raises ends the run.
        **kwargs: Arguments of the ELMoEmbedding that is made of a source: `tokenizer`, `mix` ...

    Raises:
        OSError: The text cannot be read; `output` exists, or cannot be written; the disk is full,
            and then free space and call again.
        ValueError: An argument is out of range, the text is not UTF-8, or an interrupted run was of
            other options or text; the message lists them.

    Example:

    >>> with open("text.txt", "w") as file:
    ...     _ = file.write("free entry now\nsee you at 8/9\n")
    >>> embed_corpus("text.txt", "vectors.npz", layers="top")
    EmbeddedCorpus(lines=2, tokens=7)
    >>> np.load("vectors.npz")["0"].shape
    (3, 512)
    """
    embedder, max_tokens = make_embedder(layer, layers, max_tokens, **kwargs)
    files: Any = text if isinstance(text, (list, tuple)) else [text]
    with CorpusRun(files, output, embedder, max_tokens, dtype, format, overwrite) as run:
        for report in run.reports():
            if progress is not None:
                progress(report)
        for remark in run.remarks:
            warnings.warn(f"{os.fspath(output)}: {remark}.", stacklevel=2)
        return EmbeddedCorpus(run.saved.lines, run.saved.tokens)


def make_embedder(
    layer: Any, layers: str, max_tokens: int | None = None, **kwargs: Any
) -> tuple[Embedder, int | None]:
    """An Embedder that cuts nothing, and where to cut; of what `embed_corpus` was given."""
    check_choice("layers", layers, tuple(LAYERS))
    if not isinstance(layer, ELMoEmbedding):
        return Embedder(layer, output=LAYERS[layers], inputs="text", **kwargs), max_tokens
    max_tokens = layer.max_tokens if max_tokens is None else max_tokens
    if kwargs or layer.num_mixes > 1:
        raise ValueError(
            "An ELMoEmbedding as `layer` must have one mix, and no options beside it. Received: "
            f"num_mixes={layer.num_mixes}, options {sorted(kwargs)}. Give its `source` instead."
        )
    return Embedder(_with_output(layer, LAYERS[layers])), max_tokens


def _with_output(layer, output):
    """An ELMoEmbedding of the same biLM and mix with another output."""
    config = {**layer.get_config(), "source": layer.source, "mix": layer.mix, "output": output}
    return ELMoEmbedding(**{**config, "inputs": "text", "max_tokens": None, "name": None})
