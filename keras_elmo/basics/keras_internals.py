"""Everything that this package uses of Keras and that Keras does not document: nowhere else.

Each name stands here with its reason. `tests/basics/test_keras_internals.py` fails, and says which,
when a version of Keras no longer has one or no longer asks for it; where that would go unnoticed
in a user's process, the code here raises.
"""

from collections.abc import Iterable

import keras
import tensorflow as tf

CHANGED = (
    "Keras {version} no longer {what}, which keras_elmo relies on ({why}). Received: "
    "{received}. Install an earlier Keras (`pip install 'keras<{version}'`) and report this."
)


def _changed(what, why, received):
    version = keras.__version__
    return RuntimeError(CHANGED.format(version=version, what=what, why=why, received=received))


class StringLayer(keras.layers.Layer):
    """A layer that takes strings: as tensors, and as Python containers that it reads itself.

    Keras would convert what is passed to float tensors and refuse lists of texts. It makes the
    `Input` of a model that has none in a layer's compute dtype, hence "string"; all weights are
    float32. XLA compiles no operation on strings.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        take_any_inputs(self)
        self.supports_jit = False

    @property
    def compute_dtype(self) -> str:
        """The string dtype, so that Keras makes a string Input where a model has none."""
        return "string"

    @property
    def variable_dtype(self) -> str:
        """The string dtype, as `compute_dtype`; all weights are float32."""
        return "string"


def take_any_inputs(layer: keras.layers.Layer) -> None:
    """Has Keras pass a layer its inputs as they are: no conversion, no check of their type."""
    for name, value in (
        ("_convert_input_args", False),
        ("_allow_non_tensor_positional_args", True),
    ):
        if not hasattr(layer, name):
            raise _changed(f"has `Layer.{name}`", "layers that read texts", "a layer without it")
        setattr(layer, name, value)


class HiddenFromSaver:
    """A layer whose attributes in `HIDDEN` Keras does not save: the layer itself does.

    Keras' saver finds what to save among the names that `dir` gives.
    """

    HIDDEN: tuple[str, ...] = ()

    def __dir__(self):
        return [name for name in super().__dir__() if name not in self.HIDDEN]


def set_mask(tensor: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tensor with a Keras mask `(batch, time)` that a layer has worked out itself."""
    tensor._keras_mask = mask
    return tensor


def mask_of(tensor: tf.Tensor) -> tf.Tensor | None:
    """The Keras mask of a tensor, or None."""
    return getattr(tensor, "_keras_mask", None)


def layers_of(model: keras.Model) -> Iterable[keras.layers.Layer]:
    """Every layer of a model, itself first, those inside of other layers too."""
    return model._flatten_layers()


def is_functional(model: keras.Sequential) -> bool:
    """Whether a Sequential knows the inputs that it was built on."""
    return model.built and bool(model._functional)


def is_within_fit(options: dict) -> bool:
    """Whether `evaluate` was called with these options by Keras' own `fit`."""
    return "_use_cached_eval_dataset" in options


class StartsWithEpochOfModel:
    """A model whose `fit` begins with the epoch that a callback has set on another, `self.model`.

    `BackupAndRestore` does so, and Keras asks the object that trains.
    """

    @property
    def _initial_epoch(self):
        return self.model._initial_epoch

    @_initial_epoch.setter
    def _initial_epoch(self, value):
        pass  # Keras sets its default.


class OfMeanGradients:
    """Makes of a Keras optimiser one for gradients that are the mean over all replicas already.

    Keras would add them up over the replicas once more. The global norm that they are clipped by
    is that of the mean, so the mean has to be taken first.

    Raises:
        RuntimeError: from `apply`, where Keras would have summed them nevertheless.
    """

    def apply(self, grads, trainable_variables=None):
        """Takes a step, as `keras.optimizers.Optimizer.apply`."""
        self._was_asked_to_sum = False
        super().apply(grads, trainable_variables)
        if not self._was_asked_to_sum:
            raise _changed(
                "sums gradients by `_all_reduce_sum_gradients`",
                "training on several devices would sum them twice",
                f"no call of it in `{type(self).__name__}.apply`",
            )

    def _all_reduce_sum_gradients(self, grads_and_vars):
        self._was_asked_to_sum = True
        return list(grads_and_vars)

    def _clip_gradients(self, gradients):
        # As Keras does it, but without an array of squares, and scaled only where it must be.
        norm = tf.linalg.global_norm(gradients)
        return tf.cond(
            norm > self.global_clipnorm,
            lambda: tf.clip_by_global_norm(gradients, self.global_clipnorm, norm)[0],
            lambda: gradients,
        )


class OfFusedAdam(OfMeanGradients):
    """Keras' Adam as TensorFlow's kernel for it: one pass over a weight instead of a dozen.

    Weight decay is one more.
    """

    def _apply_weight_decay(self, variables):
        pass  # `update_step` does.

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable, as `keras.optimizers.Optimizer.update_step`."""
        step = tf.cast(self.iterations + 1, variable.dtype)
        number = self._get_variable_index(variable)
        if self.weight_decay and self._use_weight_decay(variable):
            variable.assign(variable * (1.0 - self.weight_decay * learning_rate))
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[number].value.handle,
            v=self._velocities[number].value.handle,
            beta1_power=self.beta_1**step,
            beta2_power=self.beta_2**step,
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=gradient,
        )
