import importlib.util
from pathlib import Path

import pytest

import keras_elmo

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def spam_classifier(tiny_directory, monkeypatch):
    """The example as a module, with the tiny biLM in the place of the shipped one."""
    spec = importlib.util.spec_from_file_location("spam", EXAMPLES / "spam_classifier.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    embedding = keras_elmo.ELMoEmbedding
    monkeypatch.setattr(keras_elmo, "ELMoEmbedding", lambda: embedding(str(tiny_directory)))
    return module


def test_spam_classifier_reads_the_kaggle_form(spam_classifier, tmp_path, capsys):
    rows = ["ham,ok lar,,,", "spam,WIN £100,more,,"] * 10
    path = tmp_path / "spam.csv"
    path.write_text("\r\n".join(["v1,v2,,,", *rows]), encoding="latin-1")
    accuracy = spam_classifier.main(["--data", str(path), "--seed", "1"])
    assert accuracy in (0.0, 0.25, 0.5, 0.75, 1.0)
    assert f"test accuracy: {accuracy:.4f} (4 messages)" in capsys.readouterr().out


def test_spam_classifier_reads_the_sample_of_the_package(spam_classifier):
    texts, labels = spam_classifier.read(None)
    assert list(texts) == keras_elmo.load_sms_sample()[0]
    assert set(labels) == {0, 1}
    assert 0 < labels.mean() < 0.5  # spam is the rarer class
