"""A biLM with its softmax: what pretraining trains and evaluation reads."""

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.text.vocabulary import Vocabulary


class Directions(NamedTuple):
    """A value for each direction."""

    forward: Any
    backward: Any


class BidirectionalLanguageModel(keras.layers.Layer):
    """Two language models that share the token encoder and the softmax, and nothing else.

    The forward one predicts `w_1 .. w_n </S>` after `<S> w_1 .. w_n`, the backward one
    `w_n .. w_1 <S>` after `</S> w_n .. w_1`. Peters et al. 2018, section 3.1.

    Args:
        bilm: created with `frozen=False` to be trained.
        softmax: of `make_softmax`.
        vocabulary: that of the softmax; words outside count as its unknown word.
    """

    def __init__(self, bilm: BiLM, softmax: FreezableLayer, vocabulary: Vocabulary, **kwargs: Any):
        super().__init__(autocast=False, **kwargs)
        self.bilm = bilm
        self.softmax = softmax
        self.vocabulary = vocabulary
        self.built = True

    def window_losses(
        self,
        windows: Any,
        states: Directions,
        seed: tf.Tensor | None = None,
        resets: tf.Tensor | None = None,
    ) -> tuple[Directions, Directions]:
        """Negative log-likelihoods of one batch of windows.

        Args:
            windows: Windows of string tensors `(batch, window)`.
            states: those that the last call gave back.
            seed: int32 `(2,)` that dropout and sampling are a function of; None: neither, and the
                softmax is exact.
            resets: bool `(batch, window)`, positions that begin from zero states; None: each
                sentence does.

        Returns:
            `(losses, states)`: Directions of float32 scalars, mean nats a predicted token, and
            the states after the windows.
        """
        inputs = Directions(windows.forward_inputs, windows.backward_inputs)
        targets = self._target_ids(windows.forward_targets, windows.backward_targets)
        vectors = self._input_vectors(inputs)
        tops, new_states = [], []
        for direction, stack in enumerate(self._stacks()):
            words = inputs[direction]
            outputs, state = stack(
                vectors[direction],
                initial_states=states[direction],
                resets=words == "" if resets is None else resets,
                seed=_fold_in(seed, direction),
            )
            tops.append(outputs[-1])
            new_states.append(state)
        # Both directions at once: one sample, and products of twice the rows.
        nats = self._nats(tf.stack(tops), tf.stack(list(targets)), _fold_in(seed, len(tops)))
        losses = tf.reduce_mean(nats, axis=[1, 2])
        return Directions(*tf.unstack(losses)), Directions(*new_states)

    def sentence_losses(self, tokens: tf.RaggedTensor) -> tuple[Directions, tf.Tensor]:
        """Negative log-likelihoods of whole sentences, each from zero states.

        Args:
            tokens: string `(batch, None)`.

        Returns:
            `(nats, mask)`: Directions of float32 `(batch, time + 1)`, one for each word and for
            the direction's end of the sentence, and the bool mask of the predicted positions.
        """
        layers, mask, _ = self.bilm.embed_tokens(tokens)
        ahead, behind = tf.split(layers[:, -1], 2, axis=-1)
        words = tokens.to_tensor("")
        end = tf.fill((tokens.nrows(), 1), "")
        # The forward state at position t predicts position t + 1, the backward one t - 1; in a
        # shorter row the boundary stands right after the last word, where `words` is "" too.
        targets = Directions(
            *self._target_ids(tf.concat([words, end], 1), tf.concat([end, words], 1))
        )
        hidden = Directions(ahead[:, :-1], behind[:, 1:])
        return Directions(*map(self._nats, hidden, targets)), mask[:, 1:]

    def zero_states(self, batch_size: int) -> Directions:
        """The states before the first window, for a batch of `batch_size` lanes."""
        return Directions(*(stack.zero_states(batch_size) for stack in self._stacks()))

    def _stacks(self):
        encoder = self.bilm.contextual_encoder
        return encoder.forward_stack, encoder.backward_stack

    def _input_vectors(self, inputs):
        """Token vectors of both directions' windows, each distinct word encoded once."""
        stacked = tf.stack(inputs)
        table, rows = self.bilm.token_table(tf.reshape(stacked, [-1]))
        rows = tf.reshape(rows, tf.shape(stacked))
        boundary_row = tf.reshape(tf.constant([0, 1]), [2, 1, 1])
        rows = tf.where(stacked == "", boundary_row, rows)
        return tf.unstack(tf.gather(table, rows), num=2)

    def _target_ids(self, forward, backward):
        ends = (self.vocabulary.eos_id, self.vocabulary.bos_id)
        for words, end in zip((forward, backward), ends, strict=True):
            yield tf.where(words == "", end, self.vocabulary.ids(words))

    def _nats(self, hidden, targets, seed=None):
        rows = tf.reshape(hidden, [-1, self.bilm.config.projection_dim])
        nats = self.softmax(rows, targets=tf.reshape(targets, [-1]), seed=seed)
        return tf.reshape(nats, tf.shape(targets))


def _fold_in(seed, number):
    """A seed of its own for each number; None stays None."""
    return None if seed is None else tf.random.experimental.stateless_fold_in(seed, number)
