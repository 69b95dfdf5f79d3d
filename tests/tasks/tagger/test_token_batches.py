import keras
import numpy as np
import tensorflow as tf

from keras_elmo.tasks.tagger.token_batches import BATCHES_SORTED_AT_ONCE, TokenBatches

LENGTHS = [3, 0, 1, 7, 2]


def ragged(lengths):
    tokens = tf.ragged.constant([[f"{row}"] * n for row, n in enumerate(lengths)], tf.string, 1)
    numbers = tf.ragged.constant([[row + 1] * n for row, n in enumerate(lengths)], tf.int32, 1)
    return tokens, numbers


def test_batches_go_from_short_to_long_by_hand():
    batches = TokenBatches(*ragged(LENGTHS), batch_size=2)
    assert len(batches) == batches.num_batches == 3
    tokens, numbers = batches[0]
    assert tokens.numpy().tolist() == [[b""], [b"2"]]
    assert numbers.numpy().tolist() == [[0], [3]]
    tokens, numbers = batches[1]
    assert tokens.numpy().tolist() == [[b"4", b"4", b""], [b"0", b"0", b"0"]]
    assert numbers.numpy().tolist() == [[5, 5, 0], [1, 1, 1]]
    assert batches[2][0].shape == (1, 7)


def test_batch_without_a_token_has_one_position():
    tokens, numbers = ragged([0, 0])
    assert TokenBatches(tokens)[0].numpy().tolist() == [[b""], [b""]]
    assert TokenBatches(tokens, numbers)[0][1].numpy().tolist() == [[0], [0]]


def test_every_epoch_draws_all_rows_anew():
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 50, 3 * 2 * BATCHES_SORTED_AT_ONCE + 1)
    keras.utils.set_random_seed(0)
    batches = TokenBatches(*ragged(lengths), batch_size=2, shuffle=True)
    draws = [[rows.tolist() for rows in batches.rows]]
    for _ in range(2):
        batches.on_epoch_end()
        draws.append([rows.tolist() for rows in batches.rows])
    for draw in draws:
        assert len(draw) == len(batches) == len(lengths) // 2 + 1
        assert sorted(sum(draw, [])) == list(range(len(lengths)))
        uneven = [abs(lengths[one] - lengths[other]) for one, other in filter(is_full, draw)]
        assert np.mean(uneven) < 2  # about 17 without sorting
    assert draws[0] != draws[1] != draws[2]
    keras.utils.set_random_seed(0)
    again = TokenBatches(*ragged(lengths), batch_size=2, shuffle=True)
    assert [rows.tolist() for rows in again.rows] == draws[0]


def is_full(rows):
    return len(rows) == 2
