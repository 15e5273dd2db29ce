"""Residuals that `propagator` claims, computed again from its files: the links as the file holds them, in 32 bits."""

import numpy as np
import pytest
from conftest import Command
from independent import (
    GAMMA5,
    Moebius,
    Propagator,
    clover_term,
    milc_links,
    on_spins,
    point_source,
    relative,
    staggered,
    wilson,
)
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)

LATTICE = (4, 4, 4, 8)
KAPPA, CSW, MU, MASSES = 0.125, 1.2, 0.05, (0.1, 0.3)
LINE = "reals miss these links by up to "


@pytest.fixture(scope="module")
def rounded(tmp_path_factory):
    """A configuration of a heatbath, and what 32 bits leave of it."""
    run = Command(tmp_path_factory.mktemp("links"))
    run("heatbath", "--lattice", "4,4,4,8", "--beta", "6", "--sweeps", "10", "--seed", "3", "--out", "u")
    run("convert", "u_00010.ildg", "u.milc")
    return run.folder


@pytest.fixture
def propagator(quarksmith, rounded, request):
    """Columns of a run, links that it used, and what it reported."""

    def run(*options, name="u.milc", ranks=1):
        line = ("propagator", "--gauge", rounded / name, "--tol", "1e-12", "--out", "p.h5", "--correlators", "p.json")
        line += ("--overwrite", *options)
        done = quarksmith(*line) if ranks == 1 else request.getfixturevalue("mpirun")(ranks, *line)
        spins = 1 if "staggered" in options else 4
        return Propagator(quarksmith.folder / "p.h5", quarksmith.program, LATTICE, spins), done.stderr

    return run


def spinor_operator(action):
    """M of an action on Dirac spinors."""

    def apply(u, psi):
        out = wilson(u, psi, 1 / (2 * KAPPA) - 4)
        if "clover" in action:
            out = out + clover_term(u, psi, CSW)
        return out + 1j * MU * on_spins(GAMMA5, psi) if "twisted" in action else out

    return apply


def residuals(columns, operator, spins):
    """|b - M x| / |b| of some columns: all that there are of different spin or mass, of one colour each."""
    found = {}
    for n in range(0, len(columns), 3):
        n += n // 3 % 3
        b = point_source(columns[n], n // 3 if spins else None, n % 3)
        found[n] = relative(b - operator(n, columns[n]), b)
    return found


CASES = [
    ("wilson", "12", ()),
    ("wilson", "8", ()),
    ("wilson", "12t", ()),
    ("wilson", "8", ("--precision", "double-half", "--solver", "gcr", "--preconditioner", "mr:4")),
    ("wilson", "12", ("--solver", "block-cg", "--batch", "12")),
    ("clover", "12", ()),
    ("clover", "12", ("--precision", "double-half", "--batch", "12")),
    ("twisted-mass", "12", ()),
    ("twisted-clover", "12", ("--solver", "cg")),
]


@pytest.mark.parametrize(
    ("action", "reals", "more", "ranks"), [*((*case, 1) for case in CASES), ("clover", "12", (), 2)]
)
def test_claims_are_of_the_links_in_the_file(propagator, rounded, action, reals, more, ranks):
    options = ["--action", action, "--kappa", KAPPA, "--reconstruct", reals, *more]
    options += ["--csw", CSW] if "clover" in action else []
    options += ["--mu", MU] if "twisted" in action else []
    file, said = propagator(*options, ranks=ranks)
    assert said.count(f"{reals.rstrip('t')} {LINE}") == 1
    assert "residuals are computed with all 18" in said
    u = milc_links(rounded / "u.milc")
    apply = spinor_operator(action)
    for n, found in residuals(file.columns, lambda n, x: apply(u, x), spins=True).items():
        assert file.claims[n] <= 1e-12
        assert found == pytest.approx(file.claims[n], rel=0.1)


@pytest.mark.parametrize(
    ("masses", "precision", "ranks"),
    [(MASSES[:1], "double", 2), (MASSES[:1], "double-half", 1), (MASSES, "double", 1), (MASSES, "double-half", 1)],
)
def test_claims_of_staggered_quarks(propagator, rounded, masses, precision, ranks):
    options = ("--action", "staggered", "--mass", ",".join(map(str, masses)), "--reconstruct", "12")
    file, said = propagator(*options, "--precision", precision, ranks=ranks)
    assert said.count(f"12 {LINE}") == 1
    u = milc_links(rounded / "u.milc")
    for n, found in residuals(file.columns, lambda n, x: staggered(u, x, masses[n // 3]), spins=False).items():
        assert found == pytest.approx(file.claims[n], rel=0.1)


@pytest.mark.parametrize(("action", "reals", "b", "c"), [("domain-wall", "8", 1, 0), ("moebius", "12", 1.5, 0.5)])
def test_quarks_of_walls_are_those_of_the_links_in_the_file(propagator, rounded, action, reals, b, c):
    options = ["--action", action, "--ls", 2, "--m5", 1.8, "--mass", 0.1, "--reconstruct", reals]
    file, _ = propagator(*options, *(["--b5", b, "--c5", c] if c else []))
    u = milc_links(rounded / "u.milc")
    source = point_source(file.columns[4], 1, 1)
    quark = Moebius(u, 0.1, 1.8, b, c).quark(source, 2, 1e-12)
    # The quark of the links that 12 or 8 reals decode to is some 1e-8 away.
    assert relative(file.columns[4] - quark, quark) < 3e-11


def test_files_say_which_links_were_used(propagator, quarksmith):
    file, _ = propagator("--kappa", KAPPA, "--reconstruct", "8")
    assert file.links == {"r18-r8"}
    report = quarksmith.json("p.json")
    assert {solve["links"] for solve in report["solves"]} == {"r18-r8"}


def test_links_in_su3_to_rounding_are_solved_as_ever(propagator, quarksmith):
    for reals in ("12", "8"):
        file, said = propagator("--kappa", KAPPA, "--reconstruct", reals, name="u_00010.ildg")
        assert LINE not in said
        assert file.links == {f"r{reals}"}
    assert np.isfinite(file.claims).all()


def test_a_tolerance_out_of_reach_of_single_precision_is_a_failure(quarksmith, rounded):
    said = quarksmith.refuses(
        *("propagator", "--gauge", rounded / "u.milc", "--kappa", KAPPA, "--reconstruct", "12"),
        *("--precision", "single", "--tol", "1e-9", "--correlators", "c.json"),
        status=1,
    )
    assert "not converged: residual" in said
    assert "use --precision double" in said or "--precision double" in said
