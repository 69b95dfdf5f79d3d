import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from tiny_language_model import UNIGRAMS, seeded_model, uniform_model, unigram_model

from keras_elmo import LanguageModel
from keras_elmo.language_model import perplexity as evaluation
from keras_elmo.language_model.files import save_language_model
from keras_elmo.language_model.results import Substitute

TEXTS = ["the cat sat", "a dog", "", "mat", "on the <S> mat the cat sat on the mat"]
BOS, EOS, UNK, A, B = (math.log(share) for share in UNIGRAMS.values())


@pytest.fixture(scope="module")
def language_model(make_tiny_bilm):
    """Random weights; no tokenizer is named, so texts are split at spaces."""
    return LanguageModel(seeded_model(make_tiny_bilm()))


@pytest.fixture(scope="module")
def unigrams(make_tiny_bilm):
    return LanguageModel(unigram_model(make_tiny_bilm()))


def assert_close(scores, expected):
    np.testing.assert_allclose(np.array(scores), np.array(expected), rtol=1e-5)


def test_score_by_hand(unigrams):
    scores = unigrams.score(["a b other a", "", "<S>"])
    expected = [
        (A + B + UNK + A + EOS, A + B + UNK + A + BOS, A + B + UNK + A + (EOS + BOS) / 2, 5, 1),
        (EOS, BOS, (EOS + BOS) / 2, 1, 0),
        (UNK + EOS, UNK + BOS, UNK + (EOS + BOS) / 2, 2, 1),
    ]
    assert_close(scores, expected)
    first = scores[0]
    assert (first.tokens, first.unknown) == (5, 1)
    assert type(first.tokens) is int and type(first.forward) is float


def test_perplexity_by_hand(unigrams):
    found = unigrams.perplexity(["a b other", "a"])
    words = 2 * A + B + UNK
    assert found.forward == pytest.approx(math.exp(-(words + 2 * EOS) / 6))
    assert found.backward == pytest.approx(math.exp(-(words + 2 * BOS) / 6))
    assert found.combined == pytest.approx(math.exp(-(words + EOS + BOS) / 6))
    assert found[3:] == (2, 6, 0.25)


def test_substitutes_by_hand(unigrams):
    found = unigrams.predict_words(["a", "other"], 1)
    a, b = 0.25**2, 0.15**2
    assert [word for word, _ in found] == ["a", "b"]
    assert [substitute.probability for substitute in found] == pytest.approx(
        [a / (a + b), b / (a + b)]
    )
    assert found[0].log_probability == pytest.approx(math.log(a / (a + b)))


@pytest.mark.parametrize("softmax", ["full", "adaptive"])
def test_uniform_model_over_50_words_has_perplexity_50(tiny_bilm, softmax):
    model = LanguageModel(uniform_model(tiny_bilm, softmax, size=50))
    found = model.perplexity(["word1 word2 nobody knows", "", "word46"])
    assert found[:3] == pytest.approx((50, 50, 50), rel=1e-6)
    (score,) = model.score(["word1 nobody"])
    assert score[:3] == pytest.approx((-3 * math.log(50),) * 3, rel=1e-6)
    substitutes = model.predict_words(["word1"], 0, k=100)
    assert [word for word, _ in substitutes] == [f"word{n}" for n in range(47)]
    assert [s.probability for s in substitutes] == pytest.approx([1 / 47] * 47)


@pytest.mark.parametrize("at_once", [1, 12, 30])
def test_batch_size_and_order_never_matter(language_model, monkeypatch, at_once):
    scores, perplexity = language_model.score(TEXTS), language_model.perplexity(TEXTS)
    monkeypatch.setattr(evaluation, "TOKENS_AT_ONCE", at_once)
    monkeypatch.setattr(evaluation, "HELD_AT_ONCE", at_once)
    assert_close(language_model.score(TEXTS), scores)
    assert_close(language_model.score(iter(TEXTS)), scores)
    assert_close(language_model.score(TEXTS[::-1]), scores[::-1])
    assert_close([language_model.score([text])[0] for text in TEXTS], scores)
    for texts in (TEXTS, iter(TEXTS), TEXTS[::-1]):
        assert_close(language_model.perplexity(texts), perplexity)


def test_every_container_gives_the_same(language_model):
    expected = language_model.score(TEXTS)
    tokens = [text.split() for text in TEXTS]
    width = max(map(len, tokens))
    dataset = tf.data.Dataset.from_tensor_slices(TEXTS)
    containers = [
        tuple(TEXTS),
        [text.encode() for text in TEXTS],
        np.array(TEXTS, dtype=object),
        np.array(TEXTS)[:, None],
        pd.Series(TEXTS),
        pd.DataFrame({"text": TEXTS}),
        tf.constant(TEXTS),
        dataset,
        dataset.batch(2),
        tf.data.Dataset.from_tensor_slices((TEXTS, [0] * 5)).batch(2),
        (text for text in TEXTS),
        tokens,
        (row for row in tokens),
        tf.ragged.constant(tokens),
        np.array([row + [""] * (width - len(row)) for row in tokens]),
    ]
    for container in containers:
        assert_close(language_model.score(container), expected)


