import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.layers.scalar_mix import ScalarMix
from keras_elmo.tasks.classifier.text_classifier import TextClassifier

LABELS = ["spam", "ham", "ham", "spam"]
MORE = ["ok lar", "free entry now", "", "see you at 8", "   ", "win", "no", "win cash now"]


def make(bilm, **kwargs):
    keras.utils.set_random_seed(0)
    return TextClassifier(bilm, **{"hidden_units": 8, **kwargs})


def make_eager(bilm, **kwargs):
    """One that is not traced, because tracing is slower than a few steps."""
    classifier = make(bilm, **kwargs)
    two = len(kwargs.get("classes") or "ab") == 2
    loss = "binary_crossentropy" if two else "sparse_categorical_crossentropy"
    classifier.compile("sgd", loss, metrics=["accuracy"], run_eagerly=True)
    return classifier


def trained(model):
    return np.concatenate([weight.numpy().ravel() for weight in model.trainable_weights])


@pytest.fixture(scope="module")
def classifier(make_tiny_bilm):
    """A classifier trained for one epoch; tests must not train it."""
    classifier = make(make_tiny_bilm())
    texts = ["free entry now", "ok lar", "see you at 8", "win cash now"]
    classifier.history_of_fixture = classifier.fit(texts, LABELS, verbose=0).history
    return classifier


def test_fit_compiles_itself_and_returns_the_history(classifier):
    assert classifier.classes_ == ("ham", "spam")
    assert set(classifier.history_of_fixture) == {"loss", "accuracy"}
    assert isinstance(classifier.optimizer, keras.optimizers.Adam)
    assert classifier.loss == "binary_crossentropy"


def test_a_container_of_pandas_is_as_its_list(classifier, texts):
    expected = classifier.predict(texts, verbose=0)
    assert expected.shape == (4, 1)
    series, labels = pd.Series(texts), pd.Series(LABELS)
    np.testing.assert_array_equal(classifier.predict(series, verbose=0), expected)
    np.testing.assert_allclose(classifier(series), expected, atol=1e-6)
    assert classifier.evaluate(series, labels, verbose=0) == pytest.approx(
        classifier.evaluate(tf.constant(texts), LABELS, verbose=0)
    )


def test_dataset_predicts_and_evaluates_as_its_rows(classifier, texts):
    dataset = tf.data.Dataset.from_tensor_slices((texts, LABELS))
    expected = classifier.predict(texts, verbose=0)
    np.testing.assert_allclose(classifier.predict(dataset.batch(3), verbose=0), expected, atol=1e-6)
    found = classifier.evaluate(dataset, verbose=0, return_dict=True)
    assert found == pytest.approx(
        classifier.evaluate(texts, LABELS, verbose=0, return_dict=True), abs=1e-6
    )


def test_rows_come_back_in_the_callers_order(classifier):
    whole = classifier.predict(MORE, verbose=0)
    assert whole.shape == (8, 1)
    np.testing.assert_array_equal(classifier.predict(MORE, verbose=0), whole)
    np.testing.assert_allclose(classifier.predict(MORE[::-1], verbose=0), whole[::-1], atol=1e-6)
    np.testing.assert_allclose(classifier.predict(MORE, 3, verbose=0), whole, atol=1e-5)
    for row, text in enumerate(MORE):
        np.testing.assert_allclose(classifier(np.array([text])), whole[row : row + 1], atol=1e-5)


def test_probabilities_and_labels_of_two_classes(classifier):
    second = classifier.predict(MORE, verbose=0)[:, 0]
    probabilities = classifier.predict_proba(MORE, verbose=0)
    np.testing.assert_allclose(probabilities, np.stack([1 - second, second], axis=1))
    labels = classifier.predict_labels(MORE, verbose=0)
    assert labels.tolist() == ["spam" if p > 0.5 else "ham" for p in second]


def test_no_texts_give_no_rows(classifier):
    assert classifier.predict([], verbose=0).shape == (0, 1)
    assert classifier.predict_proba([], verbose=0).shape == (0, 2)
    assert classifier.predict_labels([], verbose=0).tolist() == []


def test_statistics_are_those_of_the_training_part_alone(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm())
    embedding = ELMoEmbedding(make_tiny_bilm(), output="elmo")
    rows = [embedding([text])[0] for text in texts[:3]]  # each alone: nothing is padded
    features = np.array([np.concatenate([row.numpy().mean(0), row.numpy().max(0)]) for row in rows])
    classifier.fit(texts, LABELS, validation_split=0.25, verbose=0)
    np.testing.assert_allclose(classifier.standardization.mean, features.mean(0), atol=1e-5)
    np.testing.assert_allclose(classifier.standardization.variance, features.var(0), atol=1e-5)

    classifier.fit(MORE, ["ham", "spam"] * 4, verbose=0)  # a second fit keeps them
    np.testing.assert_allclose(classifier.standardization.mean, features.mean(0), atol=1e-5)


