"""All options of pretraining, told once for `keras_elmo.pretrain` and for the command."""

import dataclasses

from keras_elmo.basics.options import (
    check_options,
    count,
    fraction,
    option,
    positive_float,
    positive_int,
    seed,
    share,
)
from keras_elmo.bilm.config import ACTIVATIONS, BiLMConfig
from keras_elmo.language_model.softmax.make_softmax import SOFTMAXES
from keras_elmo.text.rules import TOKENIZERS

RESETS = ("sentence", "random", "never")
# Each optimiser with its usual peak rate and schedule; Adagrad as published for ELMo.
OPTIMIZERS = {
    "adamw": (2e-3, "cosine"),
    "adam": (2e-3, "cosine"),
    "adagrad": (0.2, "constant"),
}
SCHEDULES = ("cosine", "constant")
STRATEGIES = ("auto", "one", "mirrored", "multi-worker")
PRECISIONS = {"float32": "float32", "bfloat16": "mixed_bfloat16", "float16": "mixed_float16"}
MODEL_DEFAULTS = BiLMConfig(
    lstm_dim=512,
    projection_dim=256,
    filters=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256)),
    n_highway=1,
    tokenizer="words",
)
MOST_EVALUATE_EVERY = 1000
ANY = object()
# Options with a meaning in some runs only: which other option decides, the value that it must
# have, and the value of the first where none is given.
USES = {
    "held_out_sentences": ("held_out", ANY, None),
    "patience": ("held_out", ANY, None),
    "init_vocabulary": ("init_from", ANY, None),
    "vocabulary_size": ("vocabulary", None, 20_000),
    "epochs": ("steps", None, 1.0),
    "warmup_steps": ("schedule", "cosine", 200),
    "final_rate": ("schedule", "cosine", 0.02),
    "weight_decay": ("optimizer", "adamw", 0.01),
    "reset_rate": ("resets", "random", 0.1),
}


def _of_source(default, help, **arguments):
    """An option whose default is that of the model to start from, if any."""
    return option(None, help, shown=default, **arguments)


def _of_use(name, help, **arguments):
    """An option of `USES`."""
    return option(None, help, shown=USES[name][2], **arguments)


def _filters(text):
    return tuple(tuple(int(n) for n in pair.split(":")) for pair in text.split(","))


@dataclasses.dataclass(frozen=True)
class TextOptions:
    """What is read."""

    held_out: str | None = option(
        None, "text that perplexity is measured on, never trained on", metavar="FILE"
    )
    held_out_sentences: int | None = option(None, "take only the first N of it", type=positive_int)
    tokenizer: str | None = _of_source(
        MODEL_DEFAULTS.tokenizer, "rule that splits a line", choices=TOKENIZERS
    )
    vocabulary: str | None = option(None, "words to predict; none: counted in TEXT", metavar="FILE")
    vocabulary_size: int | None = _of_use(
        "vocabulary_size", "the N most frequent words of TEXT", type=positive_int
    )


