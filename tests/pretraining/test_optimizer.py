"""The optimisers take the steps that Keras' take."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.pretraining.optimizer import make_optimizer
from keras_elmo.pretraining.options import PretrainingOptions

SHAPES = ((4, 3), (3,), (2, 3, 2))
KERAS = {
    "adam": keras.optimizers.Adam,
    "adamw": lambda **kwargs: keras.optimizers.AdamW(weight_decay=0.3, **kwargs),
    "adagrad": lambda **kwargs: keras.optimizers.Adagrad(initial_accumulator_value=1.0, **kwargs),
}


def variables():
    rng = np.random.default_rng(1)
    return [keras.Variable(rng.normal(size=shape).astype("float32")) for shape in SHAPES]


def take_steps(optimizer, variables, scale):
    rng = np.random.default_rng(2)
    for _ in range(4):
        gradients = [
            tf.constant(rng.normal(size=shape, scale=scale), "float32") for shape in SHAPES
        ]
        tf.function(lambda gradients=gradients: optimizer.apply(gradients, variables))()
    return [np.asarray(variable) for variable in variables]


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("scale", [0.1, 10.0])  # below the bound of the norm, and above
def test_steps_are_those_of_keras(name, scale):
    options = PretrainingOptions(
        steps=100, optimizer=name, learning_rate=0.05,
        schedule="constant", clip_norm=2.0,
        **({"weight_decay": 0.3} if name == "adamw" else {}),
    )  # fmt: skip
    ours, theirs = variables(), variables()
    expected = KERAS[name](learning_rate=0.05, global_clipnorm=2.0)
    if name == "adamw":
        expected.exclude_from_weight_decay(var_list=[theirs[1]])
    expected.build(theirs)
    found = take_steps(make_optimizer(options, ours), ours, scale)
    for one, other in zip(found, take_steps(expected, theirs, scale), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_rate_warms_up_and_ends_at_its_share():
    options = PretrainingOptions(steps=100, learning_rate=0.01, final_rate=0.1)
    schedule = make_optimizer(options, variables())._learning_rate
    rates = [float(schedule(step)) for step in (0, 5, 10, 100)]
    assert rates == pytest.approx([0.0, 0.005, 0.01, 0.001])


def test_weight_decay_is_for_matrices():
    decayed = variables()
    optimizer = make_optimizer(PretrainingOptions(steps=10), decayed)
    for variable in decayed:
        assert optimizer._use_weight_decay(variable) == (len(variable.shape) > 1)
