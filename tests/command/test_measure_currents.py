"""Currents between neighbouring sites: what is conserved. Numbers: test_measure_data, _numpy."""

import numpy as np
import pytest
from descriptions import quarks, run_file, table

WALLS = run_file(
    "weak:0.5:4,2,4,6:1",
    table("source", name="p", at=[1, 0, 2, 4]),
    quarks("p", "domain-wall", {"q": {"m5": 1.5, "mass": 0.2, "ls": 4, "tol": 1e-12}}),
    table("correlator", name="w", kind="wall-currents", quark="q", momenta=[[0, 0, 0], [1, 0, 0]]),
    table("correlator", name="v", kind="wall-currents", quark="q", source="gy"),
    table("correlator", name="pion", kind="meson", quarks=["q", "q"], gammas=["g5"], momenta=[[1, 0, 0]]),
)


def by_structure(results):
    """For each momentum of each correlator its complex values by the names of its structures."""
    found = {}
    for name, result in results.items():
        if name != "solves":
            values = np.array(result["values"])[0] @ [1, 1j]
            found[name] = [dict(zip(result["structures"].split(), at, strict=True)) for at in values]
    return found


@pytest.mark.parametrize("storage", ["18", "12t"])
def test_ward_identities_with_momentum(measured, storage):
    """Delta_mu A_mu = 2 m P + 2 J5q away from the source and Delta_mu V_mu = 0, in temporal gauge, too."""
    text = WALLS.replace("tol = 1e-12\n", f'tol = 1e-12\nreconstruct = "{storage}"\n')
    found = by_structure(measured(text))
    w, pion = found["w"][1], found["pion"][0]["g5"]
    ahead_less_behind = 1 - np.exp(2j * np.pi / 4)  # of A_x: the sum of exp(i p x) (A(x) - A(x - 1))
    divergence = w["conserved_A4"] - np.roll(w["conserved_A4"], 1) + ahead_less_behind * w["conserved_A1"]
    assert divergence[1:] == pytest.approx((2 * 0.2 * pion + 2 * w["J5q"])[1:], abs=1e-9)
    assert abs(w["conserved_A1"]).max() > 1e-4
    charge = found["v"][0]["conserved_V4"]
    assert charge[1:] == pytest.approx(charge[1], abs=1e-10)
