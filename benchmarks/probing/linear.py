"""Linear probes, and the split inside the training part that chooses their penalty."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

FOLDS = 5
ONE_SPLIT_FROM = 10_000  # rows, from which one of the folds says enough
ROWS_TO_CHOOSE = 16_000  # rows at most that a model for the choice of `C` is fit on
WHITEN_FROM = 5  # rows a feature, from which the covariance is known well enough
SMALLEST_VARIANCE = 0.03
LOGISTIC_C = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
RIDGE_PENALTIES = (0.01, 0.03, 0.1, 0.2, 0.4, 1.0)  # times the mean square of a row's norm


def accuracy(true, found, groups=None):
    """Share of equal entries."""
    return float(np.mean(np.asarray(true) == np.asarray(found)))


def statistics(vectors):
    """Mean and deviation of each feature, float32; a constant feature has deviation 1."""
    vectors = vectors.astype(np.float32)
    mean, deviation = vectors.mean(axis=0), vectors.std(axis=0)
    return mean, np.where(deviation > 0, deviation, 1).astype(np.float32)


def standardized(train, dev):
    """Both parts as float32 `(rows, features)`; over `train` a feature has mean 0, variance 1."""
    mean, deviation = statistics(train)
    return [
        ((part - mean) / deviation).astype(np.float32).reshape(len(part), -1)
        for part in (train, dev)
    ]


def features(train, dev):
    """Both parts, `(rows, ...)`, standardised for a logistic regression.

    With many rows a feature, the principal directions are brought to variance 1 too, as far as they
    are over `SMALLEST_VARIANCE`: layers resemble one another, and without that the regression
    takes five times the steps. The probe stays linear in the layers.
    """
    train, dev = standardized(train, dev)
    if len(train) < WHITEN_FROM * train.shape[1]:
        return train, dev
    variances, directions = np.linalg.eigh(train.T @ train / len(train))
    scale = directions / np.sqrt(np.maximum(variances, 0) + SMALLEST_VARIANCE)
    return train @ scale, dev @ scale


def logistic(train, labels, groups, dev, score):
    """Labels that a multinomial logistic regression gives to `dev`.

    Its `C` is the one of the highest score on rows that are held out of `train`.

    Rows of one of the `groups` (rising numbers of sentences) are held out together.
    """
    scores = np.zeros(len(LOGISTIC_C))
    for held in _held_out(groups):
        rows = np.flatnonzero(~held)
        rows = rows[:: -(-len(rows) // ROWS_TO_CHOOSE)]
        for index, c in enumerate(LOGISTIC_C):
            found = _regression(c).fit(train[rows], labels[rows]).predict(train[held])
            scores[index] += score(labels[held], found, groups[held])
    return _regression(LOGISTIC_C[scores.argmax()]).fit(train, labels).predict(dev)


def _regression(c):
    return LogisticRegression(C=c, max_iter=1000)


def _held_out(groups):
    """Masks of the rows to hold out: runs of groups, as neighbours come from one document."""
    blocks = np.array_split(np.unique(groups), FOLDS)
    used = blocks if len(groups) < ONE_SPLIT_FROM else blocks[-1:]
    return [np.isin(groups, block) for block in used]


def ridge(train, labels, dev, penalties):
    """Labels that ridge regression on one-hot labels gives to `dev`, `(penalties, rows)`.

    The same as scikit-learn's RidgeClassifier; one decomposition serves all penalties.
    """
    classes, index = np.unique(labels, return_inverse=True)
    targets = np.eye(len(classes), dtype=np.float32)[index]
    center, share = train.mean(axis=0), targets.mean(axis=0)
    rows = train - center
    values, directions = np.linalg.eigh(rows @ rows.T)
    projected = directions.T @ (targets - share)
    kernel = (dev - center) @ rows.T @ directions
    found = []
    for penalty in penalties:
        weights = projected / (np.maximum(values, 0) + penalty)[:, np.newaxis]
        found.append(classes[(kernel @ weights + share).argmax(axis=1)])
    return np.stack(found)


def ridge_by_lemma(train, labels, lemmas, dev, dev_lemmas):
    """Labels of `dev` by one ridge probe a lemma; the penalty is one for all, chosen in `train`.

    Uses of a lemma are held out in runs, as neighbours come from one document. A lemma that
    `train` lacks gets the label "".
    """
    mean_square = train.multiply(train).sum() if sparse.issparse(train) else np.sum(train**2)
    penalties = np.array(RIDGE_PENALTIES) * float(mean_square) / len(labels)
    fold, right = _runs(lemmas), 0
    for held in (fold == index for index in range(FOLDS)):
        part = train[~held], labels[~held], lemmas[~held], train[held], lemmas[held]
        right = right + (_by_lemma(*part, penalties) == labels[held]).sum(axis=1)
    best = penalties[[np.argmax(right)]]
    return _by_lemma(train, labels, lemmas, dev, dev_lemmas, best)[0]


def _by_lemma(train, labels, lemmas, dev, dev_lemmas, penalties):
    found = np.full((len(penalties), len(dev_lemmas)), "", dtype=labels.dtype)
    for lemma in np.unique(dev_lemmas):
        own, asked = lemmas == lemma, dev_lemmas == lemma
        if own.any():
            parts = _dense(train[own]), labels[own], _dense(dev[asked])
            found[:, asked] = ridge(*parts, penalties)
    return found


def _runs(lemmas):
    """The fold of each use: the first fifth of its lemma's uses, the second ..."""
    fold = np.zeros(len(lemmas), int)
    for lemma in np.unique(lemmas):
        own = np.flatnonzero(lemmas == lemma)
        fold[own] = np.arange(len(own)) * FOLDS // len(own)
    return fold


def _dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows
