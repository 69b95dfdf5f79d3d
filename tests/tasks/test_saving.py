import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_elmo.tasks.classifier.text_classifier import TextClassifier

TEXTS = ["free entry now", "ok lar", "", "win cash now"]
LABELS = ["spam", "ham", "ham", "spam"]

ELSEWHERE = """
import sys
import keras, keras_elmo, numpy as np
model = keras.models.load_model(sys.argv[1])
np.save(sys.argv[2], model.predict(["free entry now", "ok lar", "", "win cash now"], verbose=0))
"""


@pytest.fixture(scope="module")
def saved(make_tiny_bilm, tmp_path_factory):
    """A trained classifier, and its file; the folder that its biLM came from is gone."""
    folder = tmp_path_factory.mktemp("saved")
    make_tiny_bilm().save(folder / "bilm")
    keras.utils.set_random_seed(0)
    classifier = TextClassifier(str(folder / "bilm"), hidden_units=8, dropout=0.1, pooling="max")
    classifier.fit(TEXTS, LABELS, epochs=3, verbose=0)
    shutil.rmtree(folder / "bilm")
    classifier.save(folder / "c.keras")
    return classifier, folder / "c.keras"


def test_loaded_classifier_is_the_same(saved):
    classifier, path = saved
    loaded = TextClassifier.load(path)
    np.testing.assert_allclose(
        loaded.predict(TEXTS, verbose=0), classifier.predict(TEXTS, verbose=0), atol=1e-6
    )
    assert loaded.classes_ == classifier.classes_
    assert loaded.standardization.adapted
    np.testing.assert_array_equal(
        loaded.embedding.layer_weights, classifier.embedding.layer_weights
    )
    assert loaded.embedding.gamma == classifier.embedding.gamma != 1.0
    assert (loaded.head.drop.rate, loaded.pooling, loaded.head.hidden.units) == (0.1, "max", 8)
    assert loaded.evaluate(TEXTS, LABELS, verbose=0) == pytest.approx(
        classifier.evaluate(TEXTS, LABELS, verbose=0)
    )


def test_loaded_classifier_trains_on_with_its_own_statistics(saved):
    _, path = saved
    loaded = TextClassifier.load(path)
    mean = loaded.standardization.mean.numpy()
    steps = int(loaded.optimizer.iterations.numpy())
    loaded.fit(["other", "words"], ["ham", "spam"], verbose=0)
    np.testing.assert_array_equal(loaded.standardization.mean, mean)
    assert int(loaded.optimizer.iterations.numpy()) == steps + 1


def test_config_makes_an_untrained_twin(saved):
    classifier, _ = saved
    twin = TextClassifier.from_config(classifier.get_config())
    assert twin.get_config() == classifier.get_config()
    assert [w.shape for w in twin.weights] == [w.shape for w in classifier.weights]
    assert not twin.standardization.adapted
    clone = keras.models.clone_model(classifier)
    clone.set_weights(classifier.get_weights())
    np.testing.assert_allclose(clone(TEXTS), classifier(TEXTS), atol=1e-6)


@pytest.mark.filterwarnings("ignore:You are saving a model that has not yet been built")
def test_unfitted_classifier_is_saved_too(make_tiny_bilm, tmp_path):
    TextClassifier(make_tiny_bilm(), hidden_units=8).save(tmp_path / "c.keras")
    loaded = TextClassifier.load(tmp_path / "c.keras")
    assert loaded.classes_ is None
    loaded.fit(TEXTS, LABELS, verbose=0)
    assert loaded.classes_ == ("ham", "spam")


def test_new_process_without_the_original_files(saved, tmp_path):
    classifier, path = saved
    out = tmp_path / "predictions.npy"
    command = [sys.executable, "-c", ELSEWHERE, str(path), str(out)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    expected = classifier.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(np.load(out), expected, atol=1e-6)


def test_load_names_what_it_cannot_load(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a `.keras` file. Received: nothing there"):
        TextClassifier.load(tmp_path / "none.keras")
    (tmp_path / "cut.keras").write_bytes(b"PK")
    with pytest.raises(ValueError, match="cut.keras must be a whole `.keras` file"):
        TextClassifier.load(tmp_path / "cut.keras")
    other = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    other.save(tmp_path / "other.keras")
    with pytest.raises(ValueError, match="must hold a TextClassifier. Received: a Sequential"):
        TextClassifier.load(tmp_path / "other.keras")
