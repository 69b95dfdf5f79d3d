"""`keras_elmo-train tagger`: trains a tagger from sentences in columns and reports on it."""

import argparse
import collections
import os

from keras_elmo.basics import options
from keras_elmo.cli.command import UserError, faults_of
from keras_elmo.cli.labelled import (
    METRICS_FILE,
    MISTAKES_FILE,
    MODEL_FILE,
    LabelledRun,
    add_model_options,
    add_output_options,
    split_rows,
)
from keras_elmo.tasks.tagger.conll import TaggedSentences, read_conll
from keras_elmo.tasks.tagger.spans import are_span_labels, score_spans, score_spans_by_type

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
  {MODEL_FILE}    keras_elmo.Tagger.load("DIR/{MODEL_FILE}")
  {MISTAKES_FILE}   line of the file, token, true label, predicted label, its probability, sentence
  {METRICS_FILE}   the numbers that were printed"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    _add_data_options(parser.add_argument_group("data"))
    _add_model_options(parser.add_argument_group("model and training"))
    add_output_options(parser.add_argument_group("output"))


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
    add_model_options(group, epochs=6, batch_size=32, rows="sentences")
    add = group.add_argument
    add("--glove", metavar="FILE", help="word vectors to put beside ELMo's, plain or .gz")
    add("--units", type=options.count, default=128, metavar="N", help="of the LSTM in each "
        "direction; 0 for no LSTM")  # fmt: skip
    add("--dropout", type=options.share, default=0.4, metavar="X", help="before and after it")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    return TaggerRun(args).run()


class TaggerRun(LabelledRun):
    """Sentences of one file, the last of them for the test, or of two."""

    notice = "running the biLM once over the training sentences"

    def read(self):
        glove = self.args.glove
        if glove is not None and not os.path.isfile(glove):
            raise UserError(
                f"--glove: {glove} must be a file of word vectors. Received: nothing there."
            )
        self.train, self.test = train, test = _read_parts(self.args)
        self.classes = _classes(self.args, train, test)
        self.train_rows, self.train_labels, self.test_rows = train.tokens, train.labels, test.tokens
        self.true = _flat(test.labels)

    def make(self):
        from keras_elmo.embedding.load_glove import load_glove
        from keras_elmo.tasks.tagger.tagger import Tagger

        args, glove = self.args, None
        if args.glove is not None:
            with faults_of("--glove"):
                glove = load_glove(args.glove)
        return Tagger(
            args.source, units=args.units, dropout=args.dropout, glove=glove, classes=self.classes
        )

    def data_lines(self):
        args, classes = self.args, self.classes
        places = (args.train, args.dev or f"the rest of {args.train}")
        lines = [
            f"{task}: {place}, {len(part.tokens)} sentences, {len(_flat(part.tokens))} tokens"
            for task, place, part in zip(
                ("training", "the test"), places, (self.train, self.test), strict=True
            )
        ]
        shown = f"{', '.join(classes[:20])}{', ...' * (len(classes) > 20)}"
        lines.append(f"labels: {len(classes)} ({shown})")
        unseen = sorted(set(classes) - set(_flat(self.train.labels)))
        if unseen:
            at = _flat(self.test.lines)[self.true.index(unseen[0])]
            lines.append(
                f"note: {len(unseen)} labels are in the test part only, the first is {unseen[0]!r} "
                f"on line {at}: they cannot be learnt"
            )
        return lines

    def metrics(self, evaluation):
        names = ("train", "dev", "test_fraction", "shuffle", "token_column", "label_column")
        names += ("source", "glove", "units", "dropout", "epochs", "batch_size", "seed")
        return {
            "accuracy": evaluation.accuracy,
            "baseline_accuracy": _baseline(self.train, self.test),
            **_span_metrics(evaluation, self.test),
            "n_train": _sizes(self.train),
            "n_test": _sizes(self.test),
            "options": {name: getattr(self.args, name) for name in names},
        }

    def score_lines(self, metrics, evaluation):
        baseline = f"each word's most frequent label: {metrics['baseline_accuracy']:.4f}"
        lines = [f"accuracy: {metrics['accuracy']:.4f} ({baseline})"]
        if "spans" in metrics:
            lines.append(f"span F1: {_span_text(metrics['spans'])}")
            kinds = metrics["spans_by_type"]
            width = max(map(len, kinds), default=0)
            lines += [f"  {kind:<{width}}  {_span_text(kinds[kind])}" for kind in kinds]
        return lines

    def mistakes(self, evaluation):
        tokens, lines = _flat(self.test.tokens), _flat(self.test.lines)
        sentences = [sentence for sentence in self.test.tokens for _ in sentence]
        yield "line", "token", "true", "predicted", "probability", "sentence"
        for at, true, predicted, probability in evaluation.mistakes():
            yield lines[at], tokens[at], true, predicted, probability, " ".join(sentences[at])


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
    if not all(parts):
        raise UserError(
            f"--test-fraction {fraction} leaves {len(parts[0])} sentences for training and "
            f"{len(parts[1])} for the test. Choose another, give more sentences (blank lines "
            "separate them), or --dev."
        )
    return [TaggedSentences(*([part[row] for row in rows] for part in sentences)) for rows in parts]


def _read(args, path):
    with faults_of():
        return read_conll(path, args.token_column, args.label_column)


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


def _baseline(train, test):
    """Accuracy of each word's most frequent label in training, and the commonest for others."""
    by_word = collections.defaultdict(collections.Counter)
    for token, label in zip(_flat(train.tokens), _flat(train.labels), strict=True):
        by_word[token][label] += 1
    overall = collections.Counter(_flat(train.labels)).most_common(1)[0][0]
    best = {token: counts.most_common(1)[0][0] for token, counts in by_word.items()}
    pairs = zip(_flat(test.tokens), _flat(test.labels), strict=True)
    is_right = [best.get(token, overall) == label for token, label in pairs]
    return sum(is_right) / len(is_right)


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


def _sizes(part):
    return {"sentences": len(part.tokens), "tokens": len(_flat(part.tokens))}


def _span_text(scores):
    return (
        f"{scores['f1']:.4f} (precision {scores['precision']:.4f}, recall {scores['recall']:.4f}, "
        f"{scores['n_true']} spans)"
    )


def _flat(rows):
    return [value for row in rows for value in row]
