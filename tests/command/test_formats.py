"""Formats of configurations: what the command offers, what docs/files.md says of each, and what files hold."""

import re

import pytest
from conftest import ROOT

TABLE = re.findall(
    r"^\| [^|]+ \| `(\w+)` \| (\.[^|]*) \| ([\d, ]*) \| (\S+) \|$", (ROOT / "docs/files.md").read_text(), flags=re.M
)


def test_help_and_documentation_name_the_same_formats(quarksmith):
    for command in ("convert", "smear", "flow", "apply"):
        choices = re.search(r"--format TEXT:\{(.*?)\}", quarksmith(command, "--help").stdout)
        assert choices, command
        assert choices[1].split(",") == [name for name, *_ in TABLE]


@pytest.mark.parametrize(("name", "endings", "bits", "links"), TABLE)
def test_a_format_holds_what_its_row_says(quarksmith, name, endings, bits, links):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--beta", "6", "--sweeps", "1", "--out", "u", "--seed", "3")
    usual, *others = bits.split(", ")
    for ending in endings.split(", "):
        quarksmith("convert", "u_00001.ildg", f"v{ending}", "--json", "v.json", "--overwrite")
        written = quarksmith.json("v.json")
        assert (written["format"], str(written["bits"])) == (name, usual)
    for other in ("32", "64"):
        choice = ("convert", "u_00001.ildg", "w", "--format", name, "--bits", other, "--overwrite")
        if other in (usual, *others):
            quarksmith(*choice)
        else:
            assert f"use {usual} bits, or ildg or nersc" in quarksmith.refuses(*choice)
    quarksmith("links", "--action", "asqtad", "u_00001.ildg", "--fat", "fat.ildg", "--long", "long.ildg")
    if links == "any":
        quarksmith("convert", "fat.ildg", f"fat_{ending}")
    else:
        assert "write them as ildg" in quarksmith.refuses("convert", "fat.ildg", f"fat_{ending}")


def test_a_format_that_cannot_be_written_is_refused_with_those_that_can(quarksmith):
    message = quarksmith.refuses("convert", "any", "v", "--format", "ddalphaamg")
    assert "--format" in message
    assert all(name in message for name, *_ in TABLE)
