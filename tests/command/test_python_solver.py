"""A solver that is kept, and solves that begin with a guess; momenta of links."""

import numpy as np
import pytest

WEAK = "weak:0.3:4,4,4,8:11"
CLOVER = {"action": "clover", "kappa": 0.12, "csw": 1.2}


def iterations(x):
    return [s["iterations"] for s in x.report["solves"]]


@pytest.mark.parametrize(
    "options",
    [
        CLOVER,
        CLOVER | {"solver": "cg", "even_odd": "asymmetric"},
        CLOVER | {"precision": "double-single"},
        CLOVER | {"precision": "single", "tol": 1e-5},
        CLOVER | {"solver": "bicgstab", "even_odd": "none"},
        {"kappa": 0.12, "reconstruct": "12t"},
        {"action": "staggered", "mass": 0.3},
        {"action": "naive", "mass": 0.3},
    ],
    ids=lambda o: " ".join(map(str, o.values())),
)
def test_a_guess_is_what_iterations_begin_with(qs, options):
    u = qs.read(WEAK)
    b = qs.source(u, spins=1 if options.get("action") == "staggered" else 4)
    try:
        x = qs.solve(u, b, **options)
    except qs.MissingKernel:
        pytest.skip("needs kernels that are not in the default profile")
    same = qs.solve(u, b, guess=x, **options)
    assert np.allclose(same.lexicographic(), x.lexicographic(), rtol=0, atol=20 * options.get("tol", 1e-10))
    assert max(iterations(same)) <= 3 < max(iterations(x))
    near = qs.solve(u, b, **options | {"tol": 1e-3})
    fewer = qs.solve(u, b, guess=near, **options)
    assert sum(iterations(fewer)) < sum(iterations(x))
    assert max(s["residual"] for s in fewer.report["solves"]) <= options.get("tol", 1e-10)


def test_a_kept_solver_gives_what_solves_give(qs):
    u = qs.read(WEAK)
    solver = qs.Solver(u, **CLOVER)
    for source in ("point:0,0,0,0", "wall:3"):
        b = qs.source(u, source)
        x = solver(b)
        assert np.array_equal(x.lexicographic(), qs.solve(u, b, **CLOVER).lexicographic())
    assert max(iterations(solver(b, guess=x))) <= 3
    assert len(solver.reports) == 3 and solver.reports[1]["solves"][0]["converged"]
    wall = qs.Solver(u, action="moebius", ls=4, m5=1.8, b5=1.5, c5=0.5, mass=0.5)  # vectors of another kind
    x = wall(b)
    expected = qs.solve(u, b, action="moebius", ls=4, m5=1.8, b5=1.5, c5=0.5, mass=0.5)
    assert np.array_equal(x.lexicographic(), expected.lexicographic())


def test_multigrid_is_set_up_once(qs):
    u = qs.read("weak:0.3:8,8,8,8:11")
    solver = qs.Solver(u, kappa=0.13, solver="multigrid", precision="double-single")
    b = qs.Spinors(u.lattice)
    b.assign(qs.source(u).lexicographic()[:1])
    lines = []

    class Lines:
        def __call__(self, record):
            lines.append(record.getMessage())
            return True

    import logging

    logger = logging.getLogger("quarksmith")
    logger.addFilter(heard := Lines())
    logger.setLevel(logging.INFO)
    try:
        x, again = solver(b), solver(b)
    finally:
        logger.removeFilter(heard)
        logger.setLevel(logging.NOTSET)
    assert sum("set up in" in line for line in lines) == 1
    assert np.array_equal(x.lexicographic(), again.lexicographic())


def test_wrong_guesses_and_right_hand_sides_are_refused(qs):
    u = qs.read(WEAK)
    b = qs.source(u)
    with pytest.raises(qs.UsageError, match="guess has 1 right-hand sides, rhs has 12; give one for each"):
        qs.solve(u, b, guess=qs.Spinors(u.lattice), **CLOVER)
    with pytest.raises(qs.WrongLattice, match="guess is of lattice 4x4x4x4"):
        qs.solve(u, b, guess=qs.source(qs.Lattice((4, 4, 4, 4))), **CLOVER)
    with pytest.raises(TypeError, match="guess is GaugeField, not Spinors"):
        qs.solve(u, b, guess=u, **CLOVER)
    with pytest.raises(qs.UsageError, match="solves of action moebius are of 4 slices"):
        qs.solve(u, b, guess=b, action="moebius", ls=4, m5=1.8, b5=1.5, c5=0.5, mass=0.5)
    with pytest.raises(qs.UsageError, match="guess and deflate both begin a solve"):
        qs.solve(u, b, guess=b, deflate=4, **CLOVER)
    solver = qs.Solver(u, **CLOVER)
    with pytest.raises(qs.WrongLattice, match="rhs is of lattice 4x4x4x4"):
        solver(qs.source(qs.Lattice((4, 4, 4, 4))))
    with pytest.raises(qs.UsageError, match="rhs has spins=1"):
        solver(qs.source(u, spins=1))
    with pytest.raises(TypeError, match=r"solve\(\): got an unexpected keyword argument 'rhs'"):
        qs.Solver(u, rhs=b, **CLOVER)
    with pytest.raises(qs.NotConverged) as caught:
        qs.Solver(u, solver="cg", max_iterations=2, **CLOVER)(b)
    assert caught.value.solution.rhs == 12 and not solver.reports


