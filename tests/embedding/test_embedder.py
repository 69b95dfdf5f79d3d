import numpy as np
import pytest
import tensorflow as tf

from keras_elmo import ELMoEmbedding, Embedder
from keras_elmo.embedding import embedder

TEXTS = ["see you today", "", "a", "한국어 문장", "see you see you see you a b c", "a"]


@pytest.mark.parametrize("output", ["elmo", "top", "word_emb", "concat", "layers"])
@pytest.mark.parametrize("keep_boundaries", [False, True])
def test_equals_the_layer_row_by_row(output, keep_boundaries, tiny_bilm, monkeypatch):
    monkeypatch.setattr(embedder, "MOST_TEXTS", 2)
    layer = ELMoEmbedding(tiny_bilm, output=output, keep_boundaries=keep_boundaries)
    found = Embedder(layer).embed(TEXTS)
    for text, vectors in zip(TEXTS, found, strict=True):
        expected = layer([text]).numpy()[0]
        length = len(text.split()) + 2 * keep_boundaries
        expected = expected[:, :length] if output == "layers" else expected[:length]
        assert vectors.shape == expected.shape
        np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_pooled_output_is_one_array(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm)
    found = Embedder(layer).embed(np.array(TEXTS))
    np.testing.assert_allclose(found, layer(tf.constant(TEXTS)), atol=1e-5)
    assert Embedder(layer).embed([]).shape == (0, 16)


def test_takes_datasets(tiny_bilm):
    run = Embedder(ELMoEmbedding(tiny_bilm))
    expected = run.embed(TEXTS)
    texts = tf.data.Dataset.from_tensor_slices(TEXTS)
    labelled = tf.data.Dataset.from_tensor_slices((TEXTS, [0] * len(TEXTS)))
    for dataset in (texts, texts.batch(4), labelled, labelled.batch(4)):
        np.testing.assert_allclose(run.embed(dataset), expected, atol=1e-6)
    assert run.embed(texts.take(0)).shape == (0, 16)


def test_takes_tokens_and_a_source(tiny_directory):
    embedder = Embedder(tiny_directory, output="elmo", max_tokens=2)
    with pytest.warns(UserWarning, match="max_tokens=2"):
        one, other = embedder.embed([["see", "you", "today"], []])
    assert (one.shape, other.shape) == ((2, 16), (0, 16))


def test_a_run_is_bounded_in_positions(tiny_bilm, monkeypatch):
    position = 4 * 3 * 16
    monkeypatch.setattr(embedder, "MOST_BYTES", 10 * position)
    monkeypatch.setattr(embedder, "LONG_TEXTS", 2)
    monkeypatch.setattr(embedder, "MOST_BYTES_OF_LONG_TEXTS", 30 * position)
    run = Embedder(ELMoEmbedding(tiny_bilm))
    texts = ["a b c d e f g h"] * 3 + ["a " * 50] + ["a"] * 4
    sizes = [len(numbers) for numbers, _ in run.runs(run.tokens(texts))]
    assert sizes == [1, 2, 2, 3]  # The longest alone, two long ones, one long and short ones, ...


@pytest.mark.parametrize("options", [{"output": ["elmo", "top"]}, {"num_mixes": 2}])
def test_needs_one_output(options, tiny_bilm):
    with pytest.raises(ValueError, match="one output, given as a name .* and one mix"):
        Embedder(ELMoEmbedding(tiny_bilm, **options))
    with pytest.raises(ValueError, match=r"options \['output'\]"):
        Embedder(ELMoEmbedding(tiny_bilm), output="top")
