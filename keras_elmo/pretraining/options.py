"""How to train a bidirectional language model."""

import dataclasses

RESETS = ("sentence", "random", "never")
# Each optimiser with its usual peak rate and schedule; Adagrad as published for ELMo.
OPTIMIZERS = {
    "adamw": (2e-3, "cosine"),
    "adam": (2e-3, "cosine"),
    "adagrad": (0.2, "constant"),
}
SCHEDULES = ("cosine", "constant")


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """How to train.

    Args:
        steps: int, batches of windows in all.
        batch_size: int, lanes of each device.
        window: int, positions a lane and step.
        optimizer: one of `OPTIMIZERS`.
        learning_rate: float, the peak rate; None for the optimiser's usual one.
        schedule: one of `SCHEDULES`; None for the optimiser's usual one.
        warmup_steps: int, steps of linear rise from 0; at most a tenth of `steps` is used.
        final_rate: float, share of the peak that the cosine ends at.
        weight_decay: float, of AdamW, on matrices only.
        clip_norm: float, bound of the gradients' global norm.
        resets: where lanes begin from zero states: `"sentence"`, at each sentence, as inference
            does; `"random"`, a lane with probability `reset_rate` at a window's start, and else
            goes on over sentences; `"never"`, as published for ELMo.
        reset_rate: float, probability of a random reset.
        seed: int, what dropout, sampling and random resets are a function of.

    Raises:
        ValueError: an option is not one of its choices.
    """

    steps: int
    batch_size: int = 64
    window: int = 20
    optimizer: str = "adamw"
    learning_rate: float | None = None
    schedule: str | None = None
    warmup_steps: int = 200
    final_rate: float = 0.02
    weight_decay: float = 0.01
    clip_norm: float = 5.0
    resets: str = "sentence"
    reset_rate: float = 0.1
    seed: int = 1

    def __post_init__(self):
        _check("optimizer", self.optimizer, OPTIMIZERS)
        rate, schedule = OPTIMIZERS[self.optimizer]
        if self.learning_rate is None:
            object.__setattr__(self, "learning_rate", rate)
        if self.schedule is None:
            object.__setattr__(self, "schedule", schedule)
        _check("schedule", self.schedule, SCHEDULES)
        _check("resets", self.resets, RESETS)


def _check(name, value, choices):
    if value not in choices:
        raise ValueError(f"`{name}` must be one of {tuple(choices)}. Received: {value!r}.")
