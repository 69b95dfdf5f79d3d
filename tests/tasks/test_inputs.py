import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.tasks.inputs import (
    batches_of,
    check_lengths,
    is_stream,
    label_array,
    predict_by_length,
    read_stream,
    split_rows,
)

TEXTS = ["free entry now", "", "ok lar", "한국어 문장"]


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


def lengths_of(texts):
    return tf.strings.length(tf.convert_to_tensor(texts))


def test_datasets_are_read_in_the_graph_and_single_texts_batched():
    single = tf.data.Dataset.from_tensor_slices((TEXTS, [0, 1, 0, 1]))
    for dataset, sizes in ((single, [3, 1]), (single.batch(2), [2, 2])):
        found = list(read_stream(dataset, lengths_of, 3))
        assert [len(labels) for _, labels in found] == sizes
        assert np.concatenate([x for x, _ in found]).tolist() == [14, 0, 6, 16]
    texts_only = tf.data.Dataset.from_tensor_slices(TEXTS)
    assert [x.numpy().tolist() for x in read_stream(texts_only, lengths_of, 4)] == [[14, 0, 6, 16]]


def test_pydataset_is_read_batch_by_batch():
    batches = Batches(workers=2, max_queue_size=3)
    found = read_stream(batches, lengths_of, 3)
    assert is_stream(found)
    assert (found.num_batches, found.workers, found.max_queue_size) == (2, 2, 3)
    lengths, labels, weights = found[1]
    assert lengths.numpy().tolist() == [6, 16]
    assert (labels.tolist(), weights.tolist()) == ([0, 1], [1.0, 2.0])
    assert [len(batch[0]) for batch in batches_of(found)] == [2, 2]
    assert len(list(batches_of(found, 1))) == 1
    found.on_epoch_begin()
    found.on_epoch_end()
    assert (batches.epochs_begun, batches.epochs_ended) == (1, 1)


def test_generator_is_read_batch_by_batch():
    found = read_stream((batch for batch in [(TEXTS[:2], [0, 1]), TEXTS[2:]]), lengths_of, 3)
    assert is_stream(found)
    (lengths, labels), more = found
    assert lengths.numpy().tolist() == [14, 0]
    assert labels == [0, 1]
    assert more.numpy().tolist() == [6, 16]


def test_predictions_by_length_come_back_in_order():
    seen = []

    def predict(x):
        seen.extend(x.numpy().tolist())
        return {"a": x.numpy() * 2, "b": x.numpy()[:, None]}

    found = predict_by_length(predict, tf.constant([2, 9, 4]), np.array([2, 9, 4]))
    assert seen == [9, 4, 2]
    assert found["a"].tolist() == [4, 18, 8]
    assert found["b"].tolist() == [[2], [9], [4]]


@pytest.mark.parametrize("y", [[0, 1], pd.Series([0, 1]), np.array([0, 1], object)])
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


def test_lengths_must_agree():
    texts = tf.constant(TEXTS)
    with pytest.raises(ValueError, match="`y` must have one entry for each of the 4 .*3 entries"):
        check_lengths(texts, [0, 1, 2])
    with pytest.raises(ValueError, match="`sample_weight` must have .*1 entries"):
        check_lengths(texts, [0, 1, 2, 3], [1.0])


def test_split_rows_cuts_off_the_last_ones():
    first, last = split_rows(0.25, tf.constant(TEXTS), [0, 1, 2, 3], None)
    assert first[0].shape == (3,)
    assert (first[1:], last[1:]) == (([0, 1, 2], None), ([3], None))
    with pytest.raises(ValueError, match="`validation_split` must leave rows"):
        split_rows(0.9, tf.constant([0, 1]))
