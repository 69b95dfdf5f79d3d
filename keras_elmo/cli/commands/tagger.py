"""`keras_elmo-train tagger`: trains a tagger from sentences in columns and reports on it."""

import collections
import sys
import time

import keras
import numpy as np

from keras_elmo.basics import options
from keras_elmo.cli.errors import UserError
from keras_elmo.cli.evaluation import Evaluation
from keras_elmo.cli.output import check_output
from keras_elmo.cli.plots import OF_TRAINING, check_plots, training_figures, write_plots
from keras_elmo.cli.split import split_rows
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
from keras_elmo.embedding.load_glove import load_glove
from keras_elmo.tasks.mix_history import MixHistory
from keras_elmo.tasks.tagger.conll import TaggedSentences, read_conll
from keras_elmo.tasks.tagger.spans import are_span_labels, score_spans, score_spans_by_type
from keras_elmo.tasks.tagger.tagger import Tagger

MOST_CLASSES = 500
DESCRIPTION = """Train a tagger, a label for every token: ELMo vectors of a frozen biLM, GloVe's
beside them if given, a bidirectional LSTM and a softmax. Prints the accuracy over the tokens of
the test part; for labels O, B-type and I-type the F1 of whole spans, too."""
EPILOG = f"""TRAIN and DEV hold a token a line, its labels in further columns, and a blank line
between sentences; columns are separated by tabs, or by spaces in files without tabs.

examples:
  parts of speech in the second column, the last 20 % of the sentences for the test:
    keras_elmo-train tagger tagged.tsv --output pos-tagger
  named entities as in CoNLL-2003, GloVe vectors beside ELMo's:
    keras_elmo-train tagger train.txt --dev dev.txt --label-column 4 \\
        --glove glove.6B.100d.txt --output ner-tagger

written to DIR, all of it or nothing:
  {MODEL_FILE}    keras_elmo.Tagger.load("DIR/{MODEL_FILE}").predict_labels([["some", "tokens"]])
  {MISTAKES_FILE}   line of the file, token, true label, predicted label, its probability, sentence
  {METRICS_FILE}   the numbers that were printed"""


