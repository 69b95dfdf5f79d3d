import gzip
import json
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import paper_claims  # noqa: E402
from claims import data, heads, parts, report  # noqa: E402
from claims.study import QUICK  # noqa: E402

WORDS = ("the", "cats", "sleep", "ann", "lee", "sings")


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory):
    """All sets, made up: the label can be told from a word."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)

    def write(name, lines):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="latin-1")

    def tagged(*pairs):
        for _ in range(24):
            yield from (pairs[index] for index in rng.permutation(len(pairs)))
            yield ""

    texts = ["free prize now \xa3", "see you at home"]
    write(
        "sms_spam/spam.csv",
        ["v1,v2", *(f"{('spam', 'ham')[i % 2]},{texts[i % 2]}" for i in range(50))],
    )
    uses = ["bank\tNOUN\tmoney\t0\tbank lends", "bank\tNOUN\triver\t1\tgreen bank"] * 12
    uses += ["run\tVERB\t1\t0\trun off", "run\tVERB\t2\t1\tthey run"] * 12
    for part in ("train", "dev"):
        write(f"eval/pos_ewt/{part}.tsv", tagged("the\tDET", "cats\tNOUN", "sleep\tVERB"))
        write(f"eval/ner_wnut17/{part}.tsv", tagged("Ann\tB-person", "Lee\tB-group", "sings\tO"))
        write(f"eval/wsd_masc/{part}.tsv", ["lemma\tpos\tsense\ttoken_index\tsentence", *uses])
        write(
            f"eval/subj/{part}.tsv",
            ["label\ttext", *["subj\ti like it", "obj\tshe goes home"] * 12],
        )
    (folder / "glove").mkdir()
    with gzip.open(folder / data.GLOVE, "wt") as file:
        file.writelines(f"{word} {index}.5 -0.{index} 1.0\n" for index, word in enumerate(WORDS))
    return folder


def run(folder, directory, *more):
    places = ["--data", str(folder), "--bilm", str(directory)]
    paper_claims.main([*places, "--quick", "--seeds", "1", *map(str, more)])


@pytest.fixture
def few_tasks(monkeypatch):
    """The six parts, most of them with one task."""
    tasks = dict.fromkeys(parts.PARTS, ("ner",))
    tasks |= {"amount": ("subj", "ner"), "layers": ("senses",), "regularization": ("subj",)}
    few = {part: (run, tasks[part]) for part, (run, _) in parts.PARTS.items()}
    monkeypatch.setattr(paper_claims, "PARTS", few)
    monkeypatch.setattr(paper_claims, "QUICK", QUICK._replace(amounts=(10,)))
    monkeypatch.setattr(parts, "PENALTIES", (1,))
    return tasks


@pytest.mark.end_to_end
def test_one_command_gives_all_tables_and_runs_nothing_twice(
    tiny_folder, tiny_directory, tmp_path, capsys, monkeypatch, few_tasks
):
    results, page = tmp_path / "claims.json", tmp_path / "claims.md"
    run(tiny_folder, tiny_directory, "--json", results, "--markdown", page)
    found = json.loads(results.read_text())["parts"]
    assert {part: tuple(of) for part, of in found.items()} == few_tasks
    for of_tasks in found.values():
        for result in of_tasks.values():
            for name, rows in result["tables"].items():
                for row in rows.values():
                    assert all(len(values) == 1 for values in row.values())
                    assert name == parts.WEIGHTS or 0 <= min(map(min, row.values())) <= 1
    printed, text = capsys.readouterr().out, page.read_text()
    for part in parts.PARTS:
        shown = report.part_tables(part, found[part])
        assert shown in printed and shown in text

    def fail(*_):
        raise AssertionError("ran again")

    nothing = {part: (fail, tasks) for part, tasks in few_tasks.items()}
    monkeypatch.setattr(paper_claims, "PARTS", nothing)
    page.unlink()
    run(tiny_folder, tiny_directory, "--json", results, "--markdown", page)
    assert page.read_text() == text
    with pytest.raises(AssertionError, match="ran again"):
        run(tiny_folder, tiny_directory, "--json", results, "--parts", "mix", "--seeds", "2")


def test_a_subset_is_the_seeds_own_and_all_is_in_order():
    examples = data.Examples(list("abcdef"), list("uvwxyz"))
    assert examples.draw(None, 3).tolist() == list(range(6))
    draws = [examples.draw(4, seed).tolist() for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    assert draws[0] == np.random.default_rng(0).permutation(6)[:4].tolist()
    assert examples.take([5, 0]) == (["f", "a"], ["z", "u"])


def test_messages_are_split_in_file_order(tiny_folder):
    task = data.read_task(tiny_folder, "sms")
    assert (len(task.train.inputs), len(task.test.inputs)) == (40, 10)
    assert task.test.inputs[0] == "free prize now \xa3"
    assert task.scores(["spam"] * 10) == pytest.approx({"accuracy": 0.5, "spam F1": 2 / 3})


def test_scores_are_over_tokens_and_over_whole_entities(tiny_folder):
    assert data.accuracy([["A", "B"], ["A"]], [["A", "A"], ["A"]]) == pytest.approx(2 / 3)
    assert data.span_f1([["B-a", "I-a", "O"]], [["B-a", "O", "O"]]) == 0.0
    assert data.span_f1([["B-a", "I-a", "O"]], [["B-a", "I-a", "O"]]) == 1.0
    assert list(data.read_task(tiny_folder, "ner").measures) == ["span F1"]


def tokens(*lengths):
    rng = np.random.default_rng(0)
    return heads.Tokens(
        [rng.normal(size=(length, 3, 4)).astype(np.float16) for length in lengths],
        [rng.normal(size=(length, 2)).astype(np.float32) for length in lengths],
        [np.arange(length) % 2 for length in lengths],
    )


def test_batches_pad_with_zeros_and_hold_each_sentence_once():
    batches = heads.TokenBatches(tokens(3, 1, 2), 2)
    inputs, targets = batches[0]
    assert inputs["layers"].shape == (2, 3, 2, 4) and inputs["glove"].shape == (2, 2, 2)
    assert inputs["mask"].tolist() == [[True, False], [True, True]]
    assert (inputs["layers"][0, :, 1] == 0).all()
    assert targets.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("at_input", "at_output", "mixes"), [(("glove",), (), 0), (("glove", "elmo"), ("elmo",), 2)]
)
def test_padding_and_places_of_a_tagger(at_input, at_output, mixes):
    keras.utils.set_random_seed(0)
    model = heads.TokenModel(2, at_input, at_output, units=3)
    every, last = tokens(1, 3), heads.Tokens(*(part[1:] for part in tokens(1, 3)))
    both, alone = (heads.TokenBatches(part, 2)[0][0] for part in (every, last))
    assert both["mask"][1].all()
    np.testing.assert_allclose(model(both)[1:], model(alone), atol=1e-5)
    assert len(heads.mixes_of(model)) == mixes
    changed = dict(both, layers=both["layers"] + 1)
    assert np.allclose(model(changed), model(both)) == (mixes == 0)


ROWS = {"A": {"x": [0.25, 0.75], "y": [0.5]}, "B": {"x": [0.1, 0.1], "z": [0.9, 0.9]}}
RESULTS = {"mix": {"pos": {"options": {}, "tables": {"scores": ROWS}}}}
TABLE = """|  | x | y | z |
| --- | --- | --- | --- |
| A | **0.500** ± 0.354 | **0.500** |  |
| B | 0.100 ± 0.000 |  | **0.900** ± 0.000 |"""


def test_a_table_by_hand():
    assert report.part_tables("mix", RESULTS["mix"]) == TABLE
    weights = {"pos": {"tables": {"weights": {"A": {"x": [0.5]}}}}}
    assert "**" not in report.part_tables("mix", weights)


def test_tables_go_between_their_marks_and_text_stays(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A\n\n<!-- tables of mix -->\nold\n<!-- end of mix -->\n\nafter\n")
    for _ in range(2):
        report.put_tables(page, RESULTS)
        assert page.read_text() == (
            f"# A\n\n<!-- tables of mix -->\n\n{TABLE}\n\n<!-- end of mix -->\n\nafter\n"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_file_of_something_else_is_no_results(tmp_path, tiny_folder, capsys):
    path, content = tmp_path / "x.json", '{"a": 1}'
    path.write_text(content)
    with pytest.raises(SystemExit) as ended:
        run(tiny_folder, "english-small", "--json", path)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert path.read_text() == content


def test_absent_data_is_named(tmp_path, tiny_folder, capsys):
    for folder in (tmp_path, tiny_folder / "eval"):
        with pytest.raises(SystemExit) as ended:
            run(folder, "english-small")
        assert ended.value.code == 2
        told = capsys.readouterr().err
        assert str(folder) in told and "--data" in told and told.count("\n") == 1
