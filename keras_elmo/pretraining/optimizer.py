"""The optimiser of pretraining."""

import keras

from keras_elmo.basics.keras_internals import OfFusedAdam, OfMeanGradients
from keras_elmo.pretraining.options import PretrainingOptions

ADAGRAD_START = 1.0


class _Adam(OfFusedAdam, keras.optimizers.Adam):
    pass


class _AdamW(OfFusedAdam, keras.optimizers.AdamW):
    pass


class _Adagrad(OfMeanGradients, keras.optimizers.Adagrad):
    pass


def make_optimizer(
    options: PretrainingOptions, variables: list[keras.Variable], scale_loss: bool = False
) -> keras.optimizers.Optimizer:
    """The optimiser that `options` names, built for `variables`.

    Weight decay is on matrices only; gradients are clipped by their global norm.

    Args:
        options: with the number of `steps`.
        variables: what is trained.
        scale_loss: whether to scale the loss dynamically, which float16 needs.
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
