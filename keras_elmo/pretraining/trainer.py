"""Training of a bidirectional language model, on one device or on many."""

import hashlib
import math
import time
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.pretraining.corpus import ShuffledLines
from keras_elmo.pretraining.lanes import Position
from keras_elmo.pretraining.optimizer import make_optimizer
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.pipeline import WindowPipeline


class StepResult(NamedTuple):
    """What one step gives back.

    Attributes:
        step: steps done.
        learning_rate: the rate of this step.
        forward: training loss of the forward direction in nats, the mean over replicas; sampled
            where the softmax is.
        backward: of the backward direction.
        seconds: the step's wall time, waiting for text included.
        waited: the part of `seconds` spent waiting for text.
        stop: sum of what the machines asked with: above 0, all stop after this step.
    """

    step: int
    learning_rate: float
    forward: float
    backward: float
    seconds: float
    waited: float
    stop: int


class Trainer:
    """Trains a model in place; `loss = forward + backward`, each a mean over predicted tokens.

    Everything that the next step depends on is in `state()`: a trainer that gets it back with
    `restore` takes the same steps.

    Args:
        model: one whose biLM is not frozen, made in the strategy's scope.
        options: with the number of `steps`.
        stream: what to train on.
        tokenizer: `"space"` or `"words"`.
        strategy: None for the current one. Each replica trains `options.batch_size` lanes;
            together they take the mean of the gradients.
    """

    def __init__(
        self,
        model: BidirectionalLanguageModel,
        options: PretrainingOptions,
        stream: ShuffledLines,
        tokenizer: str,
        strategy: tf.distribute.Strategy | None = None,
    ):
        self.model = model
        self.options = options
        self.stream = stream
        self.tokenizer = tokenizer
        self.strategy = strategy or tf.distribute.get_strategy()
        self.done = 0
        self._variables = model.trainable_variables
        with self.strategy.scope():
            scaled = model.bilm.compute_dtype == "float16"
            self.optimizer = make_optimizer(options, self._variables, scaled)
        self._step = tf.function(self._distributed_step, autograph=False)
        self._gather = tf.function(self._gather_lanes, autograph=False)
        zero_states = model.zero_states(options.batch_size)
        self._states = tf.nest.map_structure(self._deal_equally, zero_states)
        self._pipeline = self._open_pipeline()

    @property
    def lanes(self) -> int:
        """Lanes of text, of all replicas together."""
        return self._pipeline.n_lanes

    @property
    def positions_per_step(self) -> int:
        """Predicted positions a step and direction, of all replicas together."""
        return self.lanes * self.options.window

    def step(self, stop: int = 0) -> StepResult:
        """Take one step.

        Args:
            stop: above 0 to ask all machines to stop after it.

        Raises:
            FloatingPointError: the loss is NaN or infinite.
        """
        begin = time.perf_counter()
        windows = next(self._pipeline)
        waited = time.perf_counter() - begin
        values, self._states = self._step(
            windows, self._states, tf.constant(self.done), tf.constant(float(stop))
        )
        forward, backward, rate, stops = values.numpy().tolist()
        self.done += 1
        if not math.isfinite(forward + backward):
            raise FloatingPointError(
                f"The training loss must be finite. Received: {forward} forward, {backward} "
                f"backward at step {self.done}. Train with a lower learning rate."
            )
        seconds = time.perf_counter() - begin
        stop = round(stops * self.strategy.num_replicas_in_sync)
        return StepResult(self.done, rate, forward, backward, seconds, waited, stop)

    def _distributed_step(self, windows, states, step, stop):
        """One step of all replicas; gives the means of their values, and the states."""
        values, states = self.strategy.run(self._replica_step, (windows, states, step, stop))
        return self.strategy.reduce(tf.distribute.ReduceOp.MEAN, values, axis=None), states

    def _replica_step(self, windows, states, step, stop):
        replicas = tf.distribute.get_replica_context()
        draw = step * replicas.num_replicas_in_sync + replicas.replica_id_in_sync_group
        seed = tf.stack([self.options.seed % 2**31, draw])
        with tf.GradientTape() as tape:
            losses, states = self.model.window_losses(windows, states, seed, self._resets(seed))
            loss = self.optimizer.scale_loss(losses.forward + losses.backward)
        gradients = tape.gradient(loss, [variable.value for variable in self._variables])
        gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        gradients = replicas.all_reduce(tf.distribute.ReduceOp.MEAN, gradients)
        rate = tf.cast(self.optimizer.learning_rate, tf.float32)
        self.optimizer.apply(gradients, self._variables)
        return tf.stack([losses.forward, losses.backward, rate, stop]), states

    def _resets(self, seed):
        """The positions that begin from zero states; None where each sentence does."""
        if self.options.resets == "sentence":
            return None
        lanes, window = self.options.batch_size, self.options.window
        if self.options.resets == "never":
            return tf.zeros((lanes, window), tf.bool)
        drawn = tf.random.stateless_uniform((lanes, 1), tf.bitwise.invert(seed))
        return tf.pad(drawn < self.options.reset_rate, [[0, 0], [0, window - 1]])

    def all_agree(self, value: bytes) -> bool:
        """Whether a value is the same on all machines, which must all ask at the same time."""
        digest = np.frombuffer(hashlib.sha256(value).digest(), np.int64)[np.newaxis]
        own = {"digest": self._deal_equally(tf.constant(digest))}
        digests = self._of_all_machines(own)["digest"].numpy()
        return bool((digests == digests[0]).all())

    def state(self) -> dict[str, np.ndarray]:
        """All that the next step depends on, by name.

        All machines must ask after the same step; each gives the states of its own lanes.

        Raises:
            FloatingPointError: a weight is NaN or infinite.
        """
        arrays = {name: np.asarray(variable) for name, variable in self._named().items()}
        bad = [name for name, value in arrays.items() if not np.isfinite(value).all()]
        if bad:
            raise FloatingPointError(
                f"The weights must be finite. Received NaN or infinity in {bad[0]} after step "
                f"{self.done} ({len(bad)} arrays in all). Train with a lower learning rate."
            )
        gathered = self._of_all_machines(self._lane_values())
        arrays |= {name: value.numpy() for name, value in gathered.items()}
        arrays["step"] = np.array(self.done)
        return arrays

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `state` gave.

        Raises:
            ValueError: an array is missing or has another shape than here; nothing is set then.
        """
        self._check(arrays)
        for name, variable in self._named().items():
            variable.assign(arrays[name])
        states = [self._deal(arrays[name]) for name in self._lane_values() if "state" in name]
        self._states = tf.nest.pack_sequence_as(self._states, states)
        self._pipeline = self._open_pipeline(
            Position(*(arrays[f"lanes/{field}"] for field in Position._fields))
        )
        self.done = int(arrays["step"])

    def _check(self, arrays):
        expected = {name: tuple(variable.shape) for name, variable in self._named().items()}
        for name, value in self._lane_values().items():
            local = self.strategy.experimental_local_results(value)[0]
            expected[name] = (self.lanes, *local.shape[1:])
        expected["step"] = ()
        for name, shape in expected.items():
            found = arrays[name].shape if name in arrays else None
            if found != shape:
                raise ValueError(
                    f"A checkpoint must fit the model and the options. '{name}' must have shape "
                    f"{shape}. Received: {found} (None: missing). Resume with the options that "
                    "the run was started with."
                )

    def _named(self):
        """Model and optimiser variables by name."""
        named = {f"softmax/{k}": v for k, v in self.model.softmax.named_variables().items()}
        named |= {f"bilm/{k}": v for k, v in self.model.bilm.named_variables().items()}
        for number, variable in enumerate(self.optimizer.variables):
            named[f"optimizer/{number:03d}"] = variable
        return named

    def _lane_values(self):
        """What belongs to lanes, by name: replica values of `(batch_size, ...)`."""
        named = {f"states/{n}": v for n, v in enumerate(tf.nest.flatten(self._states))}
        first = self._pipeline.own.start
        for name, value in self._pipeline.position._asdict().items():
            named[f"lanes/{name}"] = self._deal(value, first)
        return named

    def _of_all_machines(self, values):
        """Values of lanes, by name, with those of all machines."""
        return values if self.strategy.num_replicas_in_sync == 1 else self._gather(values)

    def _gather_lanes(self, values):
        return {name: self.strategy.gather(value, axis=0) for name, value in values.items()}

    def _deal_equally(self, value):
        return self.strategy.experimental_distribute_values_from_function(lambda _: value)

    def _deal(self, values, first_lane=0):
        """Each replica's part of what belongs to the lanes from `first_lane` on."""
        size = self.options.batch_size

        def part(context):
            begin = context.replica_id_in_sync_group * size - first_lane
            return tf.constant(values[begin : begin + size])

        return self.strategy.experimental_distribute_values_from_function(part)

    def _open_pipeline(self, position=None):
        return WindowPipeline(
            self.stream,
            self.tokenizer,
            self.strategy,
            self.options.batch_size,
            self.options.window,
            position,
        )
