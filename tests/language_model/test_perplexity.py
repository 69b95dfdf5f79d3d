"""Held-out perplexity: pooled, streamed, and one graph a model."""

import gc
import math
import weakref

import numpy as np
import pytest

from keras_elmo.language_model import perplexity as evaluation
from keras_elmo.language_model.perplexity import SentenceNats, chunks, evaluate, pool, sentence_nats
from keras_elmo.text.tokens import as_tokens

SENTENCES = [["the", "cat", "sat"], ["a", "dog"], [], ["on", "the", "mat"]]


def part(forward, backward, tokens, unknown):
    return SentenceNats(*map(np.array, (forward, backward, tokens, unknown)))


def test_pool_by_hand():
    found = pool([part([6.0, 2.0], [3.0, 3.0], [2, 1], [1, 0]), part([4.0], [6.0], [3], [0])])
    assert found.forward == pytest.approx(math.exp(12 / 6))
    assert found.backward == pytest.approx(math.exp(12 / 6))
    assert found.combined == pytest.approx(math.exp(24 / 12))
    assert found[3:] == (3, 6, 1 / 3)


def test_pool_of_a_hopeless_model_is_infinite():
    found = pool([part([1e6], [1.0], [1], [0])])
    assert (found.forward, found.combined) == (math.inf, math.inf)
    assert found.backward == pytest.approx(math.e)
    assert found.unknown_share == 0.0


def test_chunks_hold_all_rows_in_order_and_are_bounded(monkeypatch):
    monkeypatch.setattr(evaluation, "HELD_AT_ONCE", 6)
    rows = ["abcde", "", b"abc", ["a", "b"], ("c",), "abcdefghijk", 3]
    assert list(chunks(rows)) == [rows[:1], rows[1:3], rows[3:5], rows[5:6], rows[6:]]
    assert list(chunks([])) == []


def test_rows_come_back_in_their_order(make_model, monkeypatch):
    model = make_model()
    tokens = as_tokens(SENTENCES)
    together = sentence_nats(model, tokens)
    assert together.tokens.tolist() == [4, 3, 1, 4]
    assert together.unknown.tolist() == [0, 1, 0, 0]
    monkeypatch.setattr(evaluation, "TOKENS_AT_ONCE", 4)
    for field, apart in zip(together, sentence_nats(model, tokens), strict=True):
        np.testing.assert_allclose(apart, field, rtol=1e-5)


def test_a_large_vocabulary_gets_small_batches(make_model, monkeypatch):
    batches = []
    model = make_model()
    monkeypatch.setattr(evaluation, "_make_graph", lambda _: lambda tokens: note(batches, tokens))
    monkeypatch.setattr(evaluation, "LOGITS_AT_ONCE", 2 * len(model.vocabulary) * 8)
    sentence_nats(model, as_tokens([["the"]] * 9))
    assert [rows for rows, _ in batches] == [4, 4, 1]


def note(batches, tokens):
    batches.append((int(tokens.nrows()), tokens.bounding_shape().numpy().max()))
    return evaluation.tf.zeros((3, tokens.nrows()))


def test_a_model_is_traced_once_and_seen_with_its_present_weights(make_model, monkeypatch):
    model, calls = make_model(), []
    losses = type(model).sentence_losses
    monkeypatch.setattr(
        type(model), "sentence_losses", lambda *args: calls.append(1) or losses(*args)
    )
    before = evaluate(model, SENTENCES)
    assert evaluate(model, SENTENCES[:2]) != before
    assert evaluate(model, SENTENCES) == before
    model.softmax.b.assign(np.arange(9.0))
    assert evaluate(model, SENTENCES).forward != pytest.approx(before.forward)
    assert len(calls) == 1


def test_an_evaluated_model_is_let_go(make_model):
    model = make_model()
    evaluate(model, SENTENCES)
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None
