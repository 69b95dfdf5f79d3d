"""`fit` of a classifier with a logistic head: read everything once, solve, report."""

import functools

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.by_length import batches_by_length
from keras_elmo.tasks.inputs import batches_of, is_stream

BATCH = 128
OF_STEPS = ("steps_per_epoch", "validation_steps", "validation_batch_size")


def check_head_options(classifier):
    """Raises a ValueError for options of a TextClassifier that contradict each other."""
    if not classifier.logistic:
        if classifier.ngrams:
            raise ValueError(
                "`ngrams=True` goes with `logistic=True`. Received: logistic=False. Set both."
            )
        return
    if classifier.embedding.fine_tune:
        raise ValueError(
            "`logistic=True` leaves the biLM as it is. Received: fine_tune=True. Leave out one."
        )
    of_dense = (classifier.hidden_units, classifier.dropout, classifier.average_weights)
    if of_dense != (256, 0.0, True):
        raise ValueError(
            "`hidden_units`, `dropout` and `average_weights` have no meaning with "
            f"`logistic=True`. Received: {', '.join(map(str, of_dense))}. Leave them out."
        )


def check_logistic_fit(epochs, options, x):
    """Raises a ValueError for arguments of `fit` that a solution without steps cannot obey."""
    if epochs != 1:
        raise ValueError(
            "`epochs` must be 1 with `logistic=True`: the solution is found at once. Received: "
            f"epochs={epochs!r}. Leave it out."
        )
    of_arrays = set() if is_stream(x) else {"steps_per_epoch"}
    unknown = sorted(set(options) - set(OF_STEPS) | set(options) & of_arrays)
    if unknown:
        raise ValueError(
            f"`{unknown[0]}` has no meaning with `logistic=True`: `fit` reads all texts once. "
            f"Received: {unknown[0]}={options[unknown[0]]!r}. Leave it out."
        )


class LogisticFit:
    """One `fit` of a classifier with a logistic head, whose classes and statistics are known.

    `read` makes of a batch of tokens what the head takes; `evaluate` is Keras' own, for class
    numbers; `batch_size` is that of evaluation.
    """

    def __init__(
        self,
        classifier,
        read,
        evaluate,
        batch_size,
        verbose,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
    ):
        self.classifier = classifier
        self.read = read
        self.steps = steps_per_epoch
        self.evaluate = functools.partial(evaluate, return_dict=True)
        self.training = {"batch_size": batch_size, "steps": steps_per_epoch, "verbose": verbose}
        self.validation = {
            "batch_size": validation_batch_size or batch_size,
            "steps": validation_steps,
            "verbose": 0,
        }

    def run(self, rows, class_weight, validation_data, callbacks):
        """Solves, lets callbacks see it as an epoch, and returns the history.

        `rows` are texts, class numbers and weights, or a stream of them, None and None.
        """
        run = keras.callbacks.CallbackList(
            callbacks, add_history=True, model=self.classifier, epochs=1, steps=1, verbose=0
        )
        model = self.classifier
        model.optimizer.build(model.trainable_variables)  # else Keras cannot read the saved model
        run.on_train_begin()
        run.on_epoch_begin(0)
        self._solve(rows, class_weight)
        logs = self._evaluated(rows, self.training)
        if validation_data is not None:
            found = self._evaluated(validation_data, self.validation)
            logs.update({f"val_{name}": value for name, value in found.items()})
        run.on_epoch_end(0, logs)
        run.on_train_end(logs)
        return self.classifier.history

    def _solve(self, rows, class_weight):
        *features, y, sample_weight = rows_of(self.read, *rows, self.steps)
        weights = row_weights(y, self.classifier.classes_, sample_weight, class_weight)
        self.classifier.head.solve(*features, y, weights)

    def _evaluated(self, data, options):
        if is_stream(data):
            data = (data, None)
        x, y, sample_weight = (*data, None)[:3]
        options = {**options, "batch_size": None if is_stream(x) else options["batch_size"]}
        return self.evaluate(x, y, sample_weight=sample_weight, **options)


def rows_of(read, x, y, sample_weight, steps=None):
    """Vectors (n, dim), n-grams (SciPy matrix or None), class numbers (n,) and weights (n,).

    `x` are tokens, or a stream of (tokens, class numbers[, weights]), of which `steps` batches
    are read, None for all; `read` gives vectors, and a SparseTensor of n-grams or None.
    """
    batches = batches_of(x, steps) if is_stream(x) else _sorted_batches(x, y, sample_weight)
    vectors, grams, numbers, weights = [], [], [], []
    for texts, labels, *weight in batches:
        pooled, sparse = read(texts)
        vectors.append(pooled.numpy())
        grams.append(sparse)
        numbers.append(np.asarray(labels))
        weights.append(np.asarray(weight[0] if weight else np.ones(len(labels)), np.float64))
    together = [np.concatenate(parts) for parts in (vectors, numbers, weights)]
    matrix = None if grams[0] is None else _stacked(grams)
    return together[0], matrix, together[1], together[2]


def row_weights(y, classes, sample_weight, class_weight):
    """What each row counts; without `class_weight` all classes weigh alike, `n / (k n_c)` a row.

    Raises:
        ValueError: a class without a row.
    """
    counts = np.bincount(y, minlength=len(classes))
    if not counts.all():
        raise ValueError(
            "`y` must have a text of every class with `logistic=True`. Received: none of class "
            f"{classes[np.argmin(counts)]!r}. Add one, or leave it out of `classes`."
        )
    if class_weight is None:
        of_class = len(y) / (len(classes) * counts)
    else:
        of_class = np.array([class_weight.get(number, 1.0) for number in range(len(classes))])
    return sample_weight * of_class[y]


def _sorted_batches(x, y, sample_weight):
    for rows in batches_by_length(x.row_lengths().numpy(), BATCH):
        weight = [] if sample_weight is None else [np.asarray(sample_weight)[rows]]
        yield tf.gather(x, rows), np.asarray(y)[rows], *weight


def _stacked(grams):
    """SparseTensors (rows, buckets) as one SciPy matrix."""
    import scipy.sparse

    matrices = []
    for part in grams:
        row, column = part.indices.numpy().T
        shape = tuple(part.dense_shape.numpy())
        matrices.append(scipy.sparse.csr_matrix((part.values.numpy(), (row, column)), shape=shape))
    return scipy.sparse.vstack(matrices, format="csr")