@pytest.mark.parametrize(("pooling", "width"), [("mean", 16), ("max", 16), ("both", 32)])
def test_output_equals_the_layers_one_by_one(make_tiny_bilm, texts, pooling, width):
    classifier = make(make_tiny_bilm(), pooling=pooling, standardize=False, classes=["a", "b", "c"])
    vectors = [v.numpy() for v in ELMoEmbedding(make_tiny_bilm(), output="elmo")(texts)]
    lengths = [3, 2, 4, 3]
    parts = {
        "mean": np.array([v[:n].mean(0) for v, n in zip(vectors, lengths, strict=True)]),
        "max": np.array([v[:n].max(0) for v, n in zip(vectors, lengths, strict=True)]),
    }
    pooled = np.concatenate([parts[p] for p in parts if pooling in (p, "both")], axis=1)
    assert pooled.shape == (4, width)
    w1, b1, w2, b2 = (w.numpy() for w in classifier.head.weights)
    logits = np.maximum(pooled @ w1 + b1, 0) @ w2 + b2
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(classifier(texts), expected, atol=1e-5)


def test_only_the_mix_and_the_dense_layers_train(classifier):
    assert len(classifier.embedding.trainable_weights) == 2  # s (3) and gamma
    assert classifier.count_params() > trained(classifier).size
    assert trained(classifier).size == 4 + (32 * 8 + 8) + (8 + 1)


def test_blank_rows_train_and_stay_finite(make_tiny_bilm):
    classifier = make_eager(make_tiny_bilm())
    x = ["free entry now", "", "   "]
    history = classifier.fit(x, [1, 0, 0], verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert np.isfinite(trained(classifier)).all()
    features = classifier.features(tf.constant(x)).numpy()
    assert not features[1:].any()
    alone = classifier.features(tf.constant(x[:1])).numpy()
    np.testing.assert_allclose(features[:1], alone, atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "classes", "kind"),
    [
        ([5, 3, 3, 5], (3, 5), "i"),
        (["b", "c", "a", "b"], ("a", "b", "c"), "U"),
    ],
)
def test_labels_of_any_kind(make_tiny_bilm, texts, labels, classes, kind):
    classifier = make_eager(make_tiny_bilm(), classes=classes)
    classifier.fit(pd.Series(texts), pd.Series(labels), epochs=2, verbose=0)
    assert classifier.classes_ == classes
    probabilities = classifier.predict_proba(texts, verbose=0)
    assert probabilities.shape == (4, len(classes))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
    assert classifier.predict_labels(texts, verbose=0).dtype.kind == kind


def test_streams_train_as_arrays_do(make_tiny_bilm, texts):
    def weights(*data, **kwargs):
        classifier = make_eager(make_tiny_bilm())
        classifier.fit(*data, batch_size=2, shuffle=False, verbose=0, **kwargs)
        assert classifier.classes_ == ("ham", "spam")
        return trained(classifier)

    expected = weights(texts, LABELS)
    single = tf.data.Dataset.from_tensor_slices((texts, LABELS))
    validation = {"validation_data": single.batch(4)}
    np.testing.assert_allclose(weights(single.batch(2), **validation), expected, atol=1e-6)
    np.testing.assert_allclose(weights(single, **validation), expected, atol=1e-6)
    endless = single.batch(2).repeat()
    np.testing.assert_allclose(weights(endless, steps_per_epoch=2), expected, atol=1e-6)
    batches = Pairs(list(zip(texts, LABELS, strict=True)))
    np.testing.assert_allclose(weights(batches, **validation), expected, atol=1e-6)


class Pairs(keras.utils.PyDataset):
    """Pairs (text, label) in batches of two, in order."""

    def __init__(self, pairs):
        super().__init__()
        self.pairs = pairs

    def __len__(self):
        return len(self.pairs) // 2

    def __getitem__(self, index):
        texts, labels = zip(*self.pairs[2 * index : 2 * index + 2], strict=True)
        return list(texts), list(labels)


def test_known_classes_need_no_first_pass(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm(), classes=["spam", "ham"], standardize=False)
    batches = ((texts[i : i + 2], LABELS[i : i + 2]) for i in (0, 2))
    classifier.fit(batches, steps_per_epoch=2, verbose=0)
    assert np.isfinite(trained(classifier)).all()


