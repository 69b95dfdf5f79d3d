"""Character ids of tokens, in the published numbering."""

import numpy as np
import tensorflow as tf

from keras_elmo.text.rules import (
    BOS_ID,
    BOW_ID,
    EOS_ID,
    EOW_ID,
    MAX_CHARACTERS_PER_TOKEN,
    PAD_ID,
)


def word_char_ids(words: tf.Tensor, max_characters: int = MAX_CHARACTERS_PER_TOKEN) -> tf.Tensor:
    """Spell words as character ids: begin-word, UTF-8 bytes, end-word, padding.

    Each word is cut to its first `max_characters - 2` bytes (also in the middle of a letter). One
    is added to every published id, so that a row of zeros means "no token". Every word is spelled,
    the empty one and the literal text `<S>` included.

    Args:
        words: string tensor of any shape `(...)`.
        max_characters: ids a word (50 in every published model).

    Returns:
        int32 tensor `(..., max_characters)`, values 1..261.

    Example:
        >>> word_char_ids(tf.constant(["ok"]), max_characters=6).numpy().tolist()
        [[259, 112, 108, 260, 261, 261]]

    Source: the id rule of `allenai/bilm-tf`, `UnicodeCharsVocabulary`.
    """
    words = tf.convert_to_tensor(words)
    room = max_characters - 2
    spelled = tf.cast(tf.io.decode_raw(words, tf.uint8, fixed_length=room), tf.int32)
    spelled = tf.concat([spelled, tf.zeros_like(spelled[..., :1])], axis=-1)
    length = tf.minimum(tf.strings.length(words, unit="BYTE"), room)[..., tf.newaxis]
    position = tf.range(max_characters - 1)
    spelled = tf.where(tf.equal(position, length), EOW_ID, spelled)
    spelled = tf.where(position > length, PAD_ID, spelled)
    begin = tf.fill(tf.shape(length), BOW_ID)
    return tf.concat([begin, spelled], axis=-1) + 1


def boundary_char_ids(max_characters: int = MAX_CHARACTERS_PER_TOKEN) -> np.ndarray:
    """Spell the two sentence boundaries, begin of sentence and end of sentence.

    Returns:
        int32 `(2, max_characters)`, in the numbering of `word_char_ids`.
    """
    ids: np.ndarray = np.full((2, max_characters), PAD_ID, dtype=np.int32)
    ids[:, 0] = BOW_ID
    ids[:, 1] = (BOS_ID, EOS_ID)
    ids[:, 2] = EOW_ID
    return ids + 1
