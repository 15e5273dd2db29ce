"""Fat and long links of actions against sums over explicit paths, and the launches that make them."""

import numpy as np
import pytest
from fat_paths import expected
from lattice import Interpreter, random_links

from generator.actions import ACTIONS
from generator.emit.action_table import links_row
from generator.language import (
    Expression,
    Links,
    Matrices,
    Real,
    StaggeredFermion,
    action,
    directions,
    parameter,
    project_u3,
    stored,
)
from generator.language.gauge import line, moved_up
from generator.language.graph import ExpressionError
from generator.language.symbols import FourMatrices
from generator.operators import OPERATORS
from generator.operators.fat_links import link_stages

EXTENT = (3, 2, 4, 3)
VALUES = {"mass": 0.1, "u0": 0.87, "naik_epsilon": -0.13}


def stated(name, u, values=VALUES):
    value = Interpreter(u.shape[:4], {"u": u}, values)
    return {f: np.stack([value(m) for m in of.values()], axis=4) for f, of in ACTIONS[name].links.items()}


@pytest.mark.parametrize("name", ["asqtad", "hisq"])
def test_links_are_the_sums_over_all_paths(name):
    u = random_links(EXTENT, 3)
    given, wanted = stated(name, u), expected(name, u, VALUES["u0"], VALUES["naik_epsilon"])
    for f in ("fat", "long"):
        assert np.abs(given[f] - wanted[f]).max() < 1e-13


class Called(Interpreter):
    """Formulas whose directions, mu and nu, came with the call."""

    chosen = (0, 0)

    def _index(self, mu):
        return self.chosen[mu - 4] if mu >= 4 else mu

    def _load(self, node):
        name, mu = node.data
        return self.fields[name][:, :, :, :, self._index(mu)]

    def _shift(self, node):
        steps = [0] * 4
        for mu, n in enumerate(node.data.vector):
            if n:
                steps[self._index(mu)] += n
        return np.roll(self(node.args[0]), [-n for n in steps], axis=(0, 1, 2, 3))


def call(launch, numbers, memory):
    """What a launch writes: (field, direction) -> matrices."""
    definition = next(o for o in OPERATORS.values() if o.name == launch.kernel).definition
    inputs, outputs, chosen = {}, [], []
    names = [n for n, _ in (*definition.inputs, *definition.outputs)]
    for n, o in zip(names, launch.operands, strict=True):
        if o.kind == "direction":
            chosen.append(o.value)
        elif o.kind == "number":
            inputs[n] = np.prod([Interpreter(EXTENT, {}, VALUES)(f) for f in o.value])
        elif n in dict(definition.outputs):
            outputs.append(numbers[o.value])
        else:
            inputs[n] = memory[numbers[o.value]]
    formula = Called(EXTENT, inputs, inputs)
    formula.chosen = (*chosen, 0, 0)[:2]
    return {
        (field, formula._index(mu.index)): formula(node)
        for field, result in zip(outputs, definition.results, strict=True)
        for mu, node in result.items()
    }


@pytest.mark.parametrize("name", ["asqtad", "hisq"])
def test_the_launches_make_what_was_stated(name):
    """Field by field, in the order of the launches: also that no field is overwritten while it is needed."""
    u = random_links(EXTENT, 4)
    given, source = stated(name, u), u
    for stage in link_stages(ACTIONS[name]):
        memory = [source, *(np.full_like(u, np.nan) for _ in range(stage.fields - 1))]
        for launch, numbers in zip(stage.launches, stage.numbered, strict=True):
            for (field, mu), matrix in call(launch, numbers, memory).items():
                memory[field][..., mu, :, :] = matrix
        left, _, right = np.linalg.svd(memory[1]) if stage.project else (source, 0, np.eye(3))
        source = left @ right
    assert np.abs(given["fat"] - memory[1]).max() < 1e-13
    assert np.abs(given["long"] - memory[2]).max() < 1e-13


def test_few_fields_are_kept_and_few_sites_read_beyond_a_part():
    """Two staples at a time; fat7 reads one site aside, Lepage's paths and Naik's two."""
    assert [(s.fields, s.reach, s.project) for s in link_stages(ACTIONS["asqtad"])] == [(5, (2, 2, 2, 2), False)]
    assert [(s.fields, s.reach, s.project) for s in link_stages(ACTIONS["hisq"])] == [
        (4, (1, 1, 1, 1), True), (5, (2, 2, 2, 2), False),
    ]  # fmt: skip
    assert [len(s.launches) for s in link_stages(ACTIONS["hisq"])] == [61, 74]
    assert link_stages(ACTIONS["wilson"]) == []


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


@pytest.mark.parametrize("keep", [lambda m: stored({m: u_of(m)})[m], lambda m: project_u3(u_of(m))])
def test_fields_of_statements_are_refused_in_kernels(keep):
    def kept(u: Links) -> Matrices:
        return {mu: keep(mu) for mu in directions}

    with pytest.raises(ExpressionError, match=r"is for the links of an action, its method links"):
        Expression(kept).blocks  # noqa: B018


def u_of(mu):
    return FourMatrices("u", algebra=False)[mu]


def test_what_no_kernel_makes_is_refused():
    @action
    class OneSided(Fat):
        def links(self, u):
            pairs = zip(directions, (*directions[1:], directions[0]), strict=True)
            return ({mu: 0.5 * u[mu] + 0.1 * moved_up(u[nu], u[mu], mu, nu) for mu, nu in pairs},)

    @action
    class Unstored(Fat):
        def links(self, u):
            w = stored({mu: project_u3(u[mu]) for mu in directions})
            return ({mu: 0.5 * w[mu] for mu in directions},)

    @action
    class Few(Fat):
        def links(self, u):
            return ({mu: 0.5 * line(u, mu, 3) for mu in directions[:3]},)

    with pytest.raises(ExpressionError, match=r"test_action_links.py:\d+: one_sided: no kernel adds up .*lepage"):
        link_stages(OneSided.action)
    with pytest.raises(ExpressionError, match="unstored: project_u3 takes a field that is stored"):
        link_stages(Unstored.action)
    with pytest.raises(ExpressionError, match="links of few returns four matrices for fat"):
        link_stages(Few.action)

    @action
    class Alone(Fat):
        def links(self, u):
            return ({mu: 0.5 * u[mu] for mu in directions},)

    with pytest.raises(ExpressionError, match="alone makes fat; make fat and long links"):
        links_row(Alone.action)
