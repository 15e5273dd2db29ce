"""Sums, products and gamma matrices of fields, and molecular dynamics written in Python, against NumPy and `hmc`."""

import numpy as np
import pytest

LATTICE = (4, 4, 4, 8)
WEAK = "weak:0.3:4,4,4,8:11"


def spinors(qs, seed, spins=4):
    rng = np.random.default_rng(seed)
    psi = qs.Spinors(qs.Lattice(LATTICE), rhs=2, spins=spins)
    shape = psi.lexicographic().shape
    psi.assign(rng.normal(size=shape) + 1j * rng.normal(size=shape))
    return psi


def close(field, expected):
    return np.allclose(field.lexicographic(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("spins", [4, 1])
def test_spinors_are_vectors(qs, spins):
    x, y = spinors(qs, 1, spins), spinors(qs, 2, spins)
    a, b = x.lexicographic(), y.lexicographic()
    assert close(x + y, a + b) and close(x - y, a - b) and close(-x, -a)
    assert close((2 - 1j) * x, (2 - 1j) * a) and close(x * np.float64(0.5), a / 2) and close(x / 4, a / 4)
    assert close(np.complex128(1j) * x, 1j * a)
    assert np.allclose(x.dot(y), [np.vdot(p, q) for p, q in zip(a, b, strict=True)], rtol=1e-13)
    assert np.allclose(x.norm(), [np.linalg.norm(p) for p in a], rtol=1e-14)
    with pytest.raises(TypeError):
        x + 1
    with pytest.raises(qs.UsageError, match="right-hand sides"):
        x + qs.Spinors(qs.Lattice(LATTICE), spins=spins)
    with pytest.raises(qs.WrongLattice):
        x + qs.Spinors(qs.Lattice((4, 4, 4, 4)), rhs=2, spins=spins)


def test_gamma_matrices_act_on_spins(qs):
    psi = spinors(qs, 3)
    a = psi.lexicographic()
    five, time = qs.gamma("g5"), qs.gamma("gt")
    assert np.array_equal(five, np.diag(np.diag(five))) and np.allclose(five @ five, np.eye(4))
    assert np.allclose(five @ time + time @ five, 0) and np.allclose(qs.gamma("gxgt"), qs.gamma("gx") @ time)
    projector = (np.eye(4) + time) / 2
    assert close(projector @ psi, np.einsum("rs,ntzyxsc->ntzyxrc", projector, a))
    one_of_two_ways = qs.solve(qs.read(WEAK), five @ psi, mass=0.4)
    assert one_of_two_ways.basis == (five @ psi).basis
    with pytest.raises(qs.UnknownName):
        qs.gamma("g6")
    with pytest.raises(qs.UsageError, match="one spin"):
        five @ spinors(qs, 3, spins=1)


def test_links_and_momenta_are_vectors(qs):
    u, v = qs.read(WEAK), qs.read("weak:0.3:4,4,4,8:12")
    a, b = u.lexicographic(), v.lexicographic()
    assert close(u + v, a + b) and close(0.5 * u - v, a / 2 - b)
    assert u.dot(v) == pytest.approx(np.vdot(a, b).real, rel=1e-12) and u.norm() == pytest.approx(
        np.linalg.norm(a), rel=1e-13
    )
    p, q = (qs.Momenta(u.lattice, seed) for seed in (1, 2))
    a, b = p.lexicographic(), q.lexicographic()
    assert close(p - 0.25 * q, a - b / 4)
    assert p.dot(q) == pytest.approx(-np.einsum("...ab,...ba", a, b).sum().real, abs=1e-9)
    assert p.norm() ** 2 == pytest.approx(p.kinetic(), rel=1e-13)


def test_sums_by_time_slice(qs, monkeypatch):
    from quarksmith.language import Propagator, Spinor, Sum, adj, dot, re, total, trace

    monkeypatch.setenv("QUARKSMITH_ON_DEMAND", "on")

    @qs.expression
    def times_pion(s1: Propagator, s2: Propagator) -> Sum:
        return total(trace(adj(s2) * s1))

    @qs.expression
    def times_norm(psi: Spinor) -> Sum:
        return total(re(dot(psi, psi)))

    s = qs.propagator(WEAK, mass=0.4)
    correlator = times_pion.by_time(s, s)
    assert np.allclose(correlator.real, s.report["correlators"]["pion"], rtol=1e-10)
    density = (abs(s.lexicographic()) ** 2).sum(axis=(0, 5, 6))  # t, z, y, x
    at_rest, moving = times_pion.by_time(s, s, momenta=[(0, 0, 0), (1, 0, 0)])
    assert np.array_equal(at_rest, correlator)
    assert np.array_equal(times_pion.by_time(s, s, momenta=[(1, 0, 0)]), [moving])
    assert np.allclose(moving, (density * np.exp(2j * np.pi * np.arange(4) / 4)).sum(axis=(1, 2, 3)), rtol=1e-10)
    with pytest.raises(qs.UsageError, match="complex sums"):
        times_norm.by_time(s)


RUN = {
    "lattice": {"extents": LATTICE, "gauge": "weak:0.3"},
    "trajectory": {"length": 0.2, "count": 1, "seed": 2},
    "monomial": [
        {"name": "gauge", "kind": "gauge", "action": "wilson", "beta": 5.6},
        {"name": "quark", "kind": "two-flavour", "action": "wilson", "mass": 0.5, "tol_force": 1e-11},
    ],
    "integrator": [{"kind": "leapfrog", "steps": 4, "monomials": ["gauge", "quark"]}],
}


def leapfrog(terms, u, p, eps, steps):
    p = p + eps / 2 * terms.force(u)
    for n in range(steps):
        u = u.moved(p, eps)
        p = p + (eps if n < steps - 1 else eps / 2) * terms.force(u)
    return u, p


def test_a_hybrid_monte_carlo_in_python(qs):
    u = qs.hmc(RUN, energies=True)
    (begin,) = u.report["trajectories"]
    terms = qs.Monomials(RUN, u)
    terms.refresh(u)
    p = qs.Momenta(u.lattice, terms.seed)

    def energy(u, p):
        return p.kinetic() + sum(terms.actions(u).values())

    assert p.kinetic() == pytest.approx(begin["kinetic"][0], rel=1e-12)
    assert terms.actions(u) == pytest.approx({name: s[0] for name, s in begin["actions"].items()}, rel=1e-10)
    start = energy(u, p)
    change = {}
    for steps in (4, 8):
        v, q = leapfrog(terms, u, p, 0.2 / steps, steps)
        change[steps] = energy(v, q) - start
    assert 3.5 < change[4] / change[8] < 4.5, "errors of leapfrog are of second order"
    (done,) = qs.hmc(RUN).report["trajectories"]
    assert change[4] == pytest.approx(done["dH"], abs=1e-6)
    back, r = leapfrog(terms, v, -q, 0.2 / 8, 8)
    assert abs((back - u).lexicographic()).max() < 1e-10 and (r + p).norm() < 1e-8 * p.norm()
    parts = sum((terms.force(u, name) for name in terms.names[1:]), terms.force(u, terms.names[0]))
    assert (parts - terms.force(u)).norm() < 1e-10 * parts.norm()
    with pytest.raises(qs.UnknownName):
        terms.force(u, "quirk")


MEASURE = {
    "configurations": {"files": ["weak:0.3:4,4,4,8:11"], "numbers": [1]},
    "source": [{"name": "point", "at": [0, 0, 0, 0]}],
    "quark": [{"name": "light", "action": "wilson", "mass": 0.4}],
    "propagator": [{"name": "p", "quark": "light", "source": "point"}],
    "correlator": [{"name": "pion", "kind": "meson", "quarks": ["p", "p"], "gammas": ["g5"]}],
}


def test_measure_takes_a_dictionary_and_returns_values(qs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = qs.measure(MEASURE)["configurations"]
    assert not list(tmp_path.iterdir())
    in_memory = MEASURE | {"configurations": {"files": [qs.read(WEAK)], "numbers": np.array([1])}}
    for other in (qs.measure(in_memory), qs.measure(MEASURE, out="m.h5")):
        assert other["configurations"][0]["results"] == found[0]["results"]
    pion = np.array(found[0]["results"]["pion"]["values"]).reshape(-1, 8, 2)[0, :, 0]
    right = np.array(qs.propagator(WEAK, mass=0.4).report["correlators"]["pion"])
    assert np.allclose(pion / pion[0], right / right[0], rtol=1e-9)
    with pytest.raises(qs.UsageError) as wrong:
        qs.measure(MEASURE | {"quark": [{"name": "light", "action": "wilson", "mas": 0.4}]})
    assert wrong.value.member == "mas"


def test_things_say_what_they_are(qs):
    u = qs.read(WEAK)
    for thing, kind in (
        (u, "GaugeField(links of 3 colours on 4x4x4x8, device="),
        (qs.Momenta(u.lattice), "Momenta(of 3 colours on 4x4x4x8, device="),
        (qs.source(u), "Spinors(rhs=12, spins=4 on 4x4x4x8, device="),
        (qs.Monomials(RUN, u), "Monomials(gauge, quark)"),
    ):
        assert repr(thing).startswith(kind)
