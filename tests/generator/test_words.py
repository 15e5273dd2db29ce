"""One word, one meaning: the glossary against names in the code, and words that pages and sources no longer use."""

import re
from functools import cache

import numpy as np
import pytest
from tree import ROOT, tracked

from generator.algebra.gamma import BASES

DOCS = ROOT / "docs"
FOLDERS = ("runtime", "solvers", "generator", "apps", "interface")
ENTRY = re.compile(r"^\| ([^|`]+) \| ([^|]+) \| ((?:`[\w.]+`(?:, )?)+) \|$", re.M)
"""A row of the glossary: word, meaning, names in the code."""
CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t).*?$|``?[^`]+``?", re.M | re.S)

BANNED = {
    r"told|tells": "reports, shows",
    r"said": "reported, stated",
    r"says so": "reports it",
    r"settles?|settled": "residual replacement",
    r"improvers?": "deflating outer solver",
    r"mail|parcels?": "halo exchange",
    r"ghosts? (?:zones?|sites?)|ghost zones": "halo",
    r"box(?:es)? (?:of the part|with a border)": "padded lattice",
    r"spelling|spelled": "alternative parameter, written",
    r"even-odd reduction|reduced (?:operator|system)": "even-odd form",
    r"(?:boundary|boundaries|borders?|sites) of (?:a |the |its )?parts?": "of the local lattice",
    r"(?:each|every|a) rank's part|parts? of the lattice": "local lattice",
    r"beside (?:it|them|these|each other)": "next to, in addition to, in parallel",
    r"without being asked|is to be said": "automatically",
    r"goes on": "continues, resumes",
    r"so many of them": "stride",
    r"is no (?:number|text|lock|whole)": "is not a ...",
    r"remarks?": "not compared, recorded only",
    r"work horse": "standard kernel",
}
"""Words of earlier pages, and the field's word (or a plain one) for each: prose of docs/ and README.md."""
EXPLAINED = {
    "even-odd form": "conventions.md",
    "site term": "conventions.md",
    "statement": "howto-action.md",
    "profile": "howto-profile.md",
    "epilogue": "howto-profile.md",
    "tile": "howto-profile.md",
    "evidence": "howto-tune.md",
    "variant": "howto-tune.md",
    "near-null vector": "howto-multigrid.md",
    "monomial": "hmc.md",
    "local lattice": "howto-ranks.md",
    "halo": "howto-ranks.md",
    "seal": "files.md",
}
"""Words that a newcomer cannot know, and the page that explains each."""
BANNED_IN_CODE = {
    r"without being asked|is to be said": "automatically",
    r"never to be followed": "opaque",
    r"stops nothing": "disables that alone",
    r"work horse": "standard kernel",
}
"""The same for comments and messages of sources: to be extended as names are mended."""

BANNED_NAMES = {
    r"\w*[Ss]ettled?(?:_at)?_?": "residual replacement",
    r"\w*[Ii]mprovers?_?|ImproverSetting": "outer solver",
    r"Mail|mail_?|[Pp]arcels?": "halo exchange, halo face",
    r"BorderedPart|InBox|(?:in|leave|whole)_box|box_fields|boxed": "padded lattice",
    r"Action[S]pelling|Spelling|spellings": "alternative parameter",
    r"Reduction|Reduced(?:Operator|System)|reduction_of": "even-odd form",
    r"part_at|load_part": "rank, local lattice",
    r"usable_norms?|earlier_json|told_before": "a name that says what it is",
}
"""Names that the code of runtime/, solvers/ and runs/ no longer has, and the field's word for each."""


def entries():
    return ENTRY.findall((DOCS / "glossary.md").read_text())


@cache
def sources():
    paths = [p for folder in FOLDERS for p in tracked(f"{folder}/*") if p.suffix in (".py", ".hpp", ".cpp", ".h")]
    return {p: p.read_text() for p in paths}


def defined(text: str) -> set[str]:
    """Names of types, functions, variables and members that a source defines."""
    kinds = r"\b(?:class|struct|enum class|enum|using|concept|def|namespace)\s+(\w+)"
    patterns = (kinds, r"^\s*(\w+)\s*[:=]", r"(?<=[\w>&*])\s+(\w+)(?=\s*[({=;])")
    return {name for pattern in patterns for name in re.findall(pattern, text, flags=re.M)}


def test_every_name_of_the_glossary_is_in_the_code():
    rows, known = entries(), [defined(text) for text in sources().values()]
    assert len(rows) > 60
    for word, _, names in rows:
        for name in re.findall(r"`([\w.]+)`", names):
            parts = {part for part in name.split(".") if part}
            assert any(parts <= there for there in known), f"docs/glossary.md, {word}: no source defines {name}"


def test_no_word_has_two_meanings():
    words = [w for word, _, _ in entries() for w in word.split(", ")]
    assert len(words) == len(set(words))


def test_names_that_nobody_defines_are_found():
    assert {"Mine", "depth", "f"} <= defined("struct Mine {\n  int depth = 0;\ndef f(x):")
    assert not {"Mine", "other"} & defined("// Mine\nreturn depth + 1;")


@pytest.mark.parametrize("mu", range(4))
def test_axial_currents_are_the_products_that_the_glossary_names(mu):
    gamma = [np.array(g) for g in BASES["degrand_rossi"].gamma]
    gamma5 = gamma[0] @ gamma[1] @ gamma[2] @ gamma[3]
    (meaning,) = [m for word, m, _ in entries() if word == "A_mu"]
    sign, name = re.findall(r"(-?)`(g\w+)`", meaning)[mu]
    product = np.eye(4)
    for letter in name.split("g")[1:]:
        product = product @ gamma["xyzt".index(letter)]
    assert np.array_equal(gamma[mu] @ gamma5, -product if sign else product)


def banned(text: str, words: dict[str, str]) -> list[str]:
    found = [(m[0], instead) for word, instead in words.items() for m in re.finditer(rf"(?i)\b(?:{word})\b", text)]
    return [f"'{word}': say {instead}" for word, instead in found]


@pytest.mark.parametrize("page", [*tracked("docs/*.md"), ROOT / "README.md"], ids=lambda p: p.name)
def test_pages_use_the_words_of_the_field(page):
    assert banned(CODE.sub("", page.read_text()), BANNED) == []


def users_pages():
    """Those that mkdocs.yml lists above the developers' ones."""
    listed = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2].partition("- For developers:")[0]
    return [DOCS / name for name in re.findall(r": ([\w-]+\.md)$", listed, flags=re.M) if (DOCS / name).exists()]


def unexplained(name: str, text: str) -> list[str]:
    """Words whose first paragraph on a page neither sets them in italics nor, up to there, names a page about them."""
    wrong = []
    for word, page in EXPLAINED.items():
        plain = re.sub(r"`[^`\n]+`|^(?: {4}|\||```|#)[^\n]*$", "", text, flags=re.M)
        found = re.search(rf"\b{word}s?\b", plain)
        read = plain[: plain.find("\n\n", found.end())] if found and "\n\n" in plain[found.end() :] else plain
        pages = (page, "glossary.md")
        if found and name not in pages and f"*{word}" not in read and not any(p in read for p in pages):
            wrong.append(word)
    return wrong


@pytest.mark.parametrize("page", users_pages(), ids=lambda p: p.name)
def test_words_are_explained_where_they_are_first_used(page):
    assert unexplained(page.name, page.read_text()) == []


def test_words_that_are_not_explained_are_found():
    assert unexplained("a.md", "A tile.\n\nSee howto-profile.md.") == ["tile"]
    assert unexplained("a.md", "A *tile*: a number.\n\nTiles.\n\nA halo\n(howto-ranks.md).\n") == []


def test_sources_use_the_words_of_the_field():
    for path, text in sources().items():
        assert banned(text, BANNED_IN_CODE) == [], path


def test_names_use_the_words_of_the_field():
    found = []
    for path in [p for folder in ("runtime", "solvers", "runs") for p in tracked(f"{folder}/*.?pp")]:
        code = re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"', "", path.read_text())
        for word, instead in BANNED_NAMES.items():
            found += [f"{path}: {m[0]}: say {instead}" for m in re.finditer(rf"\b(?:{word})\b", code)]
    assert found == []


def test_banned_words_are_found():
    assert banned("It was told where the Parcel is.", BANNED) == [
        "'told': say reports, shows",
        "'Parcel': say halo exchange",
    ]
