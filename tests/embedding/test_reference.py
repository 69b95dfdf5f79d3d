"""ELMoEmbedding against the vectors that AllenNLP publishes for its test model."""

import json

import h5py
import numpy as np
import pytest

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding


@pytest.fixture(scope="module")
def published(shared):
    """Folder, model, and the first sentence of each list, which make up the first batch."""
    folder = shared / "fixtures" / "allennlp_elmo"
    sentences = [texts[0] for texts in json.loads((folder / "sentences.json").read_text("utf-8"))]
    return folder, (folder / "options.json", folder / "lm_weights.hdf5"), sentences


@pytest.mark.parametrize("as_tokens", [False, True])
def test_first_batch_equals_the_published_top_layer(published, as_tokens):
    folder, source, sentences = published
    inputs = [sentence.split(" ") for sentence in sentences] if as_tokens else sentences
    layer = ELMoEmbedding(source, output="top", tokenizer="space")
    found = layer(inputs).numpy()
    for index, sentence in enumerate(sentences):
        with h5py.File(folder / f"lm_embeddings_{index}.hdf5") as file:
            forward, backward = file["0"][...]
        length = len(sentence.split(" "))
        expected = np.concatenate([forward, backward], axis=-1)
        assert expected.shape == (length, layer.output_dim)
        np.testing.assert_allclose(found[index, :length], expected, atol=1e-6, rtol=1e-5)
        assert np.all(found[index, length:] == 0.0)