def test_class_weight_is_keyed_by_label(make_tiny_bilm, texts):
    def weights(**kwargs):
        classifier = make_eager(make_tiny_bilm())
        classifier.fit(texts, LABELS, verbose=0, **kwargs)
        return trained(classifier)

    by_label = weights(class_weight={"spam": 3.0, "ham": 0.5})
    by_row = weights(sample_weight=[3.0, 0.5, 0.5, 3.0])
    np.testing.assert_allclose(by_label, by_row, atol=1e-6)
    assert not np.allclose(by_label, weights(), atol=1e-6)


def test_validation_data_of_every_kind(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm())
    dataset = tf.data.Dataset.from_tensor_slices((texts, LABELS)).batch(3)
    losses = []
    for data in ((texts, LABELS), (np.array(texts), pd.Series(LABELS), [1, 1, 1, 1]), dataset):
        classifier.optimizer.learning_rate = 0.0
        history = classifier.fit(texts, LABELS, validation_data=data, verbose=0).history
        losses.append(history["val_loss"][0])
    expected = classifier.evaluate(texts, LABELS, verbose=0)[0]
    np.testing.assert_allclose(losses, [expected] * 3, atol=1e-6)


def test_a_callback_may_evaluate_with_the_users_labels(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm())
    found = []
    callback = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: found.append(
            classifier.evaluate(texts, LABELS, verbose=0, return_dict=True)["loss"]
        )
    )
    history = classifier.fit(
        texts, LABELS, validation_data=(texts, LABELS), callbacks=[callback], verbose=0
    )
    assert history.history["val_loss"] == pytest.approx(found, abs=1e-6)


def test_functional_use(classifier, texts):
    inputs = keras.Input((), dtype="string")
    outputs = classifier(inputs)
    assert outputs.shape == (None, 1)
    model = keras.Model(inputs, outputs)
    np.testing.assert_allclose(model(tf.constant(texts)), classifier(texts), atol=1e-6)


def test_mixed_precision_gives_float32_probabilities(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm(), dtype="mixed_bfloat16")
    classifier.fit(texts, LABELS, verbose=0)
    found = classifier.predict(texts, verbose=0)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert classifier.head.hidden.compute_dtype == "bfloat16"


def test_options_reach_the_embedding(make_tiny_bilm):
    classifier = make(
        make_tiny_bilm(), mix=ScalarMix(layer_norm=True), tokenizer="words", dropout=0.5
    )
    assert classifier.embedding.tokenizer == "words"
    assert classifier.embedding.mix.layer_norm
    assert (classifier.dropout, classifier.embedding.dropout) == (0.5, 0.0)


def test_ready_embedding_as_source(make_tiny_bilm):
    embedding = ELMoEmbedding(make_tiny_bilm(), output="elmo", dropout=0.1)
    assert make(embedding).embedding is embedding
    with pytest.raises(ValueError, match="ELMoEmbedding as `source` must have"):
        make(embedding, tokenizer="space")
    with pytest.raises(ValueError, match="ELMoEmbedding as `source` must have"):
        make(ELMoEmbedding(make_tiny_bilm()))


def test_validation_result_is_that_of_the_fitted_model(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm())
    data = (texts, LABELS)
    history = classifier.fit(*data, validation_data=data, epochs=2, verbose=0).history
    assert history["val_loss"][-1] == pytest.approx(classifier.evaluate(*data, verbose=0)[0])


def test_weights_are_averaged_unless_told_otherwise(make_tiny_bilm, texts):
    steps = []
    record = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda *_, **__: steps.append(trained(classifier))
    )
    for average_weights in (True, False):
        keras.utils.set_random_seed(1)
        classifier = make_eager(make_tiny_bilm(), average_weights=average_weights)
        classifier.fit(texts, LABELS, batch_size=2, verbose=0, callbacks=[record])
        first, last = steps[-2:]
        expected = (0.9 * first + last) / 1.9 if average_weights else last
        np.testing.assert_allclose(trained(classifier), expected, atol=1e-6)
        assert np.abs(first - last).max() > 1e-4


def test_build_then_load_weights(classifier, make_tiny_bilm, texts, tmp_path):
    classifier.save_weights(tmp_path / "c.weights.h5")
    bilm = make_tiny_bilm()
    other = make(bilm, classes=["ham", "spam"])
    other.build((None,))
    other.load_weights(tmp_path / "c.weights.h5")
    np.testing.assert_array_equal(
        other.predict(texts, verbose=0), classifier.predict(texts, verbose=0)
    )
    with pytest.raises(ValueError, match="does not know its classes"):
        make(bilm).build((None,))
