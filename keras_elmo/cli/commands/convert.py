"""`keras_elmo convert`: a TF-Hub module as files of our own."""

import argparse
import os

from keras_elmo.cli.command import UserError, faults_of, written_to
from keras_elmo_launcher import load_package

DESCRIPTION = """Read a TF-Hub ELMo module's variables into a biLM, compare the vectors of both on
sample sentences, and write options.json and weights.hdf5, which BiLM.load, ELMoEmbedding, AllenNLP
and bilm-tf read. Nothing is written where the vectors differ by more than 1e-04 of the
largest value."""
EPILOG = """examples:
  keras_elmo convert https://tfhub.dev/google/elmo/3 elmo-3
  keras_elmo convert elmo_3.tar.gz elmo-3 --dtype float16
  keras_elmo embed corpus.txt vectors.hdf5 --model elmo-3

The mix of the module itself is not written: a new ELMoEmbedding starts from equal layer weights."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    add = parser.add_argument
    add("module", metavar="MODULE", help="handle (https://tfhub.dev/google/elmo/3), directory or "
        ".tar.gz archive of a module")  # fmt: skip
    add("directory", metavar="DIR", help="where to write")
    add("--dtype", choices=("float32", "float16"), default="float32", help="of the weights")
    add("--overwrite", action="store_true", help="write into a DIR that is not empty")
    add("--quiet", action="store_true", help="print nothing but errors")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from keras_elmo.presets.hub_modules import module_directory

    _check_directory(args)
    with faults_of(f"MODULE {args.module}"):
        directory = module_directory(args.module, progress=not args.quiet)
        load_package()
        from keras_elmo.embedding.sources.hub_conversion import convert
        from keras_elmo.embedding.sources.hub_module import HubModule

        found = convert(HubModule(directory))
    with faults_of(f"DIR {args.directory}", (ValueError,)), written_to(f"DIR {args.directory}"):
        found.bilm.save(args.directory, args.dtype)
    if not args.quiet:
        print("\n".join(_report(found, args.directory)))
    return 0


def _check_directory(args):
    """Before the work: what would fail after it."""
    if not args.directory:
        raise UserError("DIR must be the name of a directory; it is empty; give one")
    if os.path.exists(args.directory) and not os.path.isdir(args.directory):
        raise UserError(f"DIR must be a directory; {args.directory} is a file; give another")
    if os.path.isdir(args.directory) and os.listdir(args.directory) and not args.overwrite:
        raise UserError(
            f"DIR must be new or empty; {args.directory} is not; give another, or --overwrite"
        )


def _report(found, directory):
    config = found.bilm.config
    skips = "skip" if config.use_skip_connections else "no skip"
    yield f"{config.activation}, {skips} connections, clips {config.cell_clip}"
    yield (
        f"vectors differ by {found.difference:.1e} of the largest value at most; written to "
        f"{directory}: {config.n_layers} layers of {config.lstm_dim}, vectors of "
        f"{config.output_dim}"
    )
