import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.glove_embedding import GloVeEmbedding
from keras_elmo.embedding.word_vectors import WordVectors
from keras_elmo.tasks.tagger.tagger import Tagger
from keras_elmo.tasks.tagger.token_accuracy import TokenAccuracy

TOKENS = [["see", "you", "at", "8"], [], ["New York", "is"], ["ok"]]
LABELS = [["VERB", "PRON", "ADP", "NUM"], [], ["NAME", "VERB"], ["INTJ"]]
CLASSES = ("ADP", "INTJ", "NAME", "NUM", "PRON", "VERB")
VECTORS = WordVectors(["see", "is", "8"], [[1, 0], [1, 0.5], [0, 1]])


@pytest.fixture
def make(make_tiny_bilm):
    """Makes a tagger of a tiny biLM that knows its classes."""

    def make(source=None, classes=CLASSES, **kwargs):
        keras.utils.set_random_seed(0)
        return Tagger(source or make_tiny_bilm(), classes=classes, **{"units": 0, **kwargs})

    return make


def padded(rows, padding=""):
    time = max(map(len, rows))
    return np.array([[*row, *[padding] * (time - len(row))] for row in rows])


def test_fit_learns_classes_and_labels(make):
    tagger = make(classes=None, units=16, dropout=0.0)
    assert tagger.classes_ is None
    history = tagger.fit(TOKENS, LABELS, epochs=100, verbose=0)
    assert tagger.classes_ == CLASSES
    assert tagger.predict_labels(TOKENS, verbose=0) == LABELS
    assert tagger.evaluate(TOKENS, LABELS, verbose=0)["accuracy"] == 1.0
    assert set(history.history) == {"loss", "accuracy"}
    assert history.history["loss"][-1] < 0.5 * history.history["loss"][0]
    assert tagger.embedding.gamma != 1.0


def test_every_kind_of_tokens_and_labels_gives_the_same(make):
    first = make()
    losses = first.fit(TOKENS, LABELS, epochs=2, verbose=0).history["loss"]
    for tokens, labels in (
        (tf.ragged.constant(TOKENS), tf.ragged.constant(LABELS)),
        (tf.constant(padded(TOKENS)), padded(LABELS, "anything")),
    ):
        other = make()
        found = other.fit(tokens, labels, epochs=2, verbose=0).history["loss"]
        assert found == pytest.approx(losses, abs=1e-6)
        np.testing.assert_allclose(
            other.predict(tokens, verbose=0), first.predict(TOKENS, verbose=0), atol=1e-6
        )


def test_labels_at_padding_leave_loss_and_accuracy_the_same(make):
    """U17, lengths 3, 10 and 0, padded to 10."""
    tokens = padded([["a", "b", "c"], list("abcdefghij"), []])
    kinds = [padded([["X", "Y", "Z"], list("XYZWXYZWXY"), []], label) for label in "XW"]
    tagger = make(classes=tuple("WXYZ"), units=4)
    results = [tagger.evaluate(tokens, labels, verbose=0) for labels in kinds]
    assert results[0] == pytest.approx(results[1], abs=1e-6)

    steps = [make(classes=tuple("WXYZ")).fit(tokens, y, batch_size=2, verbose=0) for y in kinds]
    for name, values in steps[0].history.items():
        assert values == pytest.approx(steps[1].history[name], abs=1e-6)

    tagger.compile("sgd", "sparse_categorical_crossentropy", metrics=[TokenAccuracy()])
    numbers = [np.where(tokens == "", fill, 1) for fill in (0, 3)]
    found = [tagger.test_on_batch(tf.constant(tokens), y, return_dict=True) for y in numbers]
    found = [{name: float(value) for name, value in result.items()} for result in found]
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    probabilities = tagger.predict(tokens, verbose=0)[tokens != ""]
    assert found[0]["loss"] == pytest.approx(-np.log(probabilities[:, 1]).mean(), abs=1e-6)


def test_loss_and_accuracy_are_means_over_tokens(make):
    tagger = make()
    rows = tagger.predict_proba(TOKENS, verbose=0)
    pairs = [
        (p, y)
        for row, labels in zip(rows, LABELS, strict=True)
        for p, y in zip(row, labels, strict=True)
    ]
    loss = np.mean([-np.log(p[CLASSES.index(label)]) for p, label in pairs])
    accuracy = np.mean([CLASSES[p.argmax()] == label for p, label in pairs])
    for batch_size in (1, 128):
        result = tagger.evaluate(TOKENS, LABELS, batch_size=batch_size, verbose=0)
        assert result == pytest.approx({"loss": loss, "accuracy": accuracy}, abs=1e-5)


def test_fit_logs_what_evaluate_gives_for_one_batch(make):
    tagger = make()
    history = tagger.fit(TOKENS, LABELS, verbose=0, validation_data=(TOKENS, LABELS)).history
    result = tagger.evaluate(TOKENS, LABELS, verbose=0)
    assert result["loss"] == pytest.approx(history["val_loss"][0], abs=1e-5)
    assert result["accuracy"] == pytest.approx(history["val_accuracy"][0], abs=1e-6)


