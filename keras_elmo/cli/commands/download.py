"""`keras_elmo download`: published models into the cache."""

import argparse

from keras_elmo.cli.command import faults_of
from keras_elmo.cli.commands.presets import place_of
from keras_elmo.presets.cache import VARIABLE
from keras_elmo.presets.locate import locate
from keras_elmo.presets.registry import check_files, get_model

DESCRIPTION = """Download published models, so that they can be loaded by name without a network.
What is in the cache already is not asked for again."""
EPILOG = f"""examples:
  keras_elmo download original
  keras_elmo download small nlpl-211 google/elmo/3
  keras_elmo download original --mirror /mnt/models/elmo

The place of each model is printed, a line for each NAME. The cache is ${VARIABLE}, or else the
user's cache folder of the system; `keras_elmo presets` lists the names."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    parser.add_argument(
        "names", nargs="+", metavar="NAME",
        help="name of `keras_elmo presets`, or address or Kaggle handle of a TF-Hub module",
    )  # fmt: skip
    parser.add_argument(
        "--mirror", metavar="PLACE",
        help="address or directory that holds the files under their own names, tried first",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    for name in args.names:
        with faults_of(f"NAME {name}"):
            _check(name)
    for name in args.names:
        with faults_of(f"NAME {name}"):
            place = _place(name, args)
        print(place, flush=True)
    return 0


def _check(name):
    """Raises a ValueError where nothing can be downloaded by this name."""
    found = locate(name)
    if not found.is_module or found.model is not None:
        model = found.model or get_model(name)
        if not model.shipped:
            check_files(model)


def _place(name, args):
    from keras_elmo.presets.download import fetch
    from keras_elmo.presets.hub_modules import module_directory
    from keras_elmo.presets.open_model import open_model

    if locate(name).is_module:
        return module_directory(name, args.mirror, not args.quiet)
    model = get_model(name)
    if not model.shipped:
        fetch(name, args.mirror, not args.quiet, check=True)
        with open_model(name):  # Raises where they are files of another model.
            pass
    return place_of(model)