def test_tokenizer_is_the_one_that_the_bilm_names(make_tiny_bilm, tiny_config):
    config = dataclasses.replace(tiny_config, tokenizer="words")
    words = LanguageModel(seeded_model(make_tiny_bilm(config)))
    spaces = LanguageModel(seeded_model(make_tiny_bilm()))
    assert (words.tokenizer, spaces.tokenizer) == ("words", "space")
    assert words.score(["the cat!"])[0].tokens == 4
    assert spaces.score(["the cat!"])[0].tokens == 3
    assert words.score([["the", "cat!"]])[0].tokens == 3


def test_perplexity_leaves_texts_without_tokens_out(language_model):
    found = language_model.perplexity(TEXTS)
    assert found == pytest.approx(language_model.perplexity([text for text in TEXTS if text]))
    assert (found.sentences, found.tokens) == (4, 3 + 2 + 1 + 10 + 4)
    for nothing in ([], ["", " "], iter([])):
        with pytest.raises(ValueError, match="at least one sentence"):
            language_model.perplexity(nothing)


def test_score_of_no_texts(language_model):
    assert language_model.score([]) == []


def test_streams_are_read_piece_by_piece(language_model, monkeypatch):
    monkeypatch.setattr(evaluation, "HELD_AT_ONCE", 40)
    read, seen = [], []
    original = evaluation.sentence_nats

    def note(model, tokens):
        seen.append(len(read))
        return original(model, tokens)

    monkeypatch.setattr("keras_elmo.language_model.language_model.sentence_nats", note)
    language_model.perplexity(read.append(n) or "the cat sat" for n in range(12))
    assert seen == [4, 7, 10, 12]  # one more than the three that are scored


def test_a_bad_text_in_a_stream_is_placed(language_model, monkeypatch):
    monkeypatch.setattr(evaluation, "HELD_AT_ONCE", 1)
    with pytest.raises(ValueError, match=r"missing entries.*\(Position 0 is text 2 of the stream"):
        language_model.score(iter(["the", "cat", None]))
    with pytest.raises(TypeError, match="single text 'the cat'"):
        language_model.score("the cat")


def test_substitutes_read_what_stands_before_and_behind_apart(language_model):
    bilm, softmax = language_model._model.bilm, language_model._model.softmax
    before, after = ["the", "other"], ["on", "the", "mat"]
    ahead = bilm.embed_tokens([before]).layers[0, -1, -2, :8]
    behind = bilm.embed_tokens([after]).layers[0, -1, 1, 8:]
    nats = softmax.log_probabilities(tf.stack([ahead, behind])).numpy().sum(0)[3:]
    share = np.exp(nats) / np.exp(nats).sum()

    found = dict(language_model.predict_words([*before, "cat", *after], 2, k=6))
    assert sorted(found) == sorted(language_model.vocabulary.words[3:])
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for word, expected in zip(language_model.vocabulary.words[3:], share, strict=True):
        assert math.exp(found[word]) == pytest.approx(expected, rel=1e-4)


def test_substitutes_do_not_see_the_word_but_both_sides(language_model):
    def found(sentence, position=1):
        return language_model.predict_words(sentence.split(), position)

    assert found("the cat sat") == found("the dog sat") == found("the zzz sat")
    assert found("the cat sat") != found("on cat sat")
    assert found("the cat sat") != found("the cat mat")


def test_substitutes_at_the_ends_of_a_sentence(language_model):
    for position in (0, 2):
        found = language_model.predict_words(["the", "cat", b"sat"], position, k=3)
        assert len(found) == 3
        assert all(isinstance(substitute, Substitute) for substitute in found)
        assert sum(s.probability for s in found) < 1


@pytest.mark.parametrize(
    ("tokens", "position", "k", "error", "message"),
    [
        (["the", "cat"], 2, 1, ValueError, "from 0 to 1, a place in a sentence of 2 tokens.*: 2"),
        (["the", "cat"], -1, 1, ValueError, "Received: -1"),
        (["the", "cat"], 1.0, 1, TypeError, "`position` must be an integer"),
        (["the", "cat"], True, 1, TypeError, "`position` must be an integer"),
        (["the", "cat"], 0, 0, ValueError, "`k` must be a whole number >= 1"),
        ([], 0, 1, ValueError, "`tokens` must hold at least one token"),
        ("the cat", 0, 1, TypeError, "looks like a sentence"),
        ([["the", "cat"]], 0, 1, TypeError, "`tokens` must hold strings"),
    ],
)
def test_bad_substitute_arguments(language_model, tokens, position, k, error, message):
    with pytest.raises(error, match=message):
        language_model.predict_words(tokens, position, k)


def test_loaded_model_scores_as_the_saved_one(tiny_bilm, tmp_path):
    model = seeded_model(tiny_bilm, "adaptive")
    save_language_model(model, tmp_path)
    loaded = LanguageModel.load(tmp_path)
    assert loaded.score(TEXTS) == LanguageModel(model).score(TEXTS)
    assert repr(loaded) == "<LanguageModel of 9 words>"


def test_shipped_model_prefers_english():
    model = LanguageModel.load("english-small")
    assert len(model.vocabulary) == 20_003
    assert model.tokenizer == "words"
    scores = model.score(["He has been there before.", "Before been there he has."])
    for direction in range(3):
        assert scores[0][direction] > scores[1][direction] + 2
    words = [word for word, _ in model.predict_words("He has been there before .".split(), 2, k=3)]
    assert "been" in words
