"""docs/files.md lists the keys that the programs write."""

import json
import re

import pytest
from conftest import ROOT

GAUGE = ("--gauge", "weak:0.3:4,4,4,8:3")


def documented(section, table="Keys:"):
    """Key and the kind of quark it is of, from one table of a section."""
    text = (ROOT / "docs" / "files.md").read_text()
    start = text.index(section)
    body = text[text.index(f"\n{table}\n", start) :].split("\n|---|---|---|\n", 1)[1].split("\n\n", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", body, re.MULTILINE))


def of(keys, *kinds):
    return {key for key, kind in keys.items() if kind in ("all", *kinds)}


@pytest.mark.parametrize(
    ("action", "kinds"),
    [
        (("wilson", "--mass", "0.3"), ("dirac",)),
        (("domain-wall", "--ls", "4", "--mass", "0.1"), ("dirac", "domain wall")),
        (("asqtad", "--mass", "0.4,0.1"), ("staggered",)),
    ],
)
def test_correlators(quarksmith, tmp_path, action, kinds):
    quarksmith("propagator", *GAUGE, "--action", *action, "--out", "p.h5", "--correlators", "c.json")
    result = json.loads((tmp_path / "c.json").read_text())
    assert set(result) == of(documented("## Correlators"), *kinds)
    for solve in result["solves"]:
        assert set(solve) == of(documented("## Correlators", "Keys of a solve:"), *kinds)
    table = (ROOT / "docs" / "files.md").read_text().split("| attribute | type | |", 1)[1].split("\n\n", 1)[0]
    names = {name for row in re.findall(r"^\| ([\w, ]+) \|", table, re.MULTILINE) for name in row.split(", ")}
    assert set(result["provenance"]) - {"sink"} <= names
    quarksmith("info", "p.h5", "--json", "i.json")
    assert set(json.loads((tmp_path / "i.json").read_text())["provenance"]) <= names


def test_heatbath(quarksmith, tmp_path):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "2", "--json", "h.json")
    assert set(json.loads((tmp_path / "h.json").read_text())) == set(documented("## `heatbath --json`"))
