"""`keras_elmo export`: a SavedModel that serves without this package."""

from pathlib import Path

import keras
from tensorflow.core.protobuf import saved_model_pb2

from keras_elmo.cli.errors import UserError, reason
from keras_elmo.cli.trained import MODEL_FILE
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.export.hub import export_hub
from keras_elmo.export.place import check_place
from keras_elmo.tasks.classifier.text_classifier import TextClassifier
from keras_elmo.tasks.saved import check_keras_file
from keras_elmo.tasks.tagger.tagger import Tagger

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


def add_parser(subparsers):
    """Adds the `export` command."""
    parser = subparsers.add_parser(
        "export",
        help="SavedModel for TF-Hub or TensorFlow Serving",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "source", metavar="SOURCE", help="biLM: a name of `keras_elmo presets`, directory, archive "
        "or TF-Hub module; or a .keras file, or the directory that `keras_elmo-train classifier` "
        "or `tagger` wrote",
    )  # fmt: skip
    add("directory", metavar="DIR", help="directory to write, whole or not at all")
    add("--hub", action="store_true", help="of a classifier or tagger its ELMo layer, as a module")
    add("--overwrite", action="store_true", help="replace DIR if it is a SavedModel")
    parser.set_defaults(run=run)


def run(args):
    """Runs the command; returns the exit status."""
    _check_place(args)
    model = _load(args.source)
    is_served = isinstance(model, (TextClassifier, Tagger)) and not args.hub
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


def _load(source):
    """A Keras model of a file or of a trained model's directory; else an ELMoEmbedding."""
    path = Path(source)
    if (path / MODEL_FILE).is_file():
        path = path / MODEL_FILE
    try:
        if path.suffix == ".keras":
            check_keras_file(path)
            return keras.models.load_model(path, compile=False)
        return ELMoEmbedding(source)
    except (ValueError, TypeError, OSError) as error:
        raise UserError(f"SOURCE {source}: {error}") from None


def _export(args, model, is_served):
    try:
        if is_served:
            model.export(args.directory, overwrite=args.overwrite)
        else:
            export_hub(model, args.directory, args.overwrite)
    except (ValueError, TypeError) as error:
        raise UserError(f"SOURCE {args.source}: {error}") from None
    except OSError as error:
        raise UserError(f"DIR {args.directory} cannot be written: {reason(error)}") from None


def _signatures(directory):
    """Yields a line for the signatures that have the same inputs and outputs, as they are there."""
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
