"""Modules as functions of tokens."""

import shutil

import numpy as np
import pytest
import tensorflow as tf
from tiny_hub_module import write_module

from keras_elmo.embedding.sources.hub_module import HubModule

TOKENS = tf.ragged.constant([["free", "entry", "now"], [], ["ok"]])
NO_TOKENS = tf.RaggedTensor.from_row_splits(tf.constant([], tf.string), [0])


@pytest.fixture(scope="module")
def module(tiny_module):
    return HubModule(tiny_module)


def test_layers_are_those_of_the_bilm(module, tiny_bilm):
    layers, mask = module(TOKENS)
    assert mask.numpy().tolist() == [[True] * 3, [False] * 3, [True, False, False]]
    expected = tiny_bilm.embed_tokens(TOKENS).layers[:, :, 1:-1]
    expected = np.where(mask.numpy()[:, np.newaxis, :, np.newaxis], expected, 0.0)
    np.testing.assert_allclose(layers, expected, atol=1e-5)
    assert not np.any(layers[1]) and not np.any(layers[2, :, 1:])


def test_sizes_and_mix_are_told(module):
    assert (module.num_layers, module.output_dim) == (3, 16)
    assert (module.scalars, module.gamma) == ([0.0, 0.0, 0.0], 1.0)


@pytest.mark.parametrize(
    ("tokens", "shape"),
    [
        (NO_TOKENS, (0, 3, 0, 16)),
        (tf.RaggedTensor.from_row_splits(tf.constant([], tf.string), [0, 0, 0]), (2, 3, 0, 16)),
    ],
)
def test_nothing_to_embed_is_fine(module, tokens, shape):
    layers, mask = module(tokens)
    assert layers.shape == shape and mask.shape == (shape[0], shape[2])


def test_a_row_depends_on_itself_alone(module):
    together, _ = module(TOKENS)
    alone, _ = module(tf.ragged.constant([["ok"]]))
    np.testing.assert_allclose(together[2, :, :1], alone[0], atol=1e-6)


@pytest.mark.parametrize("trainable", [True, False])
def test_gradients_pass_by_modules_of_both_kinds(trainable, make_tiny_bilm, tmp_path):
    module = HubModule(write_module(make_tiny_bilm(), tmp_path / "module", trainable=trainable))
    scale = tf.Variable(2.0)

    def gradients():
        with tf.GradientTape() as tape:
            layers, _ = module(TOKENS)
            loss = tf.reduce_sum(scale * layers)
        return tape.gradient(loss, [scale, *module._module.variables])

    for run in (gradients, tf.function(gradients)):
        found, *others = run()
        np.testing.assert_allclose(found, tf.reduce_sum(module(TOKENS)[0]), rtol=1e-5)
        assert others == [None] * len(module._module.variables)


def test_equal_files_have_equal_sums(module, tiny_module, make_tiny_bilm, tmp_path):
    shutil.copytree(tiny_module, tmp_path / "copy")
    assert HubModule(tmp_path / "copy").sha256 == module.sha256
    other = write_module(make_tiny_bilm(seed=1), tmp_path / "other")
    assert HubModule(other).sha256 != module.sha256


def test_a_module_of_tensorflow_2_is_taken(module, tmp_path):
    class Module(tf.Module):
        @tf.function(
            input_signature=[
                tf.TensorSpec((None, None), tf.string, "tokens"),
                tf.TensorSpec((None,), tf.int32, "sequence_len"),
            ]
        )
        def tokens(self, tokens, sequence_len):
            vectors = tf.cast(tf.strings.length(tokens), tf.float32)[:, :, tf.newaxis]
            both = tf.concat([vectors, -vectors], axis=-1)
            return {"word_emb": vectors, "lstm_outputs1": both, "lstm_outputs2": 2.0 * both}

    made = Module()
    tf.saved_model.save(made, str(tmp_path / "two"), signatures={"tokens": made.tokens})
    found = HubModule(tmp_path / "two")
    layers, _ = found(tf.ragged.constant([["ab", "c"], ["d"]]))
    assert layers[0, :, 0].numpy().tolist() == [[2, 2], [2, -2], [4, -4]]
    assert (found.scalars, found.gamma) == (None, None)


def _save(directory, names, inputs=("tokens", "sequence_len")):
    specs = {
        "tokens": tf.TensorSpec((None, None), tf.string),
        "sequence_len": tf.TensorSpec((None,), tf.int32),
        "text": tf.TensorSpec((None,), tf.string),
    }
    sizes = {"word_emb": 2, "wide": 3}

    class Module(tf.Module):
        @tf.function
        def run(self, **given):
            shape = tf.shape(next(iter(given.values())))[:1]
            zeros = {n: tf.zeros([shape[0], 1, sizes.get(n.split(".")[0], 4)]) for n in names}
            return {name.split(".")[-1]: value for name, value in zeros.items()}

    made = Module()
    run = made.run.get_concrete_function(**{n: specs[n] for n in inputs})
    tf.saved_model.save(made, str(directory), signatures={"tokens": run})


@pytest.mark.parametrize(
    ("names", "inputs", "message"),
    [
        (["word_emb", "lstm_outputs1"], ("tokens", "sequence_len"), "must give `word_emb`, `lstm"),
        (["default"], ("tokens", "sequence_len"), r"Received: \['default'\]"),
        (["word_emb"], ("text",), r"must take `tokens` and `sequence_len`. Received: \['text'\]"),
        (
            ["word_emb", "wide.lstm_outputs1", "lstm_outputs2"],
            ("tokens", "sequence_len"),
            "twice as wide",
        ),
    ],
)
def test_other_modules_are_told(names, inputs, message, tmp_path):
    _save(tmp_path / "module", names, inputs)
    with pytest.raises(ValueError, match=message):
        HubModule(tmp_path / "module")


def test_a_saved_model_without_the_signature_is_told(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path / "module"))
    with pytest.raises(ValueError, match="must have the signature `tokens`. Received: "):
        HubModule(tmp_path / "module")


def test_damaged_files_are_told(tiny_module, tmp_path):
    with pytest.raises(ValueError, match=r"without saved_model.pb. Give the directory"):
        HubModule(tmp_path)
    broken = tmp_path / "broken"
    shutil.copytree(tiny_module, broken)
    (broken / "saved_model.pb").write_bytes(b"no graph")
    with pytest.raises(ValueError, match="that TensorFlow .* can load"):
        HubModule(broken)
    shutil.copytree(tiny_module, tmp_path / "cut")
    data = tmp_path / "cut" / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"(?s)can load. Received: (?!.*tags=).*copy it again"):
        HubModule(tmp_path / "cut")
