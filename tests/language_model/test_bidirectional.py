"""The losses against NumPy, and against each other."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.pretraining.lanes import Lanes, Windows, filling_order

SENTENCES = [[b"the", b"cat", b"sat"], [b"a", b"dog"], [b"mat"], [b"on", b"the", b"<S>", b"mat"]]


class Lines:
    def read(self, start=0):
        lines = itertools.cycle([b" ".join(sentence) for sentence in SENTENCES])
        return itertools.islice(lines, start, None)


def lanes(n_lanes, window):
    return Lanes(Lines(), "space", window, n_lanes)


def nats_by_hand(model, sentence):
    """Both directions' -log p of one sentence in NumPy, from the biLM's layers."""
    tokens = tf.ragged.constant([sentence], dtype=tf.string)
    top = model.bilm.embed_tokens(tokens).layers[0, -1].numpy()
    dim = model.bilm.config.projection_dim
    ids = [model.vocabulary.bos_id]
    for word in sentence:
        known = word.decode() in model.vocabulary.words[3:]
        found = model.vocabulary.words.index(word.decode()) if known else None
        ids.append(found if known else model.vocabulary.unk_id)
    ids.append(model.vocabulary.eos_id)
    last = len(ids) - 1
    forward = [-log_softmax(model, top[t, :dim])[ids[t + 1]] for t in range(last)]
    backward = [-log_softmax(model, top[t, dim:])[ids[t - 1]] for t in range(last, 0, -1)]
    return np.array(forward), np.array(backward)


def log_softmax(model, h):
    logits = h @ np.asarray(model.softmax.W) + np.asarray(model.softmax.b)
    return logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()


def test_sentence_losses_equal_numpy(make_model):
    model = make_model()
    nats, mask = model.sentence_losses(tf.ragged.constant(SENTENCES))
    for row, sentence in enumerate(SENTENCES):
        forward, backward = nats_by_hand(model, sentence)
        valid = mask[row].numpy()
        assert valid.sum() == len(sentence) + 1
        np.testing.assert_allclose(nats.forward[row][valid], forward, atol=1e-5)
        np.testing.assert_allclose(nats.backward[row][valid], backward[::-1], atol=1e-5)


def test_window_losses_equal_numpy_with_states_carried_over_windows(make_model, monkeypatch):
    monkeypatch.setattr("keras_elmo.pretraining.lanes.BLOCK_LINES", len(SENTENCES))
    model = make_model()
    batches = list(itertools.islice(lanes(1, 4), 7))
    states = model.zero_states(1)
    found = []
    for batch in batches:
        losses, states = model.window_losses(Windows(*map(tf.constant, batch)), states)
        found.append([float(losses.forward), float(losses.backward)])
    lengths = [len(sentence) + 1 for sentence in SENTENCES]  # 14 positions: two blocks, 7 windows.
    order = filling_order(lengths, 0, 4) + filling_order(lengths, 2, 4)
    nats = [nats_by_hand(model, SENTENCES[k]) for k in order]
    for direction in (0, 1):
        expected = np.concatenate([pair[direction] for pair in nats]).reshape(7, 4).mean(1)
        np.testing.assert_allclose(np.array(found)[:, direction], expected, atol=1e-5)


def test_windows_go_on_over_sentences_where_they_are_not_reset(make_model):
    model = make_model()
    batch = Windows(*map(tf.constant, next(lanes(1, 7))))
    zero = model.zero_states(1)
    at_sentences, _ = model.window_losses(batch, zero)
    same, _ = model.window_losses(batch, zero, resets=batch.forward_inputs == "")
    never, _ = model.window_losses(batch, zero, resets=tf.zeros((1, 7), tf.bool))
    assert float(same.forward) == float(at_sentences.forward)
    assert abs(float(never.forward - at_sentences.forward)) > 1e-4


def test_dropout_is_a_function_of_the_seed(make_model):
    model = make_model(dropout=0.5)
    batch = Windows(*map(tf.constant, next(lanes(2, 5))))
    losses = [
        model.window_losses(batch, model.zero_states(2), seed)[0]
        for seed in (None, tf.constant([1, 1]), tf.constant([1, 1]), tf.constant([1, 2]))
    ]
    calm, one, again, other = (float(loss.forward) for loss in losses)
    assert one == again
    assert len({calm, one, other}) == 3


def test_directions_share_token_encoder_and_softmax_only(make_model):
    model = make_model()
    batch = next(lanes(2, 5))
    with tf.GradientTape() as tape:
        losses, _ = model.window_losses(Windows(*map(tf.constant, batch)), model.zero_states(2))
        loss = losses.forward
    variables = model.trainable_variables
    gradients = tape.gradient(loss, [v.value for v in variables])
    reached = {
        v.path: g is not None and np.abs(tf.convert_to_tensor(g)).max() > 0
        for v, g in zip(variables, gradients, strict=True)
    }
    backward = {v.path for v in model.bilm.contextual_encoder.backward_stack.variables}
    assert len(backward) == 6
    for path, touched in reached.items():
        assert touched == (path not in backward), path


def test_evaluation_equals_numpy_and_ignores_order_and_batching(make_model, monkeypatch):
    model = make_model()
    found = evaluate(model, SENTENCES)
    nats = [nats_by_hand(model, sentence) for sentence in SENTENCES]
    forward = np.concatenate([pair[0] for pair in nats])
    backward = np.concatenate([pair[1] for pair in nats])
    assert found.forward == pytest.approx(np.exp(forward.mean()), rel=1e-5)
    assert found.backward == pytest.approx(np.exp(backward.mean()), rel=1e-5)
    both = np.concatenate([forward, backward])
    assert found.combined == pytest.approx(np.exp(both.mean()), rel=1e-5)
    assert (found.sentences, found.tokens) == (4, 14)
    assert found.unknown_share == pytest.approx(2 / 10)
    monkeypatch.setattr("keras_elmo.language_model.perplexity.TOKENS_AT_ONCE", 1)
    assert evaluate(model, SENTENCES[::-1]) == pytest.approx(found, rel=1e-5)


def test_evaluation_of_nothing(make_model):
    with pytest.raises(ValueError, match="at least one sentence"):
        evaluate(make_model(), [])
