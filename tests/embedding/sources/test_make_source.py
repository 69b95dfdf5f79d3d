import zipfile

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.sources.make_source import make_source
from keras_elmo.embedding.sources.native import NativeSource

TOKENS = tf.ragged.constant([["free", "entry", "now"], ["ok"]])


def test_every_kind_of_place_gives_the_same_source(tiny_bilm, tiny_directory, tmp_path):
    archive = tmp_path / "bilm.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("options.json", "weights.hdf5"):
            file.write(tiny_directory / name, name)
    pair = (tiny_directory / "options.json", str(tiny_directory / "weights.hdf5"))
    expected, _ = make_source(tiny_bilm)(TOKENS)
    for place in (tiny_directory, str(tiny_directory), archive, pair, list(pair)):
        source = make_source(place)
        np.testing.assert_array_equal(source(TOKENS)[0], expected)
        kept = place if isinstance(place, (tuple, list)) else [place]
        assert source.get_config()["place"] in ([*map(str, kept)], str(kept[0]))


def test_a_bilm_is_used_itself_where_it_fits(tiny_bilm, make_tiny_bilm):
    assert make_source(tiny_bilm).bilm is tiny_bilm
    trained = make_tiny_bilm(frozen=False)
    assert make_source(trained, fine_tune=True).bilm is trained


def test_a_bilm_that_does_not_fit_is_copied(make_tiny_bilm):
    for bilm, fine_tune in (
        (make_tiny_bilm(frozen=False), False),
        (make_tiny_bilm(), True),
        (make_tiny_bilm(dropout=0.5), False),
    ):
        copy = make_source(bilm, fine_tune).bilm
        assert copy is not bilm and copy.frozen is not fine_tune and copy.dropout == 0.0
        assert copy.fingerprint() == bilm.fingerprint()
        assert bool(copy.trainable_weights) is fine_tune


def test_a_source_is_taken_as_it_is_or_made_to_fit(tiny_bilm, tiny_directory):
    source = NativeSource(tiny_bilm, str(tiny_directory))
    assert make_source(source) is source
    lean = make_source(source, save_weights=False)
    assert lean is not source and lean.bilm is tiny_bilm
    assert (lean.place, lean.save_weights) == (str(tiny_directory), False)
    tuned = make_source(source, fine_tune=True)
    assert tuned.bilm.frozen is False and tuned.place == str(tiny_directory)


def test_another_layer_with_the_interface_of_a_source_is_taken(tiny_bilm):
    class Other(keras.layers.Layer):
        num_layers, output_dim, tokenizer = 3, 16, "space"

    other = Other()
    assert make_source(other) is other


@pytest.mark.parametrize("source", [None, 3, {"place": "x"}])
def test_anything_else_is_an_error(source):
    with pytest.raises(TypeError, match="`source` must be the name of a preset.*Received: "):
        make_source(source)
