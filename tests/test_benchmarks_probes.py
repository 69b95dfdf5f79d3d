import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import probes  # noqa: E402
from probing import data, heads, layers, linear, tagging  # noqa: E402
from probing.tasks import TASKS  # noqa: E402


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def alternating(count, *classes):
    return np.array([classes[index % len(classes)] for index in range(count)])


@pytest.fixture
def tiny_sets(tmp_path):
    """All four sets, made up: the class can be told from a word."""
    rng = np.random.default_rng(0)

    def write(name, lines):
        for part, count in (("train", 60), ("dev", 12)):
            (tmp_path / name).mkdir(exist_ok=True)
            path = tmp_path / name / f"{part}.tsv"
            path.write_text("\n".join(lines(count)) + "\n", encoding="utf-8")

    def tagged(*pairs):
        def lines(count):
            for _ in range(count):
                yield from (pairs[index] for index in rng.integers(0, len(pairs), 4))
                yield ""

        return lines

    def uses(count):
        yield "lemma\tpos\tsense\ttoken_index\tsentence"
        for index in range(count):
            yield f"bank\tNOUN\tmoney\t{index % 3}\t" + "a " * (index % 3) + "bank lends"
            yield "bank\tNOUN\triver\t1\tgreen bank"
            yield f"run\tVERB\t{index % 2}\t0\trun off {'on' * (index % 2)}x"

    def texts(count):
        yield "label\ttext"
        for index in range(count):
            yield ("subj\ti like it a lot", "obj\tshe goes home .")[index % 2]

    write("pos_ewt", tagged("the\tDET\tDT", "cats\tNOUN\tNNS", "sleep\tVERB\tVBP"))
    write("ner_wnut17", tagged("Ann\tB-person", "Lee\tI-person", "sings\tO"))
    write("wsd_masc", uses)
    write("subj", texts)
    return tmp_path


def test_span_f1_counts_exact_spans_with_their_type():
    true, groups = np.array(["B-a", "I-a", "O", "B-b", "I-b"]), np.array([0, 0, 0, 0, 1])
    found = np.array(["B-a", "I-a", "O", "B-b", "O"])
    assert tagging.span_f1(true, true, groups) == 1.0
    assert tagging.span_f1(true, found, groups) == 2 * 2 / (3 + 2)  # the sentence ends a span


