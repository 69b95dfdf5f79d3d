"""Splitting labelled rows into a training and a test part."""

import numpy as np


def split_rows(labels, test_fraction, shuffle=False, stratify=False, seed=0):
    """Row numbers of the training and of the test part.

    Args:
        labels: list of n labels.
        test_fraction: float, the share of rows to test on.
        shuffle: bool, whether to draw rows at random. Otherwise the first rows are for training.
        stratify: bool, whether to draw at random, the same share of every class.
        seed: int, for the draws.

    Returns:
        Two int arrays, training and test rows, each in file order.
    """
    rows = np.arange(len(labels))
    rng = np.random.default_rng(seed)
    if not stratify:
        return _cut(rng.permutation(rows) if shuffle else rows, test_fraction)
    labels = np.asarray(labels)
    parts = [
        _cut(rng.permutation(rows[labels == label]), test_fraction) for label in np.unique(labels)
    ]
    train, test = (np.sort(np.concatenate(part)) for part in zip(*parts, strict=True))
    return train, test


def _cut(rows, test_fraction):
    n_train = int(len(rows) * (1 - test_fraction) + 1e-9)
    return np.sort(rows[:n_train]), np.sort(rows[n_train:])
