"""`keras_elmo-train bilm`: the options of pretraining."""

import argparse

from keras_elmo.basics import options
from keras_elmo.bilm.config import ACTIVATIONS
from keras_elmo.cli.plots import PERPLEXITY, add_plots
from keras_elmo.language_model.softmax.make_softmax import SOFTMAXES
from keras_elmo.pretraining.machines import STRATEGIES
from keras_elmo.pretraining.options import OPTIMIZERS, RESETS, SCHEDULES, TrainingOptions
from keras_elmo.pretraining.pretrain import MODEL_DEFAULTS, PRECISIONS, VOCABULARY_SIZE, pretrain
from keras_elmo.pretraining.run import RunOptions
from keras_elmo.text.rules import TOKENIZERS

DESCRIPTION = """Pretrain a bidirectional language model: text files -> vocabulary -> windows ->
next-word losses of both directions, summed, over one shared softmax -> preset directory.
Perplexity is e to the mean nats, over the whole vocabulary, each sentence from zero state."""
EPILOG = """example:
  keras_elmo-train bilm 'corpus/train-*.txt.gz' --held-out corpus/valid.txt.gz --output my-bilm
  keras_elmo-train bilm (the same) --resume

written to DIR:
  options.json, weights.hdf5  the biLM, in the layout that AllenNLP and bilm-tf read too
  vocab.txt, softmax.hdf5     what its language models predict with
                              (all four of the best evaluation; without held-out text the last)
  training.csv                a line a report
  last/                       the same four files of the last step, where an earlier one was better
  checkpoints/                what --resume goes on from

Ctrl-C saves and ends; --resume goes on as if nothing had happened, after a kill too.
use it: keras_elmo.ELMoEmbedding("DIR"), keras_elmo.LanguageModel.load("DIR")"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    _add_data_options(parser.add_argument_group("text"))
    _add_model_options(parser.add_argument_group("model"))
    _add_training_options(parser.add_argument_group("training"))
    _add_run_options(parser.add_argument_group("the run"))
    _add_machine_options(parser.add_argument_group("machines"))


def _add_data_options(group):
    add = group.add_argument
    add(
        "text", nargs="+", metavar="TEXT",
        help="UTF-8 text, one sentence a line, plain or .gz; patterns such as 'a-*.txt' too",
    )  # fmt: skip
    add("--output", required=True, metavar="DIR", help="directory to write")
    earlier = group.add_mutually_exclusive_group()
    earlier.add_argument(
        "--overwrite", action="store_true", help="take the place of an earlier run in DIR"
    )
    earlier.add_argument(
        "--resume", action="store_true", help="go on from DIR's newest whole checkpoint"
    )
    add("--held-out", metavar="FILE", help="text that perplexity is measured on, never trained on")
    add(
        "--held-out-sentences", type=options.positive_int, metavar="N",
        help="take only the first N of it",
    )  # fmt: skip
    add(
        "--tokenizer", choices=TOKENIZERS,
        help="rule that splits a line (default: that of --init-from, else words)",
    )  # fmt: skip
    add("--vocabulary", metavar="FILE", help="words to predict; none: counted in TEXT")
    add(
        "--vocabulary-size", type=options.positive_int, metavar="N",
        help=f"the N most frequent words of TEXT (default: {VOCABULARY_SIZE})",
    )  # fmt: skip


def _add_model_options(group):
    """Options without a default here: those of --init-from, else `MODEL_DEFAULTS`."""
    count = {"type": options.positive_int, "metavar": "N"}

    def add(flag, default, text, **kwargs):
        group.add_argument(flag, help=f"{text} (default: {default})", **kwargs)

    config = MODEL_DEFAULTS
    group.add_argument(
        "--init-from", metavar="PLACE",
        help="start from a preset, an output DIR, or a bilm-tf training checkpoint's directory; "
        "words that both vocabularies hold keep their softmax row",
    )  # fmt: skip
    group.add_argument(
        "--init-vocabulary", metavar="FILE", help="vocabulary file of a bilm-tf checkpoint"
    )
    add("--lstm-dim", config.lstm_dim, "size of the LSTM cells", **count)
    add("--projection-dim", config.projection_dim, "size of a token vector and an output", **count)
    add("--n-layers", config.n_layers, "LSTM layers a direction", **count)
    add("--char-dim", config.char_dim, "size of a character vector", **count)
    filters = ",".join(f"{width}:{n}" for width, n in config.filters)
    add(
        "--filters", filters, "character convolutions, width:count",
        type=_filters, metavar="W:N,...",
    )  # fmt: skip
    add(
        "--n-highway", config.n_highway, "highway layers", type=options.count, metavar="N"
    )  # fmt: skip
    add("--activation", config.activation, "of the convolutions", choices=ACTIVATIONS)
    add(
        "--clip", config.cell_clip, "bound of the cells' and the projections' values",
        type=options.positive_float, metavar="X",
    )  # fmt: skip
    group.add_argument(
        "--no-skip-connections", action="store_true", default=None,
        help="layers do not add their input",
    )  # fmt: skip
    add("--softmax", "adaptive", "head; perplexities are exact with each", choices=SOFTMAXES)
    group.add_argument(
        "--samples", **count, help="words that the sampled softmax draws a step (default: a tenth)"
    )


def _add_training_options(group):
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--epochs", type=options.positive_float, default=1.0, metavar="X", help="passes over TEXT"
    )
    length.add_argument(
        "--steps", type=options.positive_int, metavar="N", help="steps, instead of epochs"
    )
    add = group.add_argument
    count = {"type": options.positive_int, "metavar": "N"}
    number = {"type": options.positive_float, "metavar": "X"}
    defaults = TrainingOptions
    add("--batch-size", **count, default=defaults.batch_size, help="lanes of text of each device")
    add("--window", **count, default=defaults.window, help="positions a lane and step")
    add("--optimizer", choices=OPTIMIZERS, default=defaults.optimizer, help="how to step")
    usual = ", ".join(f"{name} {rate}, {plan}" for name, (rate, plan) in OPTIMIZERS.items())
    add("--learning-rate", **number, help=f"peak rate (default: the optimiser's: {usual})")
    add("--schedule", choices=SCHEDULES, help="of the rate (default: the optimiser's)")
    add(
        "--warmup-steps", type=options.count, metavar="N",
        help="linear rise before the cosine; at most a tenth of all steps "
        f"(default: {defaults.warmup_steps})",
    )  # fmt: skip
    add(
        "--final-rate", type=options.share, metavar="X",
        help=f"share of the peak that the cosine ends at (default: {defaults.final_rate})",
    )  # fmt: skip
    add(
        "--weight-decay", type=options.share, metavar="X",
        help=f"of AdamW, on matrices (default: {defaults.weight_decay})",
    )  # fmt: skip
    add("--clip-norm", **number, default=defaults.clip_norm, help="bound of the global norm")
    add(
        "--dropout", type=options.share, default=0.1, metavar="X",
        help="share of the LSTM layers' inputs",
    )  # fmt: skip
    add(
        "--resets", choices=RESETS, default=defaults.resets,
        help="where lanes begin from zero state; inference does at each sentence",
    )  # fmt: skip
    add(
        "--reset-rate", type=options.fraction, metavar="X",
        help=f"probability of a random reset, a lane and step (default: {defaults.reset_rate})",
    )  # fmt: skip
    add(
        "--precision", choices=PRECISIONS, default="float32",
        help="of the products; states and sums are float32. bfloat16 where the processor has it",
    )  # fmt: skip
    add("--seed", type=options.seed, default=defaults.seed, metavar="N",
        help="of weights, shuffling, dropout, samples and random resets")  # fmt: skip


def _add_run_options(group):
    add = group.add_argument
    count = {"type": options.positive_int, "metavar": "N"}
    defaults = RunOptions
    add("--dry-run", action="store_true", help="print the plan, time a few steps and end")
    add(
        "--evaluate-every", **count,
        help=f"steps (default: those of an epoch, at most {defaults.evaluate_every})",
    )  # fmt: skip
    add(
        "--patience", **count,
        help="end after N evaluations without a better combined perplexity (default: never)",
    )  # fmt: skip
    add("--checkpoint-every", **count, default=defaults.checkpoint_every, help="steps")
    add("--keep", **count, default=defaults.keep, help="checkpoints that are kept")
    add("--report-every", **count, default=defaults.report_every, help="steps between log lines")
    add("--weights", choices=("float32", "float16"), default=defaults.weights, help="in the files")
    add("--tensorboard", metavar="DIR", help="write TensorBoard events there too")
    add_plots(group, f"{PERPLEXITY}, with the training loss, drawn anew at each evaluation")


def _add_machine_options(group):
    add = group.add_argument
    add(
        "--strategy", choices=STRATEGIES, default="auto",
        help="one device, all GPUs (mirrored), or the machines of TF_CONFIG (multi-worker); "
        "auto: what is there",
    )  # fmt: skip
    add(
        "--threads", type=options.positive_int, metavar="N",
        help="processor threads (default: all); with 1 a run can be repeated to the last bit",
    )  # fmt: skip


def _filters(text):
    try:
        pairs = tuple(tuple(int(n) for n in pair.split(":")) for pair in text.split(","))
    except ValueError:
        pairs = ()
    if not pairs or any(len(pair) != 2 or min(pair) < 1 for pair in pairs):
        raise argparse.ArgumentTypeError(f"must look like 1:32,2:64, not {text!r}")
    return pairs


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    return pretrain(args)
