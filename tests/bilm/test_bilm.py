import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig

WORDS = ["a", "see", "you", "today", "한국어", "x" * 60, "8/9"]


def by_hand(bilm, tokens, char_ids_of_word):
    """All layers of one sentence, in NumPy, each formula written out."""
    weights = {key: value.astype(np.float64) for key, value in bilm.arrays().items()}
    config = bilm.config
    x = np.array([token_vector(weights, config, ids) for ids in map(char_ids_of_word, tokens)])
    directions = []
    for direction, order in ((0, slice(None)), (1, slice(None, None, -1))):
        below = x[order]
        outputs = []
        for layer in range(config.n_layers):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/"
            out = lstm(below, *(weights[cell + n] for n in ("W_0", "B", "W_P_0")), config)
            below = out + below if config.use_skip_connections and layer else out
            outputs.append(below[order])
        directions.append(outputs)
    layers = [np.concatenate([x, x], -1)]
    layers += [np.concatenate(pair, -1) for pair in zip(*directions, strict=True)]
    return np.array(layers)


def token_vector(weights, config, ids):
    characters = weights["char_embed"][np.array(ids) - 1]
    act = {"relu": lambda v: np.maximum(v, 0), "tanh": np.tanh}[config.activation]
    features = []
    for k, (width, _) in enumerate(config.filters):
        kernel = weights[f"CNN/W_cnn_{k}"][0]
        positions = range(len(ids) - width + 1)
        windows = [np.einsum("wd,wdn->n", characters[p : p + width], kernel) for p in positions]
        features.append(act(np.max(windows, 0) + weights[f"CNN/b_cnn_{k}"]))
    x = np.concatenate(features)
    for k in range(config.n_highway):
        high = f"CNN_high_{k}/"
        gate = sigmoid(x @ weights[high + "W_carry"] + weights[high + "b_carry"])
        transformed = np.maximum(
            x @ weights[high + "W_transform"] + weights[high + "b_transform"], 0
        )
        x = gate * transformed + (1 - gate) * x
    return x @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]


def lstm(x, kernel, bias, projection, config):
    c, m = np.zeros(config.lstm_dim), np.zeros(config.projection_dim)
    outputs = []
    for x_t in x:
        i, j, f, o = np.split(np.concatenate([x_t, m]) @ kernel + bias, 4)
        c = clip(sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j), config.cell_clip)
        m = clip((sigmoid(o) * np.tanh(c)) @ projection, config.proj_clip)
        outputs.append(m)
    return np.array(outputs)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def clip(x, bound):
    return x if bound is None else np.clip(x, -bound, bound)


def ids_of_word(word):
    """The published character rule, in Python."""
    if word is None:
        return None
    marks = {"BOS": [256], "EOS": [257]}
    body = marks[word[1]] if isinstance(word, tuple) else list(word.encode()[:48])
    ids = [258, *body, 259]
    return [i + 1 for i in ids + [260] * (50 - len(ids))]


VARIANTS = {
    "three layers, no skip connections": {"use_skip_connections": False, "n_layers": 3},
    "tanh, two highways": {"activation": "tanh", "n_highway": 2, "filters": ((4, 3), (1, 2))},
    "no highway, no clips": {"n_highway": 0, "cell_clip": None, "proj_clip": None},
    "tight clips": {"cell_clip": 0.2, "proj_clip": 0.1},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_equals_the_formulas(changes, tiny_config, make_tiny_bilm):
    bilm = make_tiny_bilm(dataclasses.replace(tiny_config, **changes))
    output = bilm.embed_tokens(tf.ragged.constant([WORDS, ["ok"]]))
    sentence = [("mark", "BOS"), *WORDS, ("mark", "EOS")]
    np.testing.assert_allclose(output.layers[0], by_hand(bilm, sentence, ids_of_word), atol=1e-5)
    sentence = [("mark", "BOS"), "ok", ("mark", "EOS")]
    np.testing.assert_allclose(
        output.layers[1, :, :3], by_hand(bilm, sentence, ids_of_word), atol=1e-5
    )
    np.testing.assert_array_equal(output.layers[1, :, 3:], 0.0)
    assert output.mask.numpy().sum(1).tolist() == [len(WORDS) + 2, 3]


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=5),
)
def test_a_row_never_depends_on_its_neighbours(rows):
    bilm = test_a_row_never_depends_on_its_neighbours.bilm
    together = bilm.embed_tokens(ragged(rows)).layers
    for row, layers in zip(rows, together, strict=True):
        alone = bilm.embed_tokens(ragged([row])).layers[0]
        np.testing.assert_allclose(layers[:, : len(row) + 2], alone, atol=1e-5)
        np.testing.assert_array_equal(layers[:, len(row) + 2 :], 0.0)


@pytest.fixture(autouse=True, scope="module")
def _bilm_of_properties(make_tiny_bilm):
    test_a_row_never_depends_on_its_neighbours.bilm = make_tiny_bilm()


def ragged(rows):
    return tf.ragged.constant(rows, dtype=tf.string, ragged_rank=1)


def test_states_in_and_out_continue_a_text(tiny_bilm):
    vectors = tf.random.stateless_normal((2, 7, 8), seed=(1, 2))
    lengths = tf.constant([7, 7])
    whole = tiny_bilm.contextualize(vectors, lengths)
    first = tiny_bilm.contextualize(vectors[:, :3], lengths - 4)
    second = tiny_bilm.contextualize(vectors[:, 3:], lengths - 3, first.states)
    forward = tf.concat([first.layers, second.layers], axis=2)[..., :8]
    np.testing.assert_allclose(forward, whole.layers[..., :8], atol=1e-6)
    for found, expected in zip(second.states[0], whole.states[0], strict=True):
        np.testing.assert_allclose(found[0], expected[0], atol=1e-6)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-6)


