"""Equality with the published reference vectors (AllenNLP's test fixtures)."""

import json

import h5py
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.text.characters import boundary_char_ids, word_char_ids


@pytest.fixture(scope="module")
def fixture(shared):
    return shared / "fixtures" / "allennlp_elmo"


@pytest.fixture(scope="module")
def published(fixture):
    return BiLM.load((fixture / "options.json", fixture / "lm_weights.hdf5"))


def batches(fixture):
    lists = json.loads((fixture / "sentences.json").read_text())
    for k in range(10):
        yield tf.ragged.constant([sentences[k].split(" ") for sentences in lists])


def references(fixture, k):
    for i in range(3):
        with h5py.File(fixture / f"lm_embeddings_{i}.hdf5") as file:
            yield np.concatenate(list(file[str(k)][()]), axis=-1)


def assert_top_layer_equal(layers, fixture, k):
    for row, expected in zip(layers, references(fixture, k), strict=True):
        top = row[-1, 1 : 1 + len(expected)]
        assert np.allclose(top, expected, atol=1e-6, rtol=1e-5)


def test_ten_batches_with_states_carried(fixture, published):
    states = None
    for k, tokens in enumerate(batches(fixture)):
        output = published.embed_tokens(tokens, states)
        states = output.states
        assert_top_layer_equal(output.layers, fixture, k)


def test_first_batch_without_states_and_from_character_ids(fixture, published):
    tokens = next(batches(fixture))
    from_tokens = published.embed_tokens(tokens)
    assert_top_layer_equal(from_tokens.layers, fixture, 0)
    assert_top_layer_equal(published(char_ids_of(tokens)).layers, fixture, 0)


def char_ids_of(tokens):
    """Character ids with boundaries, built row by row."""
    begin, end = boundary_char_ids()
    rows = [np.stack([begin, *word_char_ids(row).numpy(), end]) for row in tokens]
    longest = max(map(len, rows))
    return tf.constant(np.stack([np.pad(row, ((0, longest - len(row)), (0, 0))) for row in rows]))


def test_token_vectors_of_the_vocabulary(fixture, published):
    words = (fixture / "vocab_test.txt").read_text().splitlines()
    char_ids = word_char_ids(tf.constant(words)).numpy()
    # In that file the two boundary marks are the boundaries, not their spelling.
    char_ids[words.index("<S>")], char_ids[words.index("</S>")] = boundary_char_ids()
    with h5py.File(fixture / "elmo_token_embeddings.hdf5") as file:
        expected = file["embedding"][()]
    assert np.allclose(published.token_vectors(char_ids), expected, atol=1e-6, rtol=1e-5)


def test_saved_again_it_is_the_same_model(fixture, published, tmp_path):
    published.save(tmp_path)
    again = BiLM.load(tmp_path)
    assert again.fingerprint() == published.fingerprint()
    with h5py.File(fixture / "lm_weights.hdf5") as old, h5py.File(tmp_path / "weights.hdf5") as new:
        assert keys_and_values(old) == keys_and_values(new)


def keys_and_values(file):
    found = {}
    file.visititems(
        lambda key, item: (
            found.update({key: item[()].tobytes()}) if isinstance(item, h5py.Dataset) else None
        )
    )
    return found
