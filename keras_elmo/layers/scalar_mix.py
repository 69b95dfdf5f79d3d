"""The one trainable part of an ELMo embedding: a weighted sum of the biLM's layers."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_flag
from keras_elmo.basics.keras_internals import set_mask

# Added to the variance under the root, as in bilm-tf and AllenNLP.
LAYER_NORM_EPSILON = 1e-12
STARTS = ("initial_scalars", "fixed_weights", "fixed_scalars")


@keras.saving.register_keras_serializable(package="keras_elmo")
class ScalarMix(keras.layers.Layer):
    """Mixes layers into one vector a token: `gamma * sum_j softmax(s)_j * h_j`.

    Peters et al. (2018), equation 1: `s` are the L+1 `scalars`, `gamma` one scale, `h_j` layer j
    of the biLM. All of it is float32, whatever the dtype policy. The output is zero at padding.

    `layer_norm` shifts and scales each layer to mean 0 and variance 1 before the sum, without
    trainable parameters. Mean and variance are taken over one sentence: its valid positions and
    all dimensions. bilm-tf and AllenNLP take them over the whole batch instead, which makes a
    sentence's vectors depend on its neighbours.

    Args:
        initial_scalars: L+1 numbers to start `s` from (before softmax). None means all zero, which
            weighs the layers equally.
        initial_gamma: Number to start `gamma` from; None means 1.
        fixed_weights: L+1 numbers >= 0 that sum to 1: the layer weights themselves. Then only
            `gamma` is trained. Excludes `fixed_scalars` and `initial_scalars`.
        fixed_scalars: L+1 numbers of which the softmax is taken. Then only `gamma` is trained.
            Excludes `fixed_weights` and `initial_scalars`.
        layer_norm: Whether to normalise each layer over the sentence's valid positions.
        l2: Strength of the L2 penalty on the scalars, `l2 * sum(s ** 2)`; `gamma` has none.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        layers: float32 `(batch, L+1, time, dim)`.
        mask: bool `(batch, time)`, True at valid positions. None means that all are valid.

    Returns:
        float32 `(batch, time, dim)`, with `mask` as its Keras mask.

    Raises:
        ValueError: If more than one of `fixed_weights`, `fixed_scalars`, `initial_scalars` is
            given, if one has not L+1 numbers, if `fixed_weights` are not weights, or `l2` < 0.

    Example:

    >>> mix = ScalarMix(fixed_weights=[0.0, 0.25, 0.75])
    >>> mix(tf.ones((2, 3, 5, 16))).shape
    TensorShape([2, 5, 16])

    Source: `weight_layers` of bilm-tf, `ScalarMix` of AllenNLP.
    """

    def __init__(
        self,
        initial_scalars: Sequence[float] | None = None,
        initial_gamma: float | None = None,
        fixed_weights: Sequence[float] | None = None,
        fixed_scalars: Sequence[float] | None = None,
        layer_norm: bool = False,
        l2: float = 0.0,
        **kwargs: Any,
    ):
        kwargs["autocast"] = False
        kwargs["dtype"] = "float32"
        super().__init__(**kwargs)
        self.initial_scalars = _numbers(initial_scalars, "initial_scalars")
        self.initial_gamma = None
        if initial_gamma is not None:
            self.initial_gamma = _number("initial_gamma", initial_gamma)
        self.fixed_weights = _numbers(fixed_weights, "fixed_weights")
        self.fixed_scalars = _numbers(fixed_scalars, "fixed_scalars")
        self.layer_norm = check_flag("layer_norm", layer_norm)
        self.l2 = _number("l2", l2)
        self.supports_masking = True
        self.scalars = None
        self.gamma = None
        self._check_arguments()

    def build(self, input_shape):
        num_layers = input_shape[1]
        for name in STARTS:
            self._check_length(name, num_layers)
        if self.fixed_weights is None and self.fixed_scalars is None:
            self.scalars = self.add_weight(
                name="scalars",
                shape=(num_layers,),
                initializer=_start(self.initial_scalars or (0.0,) * num_layers),
                regularizer=keras.regularizers.L2(self.l2) if self.l2 else None,
            )
        gamma = 1.0 if self.initial_gamma is None else self.initial_gamma
        self.gamma = self.add_weight(name="gamma", shape=(), initializer=_start(gamma))

    def call(self, layers, mask=None):
        layers = tf.cast(layers, "float32")
        if self.layer_norm:
            layers = normalize_layers(layers, mask)
        scales = tf.unstack(self.gamma * self._weights(), num=layers.shape[1])
        # Several times faster, gradient included, than a product or a sum over the axis.
        mixed = tf.add_n(
            [scale * x for scale, x in zip(scales, tf.unstack(layers, axis=1), strict=True)]
        )
        if mask is None:
            return mixed
        return set_mask(mixed * tf.cast(mask, mixed.dtype)[:, :, tf.newaxis], mask)

    @property
    def layer_weights(self) -> np.ndarray:
        """NumPy float32 `(L+1,)`: the weights of the layers as used, >= 0, with sum 1."""
        return np.asarray(self._weights())

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *input_shape[2:])

    def get_config(self):
        config = super().get_config()
        del config["dtype"]
        return {
            **config,
            "initial_scalars": _listed(self.initial_scalars),
            "initial_gamma": self.initial_gamma,
            "fixed_weights": _listed(self.fixed_weights),
            "fixed_scalars": _listed(self.fixed_scalars),
            "layer_norm": self.layer_norm,
            "l2": self.l2,
        }

    def _weights(self):
        if self.fixed_weights is not None:
            return tf.constant(self.fixed_weights, "float32")
        if self.fixed_scalars is not None:
            return tf.nn.softmax(tf.constant(self.fixed_scalars, "float32"))
        return tf.nn.softmax(tf.convert_to_tensor(self.scalars))

    def _check_arguments(self):
        given = [name for name in STARTS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                "At most one of `initial_scalars`, `fixed_weights` and `fixed_scalars` may be "
                f"given. Received: {' and '.join(f'`{name}`' for name in given)}. "
                "Give the one that sets the layer weights and leave out the rest."
            )
        if self.fixed_weights is not None:
            _check_weights(self.fixed_weights)
        if not self.l2 >= 0.0:
            raise ValueError(
                f"`l2` must be a number >= 0. Received: l2={self.l2}. Use 0 for no penalty."
            )

    def _check_length(self, name, num_layers):
        values = getattr(self, name)
        if values is not None and len(values) != num_layers:
            raise ValueError(
                f"`{name}` must have one number for each of the {num_layers} layers (token vector "
                f"and LSTM layers). Received: {len(values)} numbers, {list(values)}. "
                f"Give {num_layers} numbers, the token vector's first."
            )


def copies_of(
    mix: ScalarMix, number: int, source: keras.layers.Layer, trainable: bool = True
) -> list[ScalarMix]:
    """New built mixes like one, with its weights where it is built.

    Args:
        mix: what tells neither scalars nor weights, or no gamma, starts as the source's own.
        number: how many.
        source: what gives the layers to mix: `num_layers` of the size `output_dim`, and its own
            `scalars` and `gamma`, or None.
        trainable: whether they train, where `mix` does.
    """
    if not isinstance(mix, ScalarMix):
        raise TypeError(
            "`mix` must be a keras_elmo.ScalarMix, or None for the default. Received: "
            f"mix={mix!r:.60}. Give for example mix=keras_elmo.ScalarMix(layer_norm=True)."
        )
    config = mix.get_config()
    if all(config[name] is None for name in STARTS) and any(source.scalars or ()):
        config["initial_scalars"] = source.scalars
    if config["initial_gamma"] is None:
        config["initial_gamma"] = source.gamma
    config["trainable"] = bool(mix.trainable and trainable)
    copies = [ScalarMix.from_config({**config, "name": f"mix_{k}"}) for k in range(number)]
    for copy in copies:
        copy.build((None, source.num_layers, None, source.output_dim))
        if mix.built:
            copy.set_weights(mix.get_weights())
    return copies


def normalize_layers(layers: tf.Tensor, mask: tf.Tensor | None = None) -> tf.Tensor:
    """Gives each layer mean 0 and variance 1 over the sentence's valid positions and dimensions.

    Args:
        layers: float32 `(batch, L+1, time, dim)`.
        mask: bool `(batch, time)`; None means that all positions are valid.

    Returns:
        float32 `(batch, L+1, time, dim)`, zero at padding and for a sentence without tokens.
    """
    valid = tf.ones_like(layers[:, :1, :, :1])
    if mask is not None:
        valid = tf.cast(mask, layers.dtype)[:, tf.newaxis, :, tf.newaxis]
    dim = tf.cast(tf.shape(layers)[-1], layers.dtype)
    count = tf.reduce_sum(valid, axis=(1, 2, 3), keepdims=True) * dim

    def mean(x):
        return tf.math.divide_no_nan(tf.reduce_sum(x, axis=(2, 3), keepdims=True), count)

    centered = (layers - mean(layers * valid)) * valid
    return centered * tf.math.rsqrt(mean(tf.square(centered)) + LAYER_NORM_EPSILON)


def _number(name, value):
    """`value` as a float; raises unless it is a finite number."""
    if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise ValueError(f"`{name}` must be a finite number. Received: {name}={value!r}.")
    return float(value)


def _numbers(values, name):
    """`values` as a tuple of floats; None stays None."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ValueError(
            f"`{name}` must be a flat list of finite numbers, one a layer. "
            f"Received: {name}={values!r}. Give for example [0.0, 0.0, 0.0] for three layers."
        )
    return tuple(float(value) for value in array)


def _check_weights(weights):
    total = sum(weights)
    if min(weights, default=-1.0) < 0.0 or abs(total - 1.0) > 1e-6:
        raise ValueError(
            "`fixed_weights` must be numbers >= 0 that sum to 1 (within 1e-6). "
            f"Received: {list(weights)}, sum {total}. "
            "Normalise them first, or use `fixed_scalars` for numbers before softmax."
        )


def _start(values):
    """An initializer that gives `values`, a number or a tuple of numbers."""
    return lambda shape, dtype=None: tf.constant(values, dtype or "float32", shape)


def _listed(values):
    return None if values is None else list(values)
