"""The documentation site: builds without a warning, leads somewhere, and is complete."""

import argparse
import html
import html.parser
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import keras_elmo
from keras_elmo.cli import main, train
from keras_elmo.presets.registry import published_models

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("site")]
ROOT = Path(__file__).resolve().parents[1]
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
OUTSIDE = re.compile(r"(https?:)?//")
OUTSIDE_OF_CSS = re.compile(r"(url\(|@import)\s*['\"]?(https?:)?//")
ARGUMENTS = re.compile(r"^\s*(Args|Call arguments):\s*\w+: ", re.MULTILINE)
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Page(html.parser.HTMLParser):
    """What a built page holds: ids, links, what it loads, its text in and out of code."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.text, self.code = "", {}
        self._open, self._heading = [], ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if attrs.get(LOADED.get(tag)):
            self.loaded.append(attrs[LOADED[tag]])
        if tag in ("h1", "h2", "h3"):
            self._heading = ""
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        while tag in self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if {"script", "style"} & set(self._open):
            return
        if {"pre", "code"} & set(self._open):
            self.code[self._heading] = self.code.get(self._heading, "") + data
        else:
            self.text += data
        if {"h1", "h2", "h3"} & set(self._open):
            self._heading += data.replace("¶", "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built as CI builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Every page by its name, as `api/index.html`."""
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    del found["404.html"]
    return {name: Page(path) for name, path in found.items()}


def in_navigation(entry):
    """The Markdown files below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    children = entry.values() if isinstance(entry, dict) else entry
    return [file for child in children for file in in_navigation(child)]


def test_every_page_has_one_entry_in_the_navigation(pages):
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    files = sorted(path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md"))
    assert sorted(in_navigation(config["nav"])) == files
    assert sorted(pages) == sorted(file.replace(".md", ".html") for file in files)


def leads_somewhere(link, name, site, pages):
    """Whether a link of the page of that name leads to a file, and to an id in it."""
    parts = urlsplit(link)
    target = name
    if parts.path:
        target = os.path.normpath(Path(name).parent / unquote(parts.path))
    if not parts.fragment:
        return (site / target).is_file()
    return target in pages and unquote(parts.fragment) in pages[target].ids


def test_links_and_anchors_lead_somewhere(site, pages):
    inside = [
        (name, link)
        for name, page in pages.items()
        for link in page.links
        if not urlsplit(link).scheme
    ]
    assert len(inside) > 100
    assert [found for found in inside if not leads_somewhere(found[1], found[0], site, pages)] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x">x</p>')
    pages = {"a.html": Page(tmp_path / "a.html")}
    links = ["a.html", "#x", "a.html#x", "b.html", "#y", "a.html#y", "."]
    found = [leads_somewhere(link, "a.html", tmp_path, pages) for link in links]
    assert found == [True] * 3 + [False] * 4


def test_a_page_is_read(tmp_path):
    page = tmp_path / "a.html"
    page.write_text('<h2 id="x">X</h2><a href="b.html#y">b</a><img src="c.png"><pre>k</pre>z')
    found = Page(page)
    assert (found.ids, found.links, found.loaded) == ({"x"}, ["b.html#y"], ["c.png"])
    assert (found.code, found.text) == ({"X": "k"}, "Xbz")


def test_nothing_is_asked_of_another_host(site, pages):
    loaded = [(name, url) for name, page in pages.items() for url in page.loaded]
    assert [found for found in loaded if OUTSIDE.match(found[1])] == []
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert styles
    assert [style for style in styles if OUTSIDE_OF_CSS.search(style)] == []


def test_what_pages_load_is_there(site, pages):
    missing = []
    for name, page in pages.items():
        for url in page.loaded:
            file = (site / name).parent / urlsplit(url).path
            if not file.exists():
                missing.append((name, url))
    assert missing == []


def test_everything_to_be_generated_was(site, pages):
    for name in pages:
        source = (site / name).read_text("utf-8")
        assert "<!-- generated" not in source, name
        assert "arithmatex" not in source, name
    formulas = (site / "how_elmo_works.html").read_text("utf-8")
    assert formulas.count("<math") > 15
    assert "<title id=" in formulas  # the drawing is part of the page


def test_api_pages_tell_every_public_name(pages):
    told = {i for name, page in pages.items() if name.startswith("api/") for i in page.ids}
    public = {f"keras_elmo.{name}" for name in keras_elmo.__all__ if name != "__version__"}
    assert public - told == set()
    assert "__version__" in pages["api/index.html"].code["API"]


def test_api_pages_tell_no_module_in_place_of_a_function(site):
    """A submodule may hide the name that its package imports from it."""
    shown = [path for path in site.glob("api/*.html") if "doc-symbol-module" in path.read_text()]
    assert shown == []


def test_sections_of_docstrings_are_read(pages):
    for name, page in pages.items():
        if name.startswith("api/"):
            assert ">>>" not in page.text, name
            assert not ARGUMENTS.search(page.text), name
    assert "Call arguments:" in pages["api/embedding.html"].text


def parsers(command):
    """(words, parser) of a console command and of its subcommands."""
    parser = command._parser(list(command.subcommands))
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((each.prog, each) for each in action.choices.values())


@pytest.mark.parametrize("command", [main.COMMAND, train.COMMAND], ids=lambda c: c.prog)
def test_command_reference_holds_every_option(pages, command):
    for words, parser in parsers(command):
        told = pages["commands.html"].code[words]
        wanted = [option for action in parser._actions for option in action.option_strings]
        assert [o for o in wanted if not re.search(rf"(?<![\w-]){o}(?![\w-])", told)] == []


def test_table_of_models_is_the_registry(pages, site):
    told = pages["models.html"].code["Models by name"]
    assert [model.name for model in published_models() if model.name not in told] == []
    rows = re.findall(r"<tr>(.*?)</tr>", (site / "models.html").read_text("utf-8"), re.DOTALL)
    for model in published_models():
        row = next(row for row in rows if f"<code>{model.name}</code>" in row)
        wanted = [model.language, model.corpus, model.licence]
        assert [text for text in wanted if html.escape(text, quote=False) not in row] == []


def test_korean_page_says_its_language(site):
    assert '<div lang="ko">' in (site / "korean.html").read_text("utf-8")
    assert '<div lang="ko">' not in (site / "index.html").read_text("utf-8")
