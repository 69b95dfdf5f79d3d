import dataclasses
import os

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from without_package import run_without_package, saved_model_cli

from keras_elmo import ELMoEmbedding, Sequential, TextClassifier
from keras_elmo.export.hub import _check_layer, export_hub
from keras_elmo.layers.scalar_mix import ScalarMix
from keras_elmo.tasks.pooling import SequencePooling

NAMES = {"default", "elmo", "word_emb", "lstm_outputs1", "lstm_outputs2"}
TEXTS = ["see you at 8/9, ok?", "", "  ", "héé\tx 日本 🙂", "a", "a  b\n c d"]
TOKENS = [["New York", "is", "", "big"], ["x", "", "", ""], ["", "", "", ""]]
LENGTHS = [4, 1, 0]

LOADERS = """
import numpy as np, tensorflow as tf, tensorflow_hub as hub, tf_keras
directory, out, texts = sys.argv[1], sys.argv[2], tf.constant(sys.argv[3:])

plain = tf.saved_model.load(directory)
loaded = hub.load(directory)
for module in (plain, loaded):
    assert not any([*module.variables, *module.trainable_variables, *module.regularization_losses])
default = hub.KerasLayer(directory, input_shape=[], dtype=tf.string)
elmo = hub.KerasLayer(directory, signature="default", output_key="elmo", dtype=tf.string)
tokens = hub.KerasLayer(directory, signature="tokens", output_key="elmo")
split = tf.strings.split(texts, " ")
padded = {"tokens": split.to_tensor(""), "sequence_len": tf.cast(split.row_lengths(), tf.int32)}

model = tf_keras.Sequential([default, tf_keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(texts, tf.ones(len(texts)), epochs=1, verbose=0)
inputs = tf_keras.Input((), dtype=tf.string)
pooled = tf_keras.layers.GlobalMaxPooling1D()(elmo(inputs))
functional = tf_keras.Model(inputs, tf_keras.layers.Dense(1)(pooled))
functional.compile("sgd", "mse")
functional.fit(texts, tf.ones(len(texts)), epochs=1, verbose=0)
assert len(functional.trainable_variables) == 2
np.savez(
    out, plain=plain(texts), load=loaded(texts), layer=default(texts), elmo=elmo(texts),
    tokens=tokens(padded), signature=plain.signatures["serving_default"](texts)["default"],
)
"""


def assert_same(received, expected):
    assert set(received) == set(expected) == NAMES
    for name in NAMES:
        assert received[name].shape == expected[name].shape, name
        np.testing.assert_allclose(received[name], expected[name], atol=1e-5, err_msg=name)


def exported(model, directory):
    export_hub(model, directory)
    return tf.saved_model.load(os.fspath(directory))


def of_text(module, texts):
    return module.signatures["default"](text=tf.constant(texts, tf.string))


def of_tokens(module, tokens, lengths):
    return module.signatures["tokens"](
        tokens=tf.constant(tokens), sequence_len=tf.constant(lengths, tf.int32)
    )


@pytest.fixture(scope="module")
def layer(make_layer):
    return make_layer()


@pytest.fixture(scope="module")
def directory(layer, tmp_path_factory):
    directory = tmp_path_factory.mktemp("hub") / "elmo"
    export_hub(layer, directory)
    return directory


@pytest.fixture(scope="module")
def module(directory):
    return tf.saved_model.load(os.fspath(directory))


def test_signatures_have_the_names_types_and_free_shapes_of_tf_hub(module):
    assert set(module.signatures) == {"default", "serving_default", "tokens"}
    widths = {name: (None, None, 16) for name in NAMES}
    widths |= {"default": (None, 16), "word_emb": (None, None, 8)}
    expected = {name: tf.TensorSpec(shape, name=name) for name, shape in widths.items()}
    text = {"text": tf.TensorSpec((None,), tf.string, name="text")}
    tokens = {
        "tokens": tf.TensorSpec((None, None), tf.string, name="tokens"),
        "sequence_len": tf.TensorSpec((None,), tf.int32, name="sequence_len"),
    }
    for name, inputs in (("default", text), ("serving_default", text), ("tokens", tokens)):
        signature = module.signatures[name]
        assert signature.structured_input_signature[1] == inputs
        assert signature.structured_outputs == expected


def test_default_is_the_live_layer_and_zero_at_padding(module, layer):
    received = of_text(module, TEXTS)
    assert_same(received, layer(TEXTS))
    lengths = [5, 0, 0, 3, 1, 4]  # Of tokens between spaces: `héé\tx` is one.
    beyond = np.arange(5) >= np.array(lengths)[:, None]
    for name in NAMES - {"default"}:
        zero = np.all(received[name].numpy() == 0.0, axis=-1)
        np.testing.assert_array_equal(zero, beyond)
    assert np.all(received["default"].numpy()[1:3] == 0.0)


