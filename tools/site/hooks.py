"""Hooks of mkdocs.yml: what the site takes from elsewhere than docs/.

README.md is its first page. Names of pages in a text (docs/hmc.md, howto-ranks.md) become links, formulas become
MathML, which browsers set without a network in the font that the site brings. Doxygen's pages of the C and C++
interfaces, in build/doxygen/api, are copied, with a way back, and found by the search of the site; that of the Python
package has its docstrings. Notebooks have the results that tools/site/notebooks.sh left in build/notebooks.
"""

import html
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOXYGEN = ROOT / "build" / "doxygen" / "api"
EXECUTED = ROOT / "build" / "notebooks"
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NOTEBOOK = re.compile(r"\]\((?:\.\./)?examples/notebooks/(\w+)\.ipynb\)")
"""A link to one of them."""
TOP = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
"""Pages of the site that are files of the top folder."""
MENTION = re.compile(
    r"(^```.*?^```$|^(?: {4}|\t).*?$|``?[^`]+``?|\[[^]]*\]\([^)]*\))|(?:docs/)?\b([a-z][a-z-]*)\.md\b", re.M | re.S
)
"""Code and links, which stay, or the name of a page."""
PREFIXES = ("howto-", "operator-", "tutorial-")

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
"""What pymdownx.arithmatex makes of a formula."""
BLOCK = re.compile(r"(?:(?<=\n\n)|\A)((?: {4}[^\n]*\n|\n(?= {4}))+)")
"""Code that is indented, after an empty line."""
LANGUAGES = {
    "toml": r" {4}(#.*\n {4})*(\[\[?[\w.]+\]\]?|\w+ = [\[\"{\d].*)$",
    "python": r" {4}(import|from|def|class|with|for|@\w+|\w+(, \w+)* = \w+(\.\w+)*\().*$",
    "cmake": r" {4}(find_package|add_executable|target_link_libraries)\(",
    "cpp": r" {4}(#include|namespace|struct|template|int main|const|static|double|auto|void|for \()",
    "sh": r" {4}(quarksmith|make|mpirun|git|apt-get|sudo|pip|cmake|export|cp|cd|(\.venv|build)/bin/|python|[A-Z_]+=\S)",
}
"""What a block of code begins with."""
BACK = '<p><a href="../index.html">All pages of Quarksmith</a>, <a href="../api-python.html">Python</a></p>'
"""Begins each page of Doxygen."""

PYTHON = """# Python

How to use the package, and what its fields look like in memory: [Quarksmith from Python](python.md).

## Fields and errors

::: quarksmith._quarksmith

## Commands

Each is a command of the shell; a call takes its options as keywords.

::: quarksmith.commands

## Results

::: quarksmith.calls
    options:
      members: [Report, NotConverged]
"""
MORE = {"solver": "Solvers that stay", "cells": "Formulas in a cell"}
"""Further modules and their titles, where the package has them."""
WITHOUT = """# Python

This site was built without the package: `make python`, then `make docs` again. [Quarksmith from Python](python.md) says
how to use it, and `help(quarksmith)` shows what would be here.
"""


def linked(markdown: str, pages: set[str]) -> str:
    """The text with links in place of the names of pages."""

    def link(found: re.Match[str]) -> str:
        name = found[2]
        if found[1] or f"{name}.md" not in pages:
            return found[0]
        title = next((name.removeprefix(p) for p in PREFIXES if name.startswith(p)), name)
        return f"[{title.replace('-', ' ')}]({name}.md)"

    return MENTION.sub(link, markdown)


def of_top(name: str) -> str:
    """A file of the top folder as a page beside those of docs/."""
    text = NOTEBOOK.sub(r"](notebook-\1.md)", (ROOT / name).read_text()).replace("](docs/", "](")
    for page, file in TOP.items():
        text = text.replace(f"]({file})", f"]({page})")
    return text


def of_notebook(path: Path) -> str:
    """A notebook as a page: with its results, or where it was not executed its cells alone."""
    executed = EXECUTED / f"{path.stem}.md"
    if executed.exists():
        return executed.read_text()
    cells = json.loads(path.read_text())["cells"]
    texts = ["".join(c["source"]) for c in cells]
    shown = [t if c["cell_type"] == "markdown" else f"```python\n{t}\n```" for c, t in zip(cells, texts, strict=True)]
    return "\n\n".join(shown) + "\n"


