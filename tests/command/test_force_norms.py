"""Molecular dynamics: forces whose norms nobody asks for are added up before they go back to the thin links."""

from pathlib import Path

import pytest
from descriptions import hmc_file

GAUGE = """\
name = "gauge"
kind = "gauge"
action = "symanzik"
beta = 6.5
plaquette = 1.0
rectangle = -0.067
chair = -0.0056
"""
RATIONAL = 'action = "hisq"\nmass = {mass}\nrational = {{range = [{low}, 120.0], error = 1e-8, force_error = 1e-7}}'
STOUT = 'action = "clover"\nkappa = {kappa}\ncsw = 1.5\neven_odd = "{form}"\nstout = {{rho = 0.1, steps = 2}}'

HISQ = (
    ("light", "rational", RATIONAL.format(mass=0.3, low=0.35)),
    ("strange", "rational", RATIONAL.format(mass=0.5, low=0.99)),
)
CLOVER = (
    ("light", "two-flavour-ratio", STOUT.format(kappa=0.12, form="symmetric") + "\ndenominator = {kappa = 0.11}"),
    ("thin", "two-flavour", 'action = "clover"\nkappa = 0.1\ncsw = 1.1\neven_odd = "asymmetric"'),
    ("heavy", "two-flavour", STOUT.format(kappa=0.11, form="asymmetric")),
)


def trajectory(quarksmith, tmp_path: Path, quarks, norms: str, kind: str) -> dict:
    monomials = (f'name = "{name}"\nkind = "{which}"\n{keys}' for name, which, keys in quarks)
    run = {"gauge": "weak:0.3", "kind": kind, "steps": 2, "length": 0.2, "force_norms": norms}
    (tmp_path / "run.toml").write_text(hmc_file(GAUGE, *monomials, **run))
    quarksmith("hmc", "run.toml", "--reversibility", "1", "--json", "o.json", "--overwrite")
    return quarksmith.json("o.json")["trajectories"][0]


@pytest.mark.parametrize(("quarks", "kind"), [(HISQ, "omelyan"), (CLOVER, "force-gradient")])
def test_forces_that_join_give_the_same_trajectory(quarksmith, tmp_path, quarks, kind):
    each, first = (trajectory(quarksmith, tmp_path, quarks, norms, kind) for norms in ("all", "first"))
    assert abs(each["dH"] - first["dH"]) < 1e-7
    assert first["reversibility"]["links"] < 1e-9
    for name, norms in each["forces"].items():
        assert len(norms) > 1
        assert first["forces"][name] == norms[:1]
        assert first["actions"][name][1] == pytest.approx(each["actions"][name][1], rel=1e-9)
        assert first["work"][name]["iterations"] == pytest.approx(each["work"][name]["iterations"], rel=0.02)
