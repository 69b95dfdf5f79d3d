"""How the two numbers of the logistic head were chosen, inside the training part of SMS spam.

    python3 benchmarks/choose_logistic.py --data spam.csv

draws subsets of the first 80 % of the rows, fits `TextClassifier(logistic=True, ngrams=True)` with
each strength and each share of the n-grams, and measures the accuracy on the other rows of the
same 80 %; "all" is five-fold cross-validation. The last 20 %, the test part, are never looked at.
"""

import argparse
import itertools

import numpy as np
import pandas as pd
import scipy.sparse
import tensorflow as tf

from keras_elmo import FeatureCache, TextClassifier
from keras_elmo.tasks.classifier.logistic_head import LogisticHead

STRENGTHS, SHARES = (3.0, 10.0, 30.0), (0.0, 1.0, 3.0, 5.0, 8.0)
CELLS = list(itertools.product(STRENGTHS, SHARES))
BATCH = 256


def main(arguments=None):
    args = _parse(arguments)
    table = pd.read_csv(args.data, encoding="latin-1")
    n = int(len(table) * 0.8)
    texts, spam = table["v2"].to_numpy(object)[:n], (table["v1"] == "spam").to_numpy()[:n]
    found = {}
    classifier = TextClassifier(args.source, logistic=True, ngrams=True)
    with FeatureCache(classifier).in_use() as cache:
        cache.add(texts)
        for size in args.sizes:
            parts = [
                np.split(np.random.default_rng(seed).permutation(n), [size])
                for seed in range(args.subsets)
            ]
            found[f"{size}"] = _measured(classifier, texts, spam, parts)
        if args.folds:
            order = np.random.default_rng(0).permutation(n)
            folds = [order[fold :: args.folds] for fold in range(args.folds)]
            parts = [(np.setdiff1d(order, held_out), held_out) for held_out in folds]
            found["all"] = _measured(classifier, texts, spam, parts)
    result = pd.DataFrame(found).rename_axis(["strength", "share"])
    result["mean"] = result.mean(axis=1)
    print(result.sort_values("mean", ascending=False).reset_index().to_string(index=False))


def _parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", required=True, metavar="spam.csv")
    parser.add_argument("--source", default="english-small", metavar="BILM")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 500], metavar="N")
    parser.add_argument("--subsets", type=int, default=8, metavar="N", help="of each size")
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="0: without `all`")
    return parser.parse_args(arguments)


def _measured(classifier, texts, spam, parts):
    """Mean accuracy of every cell over pairs of training rows and held-out rows."""
    found = {cell: [] for cell in CELLS}
    for train, held_out in parts:
        x, grams = _features(classifier, texts, train)
        weights = len(train) / (2 * np.where(spam[train], spam[train].sum(), (~spam[train]).sum()))
        for strength, share in CELLS:
            head = LogisticHead(2, share > 0, strength=strength, ngram_share=share)
            head.build(x.shape)
            given = grams if share > 0 else None
            rows = None if given is None else given[train]
            head.solve(x[train], rows, spam[train].astype(int), weights)
            is_spam = _probabilities(head, x[held_out], given, held_out) > 0.5
            found[strength, share].append(np.mean(is_spam == spam[held_out]))
    return {cell: np.mean(values) for cell, values in found.items()}


def _features(classifier, texts, train):
    """Standardised vectors and n-grams of all texts, with the statistics of the training rows."""
    batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
    pooled = np.concatenate([classifier.features(tf.constant(batch)) for batch in batches])
    tokens = [classifier.embedding.read(tf.constant(batch)).tokens for batch in batches]
    classifier.standardization.adapt([pooled[train]])
    classifier.characters.adapt([tf.gather(tf.concat(tokens, axis=0), train)])
    grams = [_matrix(classifier.characters(batch)) for batch in tokens]
    return classifier.standardization(pooled).numpy(), scipy.sparse.vstack(grams, format="csr")


def _matrix(vectors):
    rows, columns = vectors.indices.numpy().T
    shape = tuple(vectors.dense_shape.numpy())
    return scipy.sparse.csr_matrix((vectors.values.numpy(), (rows, columns)), shape=shape)


def _probabilities(head, x, grams, rows):
    if grams is None:
        return head(x)[:, 0].numpy()
    part = grams[rows].tocoo()
    indices = np.stack([part.row, part.col], axis=1).astype(np.int64)
    return head(x, tf.SparseTensor(indices, part.data, part.shape))[:, 0].numpy()


if __name__ == "__main__":
    main()