def test_momenta_are_drawn_moved_along_and_seen(qs, tmp_path):
    u = qs.read(WEAK)
    p = qs.Momenta(u.lattice, seed=5)
    m = p.lexicographic()
    assert np.allclose(m, -np.conj(np.swapaxes(m, -1, -2))) and np.allclose(np.trace(m, axis1=-2, axis2=-1), 0)
    assert p.kinetic() == pytest.approx(-np.einsum("tzyxmab,tzyxmba->", m, m).real, rel=1e-13)
    mean = p.kinetic() / (8 * 4 * 4 * 4 * 4 * 8)
    assert mean == pytest.approx(0.5, abs=0.02)
    assert not np.array_equal(m, qs.Momenta(u.lattice, seed=5, trajectory=1).lexicographic())
    assert qs.Momenta(u.lattice).kinetic() == 0
    values, vectors = np.linalg.eigh(-1j * m)
    turn = np.einsum("...ab,...b,...cb->...ac", vectors, np.exp(0.1j * values), vectors.conj())
    assert np.allclose(u.moved(p, 0.1).lexicographic(), turn @ u.lexicographic(), rtol=0, atol=1e-13)
    view = np.asarray(p)
    assert view.ctypes.data == np.from_dlpack(p).ctypes.data and view.ndim == np.asarray(u).ndim - 1
    sites = p.sites()  # parity, block, lane; the memory: parity, block, mu, 4, 2, lane
    at = tuple(np.argwhere(sites == 77)[0])
    flat = m.reshape(-1, 4, 3, 3)[77]
    stored = view[at[0], at[1], :, :, :, at[2]].reshape(4, 8)
    above = np.stack([flat[:, 0, 1], flat[:, 0, 2], flat[:, 1, 2]], -1)
    assert np.allclose(stored[:, :2], np.stack([flat[:, 0, 0].imag, flat[:, 1, 1].imag], -1))
    assert np.allclose(stored[:, 2:], np.stack([above.real, above.imag], -1).reshape(4, 6))
    p.assign(2 * m)
    assert np.allclose(p.lexicographic(), 2 * m)
    with pytest.raises(qs.BadData, match="anti-Hermitian and traceless"):
        p.assign(1j * m)


def test_momenta_are_those_of_a_run(qs, tmp_path):
    run = tmp_path / "run.toml"
    run.write_text(
        """[lattice]
extents = [4, 4, 4, 4]
gauge = "weak:0.3"
[trajectory]
length = 0.1
count = 1
seed = 9
[[monomial]]
name = "gauge"
kind = "gauge"
action = "wilson"
beta = 5.6
[[integrator]]
kind = "leapfrog"
steps = 1
monomials = ["gauge"]
"""
    )
    start = qs.hmc(run, energies=True).report["trajectories"][0]
    kinetic = qs.Momenta(qs.Lattice((4, 4, 4, 4)), seed=9).kinetic()
    assert start["kinetic"][0] == pytest.approx(kinetic, rel=1e-13)


def test_eigenvectors_are_in_memory_and_serve_solves(qs, tmp_path):
    u = qs.read(WEAK)
    options = {"kappa": 0.12}
    found = qs.eigen(u, count=4, tol=1e-7, out=tmp_path / "e.h5", **options)
    assert isinstance(found, qs.Eigenvectors) and len(found.eigenvalues) == 4 == found.vectors.rhs
    view = np.from_dlpack(found)
    assert view.ctypes.data == np.asarray(found.vectors).ctypes.data
    v = found.vectors.lexicographic().reshape(4, -1)
    assert np.allclose(v.conj() @ v.T, np.eye(4), atol=1e-8)
    with pytest.raises(qs.UsageError, match="in no file, from which solves take them"):
        qs.solve(u, qs.source(u), deflate=qs.eigen(u, count=2, tol=1e-3, **options), **options)
    b = qs.source(u)
    x = qs.solve(u, b, deflate=found, **options)
    plain = qs.solve(u, b, solver="cg", **options)
    assert np.allclose(x.lexicographic(), plain.lexicographic(), rtol=0, atol=1e-8)
    assert sum(iterations(x)) < sum(iterations(plain))
    wall = qs.eigen(u, count=2, tol=0.1, action="moebius", ls=4, m5=1.8, b5=1.5, c5=0.5, mass=0.5)
    assert wall.vectors is None and len(wall.eigenvalues) == 2
    with pytest.raises(qs.UsageError, match="slices of a fifth dimension are in files alone"):
        np.from_dlpack(wall)


def test_eigenvectors_are_those_of_the_operator(qs):
    """Of the free operator: M^+ M of a constant spinor is m^2, which is the smallest with periodic boundaries."""
    u = qs.read("unit:4,4,4,4")
    found = qs.eigen(u, mass=0.5, boundary="periodic", count=12, tol=1e-10, even_odd="none")
    assert np.allclose(found.eigenvalues, 0.25, atol=1e-9)
    v = found.vectors.lexicographic()
    assert np.allclose(v, v[:, :1, :1, :1, :1], atol=1e-8), "constant over the lattice"
