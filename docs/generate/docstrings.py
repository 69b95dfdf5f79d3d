"""Docstrings of this package as the Markdown that the API pages show; an extension of griffe."""

import re

import griffe

ARGS = re.compile(r"^Args:$", re.MULTILINE)
CALL_ARGS = re.compile(r"^Call arguments:$", re.MULTILINE)
TITLE = re.compile(r"^(Example|Source):", re.MULTILINE)
PROSE = re.compile(r"^(Returns|Yields):\n((?:[ ]+.*\n|\n)+)", re.MULTILINE)
SESSION = re.compile(r"^( *)(>>> .*\n(?:\1\S.*\n|\1 +.*\n)*)", re.MULTILINE)


class SiteDocstrings(griffe.Extension):
    """Rewrites each docstring before it is parsed."""

    def on_instance(self, *, obj, **kwargs):
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_class_members(self, *, cls, **kwargs):
        """Arguments of an inherited `__init__`, of Keras, are not compared with a signature."""
        if cls.docstring is not None and cls.bases and "__init__" not in cls.members:
            cls.docstring.value = ARGS.sub("Other Parameters: Parameters:", cls.docstring.value)


def as_markdown(text):
    """Sections that are sentences as paragraphs, call arguments as a list, sessions as code."""
    text = CALL_ARGS.sub("Other Parameters: Call arguments:", text.strip("\n") + "\n")
    text = TITLE.sub(r"**\1**:", text)
    text = PROSE.sub(_prose, text)
    return SESSION.sub(_fenced, text).strip("\n")


def _prose(found):
    lines = [line.strip() for line in found[2].splitlines()]
    return f"**{found[1]}**: " + "\n".join(lines).strip("\n") + "\n\n"


def _fenced(found):
    indent = found[1]
    return f"{indent}```pycon\n{found[0].rstrip()}\n{indent}```\n"
