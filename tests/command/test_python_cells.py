"""Formulas of cells: kernels and actions that a program states, compiled in its own process."""

import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import BUILD

WEAK = "weak:0.3:4,4,4,8:11"
AXES = {0: 4, 1: 3, 2: 2, 3: 1}
"""Of directions in lexicographic spinors, where columns come first."""


def moved(f, mu, sign):
    return np.roll(f, -sign, axis=AXES[mu])


def neighbours(u, psi, around):
    """The sum of what comes along links from both sides, in NumPy."""
    total = 0
    for mu in around:
        link = u[..., mu, :, :]
        total = total + np.einsum("tzyxab,ntzyxsb->ntzyxsa", link, moved(psi, mu, 1))
        total = total + moved(np.einsum("tzyxba,ntzyxsb->ntzyxsa", link.conj(), psi), mu, -1)
    return total


def make_jacobi(qs):
    from quarksmith.language import Links, Real, Spinor, adj, shift, space

    @qs.expression
    def cell_jacobi(u: Links, psi: Spinor, s0: Spinor, kappa: Real) -> Spinor:
        """One step."""
        h = sum(u[mu] * shift(psi, +mu) + shift(adj(u[mu]) * psi, -mu) for mu in space)
        return s0 + kappa * h

    return cell_jacobi


def test_a_cell_is_a_kernel(cells):
    step = make_jacobi(cells)
    u = cells.read(WEAK)
    b = cells.source(u, "point:1,2,3,4")
    chi = step(u, b, b, kappa=0.15)
    expected = b.lexicographic() + 0.15 * neighbours(u.lexicographic(), b.lexicographic(), range(3))
    assert np.allclose(chi.lexicographic(), expected, rtol=0, atol=1e-14)
    again = chi.copy()
    assert step(u, b, b, 0.15, out=again) is again and np.array_equal(np.asarray(again), np.asarray(chi))
    assert "kappa*(u[x]*shift(psi, +x)" in step.formula and step.formula in repr(step)
    assert "struct cell_jacobi_body" in step.source()


def random_pair(qs):
    """Fields of two right-hand sides."""
    rng = np.random.default_rng(3)
    lattice = qs.Lattice((4, 4, 4, 8))
    fields = []
    for _ in range(2):
        psi = qs.Spinors(lattice, rhs=2)
        shape = psi.lexicographic().shape
        psi.assign(rng.normal(size=shape) + 1j * rng.normal(size=shape))
        fields.append(psi)
    return fields


def test_sums_come_back_as_numbers(cells):
    from quarksmith.language import Spinor, Sum, dot, re, total

    @cells.expression
    def cell_overlap(f: Spinor, g: Spinor) -> tuple[Sum, Sum]:
        return total(dot(f, g)), total(re(dot(f, f)))

    fields = random_pair(cells)
    f, g = (psi.lexicographic().reshape(2, -1) for psi in fields)
    found, norms = cell_overlap(*fields)
    assert np.allclose(found, [np.vdot(a, b) for a, b in zip(f, g, strict=True)], rtol=1e-13)
    assert np.allclose(norms, [np.vdot(a, a).real for a in f], rtol=1e-13)


def test_a_field_and_sums_come_back_together(cells):
    from quarksmith.language import Real, Spinor, Sum, dot, re, total

    @cells.expression
    def cell_added(f: Spinor, g: Spinor, a: Real) -> tuple[Spinor, Sum, Sum]:
        return f + a * g, total(re(dot(g, g))), total(dot(f, g))

    fields = random_pair(cells)
    f, g = (psi.lexicographic().reshape(2, -1) for psi in fields)
    h, norms, products = cell_added(*fields, 0.5)
    assert np.allclose(h.lexicographic().reshape(2, -1), f + 0.5 * g, rtol=0, atol=1e-14)
    assert np.allclose(norms, [np.vdot(b, b).real for b in g], rtol=1e-13)
    assert np.allclose(products, [np.vdot(a, b) for a, b in zip(f, g, strict=True)], rtol=1e-13)
    assert cell_added(*fields, 0.5, out=h)[0] is h


