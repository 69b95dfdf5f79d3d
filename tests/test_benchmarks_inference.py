import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import inference  # noqa: E402
from arithmetic import embedding_flops, lstm_flops  # noqa: E402
from contenders import measuring, native  # noqa: E402

WORDS = [f"w{'o' * (number % 40)}rd{number}" for number in range(50)]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """120 lines: of 2 tokens and of 60, which are not taken, and of 5 to 59."""
    rng = np.random.default_rng(0)
    lengths = [2, 5, 60, 59, *rng.integers(5, 15, 116)]
    lines = ["  ".join(rng.choice(WORDS, length)) for length in lengths]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_sentences_are_taken_in_file_order_by_their_length(text):
    lengths = [len(tokens) for tokens in inference.read_sentences(text, 5, 59)]
    assert lengths[:2] == [5, 59] and len(lengths) == 118
    assert sum(1 for _ in inference.read_sentences(text)) == 120
    assert {token for tokens in inference.read_sentences(text) for token in tokens} == set(WORDS)


def test_arithmetic_counts_boundaries_and_distinct_words_of_each_call(tiny_config):
    sentences = [["a", "b", "a"], ["b"], ["b", "c"]]
    found = embedding_flops(tiny_config, sentences, 2)
    assert found["words_per_token"] == (2 + 2 + 2 + 2) / 6
    assert found["lstm_flops"] == lstm_flops(tiny_config) * (6 + 2 * 3) / 6
    # Two layers of two directions: 4 gates of 12 from 8 + 8, and 12 projected to 8.
    assert lstm_flops(tiny_config) == 2 * 2 * 2 * (48 * 16 + 12 * 8)
    # 18 filters in one product over 7 windows of 3 characters of 4, a highway, a projection to 8.
    word = 2 * 7 * (3 * 4) * 18 + 2 * 2 * 18 * 18 + 2 * 18 * 8
    assert found["encoder_flops"] == pytest.approx(word * 8 / 6)


def test_a_contender_is_warmed_up_before_it_is_timed(tmp_path):
    calls, sentences = [], [["a", "b"], ["c"], ["d"]]
    (tmp_path / "sentences.json").write_text(json.dumps(sentences), encoding="utf-8")

    def embed(batch):
        calls.append(len(batch))
        layers = np.zeros((len(batch), 3, max(map(len, batch)), 4), np.float32)
        for row, tokens in enumerate(batch):
            layers[row, :, : len(tokens)] = row + 1
        return layers

    job = {
        "sentences": str(tmp_path / "sentences.json"),
        "batch_size": 2,
        "passes": 3,
        "compared": 2,
        "vectors": str(tmp_path / "vectors.npy"),
    }
    found = measuring.measure(job, lambda job: (embed, lambda layers: layers))
    assert calls == [*[2, 1] * 4, 2]  # the last to compare
    assert 0 < found["pass_seconds"] and 10 < found["peak_mb"] < 100_000
    assert np.load(tmp_path / "vectors.npy")[0, :, 0].tolist() == [1, 1, 2]


def test_vectors_that_differ_are_an_error(text, monkeypatch):
    def measure(model, args, scratch):
        return {"difference": 2e-4 if model == "small" else 0.0}

    monkeypatch.setattr(inference, "_measure_contenders", measure)
    inference.main([str(text), "--models", "tiny"])
    with pytest.raises(SystemExit, match="differ by 2.0e-04"):
        inference.main([str(text)])


@pytest.mark.end_to_end
def test_one_command_measures_and_compares(text, tmp_path, capsys):
    out = tmp_path / "out.json"
    arguments = [str(text), "--models", "tiny", "--sentences", "70", "--rounds", "1"]
    inference.main([*arguments, "--passes", "1", "--json", str(out)])
    printed = capsys.readouterr().out
    (table,) = json.loads(out.read_text(encoding="utf-8"))["models"]
    hub, ours, at_once, embedder = table["contenders"]
    assert hub["name"] == "TF1-Hub module, batch 64" and at_once["name"] == "ours, 70 at once"
    assert embedder["name"] == "ours, Embedder" and embedder["difference"] < 1e-5
    sentences = inference.take(inference.read_sentences(text, 5, 59), 70, text)
    assert table["tokens"] == sum(map(len, sentences))
    assert ours["difference"] == 0.0 and max(hub["difference"], at_once["difference"]) < 1e-5
    for row in table["contenders"]:
        assert row["tokens_per_second"] == table["tokens"] / row["pass_seconds"]
        assert row["ratio"] == row["tokens_per_second"] / hub["tokens_per_second"]
        assert row["load_seconds"] > 0 and row["peak_mb"] > 100
        assert f"{row['name']:30}{row['tokens_per_second']:10,.0f}{row['ratio']:8.2f}" in printed
    assert ours["words_per_token"] > at_once["words_per_token"]
    assert f"{at_once['share']:7.0%}" in printed.splitlines()[-2]


def test_lengths_cut_the_same_words(text, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.json"
    monkeypatch.setattr(native, "gemm_rate", lambda precision: 1e9)
    monkeypatch.setattr(
        inference,
        "run",
        lambda module, scratch, job: native.main({"directory": scratch / "bilm", **job}),
    )
    arguments = [str(text), "--models", "tiny", "--lengths", "1,9", "--corpora", "100"]
    inference.main([*arguments, "--rounds", "1", "--passes", "1", "--json", str(out)])
    (table,) = json.loads(out.read_text(encoding="utf-8"))["models"]
    names = ["64 texts of 1 tokens", "64 texts of 9 tokens", "100 sentences"]
    assert [row["name"] for row in table["texts"]] == names
    assert table["texts"][1]["words_per_token"] == (50 + 2) / (64 * 9)
    printed = capsys.readouterr().out
    for row in table["texts"]:
        rate = row["tokens_per_second"]
        assert f"{row['name']:30}{rate:10,.0f}{1e6 / rate:12.1f}" in printed
