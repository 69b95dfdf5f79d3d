"""`MixHistory`: what a model takes from which layer, step by step."""

import keras
import numpy as np

from keras_elmo.basics.checks import check_count
from keras_elmo.embedding.find import elmo_layers


class MixRecord:
    """The way of one mix over training.

    Args:
        name: str, of the layer, and `/k` for the k-th of several mixes.
        mix: ScalarMix.

    Attributes:
        layer_weights: float32 (records, L+1), the normalised weights, each row with sum 1.
        gamma: float32 (records,).
    """

    def __init__(self, name, mix):
        self.name = name
        self._mix = mix
        self._weights = []
        self._gammas = []

    def add(self):
        """Records the mix as it is now."""
        self._weights.append(self._mix.layer_weights)
        self._gammas.append(float(self._mix.gamma.numpy()))

    @property
    def layer_weights(self) -> np.ndarray:
        return np.array(self._weights, np.float32)

    @property
    def gamma(self) -> np.ndarray:
        return np.array(self._gammas, np.float32)


class MixHistory(keras.callbacks.Callback):
    """Records the layer weights, gamma, loss and accuracy of a training after its steps.

    For every mix of every `ELMoEmbedding` of the model, however it is trained: with a
    `TextClassifier`, a `Tagger` or a model of your own, with a `FeatureCache` or without. Where
    weights are averaged (`TextClassifier`), the records are those of the weights that are trained;
    the averaged ones are the layer's after `fit`. A further `fit` of the same model goes on where
    the last one ended; with another model it begins anew.

    Args:
        every: steps from record to record.

    Attributes:
        steps: list of int, the steps of the records, from 1.
        metrics: dict of lists, `"loss"` and the names of Keras' own means (`"accuracy"` ...): their
            means over the steps since the last record of the epoch, not since its begin.
        mixes: list of MixRecord, one for each mix of the model.
        history: dict of lists by epoch, as that of `keras.callbacks.History`.
        epoch_ends: list of int, the steps after which the epochs of `history` ended.

    Raises:
        ValueError: the model has no ELMoEmbedding with a mix.

    Example:

    ```python
    history = MixHistory()
    classifier = keras_elmo.TextClassifier()
    classifier.fit(["free entry, text WIN", "see you"], ["spam", "ham"], callbacks=[history])
    history.layer_weights.shape     # (1, 3)
    ```
    """

    def __init__(self, every: int = 1):
        super().__init__()
        self.every = check_count("every", every)
        self._recorded = None
        self._begin()

    def _begin(self):
        self.steps, self.metrics, self.mixes = [], {}, []
        self.history, self.epoch_ends = {}, []
        self._done = 0
        self._before = {}

    @property
    def layer_weights(self) -> np.ndarray:
        """Float32 (records, L+1) of the only mix; of several see `mixes`."""
        return self._only().layer_weights

    @property
    def gamma(self) -> np.ndarray:
        """Float32 (records,) of the only mix; of several see `mixes`."""
        return self._only().gamma

    def on_train_begin(self, logs: dict | None = None) -> None:
        if self._recorded is self.model:
            return
        self._begin()
        self.mixes = [MixRecord(name, mix) for name, mix in _mixes_of(self.model)]
        self._recorded = self.model

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self._before = {}

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        self._done += 1
        if self._done % self.every:
            return
        self.steps.append(self._done)
        for record in self.mixes:
            record.add()
        sums = _sums_of(self.model)
        for name, (total, count) in sums.items():
            total_before, count_before = self._before.get(name, (0.0, 0.0))
            n = count - count_before
            self.metrics.setdefault(name, []).append((total - total_before) / n if n else np.nan)
        self._before = sums

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.epoch_ends.append(self._done)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(float(value))

    def _only(self):
        if len(self.mixes) != 1:
            raise ValueError(
                "There must be one mix to give its weights. Received: "
                f"{[record.name for record in self.mixes]}. Take one of `mixes` after training."
            )
        return self.mixes[0]


def _mixes_of(model):
    """(name, ScalarMix) of every mix of a model."""
    found = [
        (layer.name if len(layer.mixes) == 1 else f"{layer.name}/{number}", mix)
        for layer in elmo_layers(model)
        for number, mix in enumerate(layer.mixes)
    ]
    if not found:
        raise ValueError(
            "A MixHistory must be given to a model with an ELMoEmbedding that has a mix. "
            f"Received: {model!r:.80}. Put out 'default' or 'elmo'."
        )
    return found


def _sums_of(model):
    """Sum and weight of every running mean that Keras keeps of the loss and the metrics."""
    metrics = [inner for metric in model.metrics for inner in getattr(metric, "metrics", [metric])]
    return {
        metric.name: (float(metric.total.numpy()), float(metric.count.numpy()))
        for metric in metrics
        if hasattr(metric, "total") and hasattr(metric, "count")
    }