def test_u07_words_with_the_same_48_bytes_share_their_vector(tiny_bilm):
    tokens = ragged([["x" * 48 + "y" * 12, "x" * 48 + "z" * 12, "x" * 48]])
    layer_0 = tiny_bilm.embed_tokens(tokens).layers[0, 0, 1:4].numpy()
    assert (layer_0 == layer_0[0]).all()


@pytest.mark.parametrize("shape", [(0, 4, 50), (2, 0, 50)])
def test_no_rows_or_no_positions_give_no_vectors(tiny_bilm, shape):
    any_ids = tf.TensorSpec((None, None, 50), tf.int32)
    for call in (tiny_bilm, tf.function(lambda ids: tiny_bilm(ids), input_signature=[any_ids])):
        output = call(tf.zeros(shape, tf.int32))
        assert output.layers.shape == (shape[0], 3, shape[1], 16)
        assert output.mask.shape == shape[:2]


def test_no_sentences_in_graph(tiny_bilm):
    any_tokens = tf.RaggedTensorSpec((None, None), tf.string)
    embed = tf.function(tiny_bilm.embed_tokens, input_signature=[any_tokens])
    assert (
        embed(tf.RaggedTensor.from_row_splits(tf.constant([], tf.string), [0])).mask.shape[0] == 0
    )


@pytest.mark.parametrize(
    "char_ids", [np.ones((1, 2, 30), np.int32), np.ones((1, 50), np.int32), np.ones((1, 2, 50))]
)
def test_wrong_character_ids(tiny_bilm, char_ids):
    with pytest.raises(ValueError, match=r"integers of shape \(batch, time, 50\)"):
        tiny_bilm(tf.constant(char_ids))


def test_config_of_another_kind():
    with pytest.raises(TypeError, match="must be a BiLMConfig"):
        BiLM({})


def test_set_arrays_sets_all_or_nothing(tiny_bilm):
    before = tiny_bilm.fingerprint()
    arrays = {key: array + 1.0 for key, array in tiny_bilm.arrays().items()}
    last = list(arrays)[-1]
    for wrong in ({last: np.zeros(3)}, {"softmax/W": np.zeros(3)}):
        with pytest.raises(ValueError, match="Received"):
            tiny_bilm.set_arrays({**arrays, **wrong})
        assert tiny_bilm.fingerprint() == before
    del arrays[last]
    with pytest.raises(ValueError, match=last):
        tiny_bilm.set_arrays(arrays)
    assert tiny_bilm.fingerprint() == before


def test_frozen_has_nothing_to_train_whatever_is_flipped(tiny_bilm, make_tiny_bilm):
    tiny_bilm.trainable = False
    tiny_bilm.trainable = True
    assert tiny_bilm.trainable_variables == []
    assert len(make_tiny_bilm(frozen=False).trainable_variables) == len(tiny_bilm.arrays())


def test_unfrozen_takes_gradients_everywhere(make_tiny_bilm):
    bilm = make_tiny_bilm(frozen=False)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(bilm.embed_tokens(ragged([["see", "you"], ["a"]])).layers ** 2)
    gradients = tape.gradient(loss, [v.value for v in bilm.trainable_variables])
    assert all(np.abs(tf.convert_to_tensor(g)).max() > 0 for g in gradients)


def test_mixed_policy_keeps_float32_results(make_tiny_bilm, tiny_bilm):
    half = make_tiny_bilm(dtype="mixed_bfloat16")
    tokens = ragged([["see", "you", "today"]])
    layers = half.embed_tokens(tokens).layers
    assert layers.dtype == tf.float32
    difference = np.abs(layers - tiny_bilm.embed_tokens(tokens).layers)
    assert 0 < difference.max() < 0.1


def test_dropout_only_in_training(make_tiny_bilm):
    bilm = make_tiny_bilm(frozen=False, dropout=0.5)
    tokens = ragged([["see", "you"]])
    calm = bilm.embed_tokens(tokens).layers
    np.testing.assert_array_equal(calm, bilm.embed_tokens(tokens).layers)


def test_config_round_trip(tiny_bilm):
    copy = BiLM.from_config(tiny_bilm.get_config())
    assert copy.config == tiny_bilm.config
    copy.set_arrays(tiny_bilm.arrays())
    assert copy.fingerprint() == tiny_bilm.fingerprint()
    assert keras.saving.get_registered_name(BiLM) == "keras_elmo>BiLM"


def test_fingerprint_tells_models_apart(tiny_bilm, tiny_config, make_tiny_bilm):
    assert make_tiny_bilm().fingerprint() == tiny_bilm.fingerprint()
    assert make_tiny_bilm(seed=1).fingerprint() != tiny_bilm.fingerprint()
    other = dataclasses.replace(tiny_config, proj_clip=1.0)
    assert make_tiny_bilm(other).fingerprint() != tiny_bilm.fingerprint()


def test_sizes(tiny_bilm, tiny_config):
    assert (tiny_bilm.num_layers, tiny_bilm.output_dim, tiny_bilm.tokenizer) == (3, 16, None)
    assert BiLMConfig.from_options(tiny_config.to_options()) == tiny_config
