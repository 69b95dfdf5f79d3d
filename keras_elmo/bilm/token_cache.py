"""Token vectors that are kept from call to call."""

import collections
import threading

import numpy as np
import tensorflow as tf

from keras_elmo.layers.fast.traced import traced_once
from keras_elmo.text.characters import boundary_char_ids, word_char_ids


class TokenVectorCache:
    """The token vectors of the words that were asked for last.

    A token vector knows no context, so it can be kept. Words that are not here are encoded, and
    only they; where all places are taken, the words that were asked for longest ago make room.
    What is kept belongs to the weights that the biLM had then. `n_encoded` words were encoded.
    """

    def __init__(self, bilm, capacity):
        config = bilm.config
        self.capacity = capacity
        self.n_encoded = 0
        self._characters = config.max_characters_per_token
        self._places = collections.OrderedDict()  # Word to row, the one asked for last at the end.
        self._vectors = np.empty((capacity, config.projection_dim), np.float32)
        self._lock = threading.Lock()
        char_ids = tf.TensorSpec((None, self._characters), tf.int32)
        self._encode = traced_once(bilm.token_vectors, char_ids)
        self._boundaries = self._encode(tf.constant(boundary_char_ids(self._characters)))

    def __len__(self):
        return len(self._places)

    def table(self, words):
        """`(vectors, rows)` of words, string `(n,)`, as from `BiLM.token_table`."""
        distinct, rows = tf.unique(tf.strings.substr(words, 0, self._characters - 2))
        with self._lock:
            vectors = self._look_up(distinct.numpy().tolist())
        return np.concatenate([self._boundaries, vectors]), rows + 2

    def _look_up(self, words):
        vectors = np.empty((len(words), self._vectors.shape[1]), np.float32)
        known = [k for k, word in enumerate(words) if word in self._places]
        vectors[known] = self._vectors[[self._places[words[k]] for k in known]]
        for k in known:
            self._places.move_to_end(words[k])
        missing = [k for k, word in enumerate(words) if word not in self._places]
        if missing:
            new = [words[k] for k in missing]
            vectors[missing] = self._encode(word_char_ids(new, self._characters))
            self.n_encoded += len(new)
            self._keep(new, vectors[missing])
        return vectors

    def _keep(self, words, vectors):
        words, vectors = words[-self.capacity :], vectors[-self.capacity :]
        taken = len(self._places)
        free = list(range(taken, min(self.capacity, taken + len(words))))
        while len(free) < len(words):
            free.append(self._places.popitem(last=False)[1])
        self._vectors[free] = vectors
        self._places.update(zip(words, free, strict=True))
