"""MkDocs hooks: what the site makes of the sources while it is built.

Pages hold a line such as `<!-- generated: presets -->` where something comes from the package: the
command reference, the table of models, files from outside of `docs/`. Formulas become MathML, and
drawings become part of their page, so that a page needs no script and follows light and dark.
"""

import os
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File
from pages import GENERATORS, PAGE_OF, TAKEN_ALONG

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"^<!-- generated: (\w+)(?: (\S+))? -->$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
KOREAN = "korean.md"
DRAWING = re.compile(r'<img [^>]*src="([^":]+\.svg)"[^>]*>')


def on_files(files, config):
    """Takes files along that pages lead to: the notebooks."""
    for path in sorted(file for pattern in TAKEN_ALONG for file in ROOT.glob(pattern)):
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Puts in what is generated, and turns links to files of the repository into links to pages."""
    source = Path("docs", page.file.src_uri)
    markdown = _with_site_links(markdown, source, source)

    def made(mark):
        text, origin = GENERATORS[mark[1]](mark[2], ROOT)
        return _with_site_links(text, origin or source, source)

    return MARK.sub(made, markdown)


def on_page_content(html, page, config, files):
    """Writes formulas as MathML, and drawings in place of the links to them."""
    html = FORMULA.sub(_mathml, html)
    there = Path(config.docs_dir, page.file.src_uri).parent
    html = DRAWING.sub(lambda image: (there / image[1]).read_text("utf-8"), html)
    return f'<div lang="ko">{html}</div>' if page.file.src_uri == KOREAN else html


def _with_site_links(markdown, origin, page):
    """Links as they are right in the file `origin`, as they are right in `page`; code is left."""
    parts = FENCED.split(markdown)
    for i in range(0, len(parts), 2):
        parts[i] = LINK.sub(lambda link: _site_link(link, origin, page), parts[i])
    return "".join(parts)


def _site_link(link, origin, page):
    target = Path(os.path.normpath(origin.parent / link[1])).as_posix()
    is_taken_along = any(Path(target).match(pattern) for pattern in TAKEN_ALONG)
    target = PAGE_OF.get(target, f"docs/{target}" if is_taken_along else target)
    return f"]({Path(os.path.relpath(target, page.parent)).as_posix()}{link[2] or ''})"


def _mathml(found):
    display = "inline" if found[2] == "(" else "block"
    return convert(_unescaped(found[3]), display=display)


def _unescaped(text):
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text
