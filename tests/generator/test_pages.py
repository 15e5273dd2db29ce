"""Pages of docs/ and README.md: links, names of pages in them and in sources, lengths, and the table of contents."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tree import ROOT, tracked

DOCS = ROOT / "docs"
PAGES = [p for p in tracked("*.md") if p.parent == ROOT or DOCS in p.parents]
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t).*?$|`[^`\n]+`", re.M | re.S)


def site_hooks():
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "tools" / "site" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def anchors(text: str) -> set[str]:
    """Of headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


def broken(page: Path, text: str) -> list[str]:
    """Links of a page that lead nowhere. Addresses elsewhere are not followed."""
    wrong = []
    for link in LINK.findall(CODE.sub("", text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if link.startswith(("http://", "https://")):
            continue
        content = text if target == page else target.read_text() if target.suffix == ".md" and target.exists() else ""
        if not target.exists() or (anchor and anchor not in anchors(content)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    assert broken(page, page.read_text()) == []


def test_broken_links_are_found():
    page = ROOT / "docs" / "files.md"
    text = "# A heading, 2\n[a](hmc.md#solves) [b](#a-heading-2) `[c](gone)` [d](gone.md) [e](hmc.md#gone) [f](#gone)"
    assert broken(page, text + "\n\n    [g](gone)\n") == ["gone.md", "hmc.md#gone", "#gone"]


def test_pages_that_are_named_exist():
    sources = tracked("*.py", "*.?pp", "*.h", "*.c", "*.cu", "*.sh", "*.toml", "*.j2", "*.md", "*.txt", "Makefile")
    for path in [*sources, ROOT / "CMakeLists.txt"]:
        if path.name == Path(__file__).name:
            continue
        for name in re.findall(r"\bdocs/([\w-]+\.md)\b", path.read_text()):
            assert (ROOT / "docs" / name).exists(), f"{path}: docs/{name}"
    for page in PAGES:
        for name in re.findall(r"(?<![\w/.-])((?:howto|operator|tutorial)-[\w-]+\.md)\b", page.read_text()):
            assert (ROOT / "docs" / name).exists(), f"{page}: {name}"


def test_every_page_is_in_the_table_of_contents_once():
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2], flags=re.M)
    made = {*site_hooks().TOP, "api-python.md", *(f"notebook-{p.stem}.md" for p in site_hooks().NOTEBOOKS)}
    pages = {p.relative_to(DOCS).as_posix() for p in PAGES if DOCS in p.parents}
    assert sorted(listed) == sorted(pages | made)


def test_names_of_pages_become_links():
    linked = site_hooks().linked
    pages = {"hmc.md", "howto-ranks.md"}
    assert linked("See docs/hmc.md, howto-ranks.md.", pages) == "See [hmc](hmc.md), [ranks](howto-ranks.md)."
    for same in ("`docs/hmc.md`", "[runs](hmc.md)", "    docs/hmc.md", "```\ndocs/hmc.md\n```", "README.md, other.md"):
        assert linked(same, pages) == same


def test_the_first_page_of_the_site_is_the_readme():
    text = site_hooks().of_top("README.md")
    assert "](docs/" not in text and "](tutorial-propagator.md)" in text and "](changelog.md)" in text
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_code_has_the_colours_of_its_language():
    text = "A run:\n\n    make test\n\n    make demo\n\nPlain:\n\n    x  0.1\n\n    [[quark]]\n"
    made = site_hooks().coloured(text)
    assert made == text.replace("    make test", "    :::sh\n    make test")
    assert site_hooks().coloured("    import h5py\n").startswith("    :::python\n")


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")  # comes with make docs
    page = '<p>a <span class="arithmatex">\\(x &lt; \\hat\\mu\\)</span></p><div class="arithmatex">\\[D\\]</div>'
    made = site_hooks().on_page_content(page)
    assert made.count("<math") == 2 and made.count('display="block"') == 1 and "arithmatex" not in made
    assert "\\" not in made and made.startswith("<p>a <math")


def test_the_version_is_the_same_everywhere():
    patterns = {"CMakeLists.txt": r"project\(quarksmith VERSION ([\d.]+)", "pyproject.toml": r'^version = "([\d.]+)"'}
    patterns |= {
        "CHANGELOG.md": r"^## ([\d.]+)",
        "CITATION.cff": r"^version: ([\d.]+)",
        "interface/quarksmith.h": r"Version of the library, e\.g\. `([\d.]+)`",
    }
    versions = {n: re.search(p, (ROOT / n).read_text(), flags=re.M)[1] for n, p in patterns.items()}
    assert len(set(versions.values())) == 1, versions


MOST_WORDS = 1500
"""Of prose on a page; tables and code are looked up, not read. Results of earlier versions are kept in docs/history."""


def prose(text: str) -> str:
    """A page without tables, code and formulas."""
    return re.sub(r"^\|[^\n]*$|^\$\$.*?\$\$$", "", CODE.sub("", text), flags=re.M | re.S)


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent == DOCS], ids=lambda p: p.name)
def test_a_page_can_be_read_in_one_sitting(page):
    text = page.read_text()
    assert len(prose(text).split()) <= MOST_WORDS, f"{page.name}: split it; what developers need is a page of its own"
    assert "*[" not in text, f"{page.name}: which test checks what is a row of docs/checks.md"


