"""Hooks of mkdocs.yml: what the site takes from elsewhere than docs/.

README.md is its first page. Names of pages in a text (docs/hmc.md, howto-ranks.md) become links. Doxygen's pages of
the C and C++ interfaces, in build/doxygen/api, are copied; that of the Python package has its docstrings.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOXYGEN = ROOT / "build" / "doxygen" / "api"
TOP = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
"""Pages of the site that are files of the top folder."""
MENTION = re.compile(
    r"(^```.*?^```$|^(?: {4}|\t).*?$|``?[^`]+``?|\[[^]]*\]\([^)]*\))|(?:docs/)?\b([a-z][a-z-]*)\.md\b", re.M | re.S
)
"""Code and links, which stay, or the name of a page."""
PREFIXES = ("howto-", "operator-", "tutorial-")

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
    text = (ROOT / name).read_text().replace("](docs/", "](")
    for page, file in TOP.items():
        text = text.replace(f"]({file})", f"]({page})")
    return text


def of_package() -> str:
    """The page of the Python package: names of the modules whose docstrings it shows."""
    package = importlib.util.find_spec("quarksmith")
    if package is None or package.origin is None:
        return WITHOUT
    found = [m for m in MORE if Path(package.origin).with_name(f"{m}.py").exists()]
    return PYTHON + "".join(f"\n## {MORE[m]}\n\n::: quarksmith.{m}\n" for m in found)


def on_files(files: Any, config: Any) -> Any:
    """Adds pages and files that are not in docs/."""
    from mkdocs.structure.files import File

    for page, name in TOP.items():
        files.append(File.generated(config, page, content=of_top(name)))
    files.append(File.generated(config, "api-python.md", content=of_package()))
    for name in ("site.css", "mathjax.js"):
        files.append(File.generated(config, name, abs_src_path=str(Path(__file__).with_name(name))))
    for path in sorted(DOXYGEN.rglob("*")):
        if path.is_file():
            files.append(File.generated(config, f"api/{path.relative_to(DOXYGEN)}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, files: Any, **_: Any) -> str:
    """Links of a page."""
    return linked(markdown, {f.src_uri for f in files.documentation_pages()})
