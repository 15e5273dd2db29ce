"""Molecular dynamics: gauge actions with a coefficient for each orientation of loops."""

import math
import re
from pathlib import Path

import pytest
from descriptions import hmc_file

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


def trajectory(quarksmith, tmp_path: Path, action: str, steps: int = 12, gauge: str = "hot", **more: object) -> dict:
    monomial = f'name = "gauge"\nkind = "gauge"\n{action}'
    (tmp_path / "run.toml").write_text(hmc_file(monomial, gauge=gauge, kind="omelyan", steps=steps, length=0.5, **more))
    quarksmith("hmc", "run.toml", "--reversibility", "1", "--json", "o.json", "--overwrite")
    return quarksmith.json("o.json")["trajectories"][0]


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


def with_omega(omega: float) -> tuple[str, str]:
    """The action of hep-lat/9911003 by its name and by its loops."""
    numbers = COEFFICIENTS | {"SPACE": 10 / 3 * (1 + omega)}
    text = re.sub(r"\b(SPACE|TIME|R|L)\b", lambda m: repr(numbers[m[0]]), LOOPS)
    pair = -5 * omega / (3 * 2 * 0.5**4)
    pairs = f"two_plaquette_coefficients = {{xy = {pair!r}, xz = {pair!r}, yz = {pair!r}}}\n"
    return f"{NAMED}omega = {omega}\n", text + pairs


def test_pairs_of_plaquettes_are_those_of_omega(quarksmith, tmp_path):
    named, loops = (trajectory(quarksmith, tmp_path, action) for action in with_omega(0.7))
    assert named["actions"]["gauge"] == pytest.approx(loops["actions"]["gauge"], rel=1e-12)
    assert named["actions"]["gauge"] != pytest.approx(trajectory(quarksmith, tmp_path, NAMED)["actions"]["gauge"])
    finer = trajectory(quarksmith, tmp_path, with_omega(0.7)[0], 24)
    assert 1.6 < math.log2(abs(named["dH"] / finer["dH"])) < 2.4


@pytest.mark.parametrize("action", [with_omega(0.7)[0], 'action = "wilson"\nbeta = 5.5\nanisotropy = 2.0\n'])
def test_an_action_is_its_parts_in_space_and_time(quarksmith, tmp_path, action):
    found = [trajectory(quarksmith, tmp_path, f'{action}planes = "{part}"\n', 3) for part in ("all", "space", "time")]
    whole, space, time = (t["actions"]["gauge"][0] for t in found)
    assert whole == pytest.approx(space + time, rel=1e-12)
    assert space != 0 and time != 0
    assert trajectory(quarksmith, tmp_path, action, 3)["actions"]["gauge"][0] == whole


ADJOINT = """\
action = "adjoint"
beta = 5.0
beta_adjoint = 1.5
beta_square = -0.8
"""


def test_energy_is_kept_with_the_adjoint_trace(quarksmith, tmp_path):
    coarse, fine = (trajectory(quarksmith, tmp_path, ADJOINT, steps) for steps in (12, 24))
    assert 1.6 < math.log2(abs(coarse["dH"] / fine["dH"])) < 2.4
    start = trajectory(quarksmith, tmp_path, ADJOINT, 1, gauge="unit")
    assert abs(start["actions"]["gauge"][0]) < 1e-9


def test_momenta_in_time_take_smaller_steps(quarksmith, tmp_path):
    """Energy is kept; the first force is the same; P has the same energy at the start."""
    wilson = 'action = "wilson"\nbeta = 5.5\nanisotropy = 3.0\n'
    plain = trajectory(quarksmith, tmp_path, wilson)
    found = [trajectory(quarksmith, tmp_path, wilson, steps, momenta_anisotropy=3.0) for steps in (12, 24)]
    coarse, fine = found
    assert coarse["kinetic"][0] == pytest.approx(plain["kinetic"][0], rel=1e-13)
    assert coarse["forces"]["gauge"][0] == plain["forces"]["gauge"][0]
    assert coarse["forces"]["gauge"][1] != plain["forces"]["gauge"][1]
    assert 1.6 < math.log2(abs(coarse["dH"] / fine["dH"])) < 2.4
    assert abs(coarse["dH"]) < abs(plain["dH"])
    assert max(t["reversibility"]["links"] for t in found) < 1e-12
