"""Graphs that are made once."""

import tensorflow as tf


def traced_once(function, *signature):
    """`function` as a graph that is made at the first call and serves all others.

    So an eager call is not run step by step, and is not traced again for each shape or layer.
    TensorFlow's own functions warn, with advice that does not fit, where a program makes several of
    a kind; and one that is an attribute of a layer would be saved with the model. `signature` has
    a `tf.TypeSpec` for each argument, with all dimensions open that may differ.
    """
    graphs = []

    def run(*arguments):
        if not graphs:
            made = tf.function(function, input_signature=signature, autograph=False)
            with tf.init_scope():  # Not within the graph of the first caller.
                graphs.append(made.get_concrete_function())
        return graphs[0](*arguments)

    return run
