"""Fields that statements make: against sums over explicit paths, and the launches that make them."""

import numpy as np
import pytest
from fat_paths import expected
from lattice import Interpreter, algebra_part, exponential, random_links
from lowered import Machine
from statements import EVERY, MAKING, read_by, values_of, with_made

from generator.errors import ExpressionError
from generator.language import (
    Links,
    Matrices,
    Real,
    StaggeredFermion,
    action,
    directions,
    expression,
    parameter,
    project_u3,
    stored,
)
from generator.language.gauge import line
from generator.language.symbols import Four
from generator.lower.record import try_lower
from generator.operators.expression import Expression

EXTENT = (3, 2, 4, 3)
VALUES = {"mass": 0.1, "u0": 0.87, "naik_epsilon": -0.13}


def stated(name, u, values=VALUES):
    value = Interpreter(u.shape[:4], {"u": u}, values)
    return {f: np.stack([value(m) for m in of.values()], axis=4) for f, of in EVERY[name].action.links.items()}


@pytest.mark.parametrize("name", ["asqtad", "hisq"])
def test_links_are_the_sums_over_all_paths(name):
    u = random_links(EXTENT, 3)
    given, wanted = stated(name, u), expected(name, u, VALUES["u0"], VALUES["naik_epsilon"])
    for f in ("fat", "long"):
        assert np.abs(given[f] - wanted[f]).max() < 1e-13


@pytest.mark.parametrize(("name", "dimensions"), [("stout", 4), ("stout_space", 3)])
def test_stout_links_are_exponentials_of_staples(name, dimensions):
    """V = exp(rho [C U^+]_TA) U (hep-lat/0311018, eqs. 1-3), link by link."""
    u, rho = random_links(EXTENT, 5), 0.11
    v, dagger = u.copy(), lambda m: np.swapaxes(m, -1, -2).conj()
    for mu in range(dimensions):
        c = np.zeros((*EXTENT, 3, 3), complex)
        for nu in (n for n in range(dimensions) if n != mu):
            side, ahead = u[:, :, :, :, nu], np.roll(u, -1, axis=mu)[:, :, :, :, nu]
            above = np.roll(u, -1, axis=nu)[:, :, :, :, mu]
            c += side @ above @ dagger(ahead) + np.roll(dagger(side) @ u[:, :, :, :, mu] @ ahead, 1, axis=nu)
        v[:, :, :, :, mu] = exponential(rho * algebra_part(c @ dagger(u[:, :, :, :, mu]))) @ u[:, :, :, :, mu]
    assert np.abs(stated(name, u, {"rho": rho})["smeared"] - v).max() < 1e-13


@pytest.mark.parametrize("name", [n for n, r in MAKING.items() if r.action.links])
def test_the_launches_make_what_was_stated(name):
    """Field by field, in the order of the launches: also that none is needed before it is there."""
    action = MAKING[name].action
    fields, values = read_by(action, EXTENT), values_of(action)
    made, machine = with_made(action, fields, values), Machine(MAKING[name], fields, values)
    for field in action.links:
        assert np.abs(made[field] - machine.fields[field]).max() < 1e-13


def test_few_fields_are_kept_and_few_sites_read_beyond_a_part():
    """Fat7 reads one site aside, Lepage's paths and Naik's two; projections stand apart."""
    stages = lambda name: [(s.fields, len(s.launches), s.reach) for s in EVERY[name].stages]  # noqa: E731
    assert stages("asqtad") == [(("fat", "long"), 74, (2, 2, 2, 2))]
    assert [s[1:] for s in stages("hisq")] == [(61, (1, 1, 1, 1)), (1, (0, 0, 0, 0)), (74, (2, 2, 2, 2))]
    assert stages("stout") == [(("smeared",), 13, (1, 1, 1, 1))]
    assert stages("wilson") == []


FREE = VALUES | {"u0": 1, "naik_epsilon": 0}


def amplitude(name, k, extent):
    """Factor by which fat and long links multiply a gluon of momentum k aside, polarised along t."""
    step = 1e-5
    wave = np.cos(sum(q * x for q, x in zip(k, np.indices(extent), strict=True)))

    def link(eps):
        u = np.zeros((*extent, 4, 3, 3), complex) + np.eye(3)
        u[..., 3, :, :] *= np.exp(1j * eps * wave)[..., None, None]
        made = stated(name, u, FREE)
        return (made["fat"] + made["long"])[0, 0, 0, 0, 3, 0, 0]

    return ((link(step) - link(-step)) / (2j * step)).real


@pytest.mark.parametrize("name", ["asqtad", "hisq"])
def test_coefficients_do_what_the_actions_were_made_for(name):
    """No exchange of tastes by gluons of momentum pi aside; no error of order k^2; the derivative of order p^3."""
    pi, small = np.pi, 2 * np.pi / 64
    for k in ((pi, 0, 0, 0), (0, pi, pi, 0), (pi, pi, pi, 0)):
        assert abs(amplitude(name, k, (2, 2, 2, 1))) < 1e-9
    assert amplitude(name, (0, 0, 0, 0), (1, 1, 1, 1)) == pytest.approx(1, abs=1e-9)
    assert abs(amplitude(name, (small, 0, 0, 0), (64, 1, 1, 1)) - 1) < 3 * small**4  # 3e-4; small^2 is 1e-2
    made = stated(name, np.zeros((1, 1, 1, 1, 4, 3, 3)) + np.eye(3), FREE)
    one, three = made["fat"][0, 0, 0, 0, 0, 0, 0], made["long"][0, 0, 0, 0, 0, 0, 0]
    assert one * np.sin(small) + three * np.sin(3 * small) == pytest.approx(small, rel=small**4)


class Fat:
    mass: Real = parameter(help="mass")

    def dirac(self, fat: Matrices, psi: StaggeredFermion) -> StaggeredFermion:
        return self.mass * psi


@pytest.mark.parametrize("keep", [lambda m: stored({m: Four("u")[m]})[m], lambda m: project_u3(Four("u")[m])])
def test_stored_fields_are_for_statements(keep):
    @expression
    def kept(u: Links) -> Matrices:
        return {mu: keep(mu) for mu in directions}

    if keep(directions[0]).op == "stored":
        with pytest.raises(ExpressionError, match=r"is for statements of actions"):
            _ = Expression(kept).blocks
    else:
        assert Expression(kept).blocks


def test_what_is_no_field_of_links_is_refused():
    @action
    class Few(Fat):
        def links(self, u: Links) -> Matrices:
            return ({mu: 0.5 * line(u, mu, 3) for mu in directions[:3]},)

    @action
    class Many(Fat):
        def links(self, u: Links) -> Matrices:
            return u, u

    assert "links of few returns no matrix for direction t" in str(try_lower(Few.action))
    assert "links of many returns 2 fields, but dirac takes fat" in str(try_lower(Many.action))
