"""The training loop of a bidirectional language model."""

import dataclasses
import math
import time
from typing import NamedTuple

import keras
import tensorflow as tf

from keras_elmo.pretraining.corpus import Windows

PREFETCHED_BATCHES = 8


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """How to train.

    Args:
        steps: int, batches of windows in all.
        batch_size: int, lanes.
        window: int, positions a lane and step.
        learning_rate: float, the peak of AdamW's rate.
        warmup_steps: int, steps of linear rise from 0; at most a tenth of `steps` is used.
        final_rate: float, share of the peak that the cosine ends at.
        weight_decay: float, on matrices only.
        clip_norm: float, bound of the gradients' global norm.
    """

    steps: int
    batch_size: int = 64
    window: int = 20
    learning_rate: float = 2e-3
    warmup_steps: int = 200
    final_rate: float = 0.02
    weight_decay: float = 0.01
    clip_norm: float = 5.0


class Progress(NamedTuple):
    """Where a run stands after a step.

    Attributes:
        step: int, steps done.
        learning_rate: float, the rate of that step.
        forward: float, mean training loss of the forward direction since the last report, in nats.
        backward: float, of the backward direction.
        tokens_per_second: float, positions a second since the last report.
        seconds_left: float, estimated.
    """

    step: int
    learning_rate: float
    forward: float
    backward: float
    tokens_per_second: float
    seconds_left: float


def train(model, batches, options, report_every=50):
    """Train a model in place; `loss = forward + backward`, each a mean over predicted tokens.

    Args:
        model: BidirectionalLanguageModel with a biLM that is not frozen.
        batches: iterable of Windows of `options.batch_size` by `options.window`.
        options: TrainingOptions.
        report_every: int, steps between reports.

    Yields:
        Progress, every `report_every` steps and after the last.

    Raises:
        FloatingPointError: the loss is NaN or infinite.
        ValueError: `batches` ended before `options.steps`.
    """
    optimizer = make_optimizer(model, options)
    step_function = _make_step(model, optimizer, options)
    states = model.zero_states(options.batch_size)
    sums, done, last, start = [0.0, 0.0], 0, 0, time.perf_counter()
    for batch in _dataset(batches, options):
        losses, states = step_function(batch, states)
        done += 1
        sums = [total + float(loss) for total, loss in zip(sums, losses, strict=True)]
        _check_finite(sums, done)
        if done % report_every == 0 or done == options.steps:
            seconds = time.perf_counter() - start
            n = done - last
            yield Progress(
                done,
                float(optimizer.learning_rate),
                sums[0] / n,
                sums[1] / n,
                n * options.batch_size * options.window / seconds,
                seconds / n * (options.steps - done),
            )
            sums, last, start = [0.0, 0.0], done, time.perf_counter()
        if done == options.steps:
            return
    raise ValueError(
        f"`batches` must give {options.steps} batches. Received {done}. Give more text, or fewer "
        "lanes, a shorter window or fewer steps."
    )


def make_optimizer(model, options):
    """AdamW with warm-up and cosine; weight decay on matrices, gradients clipped by global norm."""
    warmup = min(options.warmup_steps, options.steps // 10)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0 if warmup else options.learning_rate,
        max(1, options.steps - warmup),
        alpha=options.final_rate,
        warmup_target=options.learning_rate if warmup else None,
        warmup_steps=warmup,
    )
    optimizer = keras.optimizers.AdamW(
        schedule, weight_decay=options.weight_decay, global_clipnorm=options.clip_norm
    )
    vectors = [v for v in model.trainable_variables if len(v.shape) < 2]
    optimizer.exclude_from_weight_decay(var_list=vectors)
    optimizer.build(model.trainable_variables)
    return optimizer


def _make_step(model, optimizer, options):
    shape = (options.batch_size, options.window)
    windows = Windows(*(tf.TensorSpec(shape, tf.string) for _ in Windows._fields))
    variables = model.trainable_variables

    @tf.function(input_signature=[windows, _specs(model.zero_states(options.batch_size))])
    def step(batch, states):
        with tf.GradientTape() as tape:
            losses, states = model.window_losses(batch, states, training=True)
            loss = losses.forward + losses.backward
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)]
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return losses, states

    return step


def _specs(states):
    return tf.nest.map_structure(lambda state: tf.TensorSpec(state.shape, state.dtype), states)


def _dataset(batches, options):
    spec = tf.TensorSpec((options.batch_size, options.window), tf.string)
    signature = Windows(*(spec for _ in Windows._fields))
    dataset = tf.data.Dataset.from_generator(lambda: iter(batches), output_signature=signature)
    return dataset.prefetch(PREFETCHED_BATCHES)


def _check_finite(losses, step):
    if not all(map(math.isfinite, losses)):
        raise FloatingPointError(
            f"The training loss must be finite. Received: {losses} at step {step}. "
            "Train with a lower learning rate."
        )
