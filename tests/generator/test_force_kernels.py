"""Expressions of forces against differences of the actions, evaluated on whole fields."""

import numpy as np
import pytest
from lattice import Interpreter, random_links
from slopes import EXTENT, PARAMETERS, ZERO, algebra, applied, assert_force, evaluate, fields_of, gaussian, slope

from generator.actions import ACTIONS
from generator.algebra.gamma import BASES
from generator.language import Matrices, Spinor, directions, expression, outer, summed
from generator.language.graph import ExpressionError
from generator.operators import OPERATORS
from generator.spec import KernelSpec

GAUGE_ACTIONS = {
    "plaquette": {"xy": 0.4, "xz": 1.3, "yz": -0.6, "xt": 2.1, "yt": 0.9, "zt": 1.6},
    "rectangle": {"plaquette": 1.7, "rectangle": -0.3},
    "symanzik": {"plaquette": 1.7, "rectangle": -0.3, "chair": 0.45},
}


def loop(u, steps):
    """The mean over the lattice of Re tr of a closed path, link by link: nothing of the language."""
    total = 0.0
    for site in np.ndindex(*EXTENT):
        here, product = list(site), np.eye(3)
        for mu, ahead in steps:
            if ahead < 0:
                here[mu] = (here[mu] - 1) % EXTENT[mu]
            link = u[(*here, mu)]
            product = product @ (link if ahead > 0 else link.conj().T)
            if ahead > 0:
                here[mu] = (here[mu] + 1) % EXTENT[mu]
        assert tuple(here) == site
        total += np.trace(product).real
    return total


def sums_of_loops(u):
    """Plaquettes by plane, all rectangles, all twisted loops."""
    around = lambda *path: [*path, *((mu, -ahead) for mu, ahead in path)]  # noqa: E731
    axes = range(4)
    planes = {"xyzt"[m] + "xyzt"[n]: loop(u, around((m, 1), (n, 1))) for m in axes for n in axes if m < n}
    long = lambda m, n: [(m, 1), (m, 1), (n, 1), (m, -1), (m, -1), (n, -1)]  # noqa: E731
    rectangles = sum(loop(u, long(m, n)) for m in axes for n in axes if m != n)
    cubes = [(a, b, c) for a in axes for b in axes for c in axes if a < b < c]
    twisted = sum(loop(u, around((a, 1), (b, s), (c, t))) for a, b, c in cubes for s in (1, -1) for t in (1, -1))
    return planes, rectangles, twisted


@pytest.mark.parametrize("name", GAUGE_ACTIONS)
def test_gauge_actions_are_sums_over_their_loops(name):
    u, c = random_links(EXTENT, 1), GAUGE_ACTIONS[name]
    planes, rectangles, twisted = sums_of_loops(u)
    given = Interpreter(EXTENT, {"u": u}, c)(OPERATORS[f"{name}_action"].definition.results[0])
    wanted = sum(c.get(plane, c.get("plaquette", 0)) * value for plane, value in planes.items())
    wanted += c.get("rectangle", 0) * rectangles + c.get("chair", 0) * twisted
    assert np.isclose(given, -wanted / 3, rtol=1e-12)


@pytest.mark.parametrize("name", GAUGE_ACTIONS)
def test_gauge_forces(name):
    c, u = GAUGE_ACTIONS[name], random_links(EXTENT, 1)
    action = lambda v: Interpreter(EXTENT, {"u": v}, c)(OPERATORS[f"{name}_action"].definition.results[0])  # noqa: E731
    found = applied(f"force_{name}", {"u": u, "p": ZERO}, **c)["out"]
    assert_force(action, found, u)
    before = algebra(np.random.default_rng(2), (*EXTENT, 4))
    assert np.allclose(applied(f"force_{name}", {"u": u, "p": before}, **c)["out"], before + found)


def quark_action(name, fields):
    """-2 Re Y^+ M X as a function of links."""
    matrix = ACTIONS[name].matrix
    return lambda v: -2 * np.vdot(fields["y"], evaluate(matrix, fields | {"u": v})).real


