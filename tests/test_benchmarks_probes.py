import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import probes  # noqa: E402
from probing import data, heads, layers, linear, tagging  # noqa: E402
from probing.tasks import TASKS, WordSense  # noqa: E402


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


def test_spans_are_read_as_conlleval_does():
    tags = ["I-a", "I-a", "B-a", "I-b", "O", "B-b", "I-b", "I-b"]
    groups = [0, 0, 0, 0, 0, 0, 0, 1]
    assert tagging.spans(tags, groups) == {
        (0, 2, "a"),
        (2, 3, "a"),
        (3, 4, "b"),
        (5, 7, "b"),
        (7, 8, "b"),
    }


def test_span_f1_counts_exact_spans_with_their_type():
    true = ["B-a", "I-a", "O", "B-b", "O"]
    groups = [0] * 5
    assert tagging.span_f1(true, true, groups) == 1.0
    assert tagging.span_f1(true, ["B-a", "O", "O", "B-b", "O"], groups) == 0.5
    assert tagging.span_f1(true, ["B-a", "I-a", "O", "B-a", "B-a"], groups) == pytest.approx(0.4)
    assert tagging.span_f1(true, ["O"] * 5, groups) == 0.0


def test_tagged_files_are_read(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("``\tPUNCT\t``\nNo\x85way\tX\tY\n\n\nOn\tADP\tIN", encoding="utf-8")
    sentences, tags = data.read_tagged(path)
    assert sentences == [['"', "No\x85way"], ["On"]]
    assert tags == [["PUNCT", "X"], ["ADP"]]


def test_uses_are_read_with_the_index_in_the_given_tokens(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\tc\td\te\nbank\tNOUN\ts.1\t2\tthe '' bank ``\n", encoding="utf-8")
    (use,) = data.read_uses(path)
    assert use == data.Use("bank/NOUN", "s.1", 2, ("the", '"', "bank", '"'))


def test_absent_data_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KERAS_ELMO_SHARED", str(tmp_path))
    with pytest.raises(SystemExit, match=rf"must be at {tmp_path}/eval: .*--data"):
        probes.main([])


def test_sample_takes_whole_sentences_and_grows(tiny_sets):
    train = tagging.Tagged.read(tiny_sets / "pos_ewt" / "train.tsv")
    small, large = train.sample(8, seed=1), train.sample(20, seed=1)
    assert len(small) == 8 and len(set(train.groups[small])) == 2
    assert set(small) < set(large)
    assert (np.diff(large) > 0).all()
    assert list(train.sample(9_999, seed=1)) == list(range(240))


def test_most_frequent_tags_by_hand():
    train = tagging.Tagged([["a", "b", "a", "a"]], np.array(list("XYZZ")), np.zeros(4, int))
    dev = tagging.Tagged([["b", "a", "new"]], np.array(list("YZZ")), np.zeros(3, int))
    assert tagging.most_frequent_tags(train, dev).tolist() == ["Y", "Z", "Y"]


def test_hand_features_know_new_words_by_their_ends():
    words = [f"{stem}{end}" for stem in ("walk", "talk", "bark", "link") for end in ("ed", "ing")]
    train = tagging.Tagged([[word] for word in words], alternating(8, "D", "G"), np.arange(8))
    dev = tagging.Tagged([["rowing"], ["rowed"]], None, np.arange(2))
    found = tagging.hand_feature_tags(train, np.arange(8), dev)
    assert found.tolist() == ["G", "D"]


def test_layers_are_those_of_each_sentence_alone(tiny_bilm, monkeypatch):
    monkeypatch.setattr(layers, "BATCH", 2)
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


def test_untrained_differs_by_its_seed_only(tiny_bilm):
    first, again, other = (layers.untrained(tiny_bilm, seed).fingerprint() for seed in (1, 1, 2))
    assert first == again
    assert len({first, other, tiny_bilm.fingerprint()}) == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_ridge_is_the_ridge_classifier(classes):
    train, dev = normal(20, 30), normal(50, 30, seed=1)
    labels = alternating(20, *"abc"[:classes])
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


@pytest.mark.parametrize(("rows", "splits"), [(40, 5), (20_000, 1)])
def test_sentences_stay_together_when_a_penalty_is_chosen(rows, splits):
    groups = np.arange(rows) // 4
    held = linear._held_out(groups)
    assert len(held) == splits
    for mask in held:
        assert set(groups[mask]).isdisjoint(groups[~mask])
        assert 0 < mask.mean() < 0.3
    if splits > 1:
        assert (np.sum(held, axis=0) == 1).all()


def test_logistic_takes_the_penalty_of_the_highest_score(monkeypatch):
    fits = []
    regression = linear._regression
    monkeypatch.setattr(linear, "_regression", lambda c: fits.append(c) or regression(c))
    monkeypatch.setattr(linear, "LOGISTIC_C", (1e-6, 1.0))
    labels, train = alternating(40, "a", "b", "b"), normal(40, 5)
    train[:, 0] += 6 * (labels == "b")
    groups = np.arange(40) // 2

    def accuracy(true, found, groups):
        assert len(true) == len(found) == len(groups) == 8
        return linear.accuracy(true, found)

    def share_of_b(true, found, groups):
        return np.mean(found == "b")

    best = {}
    for score in (accuracy, share_of_b):
        best[score] = linear.logistic(train, labels, groups, train, score)
    assert fits == [*[1e-6, 1.0] * 5, 1.0, *[1e-6, 1.0] * 5, 1e-6]
    assert linear.accuracy(labels, best[accuracy]) == 1.0
    assert set(best[share_of_b]) == {"b"}


def test_features_are_whitened_with_many_rows_only():
    mixing = np.array([[1, 0.9], [0, 0.3]], np.float32)
    many = (normal(500, 2) @ mixing).astype(np.float16)
    known, asked = linear.features(many, many[:7] + 1)
    covariance = known.T @ known / len(known)
    assert abs(covariance[0, 1]) < 1e-3
    assert known.shape == (500, 2) and asked.shape == (7, 2)
    few, _ = linear.features(many[:8], many)
    np.testing.assert_allclose(few.std(axis=0), 1, rtol=1e-3)
    assert abs(np.mean(few[:, 0] * few[:, 1])) > 0.5


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


def test_shuffled_batches_hold_all_items_and_those_of_one_length_together():
    items = np.where(np.arange(3) <= np.arange(40)[:, None] % 3, 0, -1)
    batches = heads.Batches(part(np.zeros((1, 1, 1)), items), (0.0, 1.0), size=4, seed=0)
    first = [rows.tolist() for rows in batches.batches]
    batches.on_epoch_end()
    second = [rows.tolist() for rows in batches.batches]
    assert first != second
    for epoch in (first, second):
        assert sorted(sum(epoch, [])) == list(range(40))
        assert sum(len(set(batches.lengths[rows])) > 1 for rows in epoch) <= 2


def test_learned_mix_finds_the_layer_that_tells_the_class():
    vectors = normal(200, 3, 1, 4)[:, :, 0]
    targets = np.arange(200) % 2
    vectors[:, 2, 0] += 6 * targets
    whole = part(vectors, np.arange(200)[:, None], targets)
    found, mix = heads.learned_mix(whole, whole, 2, seed=0, epochs=10, rate=3e-2, size=20)
    assert np.mean(found == targets) > 0.95
    assert mix["s"][2] > 0.5
    assert sum(mix["s"]) == pytest.approx(1, abs=1e-5)


def test_learned_mix_keeps_to_the_allowed_classes():
    targets = np.arange(40) % 4
    allowed = np.equal.outer(targets % 2, np.arange(4) % 2)
    whole = part(normal(40, 2, 3), np.arange(40)[:, None], targets, allowed)
    found, _ = heads.learned_mix(whole, whole, 4, seed=0, epochs=1, rate=1e-3, size=20)
    assert (found % 2 == targets % 2).all()


def test_small_head_reads_the_neighbours():
    signs = np.random.default_rng(0).choice([-1.0, 1.0], 300)
    one = layers.Layers(signs.reshape(300, 1, 1).astype(np.float16), np.array([0, 300]))
    targets = (np.roll(signs, 1) > 0).astype(int)  # what the token before says
    targets[0] = 0
    right = {}
    for reach in (0, 1):
        whole = heads.Part(one, one.windows(reach), targets)
        found = heads.small_head(whole, whole, 2, 0, epochs=20, rate=1e-2, units=16, size=50)
        right[reach] = np.mean(found == targets)
    assert right[1] > 0.97
    assert right[0] < 0.7


def test_uses_find_their_token_in_the_distinct_sentences(tiny_sets, tiny_bilm):
    task = WordSense(tiny_sets)
    sentences, _ = task.sentences("space")
    assert len(set(map(tuple, sentences))) == len(sentences) < len(task.train)
    rows = task._rows(layers.embedder(tiny_bilm)(sentences), task.train)
    words = [word for sentence in sentences for word in sentence]
    assert [words[row] for row in rows] == [use.lemma.split("/")[0] for use in task.train]


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