def of_package() -> str:
    """The page of the Python package: names of the modules whose docstrings it shows."""
    package = importlib.util.find_spec("quarksmith")
    if package is None or package.origin is None:
        return WITHOUT
    found = [m for m in MORE if Path(package.origin).with_name(f"{m}.py").exists()]
    return PYTHON + "".join(f"\n## {MORE[m]}\n\n::: quarksmith.{m}\n" for m in found)


def math_font() -> Path | None:
    """STIX Two Math, which comes with ziamath."""
    found = importlib.util.find_spec("ziamath")
    return next(Path(found.submodule_search_locations[0]).glob("fonts/*.ttf"), None) if found else None


def on_files(files: Any, config: Any) -> Any:
    """Adds pages and files that are not in docs/."""
    from mkdocs.structure.files import File
    from pygments.formatters import HtmlFormatter

    for page, name in TOP.items():
        files.append(File.generated(config, page, content=of_top(name)))
    for path in NOTEBOOKS:
        files.append(File.generated(config, f"notebook-{path.stem}.md", content=of_notebook(path)))
    for path in sorted(EXECUTED.glob("*_files/*")):
        files.append(File.generated(config, str(path.relative_to(EXECUTED)), abs_src_path=str(path)))
    files.append(File.generated(config, "api-python.md", content=of_package()))
    if (font := math_font()) is not None:
        files.append(File.generated(config, "math.ttf", abs_src_path=str(font)))
    files.append(File.generated(config, "site.css", abs_src_path=str(Path(__file__).with_name("site.css"))))
    files.append(File.generated(config, "code.css", content=HtmlFormatter().get_style_defs(".codehilite")))
    for path in sorted(DOXYGEN.rglob("*")):
        name = f"api/{path.relative_to(DOXYGEN)}"
        if path.suffix == ".html":
            page = re.sub(r"(<body[^>]*>)", lambda body: body[1] + BACK, path.read_text(), count=1)
            files.append(File.generated(config, name, content=page))
        elif path.is_file():
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_content(html_of_page: str, **_: Any) -> str:
    """The page with MathML in place of TeX."""
    from latex2mathml.converter import convert

    def formula(found: re.Match[str]) -> str:
        return convert(html.unescape(found[2]), display="block" if found[1] == "div" else "inline")

    return FORMULA.sub(formula, html_of_page)


def on_post_build(config: Any) -> None:
    """Makes a search that needs no server, and adds the pages of Doxygen: titles, and the members they explain."""
    folder = Path(config.site_dir) / "search"
    pages = json.loads((folder / "search_index.json").read_text())["docs"]
    for path in sorted(DOXYGEN.glob("*.html")):
        page = path.read_text()
        title = re.search(r"<title>(?:Quarksmith: )?(.*?)</title>", page)
        members = dict.fromkeys(re.findall(r'<h2 class="memtitle">.*?</span>(.*?)(?:\(\))?</h2>', page, re.S))
        if title and (members or path.name.startswith(("class", "struct"))):
            pages.append({"location": f"api/{path.name}", "title": html.unescape(title[1]), "text": " ".join(members)})
    (folder / "pages.js").write_text(f"const quarksmith_pages = {json.dumps(pages)};\n")
    (folder / "main.js").write_text(Path(__file__).with_name("search.js").read_text())
    (folder / "worker.js").unlink()
    (folder / "search_index.json").unlink()


def coloured(markdown: str) -> str:
    """The text with the language of indented code at its beginning, as codehilite reads it."""

    def block(found: re.Match[str]) -> str:
        language = next((name for name, begin in LANGUAGES.items() if re.match(begin, found[1], re.M)), None)
        return f"    :::{language}\n{found[1]}" if language else found[0]

    return BLOCK.sub(block, markdown)


def on_page_markdown(markdown: str, files: Any, **_: Any) -> str:
    """Links and code of a page."""
    markdown = NOTEBOOK.sub(r"](notebook-\1.md)", markdown)
    return coloured(linked(markdown, {f.src_uri for f in files.documentation_pages()}))