def test_predictions_are_a_row_a_sentence_and_a_label_a_token(make):
    tagger = make()
    rows = tagger.predict_proba(TOKENS, verbose=0)
    assert [row.shape for row in rows] == [(4, 6), (0, 6), (2, 6), (1, 6)]
    np.testing.assert_allclose(np.concatenate(rows).sum(axis=1), 1, atol=1e-6)
    labels = tagger.predict_labels(TOKENS, verbose=0)
    assert [len(row) for row in labels] == [4, 0, 2, 1]
    assert all(type(label) is str for row in labels for label in row)
    array = tagger.predict(TOKENS, verbose=0)
    assert array.shape == (4, 4, 6)
    assert not array[padded(TOKENS) == ""].any()
    assert tagger.predict_labels([[], []], verbose=0) == [[], []]
    assert tagger.predict_labels([], verbose=0) == []
    assert tagger.predict([], verbose=0).shape == (0, 0, 6)


@pytest.mark.parametrize("units", [0, 4])
def test_result_does_not_depend_on_neighbours(make, units):
    tagger = make(units=units, glove=VECTORS)
    together = tagger.predict_proba(TOKENS, batch_size=4, verbose=0)
    alone = [tagger.predict_proba([row], verbose=0)[0] for row in TOKENS]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_call_gives_probabilities_with_the_mask(make):
    tagger = make()
    output = tagger(TOKENS)
    assert output.shape == (4, 4, 6)
    np.testing.assert_array_equal(output._keras_mask, padded(TOKENS) != "")
    np.testing.assert_allclose(tagger(tf.constant(padded(TOKENS))), output, atol=1e-6)
    inputs = keras.Input((None,), dtype="string")
    model = keras.Model(inputs, tagger(inputs))
    assert model.output_shape == (None, None, 6)
    np.testing.assert_allclose(model(tf.constant(padded(TOKENS))), output, atol=1e-6)


def test_probe_without_an_lstm_is_linear_in_the_vectors(make):
    tagger = make(units=None)
    assert tagger.recurrent is None
    kernel, bias = tagger.head.get_weights()
    vectors = tagger.embedding(tf.ragged.constant(TOKENS)).numpy()
    expected = tf.nn.softmax(vectors[0] @ kernel + bias)
    np.testing.assert_allclose(tagger(TOKENS)[0], expected, atol=1e-5)
    assert len(tagger.trainable_weights) == 4  # s, gamma, kernel, bias


def test_glove_stands_beside_elmo(make, tmp_path):
    (tmp_path / "v.txt").write_text("see 1 0\nis 1 0.5\n8 0 1\n")
    outputs = []
    for glove in (VECTORS, tmp_path / "v.txt", str(tmp_path / "v.txt"), GloVeEmbedding(VECTORS)):
        tagger = make(units=0, glove=glove)
        assert tagger.head.kernel.shape == (16 + 2, 6)
        assert len(tagger.trainable_weights) == 4
        outputs.append(tagger(TOKENS).numpy())
        np.testing.assert_allclose(outputs[-1], outputs[0], atol=1e-6)
    kernel, bias = tagger.head.get_weights()
    tokens = tf.ragged.constant(TOKENS)
    vectors = np.concatenate([tagger.embedding(tokens), tagger.glove(tokens)], axis=-1)
    np.testing.assert_allclose(outputs[0][0], tf.nn.softmax(vectors[0] @ kernel + bias), atol=1e-5)


def test_tuned_glove_vectors_train(make):
    tagger = make(glove=GloVeEmbedding(VECTORS, fine_tune=True))
    before = tagger.glove.vectors.numpy()
    tagger.fit(TOKENS, LABELS, verbose=0)
    after = tagger.glove.vectors.numpy()
    np.testing.assert_array_equal(after[0], 0)
    assert (after[1:] != before[1:]).any()


def test_cache_changes_nothing_but_the_time(make, tmp_path):
    def fit(feature_cache):
        tagger = make(dropout=0.0)
        history = tagger.fit(TOKENS, LABELS, epochs=3, verbose=0, feature_cache=feature_cache)
        return history.history["loss"], tagger.predict(TOKENS, verbose=0)

    losses, outputs = fit(False)
    directory = tmp_path / "features"
    for feature_cache in (True, directory):
        found = fit(feature_cache)
        assert found[0] == pytest.approx(losses, abs=1e-5)
        np.testing.assert_allclose(found[1], outputs, atol=1e-5)
    assert any(directory.iterdir())


def test_second_fit_goes_on(make):
    tagger = make()
    tagger.fit(TOKENS, LABELS, verbose=0)
    with pytest.raises(ValueError, match="the classes that the model knows: .* Received: 'X'"):
        tagger.fit([["a"]], [["X"]], verbose=0)
    tagger.fit(TOKENS, LABELS, verbose=0)
    assert int(tagger.optimizer.iterations.numpy()) == 2


