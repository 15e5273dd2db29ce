"""What calls are given in memory: arrays by shape, whatever numbers they hold; nested values; a field of each kind."""

import re
import threading

import numpy as np
import pytest

EXTENT = (4, 4, 4, 8)
WEAK = "weak:0.3:4,4,4,8:11"


RUN = {
    "lattice": {"extents": EXTENT, "gauge": "weak:0.5"},
    "trajectory": {"length": 0.2, "count": 1, "seed": 1},
    "monomial": [{"name": "gauge", "kind": "gauge", "action": "wilson", "beta": 5.0}],
    "integrator": [{"kind": "leapfrog", "steps": 2, "monomials": ["gauge"]}],
}


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape) + 0j


def in_one_line(error: Exception, *words: str) -> bool:
    return len(str(error)) < 300 and "\n" not in str(error) and all(w in str(error) for w in words)


FIELD = numbers(EXTENT[::-1]) / 10
WRONG = {
    "transposed": (FIELD.transpose(3, 2, 1, 0), "(4, 4, 4, 8)"),
    "flat": (FIELD.ravel(), "(512,)"),
    "folded": (FIELD.reshape(16, 32), "(16, 32)"),
    "axis": (FIELD[..., None], "(8, 4, 4, 4, 1)"),
    "list": ([1.0, 2.0], "(2,)"),
    "masked": (np.ma.masked_array(FIELD, mask=True), "masked"),
    "texts": (FIELD.astype(str), "ndarray"),
    "nan": (float("nan"), "not finite"),
    "none": (None, "NoneType"),
    "large": (10**400, "int"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_field_has_the_shape_of_its_lattice(qs, varied, kind):
    u = qs.read(WEAK, device="cpu")
    given, word = WRONG[kind]
    for call in (
        lambda: qs.solve(u, qs.source(u), action=varied, mass=0.5, field={"phi": given}),
        lambda: qs.solve(WEAK, qs.source(u), action=varied, mass=0.5, field={"phi": given}),
        lambda: varied.check_force(u, mass=0.5, field={"phi": given}),
    ):
        with pytest.raises(qs.UsageError) as caught:
            call()
        assert in_one_line(caught.value, "phi", word)


def test_a_field_is_no_field_of_links_and_needs_a_lattice(qs, varied):
    u = qs.read(WEAK, device="cpu")
    with pytest.raises(qs.UsageError, match="field phi is GaugeField; give its numbers"):
        qs.solve(u, qs.source(u), action=varied, mass=0.5, field={"phi": u})
    with pytest.raises(qs.UsageError, match="give the links as a GaugeField"):
        qs.propagator(WEAK, action=varied, mass=0.5, field={"phi": FIELD})


def test_a_field_may_hold_any_numbers(qs, varied):
    u = qs.read(WEAK, device="cpu")
    b = qs.Spinors(u.lattice)
    b.assign(numbers((1, *EXTENT[::-1], 4, 3)))
    forms = (FIELD, FIELD.astype(">c16"), FIELD.tolist(), np.asfortranarray(FIELD), FIELD.astype(np.clongdouble))
    first, *others = (qs.solve(u, b, action=varied, mass=0.5, field={"phi": f}).lexicographic() for f in forms)
    assert all(np.array_equal(first, o) for o in others)


def test_a_term_is_added_to_that_of_the_action(qs, tmp_path):
    h5py = pytest.importorskip("h5py")
    u = qs.read(WEAK, device="cpu")
    term = np.broadcast_to(4.5 * np.eye(6), (*EXTENT[::-1], 2, 6, 6)) + 0j
    with h5py.File(tmp_path / "term.h5", "w") as file:
        file["term"] = term
    expected = qs.solve(u, qs.source(u), action="wilson", mass=0.5).lexicographic()
    for given in (term, str(tmp_path / "term.h5")):
        found = qs.solve(u, qs.source(u), action="wilson", mass=-4, field={"term": given}).lexicographic()
        assert np.abs(found - expected).max() < 1e-9
    term[3, 2, 1, 0, 1, 4, 2] = 0.1
    with pytest.raises(qs.UsageError, match="term.* not Hermitian"):
        qs.solve(u, qs.source(u), action="wilson", mass=-4, field={"term": term})


def test_numbers_are_assigned_whatever_they_are_stored_as(qs):
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"), spins=1)
    a = numbers((1, *EXTENT[::-1], 3))
    for given in (a.astype(">c16"), a.astype(np.clongdouble), a.tolist(), a.real, a.astype(object)):
        psi.assign(0 * a)
        psi.assign(given)
        assert np.array_equal(psi.lexicographic(), a)
    for given, word in (
        (3, r"shape \(\)"),
        (a[0, 0, 0, 0, 0], r"shape \(3,\)"),
        (np.ma.masked_array(a, mask=True), "masked"),
        (a.astype(str), "ndarray"),
        (None, "NoneType"),
    ):
        with pytest.raises(qs.UsageError, match=word) as caught:
            psi.assign(given)
        assert in_one_line(caught.value, "assign")


def contained() -> dict[str, object]:
    links: list[object] = []
    links.append(links)
    run: dict[str, object] = {"lattice": {}}
    run["lattice"] = {"me": run}
    deep: dict[str, object] = {}
    for _ in range(100000):
        deep = {"a": deep}
    return {"list": {"monomial": links}, "dictionary": run, "deep": deep}


@pytest.mark.parametrize("kind", contained())
@pytest.mark.parametrize("command", ["hmc", "measure"])
def test_values_end(qs, command, kind):
    with pytest.raises(qs.UsageError, match="nests deeper than 16 levels, or contains itself") as caught:
        getattr(qs, command)(contained()[kind])
    assert in_one_line(caught.value)


def test_arrays_are_no_links(qs):
    u = qs.read(WEAK, device="cpu")
    links, b = u.lexicographic(), qs.source(u)
    for call in (
        lambda: qs.solve(links, b, mass=0.5),
        lambda: qs.solve(links.tolist(), b, mass=0.5),
        lambda: qs.solve(links.ravel().tolist(), b, mass=0.5),
        lambda: qs.Solver(links, mass=0.5),
        lambda: qs.measure({"files": [links]}),
        lambda: qs.hmc({"lattice": {"gauge": links}}),
    ):
        with pytest.raises(qs.UsageError, match="links as a GaugeField") as caught:
            call()
        assert in_one_line(caught.value)
    assert qs.heatbath(lattice=np.array(EXTENT), beta=5.7, sweeps=1, device="cpu").lattice.extent == EXTENT


def test_whole_numbers_are_told_in_one_line(qs):
    lattice = qs.Lattice(EXTENT, device="cpu")
    for call, word in (
        (lambda: qs.Lattice((4, 4, 4)), "extent"),
        (lambda: qs.Lattice((4, 4, 4, 4.5)), "extent"),
        (lambda: qs.Lattice(EXTENT, grid=3), "grid"),
        (lambda: qs.Spinors(lattice, rhs=2**31), "rhs"),
        (lambda: qs.Spinors(lattice, spins="4"), "spins"),
        (lambda: qs.Momenta(lattice, seed=2**64), "seed"),
        (lambda: qs.Momenta(lattice, seed=1, trajectory=-1), "trajectory"),
    ):
        with pytest.raises(qs.UsageError) as caught:
            call()
        assert in_one_line(caught.value, word, "whole number")


def test_trajectories_of_terms_are_told_in_one_line(qs):
    u = qs.read(WEAK, device="cpu")
    terms = qs.Monomials(RUN, u)
    for wrong, word in (
        ({"trajectory": -1}, "trajectory"),
        ({"trajectory": 2**24}, "less than"),
        ({"seed": -1}, "seed"),
    ):
        with pytest.raises(qs.UsageError) as caught:
            terms.refresh(u, **wrong)
        assert in_one_line(caught.value, word)


def test_links_move_as_far_as_digits_reach(qs):
    u = qs.read(WEAK, device="cpu")
    p = qs.Momenta(u.lattice, seed=1)
    assert u.moved(p, 1e3).plaquette() < 1
    for step in (float("nan"), float("inf"), 1e7):
        with pytest.raises(qs.UsageError, match=r"moved: step=\S+ takes a link"):
            u.moved(p, step)
    with pytest.raises(qs.WrongLattice, match="of different lattices") as caught:
        u.moved(qs.Momenta(qs.Lattice((4, 4, 4, 4), device="cpu"), seed=1), 0.1)
    assert not re.search("a8", str(caught.value))


def test_a_thread_of_a_function_that_is_called_back_cannot_call(qs):
    said: list[str] = []

    def read() -> None:
        try:
            qs.read("unit:4,4,4,4")
        except qs.UsageError as error:
            said.append(str(error))

    def waits(record: object) -> None:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()

    qs.hmc(RUN, on_trajectory=waits, device="cpu")
    assert said == ["quarksmith was called from a function that it calls itself; do that after the call"]
    plaquettes: list[float] = []
    threads = [threading.Thread(target=lambda: plaquettes.append(qs.read(WEAK).plaquette())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(plaquettes) == 4 and len(set(plaquettes)) == 1


@pytest.fixture(scope="module")
def scaled(qs):
    """An expression without fermions: what its calls refuse is refused before it is compiled."""
    from quarksmith.language import Real, Spinor, Sum, dot, total

    @qs.expression
    def given_scaled(f: Spinor, r: Real) -> Sum:
        return total(r * dot(f, f))

    return given_scaled


@pytest.mark.parametrize("number", [10**400, np.array([2.0]), np.ones(3), "2", None, True, 1j])
def test_numbers_of_expressions_fit_a_double(qs, scaled, number):
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"))
    with pytest.raises(qs.UsageError, match="r is .*; give a real number that a double holds") as caught:
        scaled(psi, number)
    assert in_one_line(caught.value)


@pytest.mark.parametrize(
    "momenta", [[], 5, (1, 0, 0), [(0.5, 0, 0)], [(1, 0, 0, 0)], [(2**31, 0, 0)], [(1, 0)], "px", [None]]
)
def test_momenta_are_three_whole_numbers_each(qs, scaled, momenta):
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"))
    with pytest.raises(qs.UsageError, match="momenta: give three whole numbers of each") as caught:
        scaled.by_time(psi, 2.0, momenta=momenta)
    assert in_one_line(caught.value)


@pytest.mark.parametrize("boundary", ["antiperiodic", (0, 0, 0, 1), np.array([0, 0, 0, 1])])
def test_an_expression_without_fermions_has_no_boundary(qs, scaled, boundary):
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"))
    with pytest.raises(qs.UsageError, match="given_scaled has no Fermion, whose boundary it would be"):
        scaled(psi, 2.0, boundary=boundary)


def test_the_boundary_of_an_expression_is_given_as_that_of_solves(qs, monkeypatch):
    from quarksmith.language import Fermion, Links, adj, shift, t

    monkeypatch.setenv("QUARKSMITH_ON_DEMAND", "on")

    @qs.expression
    def given_hop(u: Links, psi: Fermion) -> Fermion:
        return shift(adj(u[t]) * psi, -t)

    u = qs.read(WEAK, device="cpu")
    b = qs.source(u)
    first, *others = (
        given_hop(u, b, boundary=phases).lexicographic()
        for phases in ("antiperiodic", [0, 0, 0, 1], np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1.0]))
    )
    assert all(np.array_equal(first, o) for o in others)
    with pytest.raises(qs.UsageError, match="boundary is int; give four numbers"):
        given_hop(u, b, boundary=3)
    with pytest.raises(qs.WrongLattice, match="given_hop: psi is on .*; take both of one"):
        given_hop(u, qs.Spinors(qs.Lattice((4, 4, 4, 4), device="cpu")))


@pytest.mark.parametrize("name", ["boundary", "momenta", "out", "self"])
def test_parameters_of_expressions_can_be_called(qs, name):
    from quarksmith.language import Real, Spinor

    space = {"Spinor": Spinor, "Real": Real}
    exec(f"def given_named(f: Spinor, {name}: Real) -> Spinor:\n    return {name} * f\n", space)
    with pytest.raises(qs.UsageError, match=rf":1: {name} means something else in calls; rename the parameter"):
        qs.expression(space["given_named"])


def test_a_clash_of_a_parameter_names_the_line_of_the_statement(qs, monkeypatch):
    from quarksmith.language import Fermion, Links, Real

    monkeypatch.setenv("QUARKSMITH_ON_DEMAND", "on")

    def given_clash(u: Links, psi: Fermion, mass: Real, tol: Real = 1) -> Fermion:
        return (mass + tol) * psi

    for default in (1, True, float("nan")):
        given_clash.__defaults__ = (default,)
        with pytest.raises(qs.UsageError, match=rf"{re.escape(__file__)}:\d+: "):
            qs.action(given_clash)


def test_trajectories_begin_with_links_in_memory(qs):
    run = {
        "lattice": {"gauge": "weak:0.3", "extents": [4, 4, 4, 4]},
        "trajectory": {"count": 1, "length": 0.2, "seed": 5},
        "integrator": [{"kind": "leapfrog", "steps": 2, "monomials": ["g"]}],
        "monomial": [{"name": "g", "kind": "gauge", "action": "wilson", "beta": 5.6}],
    }
    made = qs.hmc(run).report["trajectories"][0]["dH"]
    run["lattice"]["gauge"] = qs.read("weak:0.3:4,4,4,4:5")
    assert qs.hmc(run).report["trajectories"][0]["dH"] == made
