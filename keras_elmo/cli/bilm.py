"""`keras_elmo-train bilm`: pretrain a biLM from text files."""

import argparse
import csv
import glob
import itertools
import os
import time

import keras
from tqdm import tqdm

from keras_elmo.bilm import BiLM, BiLMConfig
from keras_elmo.cli.errors import UserError
from keras_elmo.pretraining.corpus import (
    count_words,
    read_sentences,
    shuffled_sentences,
    windows,
)
from keras_elmo.pretraining.evaluation import evaluate
from keras_elmo.pretraining.files import save_language_model
from keras_elmo.pretraining.language_model import BidirectionalLanguageModel
from keras_elmo.pretraining.softmax import SOFTMAXES, make_softmax
from keras_elmo.pretraining.trainer import TrainingOptions, train
from keras_elmo.text.tokenize import TOKENIZERS
from keras_elmo.text.vocabulary import Vocabulary

PRECISIONS = {"float32": "float32", "bfloat16": "mixed_bfloat16"}
LOG = "training.csv"
LOG_FIELDS = (
    "step",
    "epoch",
    "learning_rate",
    "training_loss_forward",
    "training_loss_backward",
    "tokens_per_second",
    "held_out_forward",
    "held_out_backward",
    "held_out_combined",
)
EXAMPLE = """\
example:
  keras_elmo-train bilm 'corpus/train-*.txt.gz' --held-out corpus/valid.txt.gz \\
      --tokenizer words --epochs 1 --output my-bilm

The output directory is a preset: ELMoEmbedding("my-bilm"), BiLM.load("my-bilm").
"""


def add_parser(subparsers):
    """Add the `bilm` subcommand to `keras_elmo-train`."""
    parser = subparsers.add_parser(
        "bilm",
        help="pretrain a bidirectional language model from text files",
        description="Pretrain a biLM: text files -> vocabulary -> windows -> forward and backward "
        "next-word losses, summed, one shared softmax -> preset directory.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    _add_data_arguments(parser)
    _add_model_arguments(parser)
    _add_training_arguments(parser)


def _add_data_arguments(parser):
    group = parser.add_argument_group("text")
    group.add_argument(
        "text", nargs="+", metavar="TEXT",
        help="text files, one sentence a line, UTF-8, plain or .gz; patterns such as 'a-*.txt'",
    )  # fmt: skip
    group.add_argument("--output", required=True, metavar="DIR", help="preset directory to write")
    group.add_argument("--overwrite", action="store_true", help="write into a DIR that has files")
    group.add_argument("--held-out", metavar="FILE", help="text that perplexity is measured on")
    group.add_argument(
        "--held-out-sentences", type=_positive, metavar="N",
        help="measure on the first N held-out sentences during training (default: all); the last "
        "measurement always takes all",
    )  # fmt: skip
    group.add_argument(
        "--tokenizer", choices=TOKENIZERS, default="words",
        help="how lines are split into tokens (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--vocabulary", metavar="FILE", help="words to predict (default: counted in TEXT)"
    )
    group.add_argument(
        "--vocabulary-size", type=_positive, default=20_000, metavar="N",
        help="the N most frequent words of TEXT (default: %(default)s)",
    )  # fmt: skip


def _add_model_arguments(parser):
    group = parser.add_argument_group("model")
    add = group.add_argument
    default = "(default: %(default)s)"
    add("--lstm-dim", type=_positive, default=1024, metavar="N", help=f"LSTM cell {default}")
    add("--projection-dim", type=_positive, default=128, metavar="N",
        help=f"token vector and one direction's output {default}")  # fmt: skip
    add("--n-layers", type=_positive, default=2, metavar="N", help=f"LSTM layers {default}")
    add("--char-dim", type=_positive, default=16, metavar="N", help=f"character vector {default}")
    add("--filters", type=_filters, default="1:32,2:32,3:64,4:128,5:256", metavar="W:N,...",
        help=f"character convolutions, width:count {default}")  # fmt: skip
    add("--n-highway", type=int, default=1, metavar="N", help=f"highway layers {default}")
    add("--activation", choices=("relu", "tanh"), default="relu",
        help=f"of the convolutions {default}")  # fmt: skip
    add("--clip", type=float, default=3.0, metavar="X",
        help=f"bound of cell and projection values {default}")  # fmt: skip
    add("--no-skip-connections", action="store_true", help="layers do not add their input")
    add("--softmax", choices=SOFTMAXES, default="adaptive",
        help=f"both give exact probabilities of the whole vocabulary {default}")  # fmt: skip


def _add_training_arguments(parser):
    group = parser.add_argument_group("training")
    add = group.add_argument
    default = "(default: %(default)s)"
    length = group.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=float, default=1.0, metavar="X",
                        help=f"passes over TEXT {default}")  # fmt: skip
    length.add_argument("--steps", type=_positive, metavar="N", help="steps instead of epochs")
    add("--batch-size", type=_positive, default=64, metavar="N",
        help=f"lanes of text a step {default}")  # fmt: skip
    add("--window", type=_positive, default=20, metavar="N",
        help=f"positions a lane and step {default}")  # fmt: skip
    add("--learning-rate", type=float, default=2e-3, metavar="X",
        help=f"peak of AdamW's rate, after warm-up and before the cosine {default}")  # fmt: skip
    add("--dropout", type=float, default=0.1, metavar="X",
        help=f"share of the LSTM layers' inputs {default}")  # fmt: skip
    add("--precision", choices=sorted(PRECISIONS), default="float32",
        help="of the products; bfloat16 is faster where the processor has it, states stay "
        f"float32 {default}")  # fmt: skip
    add("--weights", choices=("float32", "float16"), default="float32",
        help=f"dtype of the written weights {default}")  # fmt: skip
    add("--evaluate-every", type=_positive, default=1000, metavar="N",
        help=f"steps between held-out perplexity and writing {default}")  # fmt: skip
    add("--report-every", type=_positive, default=50, metavar="N",
        help=f"steps between lines of {LOG} {default}")  # fmt: skip
    add("--seed", type=int, default=1, metavar="N", help=f"of weights and shuffling {default}")


