"""Solvers that learn from one right-hand side for the next: what they save, and what is said of it."""

import pytest

HEATBATH = ("heatbath", "--lattice", "4,4,4,8", "--beta", "6.0", "--start", "hot", "--sweeps", "7", "--seed", "9")
ACTION = ("--action", "wilson", "--kappa", "0.167")
SIZES = ("--search", "20", "--keep", "6")


@pytest.fixture
def gauge(quarksmith):
    """Links with a few eigenvalues that stand apart, which smooth ones do not have.

    After few sweeps: rounding grows tenfold in each, and other processors have other links then.
    """
    quarksmith(*HEATBATH, "--overrelax", "2", "--out", "q")
    return ("--gauge", "q_00007.ildg")


@pytest.mark.parametrize(("solver", "plain", "fraction"), [("eigcg", "cg", 0.7), ("gmres-dr", "gcr", 0.6)])
@pytest.mark.parametrize("precision", ["double", "double-single"])
def test_later_columns_take_fewer_iterations(quarksmith, gauge, solver, plain, fraction, precision):
    line = ("propagator", *gauge, *ACTION, "--precision", precision, "--overwrite", "--json", "p.json", "--solver")
    restart = ("--restart", "20") if plain == "gcr" else ()
    quarksmith(*line, plain, *restart)
    expected = quarksmith.json("p.json")
    assert "saving" not in expected
    text = quarksmith(*line, solver, *SIZES).stdout
    found = quarksmith.json("p.json")
    assert found["correlators"]["pion"] == pytest.approx(expected["correlators"]["pion"], rel=1e-8)
    assert all(s["residual"] <= 1e-10 and s["solver"] == solver for s in found["solves"])
    first, last = (int(found["solves"][n]["iterations"]) for n in (0, -1))
    saving = found["saving"]
    assert saving["right_hand_sides"] == 12 and saving["vectors"] >= 6
    assert (saving["first_iterations"], saving["last_iterations"]) == (first, last)
    assert saving["saving"] == pytest.approx(1 - last / first)
    assert f"{solver}: {first} iterations for the first of 12 right-hand sides, {last} for the last" in text
    assert last < fraction * expected["solves"][-1]["iterations"]