def test_words_of_prose_are_counted():
    assert prose("a b\n| c |\n\n    d e\n\n```\nf\n```\n`g` h").split() == ["a", "b", "h"]


def test_the_tests_that_pages_rely_on_exist():
    """Rows of docs/checks.md: pages, suites and tests of C++, files."""
    sources = "".join(p.read_text() for p in tracked("tests/*.cpp", "tests/ranks/*.cpp"))
    tests = set(re.findall(r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", sources, flags=re.M))
    suites, files = {suite for suite, _ in tests}, {p.name for p in tracked("tests/*")}
    rows = re.findall(r"^\| ([\w, -]+) \| [^|]+ \| ([^|]+) \|$", (DOCS / "checks.md").read_text(), flags=re.M)
    assert len(rows) > 30
    for pages, names in rows[1:]:
        assert all((DOCS / f"{page}.md").exists() for page in pages.split(", ")), pages
        for name in re.findall(r"`([^`]+)`", names):
            suite, _, test = name.partition(".")
            exists = name in files or (suite in suites and (test == "*" or (suite, test) in tests))
            assert exists, f"docs/checks.md: there is no {name}"


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="needs doxygen: make docs")
def test_comments_of_the_interfaces_please_doxygen(tmp_path):
    settings = (ROOT / "tools" / "site" / "Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {tmp_path}\n"
    made = subprocess.run(["doxygen", "-"], cwd=ROOT, input=settings, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "quarksmith_solve" in (tmp_path / "api" / "quarksmith_8h.html").read_text()


@pytest.mark.skipif(importlib.util.find_spec("mkdocstrings") is None, reason="needs mkdocs: make docs")
def test_the_site_is_built_without_warnings(tmp_path):
    """But for pages of Doxygen, which are there after `make docs`."""
    settings = (ROOT / "mkdocs.yml").read_text().partition("  - API:\n")[0].replace("docs_dir: ", f"docs_dir: {ROOT}/")
    settings = settings.replace("[tools/", f"[{ROOT}/tools/").replace('["tools/', f'["{ROOT}/tools/')
    settings = settings.replace("omitted_files: warn", "omitted_files: ignore")
    (tmp_path / "mkdocs.yml").write_text(settings)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path / "site")]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "What it does, and for whom" in (tmp_path / "site" / "index.html").read_text()
    (whole,) = re.findall(r"^const quarksmith_pages = (.*);$", (tmp_path / "site/search/pages.js").read_text())
    found = {page["location"]: page["text"] for page in json.loads(whole)}
    assert "heatbath" in found["notebook-spectrum.html"] and not (tmp_path / "site/search/worker.js").exists()