def add_parser(subparsers):
    """Adds the `tagger` command."""
    parser = subparsers.add_parser(
        "tagger",
        help="train a tagger from sentences with a label for each token",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    _add_data_options(parser.add_argument_group("data"))
    _add_model_options(parser.add_argument_group("model and training"))
    add_output_options(parser.add_argument_group("output"), ", ".join(OF_TRAINING))
    parser.set_defaults(run=run)


def _add_data_options(group):
    add = group.add_argument
    add("train", metavar="TRAIN", help="file of tagged sentences, UTF-8")
    add("--dev", metavar="DEV", help="file of the test part; none: the last sentences of TRAIN")
    add(
        "--test-fraction", type=options.fraction, default=None, metavar="X",
        help="share of TRAIN's sentences to test on without DEV, the last ones (default: 0.2)",
    )  # fmt: skip
    add("--shuffle", action="store_true", help="draw these sentences at random")
    add(
        "--token-column", type=options.positive_int, default=1, metavar="N",
        help="column of the tokens, from 1",
    )  # fmt: skip
    add(
        "--label-column", type=options.positive_int, default=2, metavar="N",
        help="column of the labels, from 1",
    )  # fmt: skip


def _add_model_options(group):
    add = group.add_argument
    add("--source", default="english-small", help="biLM: a name of `keras_elmo presets`, "
        "directory, archive or TF-Hub module")  # fmt: skip
    add("--glove", metavar="FILE", help="word vectors to put beside ELMo's, plain or .gz")
    add("--units", type=options.count, default=128, metavar="N", help="of the LSTM in each "
        "direction; 0 for no LSTM")  # fmt: skip
    add("--dropout", type=options.share, default=0.4, metavar="X", help="before and after it")
    add("--epochs", type=options.positive_int, default=6, metavar="N", help="training epochs")
    add("--batch-size", type=options.positive_int, default=32, metavar="N",
        help="sentences a step")  # fmt: skip
    add("--seed", type=options.seed, default=0, metavar="N", help="of weights and draws")


def run(args):
    """Runs the command; returns the exit status."""
    started = time.perf_counter()
    if args.output is not None:
        check_output(args.output, args.overwrite, FILES)
    check_plots(args, OF_TRAINING, args.overwrite, [args.output])
    train, test = _read_parts(args)
    classes = _classes(args, train, test)
    keras.utils.set_random_seed(args.seed)
    tagger = _make_tagger(args, classes)
    _print_data(args, train, test, classes)
    history = None if args.plots is None else MixHistory()
    seconds = {"training": _train(args, tagger, train, history)}
    evaluation, seconds["test"] = _test(args, tagger, test)
    seconds["total"] = time.perf_counter() - started
    metrics = _metrics(args, evaluation, train, test, seconds)
    print(_report(metrics))
    if args.output is not None:
        write_output(args, tagger, metrics, _mistakes(evaluation, test))
    if args.plots is not None:
        print(write_plots(args, training_figures(history, evaluation, "nats")))
    return 0


def _read_parts(args):
    """The sentences for training and those for the test."""
    if args.dev is not None:
        for option, given in (("--test-fraction", args.test_fraction), ("--shuffle", args.shuffle)):
            if given:
                raise UserError(f"{option} has no meaning with --dev. Leave out one of them.")
        return _read(args, args.train), _read(args, args.dev)
    sentences = _read(args, args.train)
    fraction = 0.2 if args.test_fraction is None else args.test_fraction
    parts = split_rows(sentences.tokens, fraction, args.shuffle, seed=args.seed)
    n_train, n_test = map(len, parts)
    if not n_train or not n_test:
        raise UserError(
            f"--test-fraction {fraction} leaves {n_train} sentences for training and {n_test} for "
            "the test. Choose another, give more sentences (blank lines separate them), or --dev."
        )
    return [TaggedSentences(*([part[row] for row in rows] for part in sentences)) for rows in parts]


def _read(args, path):
    try:
        return read_conll(path, args.token_column, args.label_column)
    except (ValueError, OSError) as error:
        raise UserError(error) from None


def _classes(args, train, test):
    """All labels: those of the test part only cannot be learnt, but be counted as mistakes."""
    known = set(_flat(train.labels))
    if len(known) < 2:
        raise UserError(
            f"{args.train}: every label is {known.pop()!r}. A tagger needs two classes or more; is "
            f"--label-column {args.label_column} right?"
        )
    if len(known) > MOST_CLASSES:
        raise UserError(
            f"{args.train}: {len(known)} different labels, {MOST_CLASSES} at most can be learnt. "
            f"Is --label-column {args.label_column} right?"
        )
    return sorted(known | set(_flat(test.labels)))


def _make_tagger(args, classes):
    glove = None
    if args.glove is not None:
        try:
            glove = load_glove(args.glove)
        except (ValueError, OSError) as error:
            raise UserError(f"--glove: {error}") from None
    try:
        return Tagger(
            args.source, units=args.units, dropout=args.dropout, glove=glove, classes=classes
        )
    except (ValueError, TypeError, OSError) as error:
        raise UserError(f"--source {args.source}: {error}") from None


def _print_data(args, train, test, classes):
    for name, part in ((args.train, train), (args.dev or f"the rest of {args.train}", test)):
        task = "training" if part is train else "the test"
        tokens = len(_flat(part.tokens))
        print(f"{task}: {name}, {len(part.tokens)} sentences, {tokens} tokens")
    print(f"labels: {len(classes)} ({', '.join(classes[:20])}{', ...' * (len(classes) > 20)})")
    unseen = sorted(set(classes) - set(_flat(train.labels)))
    if unseen:
        at = _flat(test.lines)[_flat(test.labels).index(unseen[0])]
        print(
            f"note: {len(unseen)} labels are in the test part only, the first is {unseen[0]!r} on "
            f"line {at}: they cannot be learnt"
        )
    sys.stdout.flush()


def _train(args, tagger, train, history):
    started = time.perf_counter()
    if not args.quiet:
        print("running the biLM once over the training sentences", flush=True)
    tagger.fit(
        train.tokens,
        train.labels,
        epochs=args.epochs,
        batch_size=args.batch_size,
        verbose=verbosity(args),
        callbacks=[history] if history else None,
    )
    return time.perf_counter() - started


def _test(args, tagger, test):
    started = time.perf_counter()
    probabilities = np.concatenate(tagger.predict_proba(test.tokens, verbose=verbosity(args)))
    evaluation = Evaluation(tagger.classes_, _flat(test.labels), probabilities)
    return evaluation, time.perf_counter() - started


def _metrics(args, evaluation, train, test, seconds):
    names = ("train", "dev", "test_fraction", "shuffle", "token_column", "label_column")
    names += ("source", "glove", "units", "dropout", "epochs", "batch_size", "seed")
    return {
        "accuracy": evaluation.accuracy,
        "baseline_accuracy": _baseline(train, test),
        **_span_metrics(evaluation, test),
        "n_train": {"sentences": len(train.tokens), "tokens": len(_flat(train.tokens))},
        "n_test": {"sentences": len(test.tokens), "tokens": len(evaluation.true)},
        "options": {name: getattr(args, name) for name in names},
        **common_metrics(evaluation, seconds),
    }


def _baseline(train, test):
    """Accuracy of each word's most frequent label in training, and the commonest for others."""
    by_word = collections.defaultdict(collections.Counter)
    for token, label in zip(_flat(train.tokens), _flat(train.labels), strict=True):
        by_word[token][label] += 1
    overall = collections.Counter(_flat(train.labels)).most_common(1)[0][0]
    best = {token: counts.most_common(1)[0][0] for token, counts in by_word.items()}
    pairs = zip(_flat(test.tokens), _flat(test.labels), strict=True)
    return float(np.mean([best.get(token, overall) == label for token, label in pairs]))


def _span_metrics(evaluation, test):
    """Scores of whole spans, where the labels are of that kind: else nothing."""
    if not are_span_labels(evaluation.classes):
        return {}
    predicted = iter(evaluation.predicted)
    predicted = [[next(predicted) for _ in row] for row in test.labels]
    by_type = score_spans_by_type(test.labels, predicted)
    return {
        "spans": _scores(score_spans(test.labels, predicted)),
        "spans_by_type": {kind: _scores(scores) for kind, scores in by_type.items()},
    }


def _scores(scores):
    names = ("precision", "recall", "f1", "n_true", "n_predicted", "n_right")
    return {name: getattr(scores, name) for name in names}


def _report(metrics):
    baseline = f"each word's most frequent label: {metrics['baseline_accuracy']:.4f}"
    lines = [f"accuracy: {metrics['accuracy']:.4f} ({baseline})"]
    if "spans" in metrics:
        lines.append(f"span F1: {_span_text(metrics['spans'])}")
        kinds = metrics["spans_by_type"]
        width = max(map(len, kinds), default=0)
        lines += [f"  {kind:<{width}}  {_span_text(kinds[kind])}" for kind in kinds]
    seconds = ", ".join(f"{name} {value:.1f}" for name, value in metrics["seconds"].items())
    return "\n".join([*lines, f"seconds: {seconds}"])


def _span_text(scores):
    return (
        f"{scores['f1']:.4f} (precision {scores['precision']:.4f}, recall {scores['recall']:.4f}, "
        f"{scores['n_true']} spans)"
    )


def _mistakes(evaluation, test):
    """Yields the rows of the file of mistakes."""
    tokens, lines = _flat(test.tokens), _flat(test.lines)
    sentences = [sentence for sentence in test.tokens for _ in sentence]
    yield "line", "token", "true", "predicted", "probability", "sentence"
    for at, true, predicted, probability in evaluation.mistakes():
        sentence = " ".join(sentences[at])
        yield lines[at], tokens[at], true, predicted, float(probability), sentence


def _flat(rows):
    return [value for row in rows for value in row]
