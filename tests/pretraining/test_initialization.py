"""What a model takes over from another, row by row."""

import dataclasses
import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.files import save_language_model
from keras_elmo.language_model.softmax.make_softmax import SOFTMAXES, make_softmax
from keras_elmo.pretraining.initialization import Initialization, initialize, load_source
from keras_elmo.text.vocabulary import Vocabulary

MARKS = ["<S>", "</S>", "<UNK>"]
OLD = [*MARKS, *"abcdefghi"]
NEW = [*MARKS, *"bxaeiyzdc"]  # x, y and z are new
CUTOFFS = (5, 9)  # old: a b | c d e f | g h i; new: b x | a e i y | z d c


@pytest.fixture
def make(make_tiny_bilm):
    """A language model with seeded weights; as of a fresh one where `seed` is None."""

    def make_model(words, kind, seed=0, config=None, **kwargs):
        if kind == "adaptive":
            kwargs = {"cutoffs": CUTOFFS, **kwargs}
        bilm = make_tiny_bilm(*filter(None, [config]), seed=seed)
        softmax = make_softmax(kind, len(words), bilm.config.projection_dim, **kwargs)
        rng = np.random.default_rng(seed)
        for variable in softmax.named_variables().values():
            variable.assign(rng.normal(0, 0.5, variable.shape))
        return BidirectionalLanguageModel(bilm, softmax, Vocabulary(words))

    return make_model


def rows_of(part):
    """Weights and bias of each word of a part, side by side."""
    weights, biases = part.rows()
    return np.concatenate([weights, biases[:, np.newaxis]], axis=1)


def hidden():
    return np.random.default_rng(2).normal(size=(4, 8)).astype(np.float32)


@pytest.mark.parametrize("kind", SOFTMAXES)
def test_same_vocabulary_and_kind_give_an_exact_copy(make, kind):
    source, model = make(OLD, kind, seed=0), make(OLD, kind, seed=1)
    assert initialize(model, source) == Initialization(12, 0, 0)
    assert model.bilm.fingerprint() == source.bilm.fingerprint()
    for name, variable in source.softmax.named_variables().items():
        found = model.softmax.named_variables()[name]
        np.testing.assert_array_equal(np.asarray(found), np.asarray(variable), err_msg=name)


@pytest.mark.parametrize("kinds", [("full", "full"), ("full", "sampled"), ("sampled", "full")])
def test_new_vocabulary_keeps_the_rows_of_words_that_both_know(make, kinds):
    source, model = make(OLD, kinds[0], seed=0), make(NEW, kinds[1], seed=1)
    assert initialize(model, source) == Initialization(9, 0, 3)
    old, new = rows_of(source.softmax), rows_of(model.softmax)
    for word in set(OLD) & set(NEW):
        np.testing.assert_array_equal(new[NEW.index(word)], old[OLD.index(word)], err_msg=word)
    kept = [OLD.index(word) for word in NEW if word in OLD]
    for word in "xyz":
        np.testing.assert_allclose(new[NEW.index(word)], old[kept].mean(0), atol=1e-6)


def test_words_of_a_larger_vocabulary_keep_most_of_their_probability(make):
    source, model = make(OLD, "full"), make([*OLD, "x", "y", "z"], "full", seed=1)
    initialize(model, source)
    before = np.exp(source.softmax.log_probabilities(hidden()))
    after = np.exp(model.softmax.log_probabilities(hidden()))
    ratios = after[:, :12] / before
    np.testing.assert_allclose(ratios, ratios[:, :1].repeat(12, 1), rtol=1e-4)
    # Three new words among twelve take three fifteenths at most.
    assert ratios.min() >= 12 / 15 and ratios.max() < 1


def test_adaptive_keeps_words_that_stay_in_their_cluster(make):
    source, model = make(OLD, "adaptive", seed=0), make(NEW, "adaptive", seed=1)
    # Marks and b stay in the head, e in the first tail; a, i, d and c have moved.
    assert initialize(model, source) == Initialization(5, 4, 3)
    old, new = rows_of(source.softmax.head), rows_of(model.softmax.head)
    np.testing.assert_array_equal(new[:4], old[[0, 1, 2, 4]])
    np.testing.assert_allclose(new[4], old[[0, 1, 2, 4]].mean(0), atol=1e-6)  # x
    np.testing.assert_array_equal(new[5:], old[5:])  # entries of the tails
    old, new = (rows_of(each.softmax.tails[0]) for each in (source, model))
    np.testing.assert_array_equal(new, old[[2, 2, 2, 2]])  # a, e, i, y: all from e
    for k in (0, 1):
        np.testing.assert_array_equal(
            np.asarray(model.softmax.projections[k]), np.asarray(source.softmax.projections[k])
        )
    fresh = make(NEW, "adaptive", seed=1)
    np.testing.assert_array_equal(
        rows_of(model.softmax.tails[1]), rows_of(fresh.softmax.tails[1])
    )  # z, d, c: no word of it was there


