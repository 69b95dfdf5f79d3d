"""`LogisticHead`: logistic regression on pooled vectors and n-grams, solved instead of trained."""

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.keras_internals import take_any_inputs
from keras_elmo.tasks.classifier.character_ngrams import BUCKETS

STRENGTH = 10.0
NGRAM_SHARE = 5.0
MOST_ITERATIONS = 1000


@keras.saving.register_keras_serializable(package="keras_elmo")
class LogisticHead(keras.Layer):
    """Probabilities `softmax(W u + b)`, or `sigmoid` for two classes, from vectors of length 1.

    `u = [x / |x|, sqrt(share) g]`: the pooled ELMo vector `x`, and beside it the n-grams `g` if
    there are any. `solve` sets `W` and `b` where `|W|^2 / 2 + strength * sum_i w_i loss_i`, the
    penalised crossentropy over all rows, is smallest. This has one solution, so neither epochs,
    seeds nor learning rates come into it. The defaults, strength 10 and share 5, were chosen on
    subsets of the training part of the SMS Spam Collection (`benchmarks/choose_logistic.py`).

    Args:
        n_classes: int, at least 2.
        ngrams: bool, whether the head takes n-grams too.
        strength: float > 0, what the loss of a row weighs beside the penalty.
        ngram_share: float > 0, the squared length of the n-grams beside 1 of the ELMo vector.

    Call arguments:
        x: float (batch, dim).
        grams: SparseTensor float32 (batch, 262144), or None.

    Returns:
        Float32 probabilities, (batch, 1), of the second class, for two classes; otherwise
        (batch, n_classes).
    """

    def __init__(
        self, n_classes, ngrams=False, strength=STRENGTH, ngram_share=NGRAM_SHARE, **kwargs
    ):
        super().__init__(autocast=False, **kwargs)
        take_any_inputs(self)
        self.n_classes = n_classes
        self.ngrams = ngrams
        self.strength = strength
        self.ngram_share = ngram_share
        self.units = 1 if n_classes == 2 else n_classes

    def build(self, input_shape):
        def weight(name, shape):
            return self.add_weight(
                name=name, shape=shape, dtype="float32", initializer="zeros", autocast=False
            )

        self.kernel = weight("kernel", (input_shape[-1], self.units))
        self.ngram_kernel = weight("ngram_kernel", (BUCKETS, self.units)) if self.ngrams else None
        self.bias = weight("bias", (self.units,))

    def call(self, x, grams=None):
        logits = _unit_rows(x) @ self.kernel + self.bias
        if grams is not None:
            product = tf.sparse.sparse_dense_matmul(grams, self.ngram_kernel)
            logits += np.sqrt(self.ngram_share) * product
        return tf.sigmoid(logits) if self.units == 1 else tf.nn.softmax(logits)

    def solve(self, x, grams, y, weights):
        """Sets kernel and bias to the minimum for all n rows of the training data.

        `grams` is a SciPy matrix (n, 262144) or None; in `y` (n,), every class number occurs.
        """
        from sklearn.linear_model import LogisticRegression

        features, columns = np.asarray(_unit_rows(x), np.float64), None
        if grams is not None:
            import scipy.sparse

            columns = np.unique(grams.indices)
            scaled = np.sqrt(self.ngram_share) * grams[:, columns]
            features = scipy.sparse.hstack([features, scaled], format="csr")
        model = LogisticRegression(C=self.strength, max_iter=MOST_ITERATIONS)
        model.fit(features, y, sample_weight=weights)
        dim = x.shape[1]
        self.kernel.assign(model.coef_[:, :dim].T)
        self.bias.assign(model.intercept_)
        if columns is not None:
            kernel = np.zeros(self.ngram_kernel.shape)
            kernel[columns] = model.coef_[:, dim:].T
            self.ngram_kernel.assign(kernel)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)

    def get_config(self):
        return {
            **super().get_config(),
            "n_classes": self.n_classes,
            "ngrams": self.ngrams,
            "strength": self.strength,
            "ngram_share": self.ngram_share,
        }


def _unit_rows(x):
    """`x / |x|` in float32, 0 where `x` is 0."""
    return tf.math.l2_normalize(tf.cast(x, tf.float32), axis=-1, epsilon=1e-24)
