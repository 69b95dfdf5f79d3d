"""The optimiser of pretraining."""

import keras
import tensorflow as tf

ADAGRAD_START = 1.0


class _Reduced:
    """A Keras optimiser for gradients that are already the mean over all replicas.

    Keras would add them up once more. The global norm that they are clipped by is that of the
    mean, so the mean has to be taken first.
    """

    def _all_reduce_sum_gradients(self, grads_and_vars):
        return list(grads_and_vars)

    def _clip_gradients(self, gradients):
        # As Keras does it, but without an array of squares, and scaled only where it must be.
        norm = tf.linalg.global_norm(gradients)
        return tf.cond(
            norm > self.global_clipnorm,
            lambda: tf.clip_by_global_norm(gradients, self.global_clipnorm, norm)[0],
            lambda: gradients,
        )


class _Fused(_Reduced):
    """Keras' Adam as TensorFlow's kernel for it: one pass over a weight instead of a dozen.

    Weight decay is one more.
    """

    def _apply_weight_decay(self, variables):
        pass  # `update_step` does.

    def update_step(self, gradient, variable, learning_rate):
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


class _Adam(_Fused, keras.optimizers.Adam):
    pass


class _AdamW(_Fused, keras.optimizers.AdamW):
    pass


class _Adagrad(_Reduced, keras.optimizers.Adagrad):
    pass


def make_optimizer(options, variables, scale_loss=False):
    """The optimiser that `options` names, built for `variables`.

    Weight decay is on matrices only; gradients are clipped by their global norm.

    Args:
        options: TrainingOptions.
        variables: list of Keras variables.
        scale_loss: bool, dynamic loss scaling, which float16 needs.
    """
    optimizer = _make(options)
    if options.optimizer == "adamw":
        optimizer.exclude_from_weight_decay(var_list=[v for v in variables if len(v.shape) < 2])
    if scale_loss:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    optimizer.build(variables)
    return optimizer


def _make(options):
    common = {"global_clipnorm": options.clip_norm, "name": options.optimizer}
    rate = _schedule(options)
    if options.optimizer == "adamw":
        return _AdamW(rate, weight_decay=options.weight_decay, **common)
    if options.optimizer == "adam":
        return _Adam(rate, **common)
    return _Adagrad(rate, initial_accumulator_value=ADAGRAD_START, **common)


def _schedule(options):
    if options.schedule == "constant":
        return options.learning_rate
    warmup = min(options.warmup_steps, options.steps // 10)
    return keras.optimizers.schedules.CosineDecay(
        0.0 if warmup else options.learning_rate,
        max(1, options.steps - warmup),
        alpha=options.final_rate,
        warmup_target=options.learning_rate if warmup else None,
        warmup_steps=warmup,
    )