def test_a_sum_is_of_what_was_read_also_in_place(cells):
    from quarksmith.language import Real, Spinor, Sum, dot, re, total

    @cells.expression
    def cell_descent(r: Spinor, q: Spinor, a: Real) -> tuple[Spinor, Sum]:
        return r - a * q, total(re(dot(r - a * q, r - a * q)))

    r, q = random_pair(cells)
    _, expected = cell_descent(r, q, 0.3)
    written, found = cell_descent(r, q, 0.3, out=r)
    assert written is r and np.array_equal(found, expected)
    assert np.allclose(found, (abs(r.lexicographic().reshape(2, -1)) ** 2).sum(axis=1), rtol=1e-13)


def test_formulas_of_one_name_stay_what_they_are(cells):
    from quarksmith.language import Real, Spinor

    psi = cells.source(cells.Lattice((4, 4, 4, 4)))
    made = []
    for factor in (2, 3):

        @cells.expression
        def cell_multiple(psi: Spinor, a: Real) -> Spinor:
            return factor * a * psi  # noqa: B023

        made.append(cell_multiple)
    results = [f(psi, 0.5).lexicographic()[0].max().real for f in (*made, made[0])]
    assert results == pytest.approx([1.0, 1.5, 1.0], rel=1e-14)


def test_momenta_and_links_are_written(cells):
    from quarksmith.language import Algebra, Links, Real, Sum, directions, exp, re, ta, total, trace

    @cells.expression
    def cell_gradient(u: Links) -> Algebra:
        return {mu: ta(u[mu]) for mu in directions}

    @cells.expression
    def cell_step(p: Algebra, u: Links, h: Real) -> Links:
        return {mu: exp(h * p[mu]) * u[mu] for mu in directions}

    @cells.expression
    def cell_kinetic(p: Algebra) -> Sum:
        return total(-1 * re(trace(sum(p[mu] * p[mu] for mu in directions))))

    u = cells.read(WEAK)
    p = cell_gradient(u)
    assert isinstance(p, cells.Momenta)
    m = u.lexicographic()
    half = (m - np.conj(np.swapaxes(m, -1, -2))) / 2
    half = half - np.trace(half, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
    assert np.allclose(p.lexicographic(), half, rtol=0, atol=1e-14)
    assert cell_kinetic(p) == pytest.approx(p.kinetic(), rel=1e-13)
    assert np.allclose(cell_step(p, u, 0.1).lexicographic(), u.moved(p, 0.1).lexicographic(), rtol=0, atol=1e-13)


def test_errors_name_the_function_and_its_line(cells):
    from quarksmith.language import Links, Spinor, shift, x

    with pytest.raises(
        cells.UsageError, match=rf"^cell_wrong: .*{__name__}.py:\d+: .*psi.*cannot multiply a spinor by a matrix"
    ):

        @cells.expression
        def cell_wrong(u: Links, psi: Spinor) -> Spinor:
            return shift(psi, +x) * u[x]

    with pytest.raises(cells.UsageError, match="plaquette is the name of an operator of the library"):
        cells.expression("plaquette")(lambda: None)
    step = make_jacobi(cells)
    u = cells.read(WEAK)
    b = cells.source(u)
    with pytest.raises(cells.UsageError, match="cell_jacobi takes u, psi, s0, kappa; the call lacks s0, kappa"):
        step(u, b)
    with pytest.raises(cells.UsageError, match="psi is GaugeField; give Spinors"):
        step(u, u, b, 0.1)
    with pytest.raises(cells.UsageError, match="cell_jacobi: u is Momenta; give GaugeField"):
        step(cells.Momenta(u.lattice), b, b, 0.1)
    with pytest.raises(cells.UsageError, match="out is GaugeField; give Spinors"):
        step(u, b, b, 0.1, out=u)
    with pytest.raises(cells.UsageError, match="cell_jacobi writes 1 fields, out has 2"):
        step(u, b, b, 0.1, out=(b.copy(), b.copy()))
    with pytest.raises(cells.UsageError, match="cannot be written into psi"):
        step(u, b, b, 0.1, out=b)


def test_formulas_are_compiled_only_where_that_is_allowed(cells, monkeypatch):
    from quarksmith.language import Spinor

    @cells.expression
    def cell_never(psi: Spinor) -> Spinor:
        return 7 * psi

    monkeypatch.setenv("QUARKSMITH_ON_DEMAND", "off")
    with pytest.raises(cells.UsageError, match="QUARKSMITH_ON_DEMAND is off"):
        cell_never(cells.source(cells.Lattice((4, 4, 4, 4))))


@pytest.fixture(scope="module")
def shifted(cells):
    """Wilson quarks whose mass is a sum: hops, and with them most kernels, are Wilson's."""
    from quarksmith.language import Fermion, Links, Real, adj, directions, gamma, shift

    @cells.action
    def cell_shifted(u: Links, psi: Fermion, mass: Real, more: Real = 0.25) -> Fermion:
        """Wilson quarks."""
        hop = sum(
            (1 - gamma[mu]) * (u[mu] * shift(psi, +mu)) + (1 + gamma[mu]) * shift(adj(u[mu]) * psi, -mu)
            for mu in directions
        )
        return (4 + mass + more) * psi - hop / 2

    return cell_shifted


def test_actions_of_one_name_stay_what_they_are(cells):
    """Each is told by its formula, in any order of calls."""
    from quarksmith.language import Fermion, Links, Real, adj, directions, gamma, shift

    def make(more):
        @cells.action
        def cell_alike(u: Links, psi: Fermion, mass: Real) -> Fermion:
            hop = sum(
                (1 - gamma[mu]) * (u[mu] * shift(psi, +mu)) + (1 + gamma[mu]) * shift(adj(u[mu]) * psi, -mu)
                for mu in directions
            )
            return (4 + more + mass) * psi - hop / 2

        return cell_alike

    u = cells.read(WEAK)
    b = cells.source(u)
    first = make(0.25)
    right = {more: cells.solve(u, b, mass=0.1 + more).lexicographic() for more in (0.25, 0.5, 1.0)}
    made = {0.25: first} | {more: make(more) for more in (0.5, 1.0)}
    for more in (0.25, 1.0, 0.5, 0.25, 1.0):
        x = cells.solve(u, b, action=made[more], mass=0.1)
        assert np.allclose(x.lexicographic(), right[more], rtol=0, atol=1e-9)


def test_an_action_of_a_cell_is_solved_for(cells, shifted):
    u = cells.read(WEAK)
    b = cells.source(u)
    x = cells.solve(u, b, action=shifted, mass=0.1)
    assert np.allclose(x.lexicographic(), cells.solve(u, b, mass=0.35).lexicographic(), rtol=0, atol=1e-9)
    pion = cells.propagator(u, action=shifted, mass=0.1, more=0.5).report["correlators"]["pion"]
    assert np.allclose(pion, cells.propagator(u, mass=0.6).report["correlators"]["pion"], rtol=1e-8)
    assert "more" in cells.solve.__doc__ and "(4 + mass + more)" in shifted.formula
    with pytest.raises(cells.UsageError, match="csw belongs to action clover"):
        cells.solve(u, b, action=shifted, mass=0.1, csw=1)


RUN = """[lattice]
extents = [4, 4, 4, 8]
gauge = "weak:0.3"
[trajectory]
length = 0.2
count = 4
seed = 2
[[monomial]]
name = "gauge"
kind = "gauge"
action = "wilson"
beta = 5.6
[[monomial]]
name = "quark"
kind = "two-flavour"
action = "{action}"
mass = 0.5
[[integrator]]
kind = "omelyan"
steps = 4
monomials = ["gauge", "quark"]
"""


def test_its_force_is_checked_and_its_trajectories_run(cells, shifted, tmp_path):
    u = cells.read(WEAK)
    (found,) = shifted.check_force(u, mass=0.5)["monomials"]
    assert abs(found["slope"]) > 1 and found["difference"] < 1e-9
    run = tmp_path / "run.toml"
    run.write_text(RUN.format(action=shifted.name))
    records = []
    last = cells.hmc(run, on_trajectory=records.append)
    assert [r["accepted"] for r in records] == [t["accepted"] for t in last.report["trajectories"]] and len(
        records
    ) == 4
    run.write_text(RUN.format(action="wilson").replace("mass = 0.5", "mass = 0.75"))
    same = cells.hmc(run)
    dh = [t["dH"] for t in last.report["trajectories"]]
    assert np.allclose(dh, [t["dH"] for t in same.report["trajectories"]], rtol=0, atol=1e-7) and max(map(abs, dh)) < 1
    assert {m["name"] for m in cells.check_forces(run, u)["monomials"]} == {"gauge", "quark"}


def test_an_action_takes_a_field_as_an_array(cells, varied):
    u = cells.read(WEAK)
    b = cells.source(u)
    quarter = np.full((8, 4, 4, 4), 0.25, complex)
    x = cells.solve(u, b, action=varied, mass=0.1, field={"phi": quarter})
    assert np.allclose(x.lexicographic(), cells.solve(u, b, mass=0.35).lexicographic(), rtol=0, atol=1e-9)
    for phi in (quarter, 0.25):
        (found,) = varied.check_force(u, mass=0.5, field={"phi": phi})["monomials"]
        assert abs(found["slope"]) > 1 and found["difference"] < 1e-9


def test_a_trajectory_may_be_the_last_one(cells, tmp_path):
    run = tmp_path / "run.toml"
    run.write_text(RUN.format(action="wilson"))
    last = cells.hmc(run, on_trajectory=lambda record: False, out=tmp_path / "run")
    assert len(last.report["trajectories"]) == 1 and (tmp_path / "run_00001.ildg").is_file()

    def fails(record):
        raise LookupError(record["plaquette"])

    with pytest.raises(LookupError):
        cells.hmc(run, on_trajectory=fails, out=tmp_path / "run")
    assert (tmp_path / "run_00002.ildg").is_file(), "the run ends in order first"


NOTEBOOK = """
import resource
import quarksmith as qs
from quarksmith.language import Links, Real, Spinor, adj, shift, space
u = qs.read("weak:0.3:8,8,8,8:1")
b = qs.source(u)
@qs.expression
def cell_{tag}(u: Links, psi: Spinor, s0: Spinor, kappa: Real) -> Spinor:
    h = sum(u[mu] * shift(psi, +mu) + shift(adj(u[mu]) * psi, -mu) for mu in space)
    return s0 + {number} * kappa * h
cell_{tag}(u, b, b, 0.15)
print(sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


@pytest.mark.alone
def test_a_cell_gives_its_first_result_within_seconds(package):
    """Of processors, whatever else runs on them: import, generator, compiler, of which the last takes two or more."""
    number = time.time_ns()
    code = NOTEBOOK.format(tag=f"t{number}", number=number % 9973)
    environment = os.environ | {"PYTHONPATH": str(package), "QUARKSMITH_ON_DEMAND": "on"}
    command = [sys.executable, "-c", f"exec(compile({code!r}, 'cell.py', 'exec'))"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for made in (BUILD / "kernels").glob(f"cell_t{number}*"):
        shutil.rmtree(made)
    assert float(run.stdout) < 20  # 7 on a Xeon of 2.5 GHz