def test_tokens_are_the_live_layer_whatever_stands_behind_a_row(module, layer):
    expected = layer({"tokens": np.array(TOKENS), "sequence_len": np.array(LENGTHS)})
    received = of_tokens(module, TOKENS, LENGTHS)
    assert received["elmo"].shape == (3, 4, 16)
    assert_same(received, expected)
    noise = [TOKENS[0], ["x", "p", "q", "r"], ["p", "", "q", "r"]]
    assert_same(of_tokens(module, noise, LENGTHS), expected)


def test_no_row_and_no_token(module, layer):
    assert_same(of_text(module, []), layer(tf.constant([], tf.string)))
    nothing = of_tokens(module, np.zeros((2, 0), str), [0, 0])
    assert_same(nothing, layer(["", ""]))


def test_a_length_beyond_the_row_is_an_error(module):
    with pytest.raises(tf.errors.InvalidArgumentError, match="sequence_len"):
        of_tokens(module, [["a", "b"]], [3])


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(
    max_examples=10,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(words, max_size=6).map(" ".join), max_size=5))
def test_any_texts_give_what_the_live_layer_gives(module, layer, texts):
    assert_same(of_text(module, texts), layer(tf.constant(texts, tf.string)))


@settings(max_examples=10, deadline=None, database=None)
@given(st.lists(st.lists(words, max_size=6), min_size=1, max_size=5))
def test_any_tokens_give_what_the_live_layer_gives(module, layer, rows):
    lengths = [len(row) for row in rows]
    tokens = np.array([row + [""] * (6 - len(row)) for row in rows], object)
    expected = layer({"tokens": tokens, "sequence_len": np.array(lengths)})
    assert_same(of_tokens(module, tokens.tolist(), lengths), expected)


@pytest.mark.filterwarnings("ignore:A sentence has more tokens than")
def test_options_of_the_layer_hold(make_layer, tmp_path, capfd):
    mix = ScalarMix(layer_norm=True)
    layer = make_layer(mix=mix, tokenizer="words", max_tokens=6, dropout=0.5)
    module = exported(layer, tmp_path / "m")
    capfd.readouterr()
    received = of_text(module, TEXTS)
    assert capfd.readouterr().err == ""  # A server's log has no line for each long text.
    assert received["elmo"].shape[1] == 6  # of 5 between spaces: see you at 8/9 , ok ?
    assert_same(received, layer(TEXTS))


