"""`keras_elmo export`: a SavedModel that serves without this package."""

import argparse
from pathlib import Path

from keras_elmo.cli.command import UserError, faults_of, written_to
from keras_elmo.cli.labelled import MODEL_FILE
from keras_elmo.cli.reading import SOURCE_HELP, check_source
from keras_elmo.export.place import check_place
from keras_elmo_launcher import load_package

DESCRIPTION = """Write a SavedModel that loads without this package: of a biLM, or of a model with
an ELMo layer, a module with the signatures and outputs of TF-Hub's elmo; of a text classifier or a
tagger, a model from texts or tokens to labels and probabilities for TensorFlow Serving."""
EPILOG = f"""examples:
  keras_elmo export english-small elmo-module
  keras_elmo-train classifier --output spam-model
  keras_elmo export spam-model serving/spam/1
  keras_elmo export spam-model spam-elmo --hub

signatures of a module:
  default, serving_default   text (batch)
  tokens                     tokens (batch, time), sequence_len (batch)
  outputs word_emb, lstm_outputs1 to lstm_outputsL and elmo (batch, time, ...), default (batch, D)
signatures of a classifier:
  serving_default            text (batch)
  tokens                     tokens (batch, time), sequence_len (batch)
  outputs label (batch), probabilities and classes (batch, n_classes)
signatures of a tagger:
  tokens, serving_default    tokens (batch, time), sequence_len (batch)
  outputs labels (batch, time), probabilities (batch, time, n_classes), classes (batch, n_classes)

A directory that `keras_elmo-train classifier | tagger` wrote holds the model {MODEL_FILE}."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    add = parser.add_argument
    add(
        "source", metavar="SOURCE", help=f"{SOURCE_HELP}; or a .keras file, or the directory that "
        "`keras_elmo-train classifier` or `tagger` wrote",
    )  # fmt: skip
    add("directory", metavar="DIR", help="directory to write, whole or not at all")
    add("--hub", action="store_true", help="of a classifier or tagger its ELMo layer, as a module")
    add("--overwrite", action="store_true", help="replace DIR if it is a SavedModel")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    _check_place(args)
    path = _keras_file(args.source)
    if path is None:
        check_source("SOURCE", args.source)
    elif not path.is_file():
        raise UserError(
            f"SOURCE {args.source}: {path} must be a `.keras` file. Received: nothing there."
        )
    load_package()
    from keras_elmo.tasks.labelled_model import LabelledModel

    model = _load(args.source, path)
    is_served = isinstance(model, LabelledModel) and not args.hub
    _export(args, model, is_served)
    print(f"written to {args.directory}: {model.KIND if is_served else 'ELMo module'}")
    for line in _signatures(args.directory):
        print(line)
    return 0


def _check_place(args):
    try:
        check_place(args.directory, args.overwrite)
    except OSError as error:
        message = str(error).replace("`overwrite=True`", "--overwrite")
        raise UserError(message.replace("`directory`", "DIR")) from None


def _keras_file(source):
    """The file of a model, or of a trained model's directory; None for a biLM."""
    path = Path(source)
    if (path / MODEL_FILE).is_file():
        return path / MODEL_FILE
    return path if path.suffix == ".keras" else None


def _load(source, path):
    """A Keras model of a file, or an ELMoEmbedding of a biLM."""
    import keras

    from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
    from keras_elmo.tasks.model_files import check_keras_file

    with faults_of(f"SOURCE {source}"):
        if path is None:
            return ELMoEmbedding(source)
        check_keras_file(path)
        return keras.models.load_model(path, compile=False)


def _export(args, model, is_served):
    from keras_elmo.export.hub import export_hub

    with (
        faults_of(f"SOURCE {args.source}", (ValueError, TypeError)),
        written_to(f"DIR {args.directory}"),
    ):
        if is_served:
            model.export(args.directory, overwrite=args.overwrite)
        else:
            export_hub(model, args.directory, args.overwrite)


def _signatures(directory):
    """Yields a line for the signatures that have the same inputs and outputs, as they are there."""
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel.FromString((Path(directory) / "saved_model.pb").read_bytes())
    names = {}
    for name, signature in sorted(saved.meta_graphs[0].signature_def.items()):
        if signature.inputs:
            line = (
                f"{', '.join(sorted(signature.inputs))} -> {', '.join(sorted(signature.outputs))}"
            )
            names.setdefault(line, []).append(name)
    for line, same in names.items():
        yield f"{', '.join(same)}: {line}"