@dataclasses.dataclass(frozen=True)
class ModelOptions:
    """The biLM and its softmax; None: as the model of `init_from`, else the default."""

    init_from: str | None = option(
        None, "start from a preset, an output DIR, or a bilm-tf training checkpoint's directory; "
        "words that both vocabularies hold keep their softmax row", metavar="PLACE",
    )  # fmt: skip
    init_vocabulary: str | None = option(
        None, "vocabulary file of a bilm-tf checkpoint", metavar="FILE"
    )
    lstm_dim: int | None = _of_source(
        MODEL_DEFAULTS.lstm_dim, "size of the LSTM cells", type=positive_int
    )
    projection_dim: int | None = _of_source(
        MODEL_DEFAULTS.projection_dim, "size of a token vector and an output", type=positive_int
    )
    n_layers: int | None = _of_source(
        MODEL_DEFAULTS.n_layers, "LSTM layers a direction", type=positive_int
    )
    char_dim: int | None = _of_source(
        MODEL_DEFAULTS.char_dim, "size of a character vector", type=positive_int
    )
    filters: tuple[tuple[int, int], ...] | None = _of_source(
        ",".join(f"{width}:{n}" for width, n in MODEL_DEFAULTS.filters),
        "character convolutions, width:count", type=_filters, metavar="W:N,...",
    )  # fmt: skip
    n_highway: int | None = _of_source(MODEL_DEFAULTS.n_highway, "highway layers", type=count)
    activation: str | None = _of_source(
        MODEL_DEFAULTS.activation, "of the convolutions", choices=ACTIVATIONS
    )
    clip: float | None = _of_source(
        MODEL_DEFAULTS.cell_clip, "bound of the cells' and the projections' values",
        type=positive_float,
    )  # fmt: skip
    use_skip_connections: bool | None = option(
        None, "layers do not add their input", flag="--no-skip-connections", action="store_false"
    )
    softmax: str | None = _of_source(
        "adaptive", "head; perplexities are exact with each", choices=SOFTMAXES
    )
    samples: int | None = _of_source(
        "a tenth", "words that the sampled softmax draws a step", type=positive_int
    )


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """How steps are taken."""

    epochs: float | None = _of_use("epochs", "passes over TEXT", type=positive_float)
    steps: int | None = option(None, "steps, instead of epochs", type=positive_int)
    batch_size: int = option(64, "lanes of text of each device", type=positive_int)
    window: int = option(20, "positions a lane and step", type=positive_int)
    optimizer: str = option("adamw", "how to step", choices=OPTIMIZERS)
    learning_rate: float | None = option(
        None, "peak rate", type=positive_float,
        shown="the optimiser's: " + ", ".join(
            f"{name} {rate}, {plan}" for name, (rate, plan) in OPTIMIZERS.items()
        ),
    )  # fmt: skip
    schedule: str | None = option(None, "of the rate", choices=SCHEDULES, shown="the optimiser's")
    warmup_steps: int | None = _of_use(
        "warmup_steps", "linear rise before the cosine; at most a tenth of all steps", type=count
    )
    final_rate: float | None = _of_use(
        "final_rate", "share of the peak that the cosine ends at", type=share
    )
    weight_decay: float | None = _of_use("weight_decay", "of AdamW, on matrices", type=share)
    clip_norm: float = option(5.0, "bound of the global norm", type=positive_float)
    dropout: float = option(0.1, "share of the LSTM layers' inputs", type=share)
    resets: str = option(
        "sentence", "where lanes begin from zero state; inference does at each sentence",
        choices=RESETS,
    )  # fmt: skip
    reset_rate: float | None = _of_use(
        "reset_rate", "probability of a random reset, a lane and step", type=fraction
    )
    precision: str = option(
        "float32", "of the products; states and sums are float32. bfloat16 where the processor "
        "has it", choices=PRECISIONS,
    )  # fmt: skip
    seed: int = option(1, "of weights, shuffling, dropout, samples and random resets", type=seed)


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """When something is measured and written, and where it is computed."""

    evaluate_every: int | None = option(
        None, "steps between evaluations", type=positive_int,
        shown=f"those of an epoch, at most {MOST_EVALUATE_EVERY}",
    )  # fmt: skip
    patience: int | None = option(
        None, "end after N evaluations without a better combined perplexity", type=positive_int,
        shown="never",
    )  # fmt: skip
    checkpoint_every: int = option(500, "steps between checkpoints", type=positive_int)
    keep: int = option(3, "checkpoints that are kept", type=positive_int)
    report_every: int = option(50, "steps between log lines", type=positive_int)
    weights: str = option("float32", "in the files", choices=("float32", "float16"))
    tensorboard: str | None = option(None, "write TensorBoard events there too", metavar="DIR")
    strategy: str = option(
        "auto", "one device, all GPUs (mirrored), or the machines of TF_CONFIG (multi-worker); "
        "auto: what is there", choices=STRATEGIES,
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class PretrainingOptions(RunOptions, TrainingOptions, ModelOptions, TextOptions):
    """How a biLM is pretrained: the options of `keras_elmo-train bilm`, by the same names.

    Where None stands for a value that others decide (the optimiser its rate, say), that value is
    filled in; an option without a meaning in this run stays None.

    Raises:
        ValueError: a value is out of range, or given where it would have no effect.
    """

    def __post_init__(self):
        check_options(self)
        rate, schedule = OPTIMIZERS[self.optimizer]
        self._fill("learning_rate", rate)
        self._fill("schedule", schedule)
        for name, (other, needed, usual) in USES.items():
            found = getattr(self, other)
            if found is not None if needed is ANY else found == needed:
                self._fill(name, usual)
            elif getattr(self, name) is not None:
                raise ValueError(
                    f"`{name}` has a meaning {_where(other, needed)} only. Received: "
                    f"{name}={getattr(self, name)!r}, {other}={found!r}. Leave one of them out."
                )

    def _fill(self, name, value):
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)


def _where(name, needed):
    if needed is None:
        return f"without `{name}`"
    return f"with `{name}`" if needed is ANY else f"with `{name}` {needed}"
