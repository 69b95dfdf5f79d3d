"""What the documentation shows is run: Python blocks, commands and their options, links."""

import configparser
import os
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path

import pytest
from shown_code import fenced, run_console, run_program, run_session

import keras_elmo
from keras_elmo.cli import main, train

ROOT = Path(__file__).resolve().parents[1]
READMES = ["README.md", "README.ko.md"]
GUIDES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))
PAGES = [*READMES, "CONTRIBUTING.md", *GUIDES]
OURS = {"keras_elmo": main.main, "keras_elmo-train": train.main}
TEST_COMMAND = 'pip install -e ".[test]" && pytest -n 2 --dist loadfile -m "not end_to_end"'
KNOWN_COMMANDS = {".", ".ci/run", "mkdocs", "pip", "pre-commit", "pytest", "python3", *OURS}


def blocks(page, language):
    return fenced((ROOT / page).read_text(encoding="utf-8"), language)


def pages_to_run():
    """The pages with Python code, but those that show what README.md shows and no more."""
    shown = {page: {code for _, code in blocks(page, "python")} for page in PAGES}
    first = READMES[0]
    return [first, *(page for page in PAGES if shown[page] - shown[first])]


def commands(page):
    """Every command of the shell blocks as a list of words, joined lines and `&&` taken apart."""
    lines = "\n".join(code for _, code in blocks(page, "sh")).replace("\\\n", " ").splitlines()
    parts = [part for line in lines for part in line.split("&&")]
    return [words for part in parts if (words := shlex.split(part, comments=True))]


@pytest.mark.end_to_end
@pytest.mark.parametrize("page", pages_to_run())
def test_blocks_run_in_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for line, code in sorted(blocks(page, "python") + blocks(page, "console")):
        if code.startswith(">>>"):
            run_session(code, names, f"{page}:{line}")
        elif code.startswith("$ "):
            capsys.readouterr()
            run_console(code, OURS, capsys, f"{page}:{line}")
        else:
            run_program(code, names, str(ROOT / page), line)


def test_a_wrong_output_in_a_session_is_found():
    run_session(">>> 1 + 1\n2\n", {}, "page:1")
    with pytest.raises(AssertionError, match="Expected"):
        run_session(">>> 1 + 1\n3\n", {}, "page:1")


def test_a_wrong_output_of_a_command_is_found(capsys):
    commands = {"say": lambda arguments: 0 * sys.stdout.write(" ".join(arguments))}
    run_console("$ say 'one two' 1.0001\none\ttwo 1\n$ say\n", commands, capsys, "page:1")
    for wrong in ("one 1", "two 1.01", "two"):
        with pytest.raises(AssertionError):
            run_console(f"$ say two 1\n{wrong}\n", commands, capsys, "page:1")


@pytest.mark.parametrize("page", READMES)
def test_readme_trains_by_line_25(page):
    line, code = blocks(page, "python")[0]
    assert "ELMoEmbedding(" in code
    assert ".fit(" in code
    assert line + code.count("\n") - 1 <= 25


@pytest.mark.parametrize("page", READMES)
def test_readme_set_up_is_two_commands(page):
    lines = [line for _, code in blocks(page, "sh") for line in code.splitlines()]
    assert "pip install . && keras_elmo-train classifier --output spam-model" in lines
    assert TEST_COMMAND in lines


def test_korean_readme_has_the_code_of_the_english_one():
    def shown(page):
        every = blocks(page, "python") + blocks(page, "sh")
        return [re.sub(r"\s*#.*", "", code) for _, code in sorted(every)]

    assert shown("README.ko.md") == shown("README.md")
    sections = [(ROOT / page).read_text(encoding="utf-8").count("\n## ") for page in READMES]
    assert sections[0] == sections[1] > 5


def test_readmes_lead_to_each_other():
    for page, other in (READMES, READMES[::-1]):
        top = (ROOT / page).read_text(encoding="utf-8").partition("\n## ")[0]
        assert f"]({other})" in top


@pytest.mark.parametrize("page", PAGES)
def test_shell_commands_exist(page):
    for words in commands(page):
        assert words[0] in KNOWN_COMMANDS, words
        scripts = [word for word in words[1:] if word.endswith(".py")]
        assert [script for script in scripts if not (ROOT / script).is_file()] == []


def console_scripts():
    """Name and entry point of every console script of the metadata."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = setup["options.entry_points"]["console_scripts"].strip().splitlines()
    return [tuple(line.split(" = ")) for line in lines]


@pytest.mark.parametrize(("name", "value"), console_scripts())
def test_console_script_of_the_metadata_runs(name, value, monkeypatch, capsys):
    assert name in OURS
    script = metadata.EntryPoint(name, value, "console_scripts").load()
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setattr("sys.argv", [name, "--version"])
    with pytest.raises(SystemExit) as exit_info:
        script()
    assert exit_info.value.code == 0
    assert capsys.readouterr().out == f"{name} {keras_elmo.__version__}\n"


@pytest.mark.parametrize("page", PAGES)
def test_options_of_the_command_line_exist(page, capsys):
    shown = [words for words in commands(page) if words[0] in OURS]
    for command, subcommand in {tuple(words[:2]) for words in shown}:
        with pytest.raises(SystemExit) as exit_info:
            OURS[command]([subcommand, "--help"])
        assert exit_info.value.code == 0
        known = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
        same = [words for words in shown if words[:2] == [command, subcommand]]
        used = {word for words in same for word in words if word[:2] == "--"}
        assert used - known == set()


@pytest.mark.parametrize("page", PAGES)
def test_links_inside_the_repository_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    there = (ROOT / page).parent
    assert [target for target in targets if not os.path.exists(there / target)] == []
