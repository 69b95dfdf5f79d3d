"""What is put into pages when the site is built: commands, the table of models, other files."""

import contextlib
import importlib
import io
import os
import re
from pathlib import Path
from unittest import mock

WIDTH = "86"
COMMANDS = {"keras_elmo": "keras_elmo.cli.main", "keras_elmo-train": "keras_elmo.cli.train"}
# Files of the repository that are a page of the site.
PAGE_OF = {
    "CHANGELOG.md": "docs/changelog.md",
    "CONTRIBUTING.md": "docs/contributing.md",
    "README.md": "docs/index.md",
    "README.ko.md": "docs/korean.md",
    "benchmarks/README.md": "docs/benchmarks.md",
    "keras_elmo/presets/english-small/README.md": "docs/model_card.md",
    "notebooks/README.md": "docs/notebooks.md",
}
# Others that pages lead to, and that the site therefore holds.
TAKEN_ALONG = ("notebooks/*.py", "notebooks/data/*.tsv")
HEADER = ("name", "language", "trained on", "LSTM / projection", "parameters", "licence", "where")


def commands(prog, root):
    """Every `--help` of a console command, each below a heading."""
    command = importlib.import_module(COMMANDS[prog]).COMMAND
    sections = [f"```text\n{help_of(command, [])}```\n"]
    for name in command.subcommands:
        sections.append(f"### {prog} {name}\n\n```text\n{help_of(command, [name])}```\n")
    return "\n".join(sections), None


def help_of(command, words):
    """What a command prints for `--help`, at a fixed width."""
    printed = io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS=WIDTH), contextlib.redirect_stdout(printed):
        with contextlib.suppress(SystemExit):
            command.run([*words, "--help"])
    return printed.getvalue()


def presets(_, root):
    """The table of all models that have names."""
    models = importlib.import_module("keras_elmo.presets.registry").published_models()
    rows = [HEADER, ("---",) * len(HEADER), *map(_row, models)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows), None


def _row(model):
    sizes = (model.lstm_dim, model.projection_dim)
    where = "download" if model.files else "by hand" if model.verified else "address not verified"
    page = PAGE_OF.get(f"keras_elmo/presets/{model.name}/README.md")
    return (
        f"[`{model.name}`]({page.removeprefix('docs/') if page else model.page})",
        model.language,
        model.corpus,
        " / ".join(str(size or "?") for size in sizes) if any(sizes) else "",
        "" if model.parameters is None else f"{model.parameters / 1e6:.1f} M",
        model.licence,
        "in the package" if model.shipped else where,
    )


def file(path, root):
    """A Markdown file of the repository without its first heading: the page has its own."""
    text = (root / path).read_text("utf-8")
    return re.sub(r"\A# .*\n", "", text), Path(path)


GENERATORS = {"commands": commands, "file": file, "presets": presets}