def test_what_trained_is_written_and_a_model_goes_on_training(make_layer, tmp_path):
    layer = make_layer(output="elmo", dropout=0.1, fine_tune=True)
    model = Sequential([layer, SequencePooling(), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse", run_eagerly=True)
    model.train_on_batch(tf.constant(TEXTS), np.arange(6.0))
    assert layer.gamma != pytest.approx(1.7)
    model.export_hub(tmp_path / "m")
    received = of_text(tf.saved_model.load(os.fspath(tmp_path / "m")), TEXTS)
    np.testing.assert_allclose(received["elmo"], layer(TEXTS), atol=1e-5)
    model.train_on_batch(tf.constant(TEXTS), np.arange(6.0))


def test_the_layer_of_a_classifier(make_tiny_bilm, tmp_path):
    classifier = TextClassifier(make_tiny_bilm(), classes=["x", "y"], hidden_units=4)
    classifier.export_hub(tmp_path / "m")
    received = of_text(tf.saved_model.load(os.fspath(tmp_path / "m")), TEXTS)
    np.testing.assert_allclose(received["elmo"], classifier.embedding(TEXTS), atol=1e-5)


def test_a_bilm_gets_the_plain_mix_and_its_own_tokenizer_and_its_weights_are_written_once(
    make_tiny_bilm, tiny_config, tmp_path
):
    sizes = {"tokenizer": "words", "lstm_dim": 400, "projection_dim": 64}
    bilm = make_tiny_bilm(dataclasses.replace(tiny_config, **sizes))
    module = exported(bilm, tmp_path / "m")
    live = ELMoEmbedding(bilm, output="average", tokenizer="words")
    np.testing.assert_allclose(of_text(module, TEXTS)["elmo"], live(TEXTS), atol=1e-5)
    weights = sum(array.nbytes for array in bilm.arrays().values())
    assert weights > 3_000_000
    data = os.path.getsize(tmp_path / "m/variables/variables.data-00000-of-00001")
    assert data == pytest.approx(weights, rel=0.02)
    assert os.path.getsize(tmp_path / "m/saved_model.pb") < 1_000_000


def test_a_layer_without_a_mix_gets_its_initial_one(make_tiny_bilm, tmp_path):
    bilm, mix = make_tiny_bilm(), ScalarMix(fixed_weights=[0.0, 0.25, 0.75], initial_gamma=2.0)
    module = exported(ELMoEmbedding(bilm, output="top", mix=mix), tmp_path / "m")
    live = ELMoEmbedding(bilm, output="elmo", mix=mix)
    np.testing.assert_allclose(of_text(module, TEXTS)["elmo"], live(TEXTS), atol=1e-5)


def test_a_tf_hub_module_comes_out_as_it_went_in(tiny_module, tmp_path):
    layer = ELMoEmbedding(tiny_module, output=sorted(NAMES))
    module = exported(layer, tmp_path / "m")
    assert_same(of_text(module, TEXTS), layer(TEXTS))
    padded = {"tokens": np.array(TOKENS), "sequence_len": np.array(LENGTHS)}
    assert_same(of_tokens(module, TOKENS, LENGTHS), layer(padded))


def test_a_tf_hub_module_that_is_no_bilm_raises_and_leaves_nothing(
    tiny_module, tmp_path, monkeypatch
):
    def to_bilm(source):
        raise ValueError("variables must be those of a biLM")

    layer = ELMoEmbedding(tiny_module)
    monkeypatch.setattr(type(layer.source), "to_bilm", to_bilm)
    with pytest.raises(ValueError, match="must be those of a biLM"):
        export_hub(layer, tmp_path / "m")
    assert os.listdir(tmp_path) == []


@pytest.mark.end_to_end
def test_other_processes_load_it_in_every_way_without_this_package(directory, layer, tmp_path):
    out = tmp_path / "out.npz"
    texts = ["see you at 8", "ok", "日本 🙂"]
    run_without_package(LOADERS, directory, out, *texts)
    live = layer(texts)
    with np.load(out) as found:
        for name in ("plain", "load", "layer", "signature"):
            np.testing.assert_allclose(found[name], live["default"], atol=1e-5, err_msg=name)
        for name in ("elmo", "tokens"):
            np.testing.assert_allclose(found[name], live["elmo"], atol=1e-5, err_msg=name)


@pytest.mark.end_to_end
def test_saved_model_cli_shows_and_runs_it(directory, layer, tmp_path):
    texts = ["see you at 8", "", "x"]
    options = ("--dir", directory, "--tag_set", "serve", "--signature_def", "default")
    inputs = ("--input_exprs", f"text={texts}")
    shown = saved_model_cli(
        ("show", "--dir", directory, "--all"), ("run", *options, *inputs, "--outdir", tmp_path)
    )
    for name in NAMES | {"text", "tokens", "sequence_len"}:
        assert f"['{name}'] tensor_info" in shown
    received = {name: np.load(tmp_path / f"{name}.npy") for name in NAMES}
    assert_same(received, layer(texts))


def test_what_cannot_be_exported_is_told(make_tiny_bilm, tmp_path):
    layer = ELMoEmbedding(make_tiny_bilm(), name="one")
    two = Sequential([layer, keras.layers.Dense(2)])
    text = keras.Input((), dtype="string")
    other = ELMoEmbedding(make_tiny_bilm(), name="two")
    both = keras.Model(text, [two(text), other(text)])
    none = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    cases = [
        (both, ValueError, r"exactly one ELMoEmbedding.*Functional with 2 of them, \['one', 'two'"),
        (none, ValueError, "Received: Sequential without one"),
        ("english-small", TypeError, "`model` must be an ELMoEmbedding.*Received: str"),
        (ELMoEmbedding(make_tiny_bilm(), num_mixes=2), ValueError, "one mix.*num_mixes=2. Export"),
        (ELMoEmbedding(make_tiny_bilm(), keep_boundaries=True), ValueError, "keep_boundaries=True"),
    ]
    for model, error, message in cases:
        with pytest.raises(error, match=message):
            export_hub(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_one_of_several_mixes_can_be_exported_as_the_error_says(make_tiny_bilm):
    layer = ELMoEmbedding(make_tiny_bilm(), output="elmo", num_mixes=2)
    layer.mixes[1].scalars.assign([1.0, 0.0, -2.0])
    one = ELMoEmbedding(layer.source, output="elmo", mix=layer.mixes[1])
    _check_layer(one)
    np.testing.assert_allclose(one(TEXTS), layer(TEXTS)[1], atol=1e-5)
