import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.tasks.inputs import (
    batched,
    check_lengths,
    holds_text,
    holds_tokens,
    is_stream,
    label_array,
    model_input,
    split_rows,
)

TEXTS = ["free entry now", "", "ok lar", "한국어 문장"]
ROWS = [["New York", "is", "big"], ["no"], []]
PADDED = [["New York", "is", "big"], ["no", "", ""], ["", "", ""]]


class Batches(keras.utils.PyDataset):
    """Two batches of texts, labels and weights; counts epochs."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.epochs_begun = self.epochs_ended = 0

    def __len__(self):
        return 2

    def __getitem__(self, index):
        rows = slice(2 * index, 2 * index + 2)
        return TEXTS[rows], np.array([0, 1]), np.array([1.0, 2.0])

    def on_epoch_begin(self):
        self.epochs_begun += 1

    def on_epoch_end(self):
        self.epochs_ended += 1


def test_every_container_gives_the_same_tensor(container, texts):
    assert [text.decode() for text in model_input(container).numpy()] == texts


@pytest.mark.parametrize(
    "tokens",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        tf.ragged.constant(ROWS),
        np.array(PADDED),
        np.array(PADDED, object),
        tf.constant(PADDED),
        pd.Series(ROWS),
        {"tokens": tf.constant(PADDED), "sequence_len": [3, 1, 0]},
    ],
    ids=lambda tokens: type(tokens).__name__,
)
def test_every_form_of_tokens_gives_the_same_padded_tensor(tokens):
    assert holds_tokens(tokens)
    found = model_input(tokens)
    assert [[token.decode() for token in row] for row in found.numpy()] == PADDED


def test_single_tokens_do_not_turn_into_texts():
    assert model_input([["New York"], ["no"]]).shape == (2, 2)


def test_inputs_decides_where_the_form_does_not():
    column = np.array([["ok lar"], ["no"]], object)
    assert model_input(column).shape == (2,)
    assert model_input(column, "tokens").shape == (2, 2)
    with pytest.raises((TypeError, ValueError)):
        model_input(ROWS, "text")


@pytest.mark.parametrize("x", [[1, 2], np.array([3.5]), ["a", None]])
def test_numbers_and_missing_texts_are_errors(x):
    with pytest.raises((TypeError, ValueError)):
        model_input(x)


@pytest.mark.parametrize(
    "x", [[1, 2], np.zeros((2, 3)), [], pd.Series([1]), None, tf.constant(["a"])]
)
def test_what_holds_no_text_is_told_apart(x):
    assert not holds_text(x)


def test_what_holds_text_is_found(container):
    assert holds_text(container) is not tf.is_tensor(container)  # tensors need no conversion


def test_dataset_keeps_labels_and_gets_rank_one():
    dataset = tf.data.Dataset.from_tensor_slices((np.array(TEXTS)[:, None], [0, 1, 0, 1])).batch(2)
    texts, labels = next(iter(model_input(dataset)))
    assert texts.shape == (2,)
    assert labels.numpy().tolist() == [0, 1]


def test_only_single_texts_are_batched():
    single = model_input(tf.data.Dataset.from_tensor_slices((TEXTS, [0, 1, 0, 1])))
    assert [len(texts) for texts, _ in batched(single, 3)] == [3, 1]
    twos = single.batch(2)
    assert batched(twos, 3) is twos


def test_dataset_of_tokens_or_numbers_stays():
    tokens = tf.data.Dataset.from_tensors(tf.constant(PADDED))
    numbers = tf.data.Dataset.range(3)
    assert model_input(tokens) is tokens
    assert model_input(numbers) is numbers


def test_pydataset_is_converted_batch_by_batch():
    batches = Batches(workers=2, max_queue_size=3)
    found = model_input(batches)
    assert is_stream(found)
    assert (found.num_batches, found.workers, found.max_queue_size) == (2, 2, 3)
    texts, labels, weights = found[1]
    assert [text.decode() for text in texts.numpy()] == TEXTS[2:]
    assert (labels.tolist(), weights.tolist()) == ([0, 1], [1.0, 2.0])
    found.on_epoch_begin()
    found.on_epoch_end()
    assert (batches.epochs_begun, batches.epochs_ended) == (1, 1)


def test_generator_is_converted_batch_by_batch():
    found = model_input(batch for batch in [(TEXTS[:2], [0, 1]), TEXTS[2:]])
    assert is_stream(found)
    (texts, labels), more = found
    assert texts.numpy().tolist() == [b"free entry now", b""]
    assert labels == [0, 1]
    assert more.shape == (2,)


@pytest.mark.parametrize(
    "y", [[0, 1], (0, 1), pd.Series([0, 1]), np.array([0, 1]), np.array([0, 1], object)]
)
def test_labels_in_any_container_are_an_array(y):
    found = label_array(y)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [0, 1]


def test_labels_that_keras_takes_stay():
    tensor = tf.constant([0, 1])
    assert label_array(tensor) is tensor
    assert label_array(None) is None
    assert label_array(pd.DataFrame({"y": [0, 1]})).shape == (2, 1)


def test_labels_that_are_no_numbers_are_errors():
    with pytest.raises(TypeError, match="`y` must hold numbers.*'spam'.*TextClassifier"):
        label_array(["spam", "ham"])
    with pytest.raises(ValueError, match="`y` must have rows of one length"):
        label_array([[0, 1], [0]])


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        ([0, 1, 2], None, "`y` must have one entry for each of the 4 texts.*3 entries"),
        ([0, 1, 2, 3], [1.0], "`sample_weight` must have .*1 entries"),
    ],
)
def test_lengths_must_agree(y, weights, message):
    with pytest.raises(ValueError, match=message):
        check_lengths(tf.constant(TEXTS), y, weights)


def test_split_rows_cuts_off_the_last_ones():
    first, last = split_rows(0.25, tf.constant(TEXTS), [0, 1, 2, 3], None)
    assert first[0].shape == (3,)
    assert (first[1:], last[1:]) == (([0, 1, 2], None), ([3], None))
    with pytest.raises(ValueError, match="`validation_split` must leave rows"):
        split_rows(0.9, [0, 1])
