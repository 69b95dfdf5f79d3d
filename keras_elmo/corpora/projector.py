"""Vectors for TensorBoard's Embedding Projector."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from keras_elmo.basics.files import whole_files

VECTORS, METADATA, CONFIG = FILES = "vectors.tsv", "metadata.tsv", "projector_config.pbtxt"
BLANK = "(blank)"  # the projector passes over blank lines, and would shift all labels after one
NAME = "vectors"


def export_projector(
    directory: str | os.PathLike,
    vectors: ArrayLike,
    metadata: Sequence | Mapping[str, Sequence],
    overwrite: bool = False,
) -> None:
    r"""Writes vectors and their labels for TensorBoard's Embedding Projector.

    The directory may be one of TensorBoard's own: `tensorboard --logdir DIRECTORY` shows the
    vectors in its Projector. `vectors.tsv` and `metadata.tsv` can be loaded at
    https://projector.tensorflow.org too. The files appear whole; where one cannot be
    written, none does.

    Args:
        directory: where to; made where it does not exist, other files in it are left alone.
        vectors: float (n, D).
        metadata: n labels; or a dict of columns, name to n labels, for several of them. Line ends
            and tabs become spaces, and a blank line becomes `(blank)`.
        overwrite: whether files of an earlier export are replaced.

    Raises:
        ValueError: numbers are not finite, or lengths differ.
        FileExistsError: there is an earlier export and `overwrite` is False.
        NotADirectoryError: `directory` is a file.

    Example:

    >>> export_projector("projector", np.eye(2), {"word": ["bank", "bank"], "line": [1, 8]})
    >>> Path("projector/metadata.tsv").read_text().splitlines()
    ['word\tline', 'bank\t1', 'bank\t8']
    """
    vectors = _checked_vectors(vectors)
    lines = _metadata_lines(metadata, len(vectors))
    folder = Path(directory)
    check_directory(folder, overwrite)
    with whole_files(folder) as stage:
        np.savetxt(stage / VECTORS, vectors, fmt="%.9g", delimiter="\t")
        (stage / METADATA).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (stage / CONFIG).write_text(_config(vectors.shape), encoding="utf-8")


def check_directory(directory: str | os.PathLike, overwrite: bool = False) -> None:
    """Raises where `export_projector` would not write; the errors are told there."""
    folder = Path(directory)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Give a directory.")
    found = [name for name in FILES if (folder / name).exists()]
    if found and not overwrite:
        raise FileExistsError(
            f"{folder / found[0]} exists. Give another directory, or replace it with overwrite "
            "(`overwrite=True`, `--overwrite`)."
        )


def _checked_vectors(vectors):
    vectors = np.asarray(vectors)
    is_right = vectors.ndim == 2 and vectors.size and vectors.dtype.kind in "fiu"
    if not is_right or not np.isfinite(vectors).all():
        raise ValueError(
            "`vectors` must be finite numbers (n, D), at least one vector. Received: dtype "
            f"{vectors.dtype}, shape {vectors.shape}; give them without NaN and infinity."
        )
    return vectors


def _metadata_lines(metadata, n):
    """The lines of the file; of several columns the first line names them, of one none does."""
    columns = metadata if isinstance(metadata, dict) else {"label": metadata}
    columns = {name: list(values) for name, values in columns.items()}
    wrong = {name: len(values) for name, values in columns.items() if len(values) != n}
    if wrong or not columns:
        raise ValueError(
            f"`metadata` must have one label for each of the {n} vectors in each column. Received: "
            f"{wrong or 'no column'}."
        )
    rows = ["\t".join(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
    rows = [row if row.strip() else BLANK + row for row in rows]
    return rows if len(columns) == 1 else ["\t".join(map(_cell, columns)), *rows]


def _cell(value):
    return " ".join(str(value).replace("\t", " ").splitlines())


def _config(shape):
    """A ProjectorConfig of one tensor, as a text-format protocol buffer."""
    n, size = shape
    return (
        "embeddings {\n"
        f'  tensor_name: "{NAME}"\n'
        f'  tensor_path: "{VECTORS}"\n'
        f'  metadata_path: "{METADATA}"\n'
        f"  tensor_shape: {n}\n"
        f"  tensor_shape: {size}\n"
        "}\n"
    )
