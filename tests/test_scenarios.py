"""What users reported of ELMo elsewhere, each case from end to end, with the input as it was told.

Named by the scenario's number. Other tests, which mirror the package, hold the remaining clauses.
"""

import collections
import contextlib
import csv
import io
import json
import re
import shutil

import h5py
import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from tiny_text import PATTERNS, lines

from keras_elmo import BiLM, ELMoEmbedding, TextClassifier, as_text
from keras_elmo.cli.main import main
from keras_elmo.cli.train import main as train

# Cases of one file share a pretraining.
pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("scenarios")]
SMALL = [
    *("--lstm-dim", "12", "--projection-dim", "8", "--char-dim", "4", "--filters", "1:4,3:8"),
    *("--batch-size", "16", "--window", "20", "--tokenizer", "space"),
]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("tokenizer", "counts"), [("space", [2, 2, 1, 1]), ("words", [2] * 4)])
def test_u05_the_rule_that_splits_is_in_the_config_and_survives_saving(
    tokenizer, counts, tiny_bilm
):
    texts = tf.constant(["  call   me ", "call me", "call\tme", "call\nme"])
    layer = ELMoEmbedding(tiny_bilm, output="elmo", tokenizer=tokenizer)
    assert layer.get_config()["tokenizer"] == tokenizer
    model = keras.Sequential([keras.Input((), dtype="string"), layer])
    model.save("m.keras")
    for loaded in (layer, keras.models.load_model("m.keras").layers[0]):
        assert loaded.tokenizer == tokenizer
        vectors = loaded(texts)
        assert vectors._keras_mask.numpy().sum(axis=1).tolist() == counts
        np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
        np.testing.assert_allclose(vectors, layer(texts), atol=1e-6)


def test_u05_the_default_is_the_source_s_own_rule(tiny_bilm):
    assert ELMoEmbedding(tiny_bilm).tokenizer == "space"
    assert ELMoEmbedding().tokenizer == "words"


TEXTS = ["free entry now", "ok lar", "see you at 8", "win cash now"]
UTF8 = [text.encode() for text in TEXTS]
CONTAINERS = {
    "tuple": tuple(TEXTS),
    "object array": np.array(TEXTS, object),
    "object array (4, 1)": np.array(TEXTS, object)[:, None],
    "<U array": np.array(TEXTS),
    "S array": np.array(UTF8),
    "object array of bytes": np.array(UTF8, object),
    "Series of object": pd.Series(TEXTS, dtype=object),
    "Series of string": pd.Series(TEXTS, dtype="string"),
    "Series of str": pd.Series(TEXTS, dtype="str"),
    "DataFrame": pd.DataFrame({"text": TEXTS}),
    "tensor": tf.constant(TEXTS),
    "tensor (4, 1)": tf.constant(TEXTS)[:, None],
}
TAKEN_BY_KERAS = ("object array", "tensor", "Series of string")


def test_u09_every_container_is_read_alike(tiny_bilm):
    classifier = TextClassifier(tiny_bilm, hidden_units=4, classes=["ham", "spam"])
    for name, x in CONTAINERS.items():
        assert as_text(x).numpy().tolist() == UTF8, name
    expected = classifier.predict(TEXTS, verbose=0)
    for name in ("Series of str", "object array (4, 1)"):
        found = classifier.predict(CONTAINERS[name], verbose=0)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", [*TAKEN_BY_KERAS, None])
def test_u09_a_plain_keras_model_takes_it_or_what_the_helper_gives(name, tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm)
    model = keras.Sequential([keras.Input((), dtype="string"), layer])
    x = CONTAINERS[name] if name else as_text(CONTAINERS["Series of str"])
    np.testing.assert_allclose(model.predict(x, verbose=0), layer(TEXTS), atol=1e-6)


SHAPES = {"all": (3, 0, 16), "top": (0, 16), "average": (0, 16)}