def _positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return value


def _filters(text):
    try:
        return tuple(tuple(int(n) for n in pair.split(":", 1)) for pair in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must look like 1:32,2:64, not {text!r}") from None


def run(args):
    """Train as the arguments say; returns the exit status."""
    paths = _find(args.text)
    held_out_paths = _find([args.held_out]) if args.held_out else []
    _check_output(args)
    try:
        config = _config(args)
        held_out = list(read_sentences(held_out_paths, args.tokenizer))
        print(f"reading {len(paths)} file(s)")
        counts, n_sentences = count_words(read_sentences(paths, args.tokenizer))
        vocabulary = _vocabulary(args, counts)
    except (ValueError, TypeError, OSError) as error:
        raise UserError(str(error)) from None
    if not n_sentences:
        raise UserError(f"{args.text[0]}: the text must hold at least one sentence, found none")
    if args.held_out and not held_out:
        raise UserError(f"{args.held_out}: the held-out text must hold a sentence, found none")
    # One position more than its words for each sentence: its boundary.
    positions = sum(counts.values()) + n_sentences
    keras.utils.set_random_seed(args.seed)
    model = _model(args, config, vocabulary)
    options = _options(args, positions)
    _print_plan(args, counts, n_sentences, model, options, positions)
    _train(args, paths, held_out, model, options, positions)
    return 0


def _find(patterns):
    paths = []
    for pattern in patterns:
        found = sorted(glob.glob(pattern)) or [pattern]
        for path in found:
            if not os.path.isfile(path):
                raise UserError(f"{path}: no such file; give text files, one sentence a line")
            if not os.access(path, os.R_OK):
                raise UserError(f"{path}: cannot be read; check its permissions")
        paths.extend(found)
    return paths


def _check_output(args):
    if os.path.isfile(args.output):
        raise UserError(f"{args.output}: --output must be a directory, found a file")
    if os.path.isdir(args.output) and os.listdir(args.output) and not args.overwrite:
        raise UserError(
            f"{args.output}: --output must be new or empty, found files; give another directory "
            "or --overwrite"
        )


def _config(args):
    filters = _filters(args.filters) if isinstance(args.filters, str) else args.filters
    return BiLMConfig(
        lstm_dim=args.lstm_dim,
        projection_dim=args.projection_dim,
        n_layers=args.n_layers,
        cell_clip=args.clip,
        proj_clip=args.clip,
        use_skip_connections=not args.no_skip_connections,
        char_dim=args.char_dim,
        filters=filters,
        n_highway=args.n_highway,
        activation=args.activation,
        tokenizer=args.tokenizer,
    )


def _vocabulary(args, counts):
    if args.vocabulary:
        return Vocabulary.read(args.vocabulary)
    return Vocabulary.build(counts, max_size=args.vocabulary_size)


def _model(args, config, vocabulary):
    dtype = PRECISIONS[args.precision]
    bilm = BiLM(config, frozen=False, dropout=args.dropout, dtype=dtype)
    softmax = make_softmax(args.softmax, len(vocabulary), config.projection_dim, dtype=dtype)
    return BidirectionalLanguageModel(bilm, softmax, vocabulary)


def _options(args, positions):
    steps = args.steps or round(args.epochs * positions / (args.batch_size * args.window))
    return TrainingOptions(
        steps=max(1, steps),
        batch_size=args.batch_size,
        window=args.window,
        learning_rate=args.learning_rate,
    )


def _print_plan(args, counts, n_sentences, model, options, positions):
    tokens = sum(counts.values())
    unknown = sum(n for word, n in counts.items() if word not in model.vocabulary)
    step_size = options.batch_size * options.window
    print(
        f"{n_sentences:,} sentences, {tokens:,} tokens, {len(counts):,} distinct words\n"
        f"vocabulary {len(model.vocabulary):,}, unknown {unknown / tokens:.2%} of the tokens\n"
        f"biLM {model.bilm.count_params():,} parameters, "
        f"softmax ({args.softmax}) {model.softmax.count_params():,}\n"
        f"{options.steps:,} steps of {step_size:,} positions, "
        f"{options.steps * step_size / positions:.2f} epochs",
        flush=True,
    )


def _train(args, paths, held_out, model, options, positions):
    batches = windows(
        shuffled_sentences(paths, args.tokenizer, args.seed), options.batch_size, options.window
    )
    started = time.perf_counter()
    every = min(args.report_every, args.evaluate_every)
    os.makedirs(args.output, exist_ok=True)
    with (
        open(os.path.join(args.output, LOG), "w", newline="", encoding="utf-8") as log,
        tqdm(total=options.steps, unit="step", dynamic_ncols=True) as bar,
    ):
        writer = csv.DictWriter(log, LOG_FIELDS)
        writer.writeheader()
        for progress in train(model, batches, options, every):
            row = _row(progress, options, positions)
            bar.update(progress.step - bar.n)
            bar.set_postfix_str(_postfix(row))
            last = progress.step == options.steps
            if last or progress.step % args.evaluate_every < every:
                row.update(_evaluation(args, bar, model, held_out, progress.step, last))
                save_language_model(model, args.output, args.weights)
            writer.writerow(row)
            log.flush()
    print(f"{args.output} written after {time.perf_counter() - started:,.0f} seconds")


def _row(progress, options, positions):
    done = progress.step * options.batch_size * options.window
    return {
        "step": progress.step,
        "epoch": round(done / positions, 4),
        "learning_rate": progress.learning_rate,
        "training_loss_forward": progress.forward,
        "training_loss_backward": progress.backward,
        "tokens_per_second": round(progress.tokens_per_second),
    }


def _postfix(row):
    return (
        f"epoch {row['epoch']:.2f}, rate {row['learning_rate']:.1e}, training loss "
        f"{row['training_loss_forward']:.3f} + {row['training_loss_backward']:.3f}, "
        f"{row['tokens_per_second']:,} tokens/s"
    )


def _evaluation(args, bar, model, held_out, step, last):
    if not held_out:
        return {}
    share = held_out if last else list(itertools.islice(held_out, args.held_out_sentences))
    found = evaluate(model, share)
    bar.write(
        f"step {step:,}: held-out perplexity forward {found.forward:.2f}, backward "
        f"{found.backward:.2f}, combined {found.combined:.2f} ({found.sentences:,} sentences, "
        f"{found.tokens:,} targets, unknown {found.unknown_share:.2%})"
    )
    return {
        "held_out_forward": found.forward,
        "held_out_backward": found.backward,
        "held_out_combined": found.combined,
    }
