"""What Keras does not document is still there, and still asked for."""

import re
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.basics import keras_internals
from keras_elmo.basics.keras_internals import (
    HiddenFromSaver,
    OfFusedAdam,
    OfMeanGradients,
    StringLayer,
    is_functional,
    is_within_fit,
    layers_of,
    mask_of,
    set_mask,
    take_any_inputs,
)

PACKAGE = Path(keras_internals.__file__).parents[1]
PRIVATE = re.compile(
    r"_all_reduce_sum_gradients|_clip_gradients|_apply_weight_decay|_get_variable_index|"
    r"_use_weight_decay|_momentums|_velocities|_use_cached_eval_dataset|_flatten_layers|"
    r"\._functional\b|_convert_input_args|_allow_non_tensor_positional_args|_keras_mask|"
    r"keras\.src|def __dir__\(self|(train|test|predict)_function"
)


class Adam(OfFusedAdam, keras.optimizers.Adam):
    pass


class AdamW(OfFusedAdam, keras.optimizers.AdamW):
    pass


class Adagrad(OfMeanGradients, keras.optimizers.Adagrad):
    pass


def test_no_other_module_uses_a_private_name_of_keras():
    found = [
        f"{path.relative_to(PACKAGE)}: {match.group()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "keras_internals.py"
        for match in PRIVATE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(Adam, keras.optimizers.Adam), (AdamW, keras.optimizers.AdamW), (Adagrad, None)],
)
def test_keras_asks_for_every_override_of_an_optimizer(ours, theirs):
    hooks = {
        name
        for kind in ours.__mro__
        if kind.__module__ == keras_internals.__name__
        for name in vars(kind)
        if name.startswith("_") and not name.startswith("__")
    }
    base = theirs or keras.optimizers.Adagrad
    assert [name for name in hooks if not hasattr(base, name)] == []
    asked = set()

    def note(name):
        def call(self, *args):
            asked.add(name)
            return getattr(super(Spy, self), name)(*args)

        return call

    Spy = type("Spy", (ours,), {name: note(name) for name in hooks})
    variable = keras.Variable(np.ones(3, "float32"))
    Spy(0.1, global_clipnorm=1.0).apply([tf.ones(3)], [variable])
    assert asked == hooks


def test_adam_has_what_the_fused_step_takes():
    optimizer = AdamW(0.1)
    variable = keras.Variable(np.ones(3, "float32"))
    optimizer.build([variable])
    assert optimizer._get_variable_index(variable) == 0
    assert optimizer._use_weight_decay(variable) is True
    assert optimizer._momentums[0].value.handle is not optimizer._velocities[0].value.handle


def test_gradients_that_keras_would_sum_once_more_are_an_error():
    class Renamed(OfMeanGradients, keras.optimizers.SGD):
        def _backend_update_step(self, grads, trainable_variables, learning_rate):
            """What a Keras does that reduces under another name."""

    with pytest.raises(RuntimeError, match="_all_reduce_sum_gradients.*twice.*Renamed"):
        Renamed(0.1, global_clipnorm=1.0).apply([tf.ones(3)], [keras.Variable(np.ones(3))])


def test_string_layer_gets_texts_as_they_are_and_strings_as_symbols():
    class Lengths(StringLayer):
        def call(self, inputs):
            assert isinstance(inputs, (list, tf.Tensor, keras.KerasTensor))
            return tf.cast(tf.strings.length(tf.convert_to_tensor(inputs)), tf.float32)

        def compute_output_shape(self, input_shape):
            return input_shape

    assert Lengths()(["ab", "c"]).numpy().tolist() == [2.0, 1.0]
    model = keras.Sequential([Lengths()])
    model.build((None, 1))
    assert model.inputs[0].dtype == "string"
    assert not model.layers[0].supports_jit


def test_layer_without_the_switches_is_an_error():
    with pytest.raises(RuntimeError, match="no longer has `Layer._convert_input_args`"):
        take_any_inputs(object())


def test_mask_goes_where_keras_looks_for_it():
    class Masked(keras.layers.Layer):
        def call(self, x):
            return set_mask(tf.identity(x), tf.constant([[True, False]]))

    outputs = Masked()(tf.ones((1, 2, 3)))
    assert mask_of(outputs).numpy().tolist() == [[True, False]]
    assert mask_of(tf.ones(2)) is None
    pooled = keras.layers.GlobalAveragePooling1D()(outputs * 1)
    assert mask_of(pooled) is None
    embedded = keras.layers.Embedding(9, 4, mask_zero=True)(tf.constant([[1, 0]]))
    assert mask_of(embedded).numpy().tolist() == [[True, False]]


def test_layers_within_layers_are_found():
    inner = keras.layers.Dense(2)
    model = keras.Sequential([keras.Sequential([inner])])
    assert any(layer is inner for layer in layers_of(model))


def test_a_sequential_with_inputs_is_functional():
    assert is_functional(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]))
    assert not is_functional(keras.Sequential([keras.layers.Dense(2)]))


def test_fit_evaluates_with_an_option_of_its_own():
    seen = []

    class Model(keras.Sequential):
        def evaluate(self, *args, **kwargs):
            seen.append(is_within_fit(kwargs))
            return super().evaluate(*args, **kwargs)

    model = Model([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x = np.ones((2, 1))
    model.fit(x, x, validation_data=(x, x), verbose=0)
    model.evaluate(x, x, verbose=0)
    assert seen == [True, False]


def test_hidden_attributes_are_not_saved(tmp_path):
    @keras.saving.register_keras_serializable("test_keras_internals")
    class Holder(HiddenFromSaver, keras.layers.Layer):
        HIDDEN = ("inner",)

        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = keras.layers.Dense(1)

        def call(self, x):
            return self.inner(x)

    model = keras.Sequential([keras.Input((2,)), Holder()])
    model.save_weights(tmp_path / "model.weights.h5")
    other = keras.Sequential([keras.Input((2,)), Holder()])
    before = other.layers[0].inner.kernel.numpy()
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other.layers[0].inner.kernel, before)
