"""Users' own words in pictures: fonts that have their letters, no mark-up, one line each."""

import functools
from pathlib import Path

from keras_elmo.plots.drawing import check_matplotlib

LAST_RESORT = "LastResort"  # has a box for every letter and no letter
CUT = "…"


def label_of(text, number, longest=24):
    """A name as it can be written, and its font.

    Args:
        text: a label of any type.
        number: int, its place, which stands for it where no font has its letters: `#3`.
        longest: int, letters to keep.

    Returns:
        `(str, FontProperties)`.
    """
    text = cut(one_line(str(text)), longest)
    font = font_of(text)
    return (text, font) if font is not None else (f"#{number}", font_of("#"))


def readable(text, longest):
    """A text without the letters that no font has, cut; and its font."""
    text = one_line(text)
    if font_of(text) is None:
        text = one_line("".join(c for c in text if font_of(c) is not None))
    text = cut(text, longest)
    return text, font_of(text)


def write(artist, text, font, size=None):
    """Puts a text into a matplotlib Text as it is: `$` begins no formula."""
    artist.set_parse_math(False)
    size = artist.get_fontsize() if size is None else size
    artist.set_fontproperties(font)
    artist.set_fontsize(size)
    artist.set_text(text)


def one_line(text):
    """A text without line ends, tabs and other letters that do not print."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def cut(text, longest):
    """The first letters of a text, with a mark where some are left out."""
    return text if len(text) <= longest else text[: longest - 1] + CUT


@functools.lru_cache(maxsize=4096)
def font_of(text):
    """FontProperties of a font that has all letters of a text, the usual one first; or None."""
    check_matplotlib()
    from matplotlib.font_manager import FontProperties, findfont

    needed = {ord(letter) for letter in text}
    usual = FontProperties()
    if needed <= _letters(findfont(usual)):
        return usual
    paths = (path for path in _other_fonts() if needed <= _letters(path))
    return next((FontProperties(fname=path) for path in paths), None)


@functools.lru_cache(maxsize=1)
def _other_fonts():
    """Paths of the system's fonts, upright sans-serif ones first.

    The system is asked: matplotlib's own list is as old as its cache.
    """
    from matplotlib.font_manager import findSystemFonts, fontManager

    paths = {entry.fname for entry in fontManager.ttflist} | set(findSystemFonts())
    return tuple(sorted((path for path in paths if LAST_RESORT not in path), key=_preference))


def _preference(path):
    name = Path(path).stem.lower()
    return (
        any(part in name for part in ("italic", "oblique", "bold", "light", "black", "mono")),
        not any(part in name for part in ("sans", "gothic")),
        path,
    )


@functools.lru_cache(maxsize=256)
def _letters(path):
    """Code points of the letters of a font file; none of a file that cannot be drawn with."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError, ValueError):
        return frozenset()