def test_compiled_optimizer_and_eager_mode_are_kept(make):
    tagger = make()
    loss = "sparse_categorical_crossentropy"
    tagger.compile(keras.optimizers.SGD(0.25), loss, run_eagerly=True)
    tagger.fit(TOKENS, LABELS, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert float(tagger.optimizer.learning_rate.numpy()) == 0.25
    assert len(tagger.predict_labels(TOKENS, verbose=0)[0]) == 4


def test_prediction_follows_the_weights(make):
    tagger = make(dropout=0.0)
    before = tagger.predict(TOKENS, verbose=0)
    tagger.fit(TOKENS, LABELS, verbose=0)
    after = tagger.predict(TOKENS, verbose=0)
    assert (after != before)[0].any()
    np.testing.assert_allclose(after[:1], tagger(TOKENS[:1]), atol=1e-6)


def test_spans_are_scored(make, monkeypatch):
    labels = [["B-A", "I-A", "O", "B-B"], [], ["B-A", "O"], ["O"]]
    predicted = [["B-A", "I-A", "O", "B-C"], [], ["B-A", "O"], ["O"]]
    tagger = make()
    monkeypatch.setattr(tagger, "predict_labels", lambda tokens, *_: predicted)
    scores = tagger.score_spans(TOKENS, labels, verbose=0)
    assert (scores.n_true, scores.n_predicted, scores.n_right) == (3, 3, 2)


def test_numbers_and_bools_are_labels_too(make):
    tagger = make(classes=None)
    tagger.fit([["a", "b"], ["c"]], [[True, False], [True]], verbose=0)
    assert tagger.classes_ == (False, True)
    assert type(tagger.predict_labels([["a"]], verbose=0)[0][0]) is bool


def test_mixed_precision_trains(make):
    tagger = make(dtype="mixed_bfloat16", glove=VECTORS, units=4)
    history = tagger.fit(TOKENS, LABELS, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert tagger(TOKENS).dtype == tf.float32


@pytest.mark.parametrize(
    ("tokens", "labels", "message"),
    [
        (TOKENS, LABELS[:3], "`labels` must have one row for each of the 4 sentences"),
        (TOKENS, [*LABELS[:2], ["NAME"], ["INTJ"]], "Received in row 2: 1 labels for 2 tokens"),
        ([["a", "b"]], [["X", None]], "no missing entries. Received: None in row 0, position 1"),
        ([["a", "b"]], [["X", "X"]], "at least two classes are needed. Received one class only"),
        ([[]], [[]], "at least two classes are needed"),
        ([], [], "`tokens` must hold at least one sentence"),
    ],
)
def test_data_that_cannot_be_learnt_raise(make, tokens, labels, message):
    with pytest.raises(ValueError, match=message):
        make(classes=None).fit(tokens, labels, verbose=0)


def test_misuse_raises(make):
    with pytest.raises(ValueError, match="does not know its classes yet. Call `fit`"):
        make(classes=None).predict_labels(TOKENS)
    with pytest.raises(TypeError, match="looks like a sentence"):
        make().fit(["see you"], [["X", "Y"]])
    with pytest.raises(ValueError, match="Received: 'X' in row 3, position 0"):
        make().evaluate(TOKENS, [*LABELS[:3], ["X"]])
    with pytest.raises(ValueError, match="`tokens` must hold at least one token"):
        make().evaluate([[]], [[]])
    with pytest.raises(ValueError, match="`sample_weight` must be left out"):
        make().fit(TOKENS, LABELS, sample_weight=[1, 1, 1, 1])
    with pytest.raises(ValueError, match="`labels` must be 'O', 'B-type' or 'I-type'"):
        make().score_spans(TOKENS, LABELS, verbose=0)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"units": -1}, ValueError, "`units` must be a whole number"),
        ({"dropout": 1.0}, ValueError, "`dropout` must be a share"),
        ({"glove": 3}, TypeError, "`glove` must be a GloVeEmbedding, WordVectors"),
        ({"max_tokens": 3}, ValueError, "`max_tokens` must be left out"),
        ({"inputs": "text"}, ValueError, "`inputs` must be left out"),
        ({"output": "top"}, ValueError, "`output` must be left out"),
    ],
)
def test_wrong_option_raises(make, kwargs, error, message):
    with pytest.raises(error, match=message):
        make(**kwargs)


def test_layer_as_source(make, make_tiny_bilm):
    layer = ELMoEmbedding(make_tiny_bilm(), output="elmo", inputs="tokens")
    assert make(layer).embedding is layer
    for options in ({}, {"inputs": "tokens", "max_tokens": 2}):
        other = ELMoEmbedding(make_tiny_bilm(), output="elmo", **options)
        with pytest.raises(ValueError, match='as `source` must have `inputs="tokens"`'):
            make(other)