def test_files_are_read(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("``\tPUNCT\t``\nNo\x85way\tX\tY\n\n\nOn\tADP\tIN", encoding="utf-8")
    sentences, tags = data.read_tagged(path)
    assert sentences == [['"', "No\x85way"], ["On"]]
    assert tags == [["PUNCT", "X"], ["ADP"]]
    path.write_text("a\tb\tc\td\te\nbank\tNOUN\ts.1\t2\tthe '' bank ``\n", encoding="utf-8")
    (use,) = data.read_uses(path)
    assert use == data.Use("bank/NOUN", "s.1", 2, ("the", '"', "bank", '"'))


def test_absent_data_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KERAS_ELMO_SHARED", str(tmp_path))
    with pytest.raises(SystemExit, match=rf"must be at {tmp_path}/eval: .*--data"):
        probes.main([])


def test_most_frequent_tags_by_hand():
    train = tagging.Tagged([["a", "b", "a", "a"]], np.array(list("XYZZ")), np.zeros(4, int))
    dev = tagging.Tagged([["b", "a", "new"]], np.array(list("YZZ")), np.zeros(3, int))
    assert tagging.most_frequent_tags(train, dev).tolist() == ["Y", "Z", "Y"]


def test_layers_are_those_of_each_sentence_alone(tiny_bilm):
    sentences = [["one", "two", "three"], ["four"], ["five", "six"]]
    found = layers.embedder(tiny_bilm)(sentences)
    assert found.starts.tolist() == [0, 3, 4, 6]
    assert found.names == ("token vector", "layer 1", "layer 2")
    for sentence, start in zip(sentences, found.starts[:3], strict=True):
        alone = tiny_bilm.embed_tokens([sentence]).layers.numpy()[0, :, 1:-1].swapaxes(0, 1)
        np.testing.assert_allclose(found.vectors[start : start + len(sentence)], alone, atol=2e-3)


def test_items_of_layers_by_hand():
    vectors = np.array([[[1.0]], [[5.0]], [[-3.0]]], np.float16)
    found = layers.Layers(vectors, np.array([0, 2, 3]))
    assert found.rows().tolist() == [[0, 1], [2, -1]]
    assert found.windows(0).tolist() == [[0], [1], [2]]
    assert found.windows(1).tolist() == [[-1, 0, 1], [0, 1, -1], [-1, 2, -1]]
    assert found.pooled().tolist() == [[[3.0, 5.0]], [[-3.0, -3.0]]]


def test_ridge_is_the_ridge_classifier():
    train, dev = normal(20, 30), normal(50, 30, seed=1)
    labels = alternating(20, "a", "b", "c")
    found = linear.ridge(train, labels, dev, (0.5, 40.0))
    for row, alpha in zip(found, (0.5, 40.0), strict=True):
        assert row.tolist() == RidgeClassifier(alpha=alpha).fit(train, labels).predict(dev).tolist()


def test_ridge_by_lemma_gives_a_lemma_its_own_senses():
    lemmas, labels = np.repeat(["x", "y"], 20), alternating(40, "1", "2")
    labels[20:] = alternating(20, "3", "4")
    train = normal(40, 6)
    train[:, 0] = np.isin(labels, ["2", "3"]) * 6 - 3
    dev, dev_lemmas = train[[0, 1, 20, 21, 0]], np.array(["x", "x", "y", "y", "z"])
    found = linear.ridge_by_lemma(train, labels, lemmas, dev, dev_lemmas)
    assert found.tolist() == ["1", "2", "3", "4", ""]


def test_sentences_stay_together_when_a_penalty_is_chosen():
    groups = np.arange(40) // 4
    held = linear._held_out(groups)
    for mask in held:
        assert set(groups[mask]).isdisjoint(groups[~mask])
        assert 0 < mask.mean() < 0.3
    assert (np.sum(held, axis=0) == 1).all()


def part(vectors, items, targets=None, allowed=None):
    starts = np.arange(len(vectors) + 1)
    return heads.Part(layers.Layers(vectors.astype(np.float16), starts), items, targets, allowed)


def test_batches_are_standardised_and_zero_where_there_is_no_token():
    vectors = np.array([[[1.0]], [[3.0]], [[5.0]]])
    items = np.array([[0, -1, -1], [1, 2, -1]])
    whole = part(vectors, items, np.array([7, 8]), np.array([[True, False], [True, True]]))
    inputs, targets = heads.Batches(whole, whole.scale(), size=2, trim=True)[0]
    side = (1.5) ** 0.5  # from -side to side in steps of side: mean 0, variance 1
    np.testing.assert_allclose(
        inputs["layers"][:, 0, :, 0], [[-side, 0.0], [0.0, side]], rtol=1e-3, atol=1e-3
    )
    assert inputs["mask"].tolist() == [[True, False], [True, True]]
    assert (inputs["penalty"] == [[0, heads.NOT_ALLOWED], [0, 0]]).all()
    assert targets.tolist() == [7, 8]


@pytest.mark.end_to_end
def test_one_command_gives_the_whole_table(tiny_sets, tiny_directory, tmp_path, capsys):
    out = tmp_path / "probes.json"
    probes.main(
        ["--bilm", str(tiny_directory), "--untrained", "--data", str(tiny_sets), "--json", str(out)]
    )
    printed, found = capsys.readouterr().out, json.loads(out.read_text())
    assert [table["key"] for table in found["tasks"]] == [task.key for task in TASKS]
    for table in found["tasks"]:
        columns = table["scores"]
        assert list(columns) == [str(tiny_directory), "untrained", "no biLM"]
        for column in columns.values():
            for values in column.values():
                assert len(values) == len(table["measures"])
                assert all(0 <= value <= 1 for value in values)
        assert {"token vector", "layer 1", "layer 2", "learned mix", "all layers"} <= set(
            columns["untrained"]
        )
        assert set(table["aims"]) <= set(columns["untrained"])
        assert f"{columns['untrained']['all layers'][0]:.4f}" in printed
    # A word tells the tag, so that any biLM that tells words apart gets all of them right.
    assert found["tasks"][0]["scores"][str(tiny_directory)]["all layers"] == [1.0]
    assert found["tasks"][3]["scores"]["no biLM"] == {"TF-IDF, logistic regression": [1.0]}
    assert printed.count("is the best LSTM layer") == 2
