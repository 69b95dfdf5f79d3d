"""A SavedModel, whole or not at all, where it harms nothing else."""

import os

import tensorflow as tf

from keras_elmo.basics.files import whole_directory
from keras_elmo.export.place import check_place

TEXT = tf.TensorSpec((None,), tf.string, name="text")
TOKENS = tf.TensorSpec((None, None), tf.string, name="tokens")
SEQUENCE_LEN = tf.TensorSpec((None,), tf.int32, name="sequence_len")


def graph_of(function, *signature):
    """`function` as a tf.function with one graph, for inputs of a signature only."""
    return tf.function(function, input_signature=signature, autograph=False)


def write_saved_model(
    directory, signatures, variables, overwrite=False, call=None, notes=None, tables=()
):
    """Writes functions and the variables that they use.

    Args:
        directory: where to, as `check_place` lets it pass.
        signatures: dict of name to tf.function with one graph, whose inputs and outputs are named.
        variables: dict of a name in the checkpoint to a Keras variable, those that the functions
            use among them.
        overwrite: whether a SavedModel that is there is replaced.
        call: tf.function that the loaded object itself is, or None. Then the object has the
            attributes that `hub.KerasLayer` asks for, empty: there is nothing to train.
        notes: dict of further names in the checkpoint to str, or None.
        tables: lookup tables that the functions use.
    """
    with whole_directory(check_place(directory, overwrite)) as path:
        used = _used(signatures.values(), variables)
        used |= {name: tf.Variable(note, trainable=False) for name, note in (notes or {}).items()}
        root = tf.train.Checkpoint(state=used, tables=list(tables))
        if call is not None:
            root = tf.train.Checkpoint(
                state=used, variables=[], trainable_variables=[], regularization_losses=[]
            )
            root.__call__ = call
        tf.saved_model.save(root, os.fspath(path), signatures=signatures)


def _used(functions, variables):
    """The tf.Variables by name that the functions' graphs capture, each once."""
    captured = {
        id(tensor)
        for function in functions
        for tensor in function.get_concrete_function().captured_inputs
    }
    found = {}
    for name, variable in variables.items():
        if id(variable.value.handle) in captured:
            found.setdefault(id(variable.value), (name, variable.value))
    return dict(found.values())
