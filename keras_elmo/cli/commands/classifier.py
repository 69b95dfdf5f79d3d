"""`keras_elmo-train classifier`: trains a text classifier from a table and reports on it."""

import argparse
import collections

from keras_elmo.basics import options
from keras_elmo.cli import arguments
from keras_elmo.cli.command import UserError
from keras_elmo.cli.labelled import (
    METRICS_FILE,
    MISTAKES_FILE,
    MODEL_FILE,
    LabelledRun,
    add_model_options,
    add_output_options,
    split_rows,
)
from keras_elmo.cli.table import Table, read_table
from keras_elmo.tasks.sms_sample import load_sms_sample

TEXT_COLUMN, LABEL_COLUMN, ENCODING = "text", "label", "utf-8"
DESCRIPTION = """Train a text classifier: ELMo vectors of a frozen biLM, pooled and standardised,
then Dense(256, relu) and a sigmoid or softmax, or a logistic regression. Prints accuracy, F1 and a
confusion table of the test part. Without DATA it takes the SMS sample of the package."""
EPILOG = f"""examples:
  the SMS sample of the package:
    keras_elmo-train classifier --output spam-model
  the Kaggle SMS spam file, first 80 % for training, last 20 % for the test:
    keras_elmo-train classifier spam.csv --text-column v2 --label-column v1 \\
        --encoding latin-1 --output spam-model
  few labels and short messages:
    keras_elmo-train classifier messages.csv --logistic --ngrams --output model
  a table without a header row, labels first, the same share of every class in both parts:
    keras_elmo-train classifier messages.tsv --no-header --label-column 1 --text-column 2 --stratify

written to DIR, all of it or nothing:
  {MODEL_FILE}    keras_elmo.TextClassifier.load("DIR/{MODEL_FILE}")
  {MISTAKES_FILE}   line of DATA, true label, predicted label, its probability, text
  {METRICS_FILE}   the numbers that were printed"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    _add_data_options(parser.add_argument_group("data"))
    _add_model_options(parser.add_argument_group("model and training"))
    output = parser.add_argument_group("output")
    add_output_options(output, " (with --logistic the confusion alone)")
    output.add_argument("--positive-label", metavar="LABEL", help="class of the F1; by default "
                        "`spam`, or else the rarest class")  # fmt: skip


def _add_data_options(group):
    add = group.add_argument
    add("data", nargs="?", metavar="DATA", help="CSV or TSV file with a header row")
    add("--text-column", default=TEXT_COLUMN, metavar="NAME", help="column of the texts")
    add("--label-column", default=LABEL_COLUMN, metavar="NAME", help="column of the labels")
    add("--encoding", default=ENCODING, help="of DATA; the Kaggle spam.csv is latin-1")
    add(
        "--delimiter", type=arguments.delimiter, metavar="CHAR", help="between fields, a character "
        "or `tab`; by default the tab for .tsv and .tab files, the comma for others",
    )  # fmt: skip
    add("--no-header", action="store_true", help="no header row: columns are named 1, 2, ...")
    add(
        "--test-fraction", type=options.fraction, default=0.2, metavar="X",
        help="share of the rows to test on, the last ones",
    )  # fmt: skip
    add("--shuffle", action="store_true", help="draw the test rows at random")
    add("--stratify", action="store_true", help="draw them at random, as many of every class")


def _add_model_options(group):
    add_model_options(group, epochs=1, batch_size=60, rows="texts")
    add = group.add_argument
    add("--pooling", choices=("mean", "max", "both"), default="both", help="over a text's tokens")
    add("--logistic", action="store_true", help="a logistic regression in place of the Dense "
        "layers, better for few labels")  # fmt: skip
    add("--ngrams", action="store_true", help="with --logistic: it sees n-grams of characters too")
    add("--no-standardize", action="store_true", help="do not standardise the pooled vectors")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    return ClassifierRun(args).run()


class ClassifierRun(LabelledRun):
    """Texts of a table, the last of them for the test."""

    unit = "nats a text"

    def read(self):
        _check_logistic(self.args)
        self.learns_by_steps = not self.args.logistic
        if not self.args.no_standardize:
            self.notice = "reading the training texts once for their statistics"
        self.table = table = _table(self.args)
        self.counts = collections.Counter(sorted(table.labels))
        _check_labels(table, self.counts)
        self.train, self.test = _split(self.args, table)
        self.positive = _positive_label(self.args, self.counts)
        self.train_rows, self.train_labels = (
            [values[row] for row in self.train] for values in (table.texts, table.labels)
        )
        self.test_rows, self.true = (
            [values[row] for row in self.test] for values in (table.texts, table.labels)
        )

    def make(self):
        from keras_elmo.tasks.classifier.text_classifier import TextClassifier

        args = self.args
        return TextClassifier(
            args.source, pooling=args.pooling, standardize=not args.no_standardize,
            logistic=args.logistic, ngrams=args.ngrams,
        )  # fmt: skip

    def data_lines(self):
        args, table = self.args, self.table
        order = "stratified" if args.stratify else "shuffled" if args.shuffle else "file order"
        shown = ", ".join(f"{label} {count}" for label, count in list(self.counts.items())[:10])
        return [
            f"data: {table.name}, {len(table.labels)} rows ({shown})",
            *(f"note: {note}" for note in table.notes),
            f"split: {len(self.train)} for training, {len(self.test)} for the test ({order})",
        ]

    def score_lines(self, metrics, evaluation):
        label, baseline = evaluation.baseline
        return [
            f"accuracy: {metrics['accuracy']:.4f} (always {label!r}: {baseline:.4f})",
            f"F1 ({self.positive}): {metrics['f1']:.4f}",
            *evaluation.confusion_lines(),
        ]

    def metrics(self, evaluation):
        names = ("source", "pooling", "logistic", "ngrams", "epochs", "batch_size", "seed")
        names += ("test_fraction", "shuffle", "stratify", "data")
        return {
            "accuracy": evaluation.accuracy,
            "f1": evaluation.f1(self.positive),
            "positive_label": self.positive,
            "baseline_accuracy": evaluation.baseline[1],
            "n_train": len(self.train),
            "n_test": len(self.test),
            "options": {
                **{name: getattr(self.args, name) for name in names},
                "standardize": not self.args.no_standardize,
            },
        }

    def mistakes(self, evaluation):
        yield "line", "true", "predicted", "probability", "text"
        for at, true, predicted, probability in evaluation.mistakes():
            yield self.table.lines[self.test[at]], true, predicted, probability, self.test_rows[at]


def _check_logistic(args):
    if args.ngrams and not args.logistic:
        raise UserError("--ngrams has a meaning with --logistic only; give that too")
    if args.logistic and args.epochs != 1:
        raise UserError(
            "--epochs has no meaning with --logistic, which takes no steps; leave it out"
        )


def _table(args):
    if args.data is None:
        _check_no_data_options(args)
        texts, labels = load_sms_sample()
        return Table("the SMS sample of the package", texts, labels, list(range(2, len(texts) + 2)))
    return read_table(
        args.data, args.text_column, args.label_column, args.encoding, args.delimiter,
        header=not args.no_header,
    )  # fmt: skip


def _check_no_data_options(args):
    """How to read DATA means nothing without DATA: most likely its name was forgotten."""
    options = {
        "--text-column": args.text_column != TEXT_COLUMN,
        "--label-column": args.label_column != LABEL_COLUMN,
        "--encoding": args.encoding != ENCODING,
        "--delimiter": args.delimiter is not None,
        "--no-header": args.no_header,
    }
    given = [option for option, is_given in options.items() if is_given]
    if given:
        raise UserError(f"{given[0]} needs DATA. Give the file that it tells how to read.")


def _check_labels(table, counts):
    if len(counts) < 2:
        raise UserError(
            f"{table.name}: every label is {table.labels[0]!r}. A classifier needs two classes or "
            "more; is --label-column right?"
        )
    if len(counts) > max(10, len(table.labels) // 2):
        raise UserError(
            f"{table.name}: {len(counts)} different labels in {len(table.labels)} rows. "
            "Is --label-column right?"
        )


def _split(args, table):
    """Row numbers of both parts, after checking that they can be learnt from and tested on."""
    train, test = split_rows(
        table.labels, args.test_fraction, args.shuffle, args.stratify, args.seed
    )
    if not train or not test:
        raise UserError(
            f"--test-fraction {args.test_fraction} leaves {len(train)} rows for training and "
            f"{len(test)} for the test. Choose another, or give more rows."
        )
    known = {table.labels[row] for row in train}
    if len(known) < 2:
        raise UserError(
            f"{table.name}: all {len(train)} training rows are {known.pop()!r}. Draw them from the "
            "whole file with --shuffle or --stratify."
        )
    for row in test:
        if table.labels[row] not in known:
            raise UserError(
                f"{table.name}, line {table.lines[row]}: the label {table.labels[row]!r} occurs "
                f"in the test part only. {'Add' if args.stratify else 'Use --stratify, or add'} "
                "rows with it."
            )
    return train, test


def _positive_label(args, counts):
    if args.positive_label is None:
        return "spam" if "spam" in counts else min(counts, key=counts.get)
    if args.positive_label not in counts:
        raise UserError(
            f"--positive-label {args.positive_label!r} is not among the labels: "
            f"{', '.join(list(counts)[:10])}."
        )
    return args.positive_label
