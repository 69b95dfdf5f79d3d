"""Pictures as files, whole or not at all."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from keras_elmo.basics.files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
DPI = 150
# With these, SVG files of the same figure are the same: no random names, no date.
HASH_SALT = "keras_elmo"
METADATA = {"png": {}, "svg": {"Date": None}}


def save(figure: "Figure", path: str | os.PathLike) -> None:
    """Writes a figure to a file, which appears whole or not at all and replaces an earlier one.

    Args:
        figure: what to write.
        path: file that ends in `.png` or `.svg`, in a directory that exists.

    Raises:
        ValueError: the name ends otherwise.
        FileNotFoundError: there is no such directory.
        OSError: the file cannot be written; an earlier one is left as it was.
    """
    path = Path(path)
    form = format_of(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"`path` must lie in a directory that exists. Received: {path}. Make {path.parent}."
        )
    import matplotlib

    with whole_file(path) as whole, matplotlib.rc_context({"svg.hashsalt": HASH_SALT}):
        figure.savefig(whole, format=form, dpi=DPI, metadata=METADATA[form])


def format_of(path: str | os.PathLike) -> str:
    """`"png"` or `"svg"`, by the ending of a path."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        endings = " or ".join(f".{name}" for name in FORMATS)
        raise ValueError(
            f"`path` must end in {endings}. Received: {os.fspath(path)!r}. Give it one of these."
        )
    return form
