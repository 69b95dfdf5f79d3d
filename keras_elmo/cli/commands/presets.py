"""`keras_elmo presets`: the models that have a name."""

import argparse
import dataclasses
import os

from keras_elmo.cli.command import faults_of
from keras_elmo.cli.output import check_output_file, write_lines
from keras_elmo.cli.report import FORMATS, add_output, aligned, record_lines, wrapped
from keras_elmo.presets.cache import model_folder
from keras_elmo.presets.registry import (
    PublishedModel,
    get_model,
    preset_directory,
    published_models,
)

FIELDS = (
    "name", "language", "lstm_dim", "projection_dim", "parameters", "where", "licence", "corpus",
)  # fmt: skip
HEADER = ("name", "language", "LSTM/projection", "parameters", "where")
DESCRIPTION = """List the models that can be loaded by name: what the package ships, and what others
have published. With a NAME, tell all that is known of that model. No request is made."""
EPILOG = f"""examples:
  keras_elmo presets
  keras_elmo presets original
  keras_elmo presets --format json | grep Norwegian

columns of tsv, and keys of json:
  {", ".join(FIELDS[:6])},
  {", ".join(FIELDS[6:])}
where: shipped (in the package), cached (downloaded before), to download, by hand (a note tells
how), address not verified. licence: what was stated for the weights, or that nothing was found."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="one model, with all its facts")
    add_output(parser, ("table", *FORMATS))


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    check_output_file(args.output, args.overwrite)
    if args.name is not None:
        lines = _lines_of_one(args.name, args.format)
    elif args.format == "table":
        lines = _table(published_models())
    else:
        rows = [_values(_record(model), FIELDS, args.format) for model in published_models()]
        lines = record_lines(args.format, FIELDS, rows)
    write_lines(lines, args.output)
    return 0


def _table(models):
    """Lines: facts in columns, below each model what it was trained on and its licence."""
    header, *rows = aligned([HEADER, *map(_cells, models)])
    yield header
    for model, row in zip(models, rows, strict=True):
        yield row
        yield from wrapped(f"{model.corpus}; licence: {model.licence}", "  ")


def _cells(model):
    """A model as the cells of `HEADER`."""
    sizes = [model.lstm_dim, model.projection_dim]
    shown = "/".join("?" if size is None else str(size) for size in sizes)
    millions = "" if model.parameters is None else f"{model.parameters / 1e6:.1f} M"
    return model.name, model.language, shown if any(sizes) else "", millions, _where(model)


def _where(model):
    """Where a model is, in a few words."""
    if model.shipped:
        return "shipped"
    if place_of(model) is not None:
        return "cached"
    if model.files:
        return "to download"
    return "by hand" if model.verified else "address not verified"


def place_of(model: PublishedModel) -> str | None:
    """The path of a model on this machine that can be loaded, or None."""
    if model.shipped:
        return str(preset_directory(model.name))
    if model.kind == "tf_hub":
        from keras_elmo.presets.hub_modules import cached_module

        return cached_module(model.name)
    from keras_elmo.presets.download import cached_files

    paths = cached_files(model)
    if paths is None:
        return None
    return paths.get("archive") or os.path.dirname(paths["weights"])


def _lines_of_one(name, form):
    with faults_of("NAME"):
        model = get_model(name)
    record = _record(model)
    if form == "table":
        return list(_report(record))
    fields = tuple(record)
    return record_lines(form, fields, [_values(record, fields, form)])


def _record(model):
    """All that is known of a model, as JSON can hold it, `FIELDS` first."""
    from keras_elmo.presets.download import recorded_sum

    facts = dataclasses.asdict(model)
    facts.update(where=_where(model), place=place_of(model))
    for file in facts["files"]:
        file["first_sha256"] = recorded_sum(os.path.join(model_folder(model.name), file["name"]))
    return {name: facts[name] for name in (*FIELDS, *(key for key in facts if key not in FIELDS))}


def _values(record, fields, form):
    """The values of a record; in tsv what is unknown is empty, and lists are joined by a space."""
    values = [record[field] for field in fields]
    return values if form == "json" else [_flat(value) for value in values]


def _flat(value):
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(item["url"] if isinstance(item, dict) else item for item in value)
    return value


def _report(record):
    for key, value in record.items():
        if key != "files" and value not in (None, "", ()):
            text = _flat(value) if isinstance(value, tuple) else _shown(value)
            yield from wrapped(f"{key}: {text}") if " " in text else [f"{key}: {text}"]
    for file in record["files"]:
        yield f"{file['role']}: {file['name']}"
        for url in (file["url"], *file["mirrors"]):
            yield f"  {url}"
        yield f"  sha256: {file['sha256'] or 'not published'}"
        if file["first_sha256"]:
            yield f"  sha256 of the first download: {file['first_sha256']}"


def _shown(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else value
