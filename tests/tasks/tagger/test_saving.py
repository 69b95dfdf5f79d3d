import shutil

import keras
import numpy as np
import pytest

from keras_elmo.embedding.word_vectors import WordVectors
from keras_elmo.tasks.tagger.tagger import Tagger

TOKENS = [["see", "you", "at", "8"], [], ["New York"]]
LABELS = [["VERB", "PRON", "ADP", "NUM"], [], ["NAME"]]


@pytest.fixture(scope="module")
def saved(make_tiny_bilm, tmp_path_factory):
    """A trained tagger, and its file; what its vectors came from is gone."""
    folder = tmp_path_factory.mktemp("saved")
    make_tiny_bilm().save(folder / "bilm")
    keras.utils.set_random_seed(0)
    glove = WordVectors(["see", "8"], [[1, 0], [0, 1]])
    tagger = Tagger(str(folder / "bilm"), units=4, dropout=0.1, glove=glove)
    tagger.fit(TOKENS, LABELS, epochs=2, verbose=0)
    shutil.rmtree(folder / "bilm")
    tagger.save(folder / "t.keras")
    return tagger, folder / "t.keras"


def test_loaded_tagger_is_the_same_and_trains_on(saved):
    tagger, path = saved
    loaded = Tagger.load(path)
    expected = tagger.predict(TOKENS, verbose=0)
    np.testing.assert_allclose(loaded.predict(TOKENS, verbose=0), expected, atol=1e-6)
    assert loaded.classes_ == tagger.classes_
    assert (loaded.units, loaded.dropout, loaded.glove.words) == (4, 0.1, ("see", "8"))
    assert loaded.embedding.gamma == tagger.embedding.gamma != 1.0
    loaded.fit(TOKENS, LABELS, verbose=0)
    assert int(loaded.optimizer.iterations.numpy()) == 3


def test_config_makes_an_untrained_twin(saved):
    tagger, _ = saved
    twin = Tagger.from_config(tagger.get_config())
    assert twin.get_config() == tagger.get_config()
    twin.set_weights(tagger.get_weights())
    np.testing.assert_allclose(twin(TOKENS), tagger(TOKENS), atol=1e-6)


def test_wrong_files_raise(saved, tmp_path):
    tagger, _ = saved
    with pytest.raises(ValueError, match="`filepath` must end in `.keras`"):
        tagger.save(tmp_path / "t.h5")
    with pytest.raises(FileNotFoundError, match="must be a `.keras` file.*nothing there"):
        Tagger.load(tmp_path / "none.keras")