@pytest.mark.parametrize("layers", ["all", "top"])
def test_u15_a_corpus_is_written_by_line_number(layers, tiny_directory, tmp_path, capsys):
    texts = ["see you at 8/9", "ok", "", "ok", "한국어 문장"]
    (tmp_path / "in.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    command = ["embed", "in.txt", "out.hdf5", "--model", str(tiny_directory), "--layers", layers]
    assert main(command) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert warnings == ["warning: out.hdf5: line 3 is without tokens, so without vectors"]
    output = {"all": "layers"}.get(layers, layers)
    expected = ELMoEmbedding(str(tiny_directory), output=output)(texts).numpy()
    with h5py.File("out.hdf5") as file:
        assert set(file) == {"0", "1", "2", "3", "4", "sentence_to_index"}
        for k, length in enumerate([4, 1, 0, 1, 2]):
            vectors = file[str(k)]
            assert vectors.dtype == np.float32
            assert vectors.shape == tuple(n or length for n in SHAPES[layers])
            np.testing.assert_allclose(vectors, expected[k][..., :length, :], atol=1e-5)
        index = json.loads(file["sentence_to_index"][0])
    assert {text: index[text] for text in texts} == {
        "see you at 8/9": "0", "ok": "1", "": "2", "한국어 문장": "4",
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.hdf5"]


SENTENCES = lines(0, 1200)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder, stdout and stderr of U33's run: 1,200 short sentences, 5 epochs, batch 16."""
    folder = tmp_path_factory.mktemp("u33")
    (folder / "text.txt").write_text("\n".join(SENTENCES))
    (folder / "held-out.txt").write_text("\n".join(PATTERNS) + "\nan unseen word\n")
    command = ["bilm", "text.txt", "--output", "out", *SMALL, "--epochs", "5"]
    command += ["--softmax", "sampled", "--report-every", "7", "--held-out", "held-out.txt"]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            assert train(command) == 0
    return folder, out.getvalue(), err.getvalue()


def test_u19_the_windows_of_pretraining_bound_nothing(trained):
    place = str(trained[0] / "out")
    text = " ".join(f"w{k}" for k in range(600))
    vectors = ELMoEmbedding(place, output="elmo")([text])
    assert vectors.shape == (1, 600, 16) and np.isfinite(vectors).all() and np.any(vectors[0, -1])
    cut = ELMoEmbedding(place, output="elmo", max_tokens=100)
    with pytest.warns(UserWarning, match="`max_tokens=100`") as told:
        assert cut([text]).shape == (1, 100, 16)
    assert len(told) == 1


def pretrain_with(vocabulary, tmp_path, capsys):
    """Status, what stderr says, and the vocabulary that is written, of a run of one step."""
    (tmp_path / "text.txt").write_text("\n".join([*lines(0, 60), "zebra"]))
    (tmp_path / "vocab.txt").write_bytes(vocabulary)
    command = ["bilm", "text.txt", "--output", "out", *SMALL, "--steps", "1"]
    status = train([*command, "--vocabulary", "vocab.txt"])
    written = tmp_path / "out" / "vocab.txt"
    words = written.read_text().splitlines() if written.exists() else None
    return status, capsys.readouterr().err, words


@pytest.mark.parametrize(
    ("vocabulary", "parts"),
    [
        (b"<S>\n</S>\nthe\ncat\n", ["Missing from vocab.txt: <UNK>.", "without `--vocabulary`"]),
        (b"<S>\n</S>\n<UNK>\nthe\ncat\nthe\n", ["'the' at line 4 and line 6 in vocab.txt"]),
    ],
)
def test_u31_a_poor_vocabulary_is_one_line_and_status_2(vocabulary, parts, tmp_path, capsys):
    status, error, words = pretrain_with(vocabulary, tmp_path, capsys)
    assert status == 2 and words is None
    assert error.startswith("keras_elmo-train bilm: error: --vocabulary vocab.txt: ")
    assert error.count("\n") == 1 and "Traceback" not in error
    assert all(part in error for part in parts)


def test_u31_windows_line_ends_are_accepted_and_another_order_is_a_warning(tmp_path, capsys):
    vocabulary = b"<S>\r\n</S>\r\n<UNK>\r\nzebra\r\nmat\r\nthe\r\n"
    status, error, words = pretrain_with(vocabulary, tmp_path, capsys)
    assert status == 0 and words == ["<S>", "</S>", "<UNK>", "zebra", "mat", "the"]
    assert "the first 1 of the 3 vocabulary words" in error
    assert "softmax expect words by falling frequency" in error


def test_u31_without_a_file_the_words_are_counted(trained):
    folder, _, error = trained
    words = (folder / "out" / "vocab.txt").read_text().splitlines()
    counts = collections.Counter(" ".join(SENTENCES).split())
    assert "warning" not in error and words[:3] == ["<S>", "</S>", "<UNK>"]
    assert words[3:] == sorted(counts, key=lambda word: (-counts[word], word))


def test_u33_training_ends_after_the_steps_that_were_counted(trained, capsys):
    folder, printed, progress = trained
    n_tokens = len(" ".join(SENTENCES).split())
    positions = n_tokens + len(SENTENCES)  # the end of each sentence is predicted too
    steps = round(5 * positions / 320)
    plan, after = printed.split("time: about")
    assert f"1,200 sentences, {n_tokens:,} tokens" in plan
    assert f"steps: {steps} of 320 positions, {steps * 320 / positions:.2f} epochs" in plan
    assert f" epochs of {positions:,} positions, {positions / 320:.1f} steps each" in plan

    with open(folder / "out" / "training.csv", newline="") as log:
        rows = list(csv.DictReader(log))
    assert int(rows[-1]["step"]) == steps
    assert re.search(
        rf"{steps}/{steps} \[\d\d:\d\d<\d\d:\d\d, .*epoch \d\.\d\d, rate [\d.e-]+, "
        r"sampled training loss [\d.]+ \+ [\d.]+, [\d,]+ tokens/s",
        progress,
    )
    epoch = -(-positions // 320)
    measured = [int(row["step"]) for row in rows if row["held_out_combined"]]
    assert measured == [*range(epoch, steps, epoch), steps] and len(measured) == 5
    assert (after + progress).count("held-out perplexity forward") == 5

    assert main(["evaluate", str(folder / "out"), str(folder / "held-out.txt")]) == 0
    best = min(float(row["held_out_combined"]) for row in rows if row["held_out_combined"])
    assert f"{best:.2f}" in capsys.readouterr().out


def test_u35_261_and_262_characters_give_the_same_vectors(tiny_directory, tmp_path):
    shutil.copytree(tiny_directory, "model")
    options = json.loads((tmp_path / "model" / "options.json").read_text())
    assert options["char_cnn"]["n_characters"] == 262
    expected = ELMoEmbedding("model", output="layers")(["free entry", "한국어"])
    options["char_cnn"]["n_characters"] = 261
    (tmp_path / "model" / "options.json").write_text(json.dumps(options))
    with pytest.warns(UserWarning, match="261") as notes:
        layer = ELMoEmbedding("model", output="layers")
    assert len(notes) == 1
    np.testing.assert_array_equal(layer(["free entry", "한국어"]), expected)


def test_u35_a_file_that_lacks_a_dataset_is_named_with_the_key(tiny_directory):
    shutil.copytree(tiny_directory, "model")
    key = "RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell/W_P_0"
    with h5py.File("model/weights.hdf5", "r+") as file:
        del file[key]
    for load in (BiLM.load, ELMoEmbedding):
        with pytest.raises(ValueError, match=f"model/weights.hdf5 must hold .*'{key}'"):
            load("model")
