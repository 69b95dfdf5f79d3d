"""The notebooks are executed, as Jupyter would do it, on what the package ships."""

import ast
import base64
import json
import os
import shutil
import sys
from pathlib import Path

import jupyter_client
import jupytext
import nbclient
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
KERNEL = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
MOST_BYTES = 300_000  # of a notebook's outputs, pictures included
SECONDS_A_CELL = 280
LONGEST_CELL = 40
PNG = b"\x89PNG\r\n"

# What each notebook promises: its number of pictures, and words that its outputs hold.
PROMISED = {
    "01_spam_classifier": (3, ["the sample of the package", "Test accuracy: 0.", "P(spam) ="]),
    "01_spam_classifier.ko": (3, ["패키지에 든 예제", "테스트 정확도: 0.", "P(spam) ="]),
    "02_contextual_vectors": (1, ["nearest has the same sense", "We came out of the water"]),
    "03_what_layers_know": (3, ["Most frequent tag: 0.", "Layer 2: 0.", "Weights at the end:"]),
    "04_elmo_and_glove": (0, ["runs/own-vectors.txt", "Static + ELMo at the input", "output"]),
    "05_train_your_own": (1, ["Perplexity of the grammar", "held-out perplexity", "english-small"]),
}


def read(name):
    return jupytext.read(NOTEBOOKS / f"{name}.py")


def code_of(name):
    """The syntax tree of a notebook, without what it prints."""
    tree = ast.parse((NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
            for part in filter(_is_text, ast.walk(node)):
                part.value = ""
    return ast.dump(tree)


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Runs a notebook in a kernel of this Python; returns it with its outputs."""
    specs = tmp_path / "kernels"
    (specs / "python3").mkdir(parents=True)
    spec = {"argv": KERNEL, "display_name": "Python 3", "language": "python"}
    (specs / "python3" / "kernel.json").write_text(json.dumps(spec))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copytree(NOTEBOOKS / "data", folder / "data")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))

    def run(name, shared):
        notebook = read(name)
        kernel_specs = jupyter_client.kernelspec.KernelSpecManager(kernel_dirs=[str(specs)])
        manager = jupyter_client.AsyncKernelManager(
            kernel_name="python3", kernel_spec_manager=kernel_specs
        )
        # Within pytest a kernel would leave out what libraries write to file descriptors.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        environment["KERAS_ELMO_SHARED"] = str(shared)
        client = nbclient.NotebookClient(
            notebook,
            km=manager,
            timeout=SECONDS_A_CELL,
            resources={"metadata": {"path": str(folder)}},
        )
        return client.execute(cleanup_kc=True, env=environment)

    return run


def outputs_of(notebook):
    return [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]


def printed(notebook):
    """All text among the outputs."""
    texts = [
        out.get("text") or out.get("data", {}).get("text/plain", "") for out in outputs_of(notebook)
    ]
    return "\n".join(texts)


def pictures(notebook):
    """The PNG files among the outputs."""
    data = [out.get("data", {}).get("image/png") for out in outputs_of(notebook)]
    return [base64.b64decode(picture) for picture in data if picture]


def check_outputs(notebook, n_pictures, promised):
    """A notebook that ran through and shows what it should, and nothing else."""
    text = printed(notebook)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert [out for out in outputs_of(notebook) if out.output_type == "error"] == []
    assert [out.text for out in outputs_of(notebook) if out.get("name") == "stderr"] == []
    assert [word for word in ("Traceback", "Warning", "WARNING") if word in text] == []
    assert [word for word in promised if word not in text] == []
    assert [picture[:6] for picture in pictures(notebook)] == [PNG] * n_pictures
    assert len(json.dumps(outputs_of(notebook))) < MOST_BYTES


def test_all_notebooks_are_executed():
    assert sorted(path.name for path in NOTEBOOKS.glob("*.py")) == sorted(
        f"{name}.py" for name in PROMISED
    )


@pytest.mark.parametrize("name", PROMISED)
def test_notebook_source_is_clean(name):
    notebook = read(name)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[-1].cell_type == "markdown"
    assert [cell.source for cell in notebook.cells if cell.source.count("\n") >= LONGEST_CELL] == []


@pytest.mark.parametrize("name", PROMISED)
def test_links_between_notebooks_lead_somewhere(name):
    text = "\n".join(cell.source for cell in read(name).cells if cell.cell_type == "markdown")
    links = [part.split(")")[0] for part in text.split("](")[1:] if not part.startswith("http")]
    assert [link for link in links if not (NOTEBOOKS / link).is_file()] == []


def test_korean_edition_has_the_code_of_the_english_one():
    assert code_of("01_spam_classifier.ko") == code_of("01_spam_classifier")
    assert code_of("02_contextual_vectors") != code_of("01_spam_classifier")


@pytest.mark.end_to_end
@pytest.mark.parametrize("name", PROMISED)
def test_notebook_runs_on_what_the_package_ships(name, execute, tmp_path):
    check_outputs(execute(name, shared=tmp_path / "absent"), *PROMISED[name])


@pytest.mark.end_to_end
def test_spam_notebook_runs_on_the_real_messages(execute, shared):
    if not (shared / "sms_spam" / "spam.csv").is_file():
        pytest.skip(f"no sms_spam/spam.csv in {shared}")
    notebook = execute("01_spam_classifier", shared=shared)
    check_outputs(notebook, 3, ["spam.csv", "Messages: 5572", "Training messages: 4457"])
    accuracy = float(printed(notebook).split("Test accuracy: ")[1][:6])
    assert accuracy > 0.96  # always "ham" has 0.87