def test_adaptive_with_other_cutoffs_keeps_what_fits(make):
    source = make(OLD, "adaptive", seed=0)
    model = make(OLD, "adaptive", seed=1, cutoffs=(7,))
    # The head has taken in c and d, the one tail begins with e and f.
    assert initialize(model, source) == Initialization(5 + 2, 5, 0)
    old, new = rows_of(source.softmax.head), rows_of(model.softmax.head)
    np.testing.assert_array_equal(new[:5], old[:5])
    np.testing.assert_array_equal(new[7], old[5])
    old, new = (rows_of(each.softmax.tails[0]) for each in (source, model))
    np.testing.assert_array_equal(new[:2], old[2:])
    narrow = make(OLD, "adaptive", seed=1, div_value=4)
    fresh = make(OLD, "adaptive", seed=1, div_value=4)
    assert initialize(narrow, source) == Initialization(5, 7, 0)
    np.testing.assert_array_equal(rows_of(narrow.softmax.head)[5:], rows_of(fresh.softmax.head)[5:])
    np.testing.assert_array_equal(narrow.softmax.projections[0], fresh.softmax.projections[0])


@pytest.mark.parametrize("kind", ["full", "sampled"])
def test_adaptive_and_whole_softmax_share_the_head(make, kind):
    adaptive, whole = make(OLD, "adaptive", seed=0), make(OLD, kind, seed=1)
    expected = rows_of(whole.softmax)[:5]
    fresh = rows_of(adaptive.softmax.head)[5:]
    assert initialize(adaptive, whole) == Initialization(5, 7, 0)
    np.testing.assert_array_equal(rows_of(adaptive.softmax.head)[:5], expected)
    np.testing.assert_array_equal(rows_of(adaptive.softmax.head)[5:], fresh)
    adaptive, whole = make(OLD, "adaptive", seed=0), make(OLD, kind, seed=1)
    assert initialize(whole, adaptive) == Initialization(5, 7, 0)
    found, head = rows_of(whole.softmax), rows_of(adaptive.softmax.head)[:5]
    np.testing.assert_array_equal(found[:5], head)
    np.testing.assert_allclose(found[5:], head.mean(0)[np.newaxis].repeat(7, 0), atol=1e-6)


def test_bilm_alone_leaves_the_softmax_fresh(make):
    model, fresh = make(OLD, "full", seed=1), make(OLD, "full", seed=1)
    source = make(OLD, "full", seed=0)
    assert initialize(model, source.bilm) == Initialization(0, 0, 12)
    assert model.bilm.fingerprint() == source.bilm.fingerprint()
    np.testing.assert_array_equal(rows_of(model.softmax), rows_of(fresh.softmax))


def test_initialised_model_predicts_as_the_source(make):
    source, model = make(OLD, "full", seed=0), make(OLD[::-1], "sampled", seed=1)
    initialize(model, source)
    tokens = tf.ragged.constant([["a", "b"], ["c", "unknown", "d"]])
    expected, _ = source.sentence_losses(tokens)
    found, _ = model.sentence_losses(tokens)
    np.testing.assert_allclose(found.forward, expected.forward, atol=1e-5)
    np.testing.assert_allclose(found.backward, expected.backward, atol=1e-5)


def test_other_options_are_an_error_that_lists_them(make, tiny_config):
    config = dataclasses.replace(tiny_config, lstm_dim=13, n_highway=0, tokenizer="space")
    model = make(OLD, "full", config=config)
    before = model.bilm.fingerprint()
    with pytest.raises(ValueError, match="must have the options") as error:
        initialize(model, make(OLD, "full", seed=1))
    assert "`lstm_dim` is 13, the source's is 12; `n_highway` is 0, the source's is 1. Give" in str(
        error.value
    )
    assert model.bilm.fingerprint() == before


def test_another_tokenizer_is_no_obstacle(make, tiny_config):
    model = make(OLD, "full", config=dataclasses.replace(tiny_config, tokenizer="words"))
    assert initialize(model, make(OLD, "full", seed=1)).words_kept == 12


def test_source_of_another_type(make):
    with pytest.raises(TypeError, match="`source` must be .*Received: str. Load .*`load_source`"):
        initialize(make(OLD, "full"), "english-small")


def test_load_source_of_a_language_model_and_of_a_bilm(make, tmp_path):
    model = make(OLD, "full")
    save_language_model(model, tmp_path / "model")
    loaded = load_source(tmp_path / "model")
    assert isinstance(loaded, BidirectionalLanguageModel)
    assert initialize(make(OLD, "full", seed=1), loaded) == Initialization(12, 0, 0)
    (tmp_path / "model" / "softmax.hdf5").unlink()
    assert isinstance(load_source(tmp_path / "model"), BiLM)
    files = [tmp_path / "model" / name for name in ("options.json", "weights.hdf5")]
    assert isinstance(load_source(files), BiLM)
    archive = shutil.make_archive(tmp_path / "model", "zip", tmp_path / "model")
    assert isinstance(load_source(archive, dtype="mixed_bfloat16"), BiLM)


def test_load_source_of_a_preset():
    loaded = load_source("english-small")
    assert loaded.softmax.kind == "adaptive"
    assert len(loaded.vocabulary) == 20_003


def test_load_source_refuses_a_vocabulary_that_it_has_no_use_for(tiny_directory):
    for place in (tiny_directory, "english-small"):
        with pytest.raises(ValueError, match="with a bilm-tf checkpoint only.*Received: 'v.txt'"):
            load_source(place, "v.txt")


def test_load_source_of_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing is there"):
        load_source(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="must hold one file of options"):
        load_source(tmp_path)
