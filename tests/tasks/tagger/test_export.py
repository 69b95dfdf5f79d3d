import json
import os

import keras
import numpy as np
import pytest
import tensorflow as tf
from without_package import run_without_package

from keras_elmo import Tagger
from keras_elmo.embedding.word_vectors import WordVectors
from keras_elmo.layers.scalar_mix import ScalarMix

TOKENS = [["see", "you", "at", "8"], [], ["New York"], ["héé", "8"]]
LABELS = [["VERB", "PRON", "ADP", "NUM"], [], ["NAME"], ["ADP", "NUM"]]
PADDED = tf.constant([[*row, *["left out"] * (4 - len(row))] for row in TOKENS])
LENGTHS = tf.constant([4, 0, 1, 2])
GLOVE = WordVectors(["see", "8"], [[1, 0], [0, 1]])

ELSEWHERE = """
import json
import tensorflow as tf
serve = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
tokens, lengths = json.loads(sys.argv[2]), json.loads(sys.argv[3])
answer = serve(tokens=tf.constant(tokens), sequence_len=tf.constant(lengths))
print(json.dumps([[label.decode() for label in row] for row in answer["labels"].numpy()]))
"""


@pytest.fixture(scope="module")
def make(make_tiny_bilm):
    """A function of options to a tagger with random weights, by default of the five labels."""

    def make(**options):
        keras.utils.set_random_seed(0)
        known = {"classes": sorted({label for row in LABELS for label in row})}
        tagger = Tagger(make_tiny_bilm(), **{"units": 6, **known, **options})
        tagger.embedding.mixes[0].scalars.assign([0.3, -1.0, 1.2])
        return tagger

    return make


@pytest.fixture(scope="module")
def tagger(make):
    """A trained one, with GloVe beside ELMo."""
    tagger = make(glove=GLOVE, dropout=0.1, classes=None)
    tagger.compile(keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy")
    tagger.fit(TOKENS, LABELS, epochs=25, verbose=0)
    return tagger


@pytest.fixture(scope="module")
def directory(tagger, tmp_path_factory):
    directory = tmp_path_factory.mktemp("serving") / "pos" / "1"
    tagger.export(directory)
    return directory


def signatures(directory):
    return tf.saved_model.load(os.fspath(directory)).signatures


def assert_answer(received, tagger):
    """What is served for `PADDED` and `LENGTHS` is what the live tagger gives for `TOKENS`."""
    expected = tagger.predict(TOKENS, verbose=0)
    classes = [str(label).encode() for label in tagger.classes_]
    np.testing.assert_allclose(received["probabilities"], expected, atol=1e-5)
    rows = zip(expected.argmax(axis=-1), LENGTHS.numpy(), strict=True)
    labels = [[classes[k] if t < n else b"" for t, k in enumerate(row)] for row, n in rows]
    assert received["labels"].numpy().tolist() == labels
    assert received["classes"].numpy().tolist() == [classes] * len(TOKENS)


def test_the_signature_names_its_inputs_and_outputs(directory):
    found = signatures(directory)
    assert set(found) == {"serving_default", "tokens"}
    for signature in found.values():
        assert set(signature.structured_input_signature[1]) == {"tokens", "sequence_len"}
        assert signature.structured_outputs == {
            "labels": tf.TensorSpec((None, None), tf.string, name="labels"),
            "probabilities": tf.TensorSpec((None, None, 5), tf.float32, name="probabilities"),
            "classes": tf.TensorSpec((None, 5), tf.string, name="classes"),
        }


def test_answers_are_those_of_the_live_tagger(directory, tagger):
    assert tagger.predict_labels(TOKENS, verbose=0) == LABELS
    serve = signatures(directory)["tokens"]
    assert_answer(serve(tokens=PADDED, sequence_len=LENGTHS), tagger)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_nothing_is_answered_with_nothing(directory, shape):
    serve = signatures(directory)["serving_default"]
    received = serve(tokens=tf.fill(shape, "a"), sequence_len=tf.zeros(shape[:1], tf.int32))
    assert received["labels"].shape == shape
    assert received["probabilities"].shape == (*shape, 5)


def test_it_answers_in_a_process_without_this_package(directory):
    tokens = [[token.decode() for token in row] for row in PADDED.numpy()]
    inputs = (json.dumps(tokens), json.dumps(LENGTHS.numpy().tolist()))
    rows = json.loads(run_without_package(ELSEWHERE, directory, *inputs))
    assert [[label for label in row if label] for row in rows] == LABELS


@pytest.mark.parametrize(
    "options",
    [{"units": 0}, {"mix": ScalarMix(layer_norm=True), "classes": [3, 1]}, {"fine_tune": True}],
)
def test_options_of_the_tagger_hold(make, options, tmp_path):
    tagger = make(**options)
    tagger.export(tmp_path / "m")
    serve = signatures(tmp_path / "m")["serving_default"]
    assert_answer(serve(tokens=PADDED, sequence_len=LENGTHS), tagger)


def test_the_tagger_goes_on_as_before(directory, tagger):
    lstms = (tagger.recurrent.forward_layer, tagger.recurrent.backward_layer)
    assert [lstm.use_cudnn for lstm in lstms] == ["auto", "auto"]


def test_faults_are_told_and_leave_nothing(make, directory, tagger, tmp_path):
    with pytest.raises(ValueError, match="The tagger does not know its classes yet.*`fit` first"):
        make(classes=None).export(tmp_path / "m")
    with pytest.raises(ValueError, match="`format` must be 'tf_saved_model'.*format='onnx'"):
        tagger.export(tmp_path / "m", "onnx")
    with pytest.raises(FileExistsError, match="`overwrite=True`"):
        tagger.export(directory)
    assert os.listdir(tmp_path) == []
    tagger.export(directory, overwrite=True)
