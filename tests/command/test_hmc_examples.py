"""The runs of examples/: every kind of action makes trajectories that keep their energy and are accepted."""

import math
import re
import subprocess

import pytest
from conftest import BUILD, ROOT
from descriptions import hmc_file
from tree import tracked

EXAMPLES = tracked("examples/hmc_*.toml")


def shortened(text: str) -> str:
    """Two trajectories on 4^4."""
    text, found = re.subn(r"(?m)^extents = .*", "extents = [4, 4, 4, 4]", text)
    text, counts = re.subn(r"(?m)^count = \d+", "count = 2", text)
    assert found == counts == 1
    return text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_keep_their_energy(quarksmith, tmp_path, path):
    (tmp_path / "run.toml").write_text(shortened(path.read_text()))
    quarksmith("hmc", "run.toml", "--json", "o.json", "--reversibility", "2")
    found = quarksmith.json("o.json")["trajectories"]
    assert len(found) == 2
    # Links that are not thermal yet gain less kinetic energy than they lose: dH is negative, if anything.
    assert all(-6 < t["dH"] < 2 for t in found), [t["dH"] for t in found]
    assert found[1]["accepted"]
    assert 0.2 < found[1]["plaquette"] < 0.9
    for t in found:
        assert all(math.isfinite(f["norm2"]) and f["norm2"] > 0 for fs in t["forces"].values() for f in fs)
    assert found[0]["reversibility"]["links"] < 1e-6


def test_examples_are_in_the_table():
    text = (ROOT / "docs" / "hmc.md").read_text()
    assert [p.name for p in EXAMPLES] == sorted(re.findall(r"(?m)^\| `(hmc_\w+\.toml)`", text))
    actions = {m for p in EXAMPLES for m in re.findall(r'(?m)^action = "([\w-]+)"', p.read_text())}
    assert {
        "wilson",
        "clover",
        "twisted-mass",
        "twisted-clover",
        "staggered",
        "asqtad",
        "hisq",
        "domain-wall",
    } < actions
    assert {"moebius", "naive", "d234", "iwasaki", "symanzik"} < actions


ROUGH = """\
name = "quark"
kind = "rational"
action = "hisq"
mass = 0.5
rational = {range = [0.5, 500.0], error = 1e-6, force_error = 1e-5}
"""


@pytest.mark.parametrize("gauge", ["hot", "weak:0.3"])
def test_damped_projections_are_told(quarksmith, tmp_path, gauge):
    (tmp_path / "run.toml").write_text(hmc_file(ROUGH, gauge=gauge, steps=1, length=0.01))
    line = quarksmith("hmc", "run.toml", "--json", "o.json").stdout
    damped = quarksmith.json("o.json")["trajectories"][0]["work"]["quark"]["damped"]
    assert (damped > 0) == (gauge == "hot")
    assert (f" s, {damped} projections damped\n" in line) == (damped > 0)


ENERGIES = (
    'name = "gauge"\nkind = "gauge"\naction = "iwasaki"\nbeta = 2.2',
    'name = "clover"\nkind = "log-det"\naction = "clover"\nkappa = 0.13\ncsw = 1.5\nflavours = 2\nsites = "odd"\n'
    "stout = {rho = 0.1, steps = 2}",
)


def test_the_c_interface_gives_the_energies_of_hmc(quarksmith, tmp_path):
    program = BUILD / "bin" / "quarksmith_c_tests"
    if not program.exists():
        pytest.skip("the tests were not built")
    quarksmith("smear", "stout", "weak:0.3:4,4,4,4:5", "start.ildg", "--rho", "0.1", "--steps", "1")
    (tmp_path / "run.toml").write_text(hmc_file(*ENERGIES, gauge="start.ildg", steps=1, length=0.01))
    quarksmith("hmc", "run.toml", "--json", "o.json")
    hmc = quarksmith.json("o.json")["trajectories"][0]
    run = subprocess.run([program, tmp_path / "start.ildg"], capture_output=True, text=True, check=True)
    found = {name: [float(x) for x in numbers] for name, *numbers in map(str.split, run.stdout.splitlines())}
    assert found.keys() == hmc["actions"].keys()
    for name, (action, norm2) in found.items():
        assert action == pytest.approx(hmc["actions"][name][0], rel=1e-13)
        assert norm2 == pytest.approx(hmc["forces"][name][0]["norm2"], rel=1e-12)
