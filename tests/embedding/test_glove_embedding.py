import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.glove_embedding import GloVeEmbedding
from keras_elmo.embedding.word_vectors import WordVectors

VECTORS = WordVectors(["to", "be", "Or"], [[1, 2], [3, 4], [8, 0]])
TOKENS = [["To", "be", "Or"], [], ["or", "BE"]]
MEAN = [4, 2]
EXPECTED = [[[1, 2], [3, 4], [8, 0]], [[0, 0]] * 3, [MEAN, [3, 4], [0, 0]]]


def padded(tokens):
    return tf.ragged.constant(tokens, ragged_rank=1, dtype=tf.string).to_tensor("")


@pytest.mark.parametrize("form", [list, tf.ragged.constant, padded], ids=["list", "ragged", "pad"])
def test_vectors_and_mask_by_hand(form):
    layer = GloVeEmbedding(VECTORS)
    output = layer(form(TOKENS))
    np.testing.assert_array_equal(output, EXPECTED)
    mask = [[True] * 3, [False] * 3, [True, True, False]]
    np.testing.assert_array_equal(output._keras_mask, mask)
    np.testing.assert_array_equal(layer.compute_mask(form(TOKENS)), mask)


def test_case_and_unknown_words_as_asked_for():
    exact = GloVeEmbedding(VECTORS, lower=False, unknown="zero")
    np.testing.assert_array_equal(exact([["To", "be", "no"]]), [[[0, 0], [3, 4], [0, 0]]])


def test_letters_beyond_ascii_are_lower_cased_too():
    layer = GloVeEmbedding(WordVectors(["été"], [[1.0]]), unknown="zero")
    np.testing.assert_array_equal(layer([["ÉTÉ"]]), [[[1.0]]])


def test_padding_does_not_change_a_row():
    layer = GloVeEmbedding(VECTORS)
    alone, longer = layer([["to"]]), layer([["to"], ["be"] * 5])
    np.testing.assert_array_equal(alone[0], longer[0, :1])


def train_a_step(layer):
    model = keras.Sequential([keras.Input((None,), dtype="string"), layer, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    model.fit(padded(TOKENS), np.ones((3, 3, 1)), verbose=0)
    return model


def test_vectors_are_frozen_unless_asked():
    layer = GloVeEmbedding(VECTORS)
    train_a_step(layer)
    layer.trainable = False
    layer.trainable = True
    assert layer.trainable_weights == []
    np.testing.assert_array_equal(layer(TOKENS), EXPECTED)

    tuned = GloVeEmbedding(VECTORS, fine_tune=True)
    train_a_step(tuned)
    after = tuned.vectors.numpy()
    np.testing.assert_array_equal(after[0], [0, 0])  # padding
    assert (after[1:] != GloVeEmbedding(VECTORS).vectors.numpy()[1:]).any(axis=1).all()


def test_model_is_saved_with_its_words(tmp_path):
    model = train_a_step(GloVeEmbedding(VECTORS, unknown="zero", fine_tune=True))
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    x = padded(TOKENS)
    np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6)
    assert loaded.layers[0].get_config() == model.layers[0].get_config()
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone(x), model(x), atol=1e-6)


def test_output_is_float32_under_mixed_precision():
    assert GloVeEmbedding(VECTORS, dtype="mixed_bfloat16")([["to"]]).dtype == tf.float32


def test_path_is_read(tmp_path):
    (tmp_path / "v.txt").write_text("to 1 2\nbe 3 4\n")
    np.testing.assert_array_equal(GloVeEmbedding(str(tmp_path / "v.txt"))([["be"]]), [[[3, 4]]])
    np.testing.assert_array_equal(GloVeEmbedding(tmp_path / "v.txt")([["be"]]), [[[3, 4]]])


def test_wrong_arguments_raise(tmp_path):
    with pytest.raises(TypeError, match="`source` must be the path .* Received: 7 of type int"):
        GloVeEmbedding(7)
    with pytest.raises(FileNotFoundError, match="must be a file of word vectors.*nothing there"):
        GloVeEmbedding(tmp_path / "none")
    with pytest.raises(ValueError, match="`unknown` must be one of"):
        GloVeEmbedding(VECTORS, unknown="random")
    with pytest.raises(TypeError, match="`fine_tune` must be True or False"):
        GloVeEmbedding(VECTORS, fine_tune=1)
    layer = GloVeEmbedding(VECTORS)
    with pytest.raises(ValueError, match="`inputs` must be tokens, a string tensor of shape"):
        layer(tf.constant(["to be"]))
    with pytest.raises(TypeError, match="looks like a sentence"):
        layer(["to be"])
