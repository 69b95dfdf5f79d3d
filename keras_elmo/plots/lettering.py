"""Users' own words in pictures: fonts that have their letters, no mark-up, one line each."""

import functools
from typing import Any

from keras_elmo.plots.drawing import check_matplotlib

LAST_RESORT = "Last Resort"  # has a box for every letter and no letter
CUT = "…"


def label_of(text: object, number: int, longest: int = 24) -> str:
    """A label as it can be written, cut; its place, as `#3`, where no font has its letters."""
    text = cut(one_line(str(text)), longest)
    return text if families_of(text) else f"#{number}"


def readable(text: str, longest: int) -> str:
    """A text without the letters that no font has, cut."""
    return cut(one_line("".join(c for c in text if not c.isprintable() or families_of(c))), longest)


def write(artist: Any, text: str, size: float | None = None) -> None:
    """Puts a text into matplotlib's Text: `$` begins no formula, and each letter has its font."""
    artist.set_parse_math(False)
    artist.set_fontfamily(families_of(text) or artist.get_fontfamily())
    if size is not None:
        artist.set_fontsize(size)
    artist.set_text(text)


def one_line(text: str) -> str:
    """A text without line ends, tabs and other letters that do not print."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def cut(text: str, longest: int) -> str:
    """The first letters of a text, with a mark where some are left out."""
    return text if len(text) <= longest else text[: longest - 1] + CUT


@functools.lru_cache(maxsize=4096)
def families_of(text: str) -> tuple[str, ...]:
    """Font families that have the letters between them, the usual one first; none if none do."""
    families: list[str] = []
    missing = {ord(letter) for letter in text}
    for family in _families():
        found = missing & _letters(family)
        if found or not families:
            families.append(family)
        missing -= found
        if not missing:
            return tuple(families)
    return ()


def _families():
    """The usual family, and then matplotlib's others, sans-serif ones before others."""
    check_matplotlib()
    from matplotlib.font_manager import FontProperties

    yield FontProperties().get_name()
    yield from sorted(
        _files(), key=lambda name: ("Sans" not in name and "Gothic" not in name, name)
    )


@functools.lru_cache(maxsize=1)
def _files():
    """The file of each family's upright font of normal weight."""
    from matplotlib.font_manager import fontManager

    return {
        entry.name: entry.fname
        for entry in fontManager.ttflist
        if (entry.style, entry.weight) == ("normal", 400) and not entry.name.startswith(LAST_RESORT)
    }


@functools.lru_cache(maxsize=256)
def _letters(family):
    """Code points of a family's letters; none where its font cannot be drawn with."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(_files()[family])
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (KeyError, OSError, RuntimeError, ValueError):
        return frozenset()