def given_to_hops(name, fields):
    """What kernels of forces take as psi: for domain walls what D_W acts on (arXiv:1206.5214)."""
    psi = fields["psi"]
    if name in ("moebius", "domain_wall"):
        b, c = (PARAMETERS["b5"], PARAMETERS["c5"]) if name == "moebius" else (1.0, 0.0)
        up, down = np.roll(psi, -1, axis=4), np.roll(psi, 1, axis=4)
        up[..., -1, :, :, :] *= -PARAMETERS["mass"]
        down[..., 0, :, :, :] *= -PARAMETERS["mass"]
        around = np.concatenate([down[..., :2, :], up[..., 2:, :]], axis=-2)  # P_+ s - 1, P_- s + 1
        psi = b * psi + c * around
    return {"u": fields["u"], "psi": psi, "chi": fields["y"], "p": ZERO}


HOPS = {name: name for name in ("staggered", "naive", "d234", "brillouin")}


@pytest.mark.parametrize("name", [n for n, a in ACTIONS.items() if "u" in [f.name for f in a.fields] and a.parameters])
def test_kernels_of_forces_give_the_slopes_of_their_actions(name):
    """Hops, and field strengths by way of the six sources."""
    fields, weight = fields_of(name), 0.37
    given = given_to_hops(name, fields)
    own = {"xi0": 1.0, "nu": 1.0} if name in ("moebius", "domain_wall") else {}
    own |= {"exp_mu": np.exp(PARAMETERS["mu"]), "exp_minus_mu": np.exp(-PARAMETERS["mu"])}
    p = applied(f"force_{HOPS.get(name, 'wilson')}", given, weight=weight, **own)["out"]
    if "clover" in name:
        sources = applied("source_clover", given | {"magnetic": ZERO, "electric": ZERO}, weight=weight)
        six = {n.removesuffix("_out"): m for n, m in sources.items()}
        p = applied("force_clover", {"u": fields["u"], "p": p} | six)["out"]
    assert_force(quark_action(name, fields), p / weight, fields["u"])


@pytest.mark.parametrize("field", ["fat", "long"])
def test_derivatives_by_fat_and_long_links(field):
    fields, weight = fields_of("improved_staggered"), 0.37
    given = {"psi": fields["psi"], "chi": fields["y"], "fat_derivative": ZERO, "long_derivative": ZERO}
    g = 2 / weight * applied("derivative_improved_staggered", given, weight=weight)[f"{field}_out"]
    rng = np.random.default_rng(5)
    w = gaussian(rng, (*EXTENT, 4, 3, 3))
    matrix = ACTIONS["improved_staggered"].matrix
    action = lambda v: -2 * np.vdot(fields["y"], evaluate(matrix, fields | {field: v})).real  # noqa: E731
    assert np.isclose(
        slope(lambda e: action(fields[field] + e * w)), np.sum(w * np.swapaxes(g, -1, -2)).real, rtol=1e-9
    )


def test_outer_products_of_hops_are_of_half_spinors():
    """(1 - gamma) and (1 + gamma) have rank two in any basis; the sum over right-hand sides is one loop a direction."""
    for basis in BASES.values():
        body = OPERATORS["force_wilson"].body(KernelSpec("force_wilson", "double", "r18", basis))
        for block in body["blocks"]:
            assert sum(line.strip().startswith("const Spinor<R, 2>") for line in block["lines"]) == 4
            assert sum("n < a.columns" in line for line in block["lines"]) == 1


def test_spinors_stand_in_sums_over_right_hand_sides_all_or_none():
    @expression
    def mixed(f: Spinor, g: Spinor) -> tuple[Matrices, Spinor]:
        """Refused."""
        return dict.fromkeys(directions, summed(outer(f, g))), f

    with pytest.raises(ExpressionError, match="mixed: all spinors stand in summed"):
        mixed.signature  # noqa: B018
