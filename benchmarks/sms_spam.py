"""Accuracy, spam F1 and time of the spam classifiers, as whole processes from start to end.

    python3 benchmarks/sms_spam.py --data spam.csv

runs, for each seed, the `keras_elmo-train classifier` command and the tutorial's plain head
(examples/spam_classifier.py), once the command with `--logistic --ngrams`, where no seed plays a
part, and once scikit-learn's TF-IDF with logistic regression on the same split, and prints a table.
Seconds count the process from its start to its end.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from claims.baselines import tf_idf
from sklearn.metrics import accuracy_score, f1_score

EXAMPLE = Path(__file__).parents[1] / "examples" / "spam_classifier.py"
COMMAND = [sys.executable, "-c", "from keras_elmo_launcher import train; train()", "classifier"]
KAGGLE = ["--text-column", "v2", "--label-column", "v1", "--encoding", "latin-1"]


def run_command(data, seed, options):
    """Accuracy and F1 that the command measured."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "model"
        call = [*COMMAND, data, *KAGGLE, "--seed", str(seed), "--output", str(out), "--quiet"]
        subprocess.run([*call, *options], check=True, capture_output=True)
        metrics = json.loads((out / "metrics.json").read_text())
    return metrics["accuracy"], metrics["f1"]


def run_logistic(data, seed, options):
    """As `run_command`, of the logistic head."""
    return run_command(data, seed, [*options, "--logistic", "--ngrams"])


def run_example(data, seed, options):
    """Accuracy that the example printed; it prints no F1."""
    call = [sys.executable, str(EXAMPLE), "--data", data, "--seed", str(seed)]
    printed = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    return float(printed.rsplit("test accuracy: ", 1)[1].split()[0]), float("nan")


def run_tf_idf(data, seed, options):
    """Word 1-2-grams and character 2-5-grams, logistic regression."""
    table = pd.read_csv(data, encoding="latin-1")
    texts, labels = table["v2"], table["v1"]
    n_train = int(len(texts) * 0.8)
    model = tf_idf().fit(texts[:n_train], labels[:n_train])
    true, found = labels[n_train:], model.predict(texts[n_train:])
    return accuracy_score(true, found), f1_score(true, found, pos_label="spam")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", required=True, metavar="spam.csv")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    parser.add_argument("options", nargs="*", help="after --: options of the classifier command")
    args = parser.parse_args()
    print(f"{'':<28}{'accuracy':>10}{'spam F1':>10}{'seconds':>10}")
    for name, run, seeds in (
        ("keras_elmo-train classifier", run_command, args.seeds),
        ("the same, logistic, ngrams", run_logistic, 1),
        ("examples/spam_classifier.py", run_example, args.seeds),
        ("TF-IDF, in this process", run_tf_idf, 1),
    ):
        rows = []
        for seed in range(seeds):
            started = time.perf_counter()
            rows.append((*run(args.data, seed, args.options), time.perf_counter() - started))
            print(f"  {name} {seed}: {rows[-1]}", file=sys.stderr)
        means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
        print(f"{name:<28}{means[0]:>10.4f}{means[1]:>10.4f}{means[2]:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
