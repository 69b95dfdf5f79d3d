import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.tasks.sequential import Sequential

LABELS = [1, 0, 0, 1]


@pytest.fixture(scope="module")
def model(make_tiny_bilm):
    """A trained model of texts; tests must not train it."""
    model = make_model(make_tiny_bilm())
    model.fit(["free entry now", "ok lar"], [1, 0], verbose=0)
    return model


def make_model(bilm, run_eagerly=False, model_class=Sequential, **kwargs):
    model = model_class(
        [ELMoEmbedding(bilm, **kwargs), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"], run_eagerly=run_eagerly)
    return model


def weights_after(make_tiny_bilm, x, y, model_class=Sequential, **kwargs):
    """The trained weights, and the history; eager, because tracing is slower than three steps."""
    keras.utils.set_random_seed(0)
    model = make_model(make_tiny_bilm(), run_eagerly=True, model_class=model_class)
    history = model.fit(x, y, verbose=0, shuffle=False, **kwargs)
    return trained(model), history


def trained(model):
    return np.concatenate([weight.numpy().ravel() for weight in model.trainable_weights])


def test_a_container_of_pandas_is_as_its_tensor(model, texts):
    expected = model.predict(tf.constant(texts), verbose=0)
    series, labels = pd.Series(texts), pd.Series(LABELS)
    np.testing.assert_array_equal(model.predict(series, verbose=0), expected)
    np.testing.assert_allclose(model.predict_on_batch(series), expected, atol=1e-6)
    np.testing.assert_allclose(model(series), expected, atol=1e-6)
    expected = model.evaluate(tf.constant(texts), np.array(LABELS), verbose=0)
    assert model.evaluate(texts, labels, verbose=0) == pytest.approx(expected)
    assert model.test_on_batch(texts, labels) == pytest.approx(expected)


def test_fit_equals_fit_of_plain_keras(make_tiny_bilm, texts):
    x, y = tf.constant(texts), np.array(LABELS)
    expected, _ = weights_after(make_tiny_bilm, x, y, keras.Sequential, epochs=2)
    found, _ = weights_after(make_tiny_bilm, texts, LABELS, epochs=2)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_streams_train_as_lists_do(make_tiny_bilm, texts):
    expected, _ = weights_after(make_tiny_bilm, texts, LABELS, batch_size=2)
    pairs = list(zip(texts, LABELS, strict=True))
    single = tf.data.Dataset.from_tensor_slices((texts, LABELS))
    batches = Pairs(pairs)
    for stream in (single.batch(2), single, batches, (batches[i] for i in range(2))):
        found, _ = weights_after(make_tiny_bilm, stream, None, batch_size=2, steps_per_epoch=2)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=str(stream))


class Pairs(keras.utils.PyDataset):
    """Pairs (text, label) in batches of two, in order."""

    def __init__(self, pairs):
        super().__init__()
        self.pairs = pairs

    def __len__(self):
        return len(self.pairs) // 2

    def __getitem__(self, index):
        texts, labels = zip(*self.pairs[2 * index : 2 * index + 2], strict=True)
        return list(texts), list(labels)


def test_validation_data_and_split_in_any_container(make_tiny_bilm, texts):
    frame = pd.DataFrame({"text": texts, "label": LABELS})
    dataset = tf.data.Dataset.from_tensor_slices((texts[3:], LABELS[3:])).batch(1)
    _, by_split = weights_after(make_tiny_bilm, frame.text, frame.label, validation_split=0.25)
    for data in ((texts[3:], LABELS[3:]), (texts[3:], LABELS[3:], [1.0]), dataset):
        _, history = weights_after(
            make_tiny_bilm, frame.text[:3], frame.label[:3], validation_data=data
        )
        assert history.history["val_loss"] == pytest.approx(by_split.history["val_loss"], abs=1e-6)


def test_sample_weights_in_a_list_weigh_the_loss(make_tiny_bilm, texts):
    expected, _ = weights_after(make_tiny_bilm, texts[:2], LABELS[:2])
    weights = [2.0, 2.0, 0.0, 0.0]  # the loss is a mean over rows
    by_fit, _ = weights_after(make_tiny_bilm, texts, LABELS, sample_weight=weights)
    keras.utils.set_random_seed(0)
    model = make_model(make_tiny_bilm(), run_eagerly=True)
    model.train_on_batch(texts, LABELS, sample_weight=weights)
    np.testing.assert_allclose(by_fit, expected, atol=1e-6)
    np.testing.assert_allclose(trained(model), expected, atol=1e-6)


def test_tokens_of_any_length_follow_tokens_of_another(make_tiny_bilm):
    model = make_model(make_tiny_bilm(), run_eagerly=True)
    rows = [["I", "agree", "with", "you"], ["no"]]
    model.fit(rows, [1, 0], verbose=0)
    expected = model.predict(rows, verbose=0)
    np.testing.assert_allclose(model.predict(rows[1:], verbose=0), expected[1:], atol=1e-5)
    np.testing.assert_allclose(model.predict(tf.ragged.constant(rows), verbose=0), expected)


def test_tokens_equal_their_text(model, make_tiny_bilm):
    of_tokens = make_model(make_tiny_bilm(), run_eagerly=True, inputs="tokens")
    of_tokens([["a", "b"]])
    of_tokens.set_weights(model.get_weights())
    found = of_tokens.predict([["ok", "lar"], ["no"]], verbose=0)
    np.testing.assert_allclose(found, model.predict(["ok lar", "no"], verbose=0), atol=1e-6)


def test_a_last_batch_that_is_not_full_changes_nothing(model):
    texts = ["ok lar", "free entry now", "", "see you at 8", "   ", "win", "no"]
    whole = model.predict(texts, verbose=0)
    assert whole.shape == (7, 1)
    np.testing.assert_allclose(model.predict(texts, batch_size=3, verbose=0), whole, atol=1e-5)
    np.testing.assert_allclose(model.predict(texts[:1], verbose=0), whole[:1], atol=1e-5)


def test_saved_model_is_the_same_and_takes_lists(model, texts, tmp_path):
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert type(loaded) is Sequential
    np.testing.assert_allclose(
        loaded.predict(texts, verbose=0), model.predict(texts, verbose=0), atol=1e-6
    )


def test_with_an_input_it_is_the_same(model, make_tiny_bilm, texts):
    inputs = keras.Input((), dtype="string")
    with_input = Sequential([inputs, ELMoEmbedding(make_tiny_bilm()), keras.layers.Dense(1)])
    assert with_input.predict(texts, verbose=0).shape == (4, 1)
    assert with_input(keras.Input((), dtype="string")).shape == (None, 1)


def test_numbers_pass_through_untouched():
    model = Sequential([keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert model.predict(x, verbose=0).tolist() == [[3.0], [7.0]]
    assert model.evaluate(x, [3.0, 7.0], verbose=0) == 0.0


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        (["a", "b"], [0], ValueError, "`y` must have one entry for each of the 2 texts"),
        (["a", None], [0, 1], ValueError, "1"),
        ([1, 2], [0, 1], TypeError, "text"),
        (["a", "b"], ["ham", "spam"], TypeError, "`y` must hold numbers"),
    ],
)
def test_bad_data_is_named(model, x, y, error, message):
    with pytest.raises(error, match=message):
        model.evaluate(x, y, verbose=0)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_and_weights_are_an_error(model, missing):
    texts = ["free entry", "ok lar", "no"]
    with pytest.raises(ValueError, match="`y` must have no missing entries.*first in row 1"):
        model.fit(texts, pd.Series([1, missing, 0], dtype=object), verbose=0)
    with pytest.raises(ValueError, match="`sample_weight` must have no missing entries"):
        model.fit(texts, [1, 0, 1], sample_weight=[1.0, missing, 1.0], verbose=0)


def test_no_rows(model):
    for call in (lambda: model.predict([]), lambda: model.fit([], [])):
        with pytest.raises(ValueError, match="at least one text"):
            call()


def test_texts_and_tokens_in_one_model_are_an_error(model):
    model.predict(["ok lar"], verbose=0)
    with pytest.raises(ValueError, match="`x` must hold texts.*Received: tokens"):
        model.predict([["ok", "lar"], ["no"]], verbose=0)
