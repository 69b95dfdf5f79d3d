"""`keras_elmo-train classifier`: trains a text classifier from a table and reports on it."""

import time

import keras

from keras_elmo.basics import options
from keras_elmo.cli import arguments
from keras_elmo.cli.errors import UserError
from keras_elmo.cli.evaluation import Evaluation
from keras_elmo.cli.output import check_output
from keras_elmo.cli.plots import OF_TRAINING, check_plots, training_figures, write_plots
from keras_elmo.cli.split import split_rows
from keras_elmo.cli.table import Table, read_table
from keras_elmo.cli.trained import (
    FILES,
    METRICS_FILE,
    MISTAKES_FILE,
    MODEL_FILE,
    add_output_options,
    common_metrics,
    verbosity,
    write_output,
)
from keras_elmo.tasks.classifier.logistic_head import check_scikit_learn
from keras_elmo.tasks.classifier.text_classifier import TextClassifier
from keras_elmo.tasks.mix_history import MixHistory
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
  {MODEL_FILE}    keras_elmo.TextClassifier.load("DIR/{MODEL_FILE}").predict_labels(["a text"])
  {MISTAKES_FILE}   line of DATA, true label, predicted label, its probability, text
  {METRICS_FILE}   the numbers that were printed"""


def add_parser(subparsers):
    """Adds the `classifier` command."""
    parser = subparsers.add_parser(
        "classifier",
        help="train a text classifier from a CSV or TSV file",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    _add_data_options(parser.add_argument_group("data"))
    _add_model_options(parser.add_argument_group("model and training"))
    _add_output_options(parser.add_argument_group("output"))
    parser.set_defaults(run=run)


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
    add = group.add_argument
    add("--source", default="english-small", help="biLM: a name of `keras_elmo presets`, "
        "directory, archive or TF-Hub module")  # fmt: skip
    add("--pooling", choices=("mean", "max", "both"), default="both", help="over a text's tokens")
    add("--logistic", action="store_true", help="a logistic regression in place of the Dense "
        'layers, better for few labels; needs pip install "keras_elmo[logistic]"')  # fmt: skip
    add("--ngrams", action="store_true", help="with --logistic: it sees n-grams of characters too")
    add("--no-standardize", action="store_true", help="do not standardise the pooled vectors")
    add("--epochs", type=options.positive_int, default=1, metavar="N", help="training epochs")
    add("--batch-size", type=options.positive_int, default=60, metavar="N", help="texts a step")
    add("--seed", type=options.seed, default=0, metavar="N", help="of weights and draws")


def _add_output_options(group):
    add_output_options(group, f"{', '.join(OF_TRAINING)} (with --logistic the confusion alone)")
    group.add_argument("--positive-label", metavar="LABEL", help="class of the F1; by default "
                       "`spam`, or else the rarest class")  # fmt: skip


def run(args):
    """Runs the command; returns the exit status."""
    started = time.perf_counter()
    if args.output is not None:
        check_output(args.output, args.overwrite, FILES)
    check_plots(args, OF_TRAINING, args.overwrite, [args.output])
    _check_logistic(args)
    table = _read(args)
    train, test = _split(args, table)
    positive = _positive_label(args, table)
    keras.utils.set_random_seed(args.seed)
    classifier = _make_classifier(args)
    _print_data(table, train, test, args)
    history = None if args.plots is None or args.logistic else MixHistory()
    seconds = {"training": _train(args, classifier, table, train, history)}
    evaluation, seconds["test"] = _test(args, classifier, table, test)
    seconds["total"] = time.perf_counter() - started
    print(_report(evaluation, positive, seconds))
    if args.output is not None:
        metrics = _metrics(args, evaluation, positive, seconds, len(train))
        write_output(args, classifier, metrics, _mistakes(evaluation, table, test))
    if args.plots is not None:
        print(write_plots(args, training_figures(history, evaluation, "nats a text")))
    return 0


def _check_logistic(args):
    if not args.logistic:
        if args.ngrams:
            raise UserError("--ngrams has a meaning with --logistic only; give that too")
        return
    if args.epochs != 1:
        raise UserError(
            "--epochs has no meaning with --logistic, which takes no steps; leave it out"
        )
    try:
        check_scikit_learn()
    except ImportError as error:
        raise UserError(f"--logistic: {error}") from None


def _read(args):
    if args.data is None:
        _check_no_data_options(args)
        texts, labels = load_sms_sample()
        return Table("the SMS sample of the package", texts, labels, list(range(2, len(texts) + 2)))
    return read_table(
        args.data,
        args.text_column,
        args.label_column,
        args.encoding,
        args.delimiter,
        header=not args.no_header,
    )


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


def _split(args, table):
    """Row numbers of both parts, after checking that they can be learnt from and tested on."""
    classes = sorted(set(table.labels))
    if len(classes) < 2:
        raise UserError(
            f"{table.name}: every label is {classes[0]!r}. A classifier needs two classes or more; "
            "is --label-column right?"
        )
    if len(classes) > max(10, len(table.labels) // 2):
        raise UserError(
            f"{table.name}: {len(classes)} different labels in {len(table.labels)} rows. "
            "Is --label-column right?"
        )
    train, test = split_rows(
        table.labels, args.test_fraction, args.shuffle, args.stratify, args.seed
    )
    if not len(train) or not len(test):
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


def _positive_label(args, table):
    counts = {label: table.labels.count(label) for label in sorted(set(table.labels))}
    if args.positive_label is None:
        return "spam" if "spam" in counts else min(counts, key=counts.get)
    if args.positive_label not in counts:
        raise UserError(
            f"--positive-label {args.positive_label!r} is not among the labels: "
            f"{', '.join(list(counts)[:10])}."
        )
    return args.positive_label


def _make_classifier(args):
    try:
        return TextClassifier(
            args.source,
            pooling=args.pooling,
            standardize=not args.no_standardize,
            logistic=args.logistic,
            ngrams=args.ngrams,
        )
    except (ValueError, TypeError, OSError) as error:
        raise UserError(f"--source {args.source}: {error}") from None


def _print_data(table, train, test, args):
    counts = {label: table.labels.count(label) for label in sorted(set(table.labels))}
    shown = ", ".join(f"{label} {count}" for label, count in list(counts.items())[:10])
    order = "stratified" if args.stratify else "shuffled" if args.shuffle else "file order"
    print(f"data: {table.name}, {len(table.labels)} rows ({shown})")
    for note in table.notes:
        print(f"note: {note}")
    print(f"split: {len(train)} for training, {len(test)} for the test ({order})", flush=True)


def _train(args, classifier, table, rows, history):
    started = time.perf_counter()
    if not args.no_standardize and not args.quiet:
        print("reading the training texts once for their statistics", flush=True)
    classifier.fit(
        [table.texts[row] for row in rows],
        [table.labels[row] for row in rows],
        epochs=args.epochs,
        batch_size=args.batch_size,
        verbose=verbosity(args),
        callbacks=[history] if history else None,
    )
    return time.perf_counter() - started


def _test(args, classifier, table, rows):
    started = time.perf_counter()
    texts = [table.texts[row] for row in rows]
    probabilities = classifier.predict_proba(texts, verbose=verbosity(args))
    true = [table.labels[row] for row in rows]
    evaluation = Evaluation(classifier.classes_, true, probabilities)
    return evaluation, time.perf_counter() - started


def _report(evaluation, positive, seconds):
    label, baseline = evaluation.baseline
    parts = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
    return "\n".join(
        [
            f"accuracy: {evaluation.accuracy:.4f} (always {label!r}: {baseline:.4f})",
            f"F1 ({positive}): {evaluation.f1(positive):.4f}",
            evaluation.confusion_text(),
            f"seconds: {parts}",
        ]
    )


def _metrics(args, evaluation, positive, seconds, n_train):
    names = ("source", "pooling", "logistic", "ngrams", "epochs", "batch_size", "seed")
    names += ("test_fraction", "shuffle", "stratify")
    return {
        "accuracy": evaluation.accuracy,
        "f1": evaluation.f1(positive),
        "positive_label": positive,
        "baseline_accuracy": evaluation.baseline[1],
        "n_train": n_train,
        "n_test": len(evaluation.true),
        "options": {
            **{name: getattr(args, name) for name in names},
            "data": args.data,
            "standardize": not args.no_standardize,
        },
        **common_metrics(evaluation, seconds),
    }


def _mistakes(evaluation, table, test):
    """Yields the rows of the file of mistakes."""
    yield "line", "true", "predicted", "probability", "text"
    for at, true, predicted, probability in evaluation.mistakes():
        row = test[at]
        yield table.lines[row], true, predicted, float(probability), table.texts[row]
