"""`keras_elmo-train bilm`: pretrain a biLM from text files."""

import argparse
import csv
import glob
import itertools
import os
import tempfile
import time

import keras
from tqdm import tqdm

from keras_elmo.bilm import BiLM, BiLMConfig
from keras_elmo.bilm.config import ACTIVATIONS
from keras_elmo.cli import arguments
from keras_elmo.cli.errors import UserError
from keras_elmo.cli.output import check_output
from keras_elmo.pretraining.corpus import (
    count_words,
    read_sentences,
    shuffled_sentences,
    windows,
)
from keras_elmo.pretraining.evaluation import evaluate
from keras_elmo.pretraining.files import MODEL_FILES, save_language_model
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
DESCRIPTION = """Pretrain a bidirectional language model: text files -> vocabulary -> windows ->
next-word losses of both directions, summed, over one shared softmax -> preset directory.
Perplexity is e to the mean nats, over the whole vocabulary, each sentence from zero state."""
EPILOG = """example:
  keras_elmo-train bilm 'corpus/train-*.txt.gz' --held-out corpus/valid.txt.gz --output my-bilm

written to DIR, at each evaluation and at the end:
  options.json, weights.hdf5  the biLM, in the layout that AllenNLP and bilm-tf read too
  vocab.txt, softmax.hdf5     what its language models predict with
  training.csv                one line a report, up to that evaluation

use it: keras_elmo.ELMoEmbedding("DIR"), keras_elmo.BiLM.load("DIR")"""


def add_parser(subparsers):
    """Adds the `bilm` command."""
    parser = subparsers.add_parser(
        "bilm",
        help="pretrain a bidirectional language model from text files",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    _add_data_options(parser.add_argument_group("text"))
    _add_model_options(parser.add_argument_group("model"))
    _add_training_options(parser.add_argument_group("training"))
    parser.set_defaults(run=run)


def _add_data_options(group):
    add = group.add_argument
    add(
        "text", nargs="+", metavar="TEXT",
        help="UTF-8 text, one sentence a line, plain or .gz; patterns such as 'a-*.txt' too",
    )  # fmt: skip
    add("--output", required=True, metavar="DIR", help="preset directory to write")
    add("--overwrite", action="store_true", help="write into DIR if it is not empty")
    add("--held-out", metavar="FILE", help="text that perplexity is measured on, never trained on")
    add(
        "--held-out-sentences", type=arguments.positive_int, metavar="N",
        help="take only the first N before the last measurement, which takes all",
    )  # fmt: skip
    add("--tokenizer", choices=TOKENIZERS, default="words", help="rule that splits a line")
    add("--vocabulary", metavar="FILE", help="words to predict; none: counted in TEXT")
    add(
        "--vocabulary-size", type=arguments.positive_int, default=20_000, metavar="N",
        help="the N most frequent words of TEXT",
    )  # fmt: skip


def _add_model_options(group):
    add = group.add_argument
    count = {"type": arguments.positive_int, "metavar": "N"}
    add("--lstm-dim", **count, default=1024, help="size of the LSTM cells")
    add("--projection-dim", **count, default=128, help="size of a token vector and of an output")
    add("--n-layers", **count, default=2, help="LSTM layers a direction")
    add("--char-dim", **count, default=16, help="size of a character vector")
    add(
        "--filters", type=_filters, default="1:32,2:32,3:64,4:128,5:256", metavar="W:N,...",
        help="character convolutions, width:count",
    )  # fmt: skip
    add("--n-highway", type=int, default=1, metavar="N", help="highway layers")
    add("--activation", choices=ACTIVATIONS, default="relu", help="of the convolutions")
    add(
        "--clip", type=arguments.positive_float, default=3.0, metavar="X",
        help="bound of the cells' and the projections' values",
    )  # fmt: skip
    add("--no-skip-connections", action="store_true", help="layers do not add their input")
    add("--softmax", choices=SOFTMAXES, default="adaptive", help="head; both are exact")


def _add_training_options(group):
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--epochs", type=arguments.positive_float, default=1.0, metavar="X", help="passes over TEXT"
    )
    length.add_argument(
        "--steps", type=arguments.positive_int, metavar="N", help="steps, instead of epochs"
    )
    add = group.add_argument
    count = {"type": arguments.positive_int, "metavar": "N"}
    add("--batch-size", **count, default=64, help="lanes of text a step")
    add("--window", **count, default=20, help="positions a lane and step")
    add(
        "--learning-rate", type=arguments.positive_float, default=2e-3, metavar="X",
        help="peak of AdamW's rate, between warm-up and cosine",
    )  # fmt: skip
    add(
        "--dropout", type=arguments.share, default=0.1, metavar="X",
        help="share of the LSTM layers' inputs",
    )  # fmt: skip
    add(
        "--precision", choices=sorted(PRECISIONS), default="float32",
        help="of the products; bfloat16 is faster where the processor has it",
    )  # fmt: skip
    add("--weights", choices=("float32", "float16"), default="float32", help="dtype in the files")
    add("--evaluate-every", **count, default=1000, help="steps between perplexity and writing")
    add("--report-every", **count, default=50, help="steps between lines of the log")
    add("--seed", type=arguments.seed, default=1, metavar="N", help="of weights and shuffling")


def _filters(text):
    try:
        pairs = tuple(tuple(int(n) for n in pair.split(":")) for pair in text.split(","))
    except ValueError:
        pairs = ()
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"must look like 1:32,2:64, not {text!r}")
    return pairs


def run(args):
    """Train as the arguments say; returns the exit status."""
    paths = _find(args.text)
    held_out_paths = _find_held_out(args, paths)
    check_output(args.output, args.overwrite, (*MODEL_FILES, LOG))
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
    try:
        _train(args, paths, held_out, model, options, positions)
    except (FloatingPointError, ValueError, OSError) as error:
        raise UserError(f"{args.output}: {error}") from None
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


def _find_held_out(args, paths):
    if args.held_out is None:
        return []
    (path,) = _find([args.held_out])[:1]
    if any(os.path.samefile(path, other) for other in paths):
        raise UserError(f"--held-out: {path} is among the training files; give other text")
    return [path]


def _config(args):
    return BiLMConfig(
        lstm_dim=args.lstm_dim,
        projection_dim=args.projection_dim,
        n_layers=args.n_layers,
        cell_clip=args.clip,
        proj_clip=args.clip,
        use_skip_connections=not args.no_skip_connections,
        char_dim=args.char_dim,
        filters=args.filters,
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
    rows = []
    with tqdm(total=options.steps, unit="step", dynamic_ncols=True) as bar:
        for progress in train(model, batches, options, every):
            rows.append(_row(progress, options, positions))
            bar.update(progress.step - bar.n)
            bar.set_postfix_str(_postfix(rows[-1]))
            last = progress.step == options.steps
            if last or progress.step % args.evaluate_every < every:
                rows[-1].update(_evaluation(args, bar, model, held_out, progress.step, last))
                save_language_model(model, args.output, args.weights)
                _write_log(args.output, rows)
    print(f"written to {args.output} after {time.perf_counter() - started:,.0f} seconds")


def _write_log(directory, rows):
    """Writes the log beside the model that it belongs to, whole or not at all."""
    with tempfile.NamedTemporaryFile(
        "w", dir=directory, prefix=f".{LOG}-", newline="", encoding="utf-8", delete=False
    ) as file:
        writer = csv.DictWriter(file, LOG_FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    os.replace(file.name, os.path.join(directory, LOG))


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
