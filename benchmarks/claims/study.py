"""What all parts share: the biLM, the sets, and the frozen layers, each read or run once."""

from typing import NamedTuple

import numpy as np
from probing.layers import embedder

import keras_elmo
from claims.data import GLOVE, TEXTS, read_task


class Sizes(NamedTuple):
    """How much is trained. All were fixed before the first figure was seen.

    Attributes:
        text_epochs: of the Dense head over pooled texts.
        tag_sentences: training sentences of the linear heads over tokens.
        tag_epochs: of these heads.
        placed_sentences: training sentences of the taggers with an LSTM.
        placed_epochs: of these taggers.
        amounts: numbers of training examples; None means all.
        few: up to how many examples count as few.
        few_epochs: of `TextClassifier` and of taggers with few examples.
        all_text_epochs: of `TextClassifier` with more.
        all_tag_epochs: of taggers with more.
        sms_draws: how many draws of few messages.
        probe_tokens: training tokens of the part-of-speech probes.
        probe_uses: share of the training uses of the word-sense probes.
    """

    text_epochs: int = 5
    tag_sentences: int = 2000
    tag_epochs: int = 10
    placed_sentences: int = 1000
    placed_epochs: int = 8
    amounts: tuple = (50, 100, 200, 500, None)
    few: int = 500
    few_epochs: int = 20
    all_text_epochs: int = 1
    all_tag_epochs: int = 6
    sms_draws: int = 5
    probe_tokens: int = 10_000
    probe_uses: float = 0.75


QUICK = Sizes(
    text_epochs=1,
    tag_sentences=30,
    tag_epochs=1,
    placed_sentences=20,
    placed_epochs=1,
    amounts=(20, 40),
    few=20,
    few_epochs=1,
    all_tag_epochs=1,
    sms_draws=1,
    probe_tokens=100,
)


class Layers(NamedTuple):
    """Layers of a task's examples.

    Attributes:
        train: texts: float32 (n, L + 1, 1, dim), means over the tokens of each text; sentences:
            list of float16 (time, L + 1, dim).
        test: the same.
    """

    train: object
    test: object


class Study:
    """The data and the biLM of one run."""

    def __init__(self, folder, bilm, sizes, seeds, scratch):
        self.folder, self.bilm, self.sizes = folder, bilm, sizes
        self.seeds = range(seeds)
        self.scratch = scratch
        self.embed = embedder(bilm)
        self.kept = {}

    def once(self, key, make):
        """What `make()` gave for this key."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def task(self, key):
        """The Task of that key."""
        return self.once(("task", key), lambda: read_task(self.folder, key))

    def layers(self, key):
        """The Layers of that task."""
        vectors = self._of_texts if key in TEXTS else self._of_sentences
        task = self.task(key)
        return self.once(
            ("layers", key), lambda: Layers(vectors(task.train.inputs), vectors(task.test.inputs))
        )

    def glove(self):
        """The WordVectors that stand beside ELMo's."""
        return self.once("glove", lambda: keras_elmo.load_glove(self.folder / GLOVE))

    def _of_texts(self, texts):
        tokens = keras_elmo.tokenize(texts, self.bilm.tokenizer or "space").to_list()
        pooled = self.embed(tokens).pooled()
        return np.ascontiguousarray(pooled[:, :, np.newaxis, : self.bilm.output_dim])

    def _of_sentences(self, sentences):
        layers = self.embed(sentences)
        return np.split(layers.vectors, layers.starts[1:-1])
