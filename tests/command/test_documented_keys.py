"""docs/files.md lists the keys that the programs write."""

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
    result = quarksmith.json("c.json")
    assert set(result) == of(documented("## Correlators"), *kinds)
    for solve in result["solves"]:
        assert set(solve) == of(documented("## Correlators", "Keys of a solve:"), *kinds)
    table = (ROOT / "docs" / "files.md").read_text().split("| attribute | type | |", 1)[1].split("\n\n", 1)[0]
    names = {name for row in re.findall(r"^\| ([\w, ]+) \|", table, re.MULTILINE) for name in row.split(", ")}
    assert set(result["provenance"]) - {"sink"} <= names
    quarksmith("info", "p.h5", "--json", "i.json")
    assert set(quarksmith.json("i.json")["provenance"]) <= names


def test_heatbath(quarksmith, tmp_path):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "2", "--json", "h.json")
    assert set(quarksmith.json("h.json")) == set(documented("## `heatbath --json`"))


def test_hmc(quarksmith, tmp_path):
    run = (ROOT / "examples" / "hmc_gauge.toml").read_text().replace("count = 20", "count = 1")
    (tmp_path / "run.toml").write_text(run)
    quarksmith("hmc", "run.toml", "--json", "h.json")
    result = quarksmith.json("h.json")
    assert set(result) == set(documented("## `hmc --json`"))
    (entry,) = result["trajectories"]
    assert set(entry) == set(documented("## `hmc --json`", "Keys of a trajectory:"))


def others(program):
    """Keys of one row of the last table: of the file, of the entries of its list, and those that options add."""
    text = (ROOT / "docs" / "files.md").read_text()
    cell = re.search(rf"^\| `{re.escape(program)}` \| (.*) \|$", text[text.index("## Others") :], re.MULTILINE)[1]
    written, *optional = re.split(r"; with |\. `--", cell)
    names = re.compile(r"`(\w+)`")
    inner = re.search(r"\((.*)\)", written) or re.search(r"`\w+`: (.*)", written)
    entries = inner[1] if inner else ""
    top = re.sub(r"\([^)]*\)", "", written) if "(" in written else written.replace(entries, "")
    return set(names.findall(top)), set(names.findall(entries)), set(names.findall(" ".join(optional)))


@pytest.mark.parametrize(
    ("command", "entries"),
    [
        (("bench", "--lattice", "4,4,4,4", "--only", "norm2_double", "--seconds", "0.001"), "kernels"),
        (("accuracy", "--lattice", "4,4,4,4", "--only", "wilson_half_r12_nr_n1"), "kernels"),
        (("solve-bench", "--gauge", "weak:0.3:4,4,4,4:3", "--mass", "0.3"), "solves"),
        (("eigen", "--gauge", "weak:0.3:4,4,4,4:3", "--mass", "0.3", "--count", "2"), ""),
        (("flow", "u_00001.ildg", "--step", "0.02", "--time", "0.04"), "flow"),
        (("smear", "stout", "u_00001.ildg", "v.ildg"), ""),
    ],
    ids=lambda c: c[0] if isinstance(c, tuple) else "",
)
def test_other_programs(quarksmith, tmp_path, command, entries):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    quarksmith(*command, "--json", "o.json")
    result = quarksmith.json("o.json")
    top, inner, optional = others(f"{command[0]} --json")
    assert top <= set(result) <= top | optional
    for entry in result[entries] if entries else ():
        assert inner <= set(entry) <= inner | optional
    assert bool(inner) == bool(entries)


def test_what_options_add(quarksmith, tmp_path):
    gauge = ("--gauge", "weak:0.3:4,4,4,4:3", "--mass", "0.3")
    shifted = ("--solver", "multishift", "--shifts", "0.1,0.2")
    learning = ("--solver", "eigcg", "--search", "5", "--keep", "2", "--batch", "2", "--precision", "double")
    _, plain, optional = others("solve-bench --json")
    assert optional == {"shifts", "saving"}
    for options, key in ((learning, "saving"), (shifted, "shifts")):
        quarksmith("solve-bench", *gauge, *options, "--json", "s.json", "--history", "h.csv", "--overwrite")
        for entry in quarksmith.json("s.json")["solves"]:
            assert set(entry) - plain == {key}
    header = (tmp_path / "h.csv").read_text().splitlines()[0]
    assert f"`{header}`" in (ROOT / "docs" / "files.md").read_text()
