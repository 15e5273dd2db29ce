"""Molecular dynamics: gauge actions with a coefficient for each orientation of loops."""

import json
import math
import re
from pathlib import Path

import pytest

RUN = """\
[lattice]
extents = [4, 4, 4, 4]
gauge = "hot"

[trajectory]
length = 0.5

[[monomial]]
name = "gauge"
kind = "gauge"
ACTION

[[integrator]]
kind = "omelyan"
steps = STEPS
monomials = ["gauge"]
"""

NAMED = f"""\
action = "anisotropic-symanzik"
beta = 2.0
anisotropy = 2.0
u_s = {math.sqrt(0.5)}
"""

LOOPS = """\
action = "loops"
beta = 2.0
plane_coefficients = {xy = SPACE, xz = SPACE, yz = SPACE, xt = TIME, yt = TIME, zt = TIME}
rectangle_coefficients = {xxy = R, xyy = R, xxz = R, xzz = R, yyz = R, yzz = R, xxt = L, yyt = L, zzt = L}
"""

COEFFICIENTS = {"SPACE": 10 / 3, "TIME": 16 / 3, "R": -1 / 3, "L": -2 / 3}
"""Those of Morningstar and Peardon for xi0 = 2, u_s^2 = 1/2, u_t = 1."""


def trajectory(quarksmith, tmp_path: Path, action: str, steps: int = 12) -> dict:
    (tmp_path / "run.toml").write_text(RUN.replace("ACTION", action).replace("STEPS", str(steps)))
    quarksmith("hmc", "run.toml", "--reversibility", "1", "--json", "o.json", "--overwrite")
    return json.loads((tmp_path / "o.json").read_text())["trajectories"][0]


def test_an_anisotropic_action_is_that_of_its_loops(quarksmith, tmp_path):
    text = re.sub(r"\b(SPACE|TIME|R|L)\b", lambda m: repr(COEFFICIENTS[m[0]]), LOOPS)
    named, loops = (trajectory(quarksmith, tmp_path, action) for action in (NAMED, text))
    assert named["actions"]["gauge"] == pytest.approx(loops["actions"]["gauge"], rel=1e-12)
    for one, other in zip(named["forces"]["gauge"], loops["forces"]["gauge"], strict=True):
        assert one["norm2"] == pytest.approx(other["norm2"], rel=1e-10)


def test_energy_is_kept_with_rectangles_by_orientation(quarksmith, tmp_path):
    coarse, fine = (trajectory(quarksmith, tmp_path, NAMED, steps) for steps in (12, 24))
    assert 1.6 < math.log2(abs(coarse["dH"] / fine["dH"])) < 2.4
    assert max(t["reversibility"]["links"] for t in (coarse, fine)) < 1e-12


PLANES = "plane_coefficients = {xy = 1, xz = 1, yz = 1, xt = 1, yt = 1, zt = 1}\n"

BAD = [
    ('action = "anisotropic-symanzik"\nbeta = 1', "run.toml:8: monomial 'gauge': anisotropy is missing"),
    (NAMED.replace("u_s", "u_s = 0 #"), "u_s = 0; use a positive number"),
    ('action = "wilson"\nbeta = 1\nanisotropy = -1', "anisotropy = -1; use a positive number"),
    (
        'action = "loops"\nbeta = 1\n' + PLANES + "rectangle_coefficients = {xyx = 1}",
        "run.toml:14: monomial 'gauge': rectangle_coefficients: key 'xyx' is unknown here; did you mean xxy?",
    ),
]


@pytest.mark.parametrize(("action", "message"), BAD, ids=[m for _, m in BAD])
def test_a_wrong_gauge_action_is_one_clear_error(quarksmith, tmp_path, action, message):
    (tmp_path / "run.toml").write_text(RUN.replace("ACTION", action).replace("STEPS", "1"))
    error = quarksmith.refuses("hmc", "run.toml", status=2)
    assert message in error
    assert error.count("\n") == 1
