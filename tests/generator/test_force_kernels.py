"""Expressions of forces against differences of the actions, evaluated on whole fields."""

from itertools import combinations

import numpy as np
import pytest
from lattice import Interpreter, random_links
from slopes import (
    EXTENT,
    PARAMETERS,
    PHASES,
    ZERO,
    add_in_plane,
    add_plaquettes,
    algebra,
    applied,
    assert_force,
    evaluate,
    fields_of,
    gaussian,
    in_plane,
    slope,
    with_directions,
)

from generator.actions import ACTIONS
from generator.algebra.gamma import BASES
from generator.language import Matrices, Spinor, directions, expression, outer, summed
from generator.language.graph import ExpressionError
from generator.language.lower import topological
from generator.launch import default_launch
from generator.operators import OPERATORS, kernel
from generator.operators.derived import CALLED
from generator.operators.forces import force_paths
from generator.profile import one_of_row

GAUGE_ACTIONS = {"plaquette": {"c": 1.3}, "rectangle": {"plaquette": 1.7, "rectangle": -0.3}, "chair": {"c": 0.45}}

RATIO = 0.6
"""Of rectangles that are long in the second direction of a plane, in values alone: forces are linear in staples."""

PARTS_OF_LOOPS = {"rectangle": "staples", "chair": "corners"}


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


def sums_of_loops(name, u, along):
    """Plaquettes, rectangles and twisted loops of a plane or cube, with the coefficients above."""
    around = lambda *path: loop(u, [*path, *((mu, -ahead) for mu, ahead in path)])  # noqa: E731
    long = lambda m, n: loop(u, [(m, 1), (m, 1), (n, 1), (m, -1), (m, -1), (n, -1)])  # noqa: E731
    mu, nu, *rest = along
    if rest:
        return 0.45 * sum(around((mu, 1), (nu, s), (rest[0], t)) for s in (1, -1) for t in (1, -1))
    square = around((mu, 1), (nu, 1))
    return 1.3 * square if name == "plaquette" else 1.7 * square - 0.3 * (long(mu, nu) + RATIO * long(nu, mu))


def places(name):
    return list(combinations(range(4), 3 if name == "chair" else 2))


@pytest.mark.parametrize("name", GAUGE_ACTIONS)
def test_gauge_actions_are_sums_over_their_loops(name):
    u = random_links(EXTENT, 1)
    for along in places(name):
        (given,) = in_plane(f"{name}_action", along, {"u": u}, **GAUGE_ACTIONS[name], ratio=RATIO)
        assert np.isclose(given, -sums_of_loops(name, u, along) / 3, rtol=1e-12)


def test_force_of_plaquettes():
    """Of planes with coefficients of their own, on top of what was there."""
    u, weights = random_links(EXTENT, 1), dict(zip(places("plaquette"), (0.4, 1.3, 2.1, -0.6, 0.9, 1.6), strict=True))
    before = algebra(np.random.default_rng(2), (*EXTENT, 4))
    p = before.copy()
    add_plaquettes(p, u, weights)
    action = lambda v: sum(in_plane("plaquette_action", at, {"u": v}, c=c)[0] for at, c in weights.items())  # noqa: E731
    assert_force(action, p - before, u)


PRODUCTS = {"two_plaquette": {"c": -1.3}, "squares": {"adjoint": 0.8, "square": -0.5}}
"""Actions that are not linear in plaquettes; the pairs of the first are side by side in another direction."""


def sum_of_products(name, u, mu, nu, rho):
    """Traces of plaquettes at each site, by shifted fields: nothing of the language."""
    ahead = lambda field, d: np.roll(field, -1, d)  # noqa: E731
    a, b = u[:, :, :, :, mu], u[:, :, :, :, nu]
    corner, other = a @ ahead(b, mu), b @ ahead(a, nu)
    z = np.einsum("...ij,...ij->...", corner, other.conj())
    if name == "two_plaquette":
        return -1.3 / 2 * np.sum(z.real * ahead(z.real, rho))
    return np.sum(0.8 * np.abs(z) ** 2 - 0.5 * (z**2).real)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_plaquettes(name):
    """Of one plane: the action, and its force by the links along one direction after the other."""
    numbers, u = PRODUCTS[name], random_links(EXTENT, 1)
    mu, nu, rho = 0, 3, 1
    along = lambda *plane: (*plane, rho)[: 3 if name == "two_plaquette" else 2]  # noqa: E731
    action = lambda v: in_plane(f"{name}_action", along(mu, nu), {"u": v}, **numbers)[0]  # noqa: E731
    assert np.isclose(action(u), -sum_of_products(name, u, mu, nu, rho) / 9, rtol=1e-12)
    before = algebra(np.random.default_rng(2), (*EXTENT, 4))
    p = before.copy()
    operator = "force_two_plaquettes" if name == "two_plaquette" else "force_squares"
    for plane in ((mu, nu), (nu, mu)):
        add_in_plane(p, operator, along(*plane), {"u": u, "p": p}, **numbers)
    assert_force(action, p - before, u)


@pytest.mark.parametrize("name", PARTS_OF_LOOPS)
def test_gauge_forces(name):
    """Of all planes or cubes, one after the other, on top of what was there."""
    c, u = GAUGE_ACTIONS[name], random_links(EXTENT, 1)
    action = lambda v: sum(in_plane(f"{name}_action", at, {"u": v}, **c, ratio=1.0)[0] for at in places(name))  # noqa: E731
    before = algebra(np.random.default_rng(2), (*EXTENT, 4))
    p = before.copy()
    for along in combinations(range(4), 2):
        rest = tuple(mu for mu in range(4) if mu not in along) if name == "chair" else ()
        of_loops = np.full_like(p, np.nan)
        given = {"u": u, "p": p, PARTS_OF_LOOPS[name]: of_loops}
        add_in_plane(of_loops, f"plane_{PARTS_OF_LOOPS[name]}", (*along, *rest), {"u": u})
        add_in_plane(p, f"force_{name}", (*along, *rest), given, **c)
    assert_force(action, p - before, u)


OF_PLANES = {"force_rectangle": (24, 30), "force_clover": (33, 34), "force_chair": (34, 36)}
"""Products of matrices, and matrices that are loaded, for both links; written out, they take 48, 50 and 66 products."""


def lines_of(name, **axes):
    spec = kernel(name, "double", "r18", **axes)
    return [line for block in OPERATORS[name].body(spec)["blocks"] for line in block["lines"]]


@pytest.mark.parametrize(("name", "products", "loads"), [(n, *most) for n, most in OF_PLANES.items()])
def test_long_loops_take_few_products_and_loads(name, products, loads):
    """Shared factors are taken out, loops through both links stand once, and what one loads serves the other."""
    ((_, results),) = OPERATORS[name].blocks
    found = [v for v in topological([r for *_, r in results]) if v.op == "mul" and v.args[0].kind == "matrix"]
    assert len(found) <= products
    assert sum("load_matrix" in line for line in lines_of(name)) <= loads


def test_long_sums_are_told_how_many_threads_share_registers():
    """Each term loads what it needs behind a barrier; others may have all at once."""
    for name, room in {
        "force_rectangle": 2,
        "force_chair": 2,
        "force_clover": 2,
        "force_plaquettes": 2,
        "back_staple": 1,
    }.items():
        assert default_launch(kernel(name, "double", "r18")) == (128, room)
        assert ("in_order();" in lines_of(name)) == (room > 1)


def test_formulas_with_many_spinors_load_them_in_turns():
    """Eight spinors do not fit into registers with what is made of them: no two terms hold theirs together."""
    nr = BASES["non_relativistic"]
    many, few = (lines_of(name, basis=nr) for name in ("force_d234", "force_wilson"))
    assert sum("in_turns();" in line for line in many) >= 4 * 11
    assert not any("in_turns();" in line for line in few)


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


HOPS = {name: name for name in ("staggered", "naive", "d234")}
STEPWISE = [n for n, a in ACTIONS.items() if force_paths(a)]
"""Actions whose force no kernel holds."""
WITH_KERNELS = [
    n for n, a in ACTIONS.items() if "u" in [f.name for f in a.fields] and a.parameters and n not in STEPWISE
]


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_kernels_of_forces_give_the_slopes_of_their_actions(name):
    """Hops, and field strengths by way of the six sources."""
    fields, weight = fields_of(name), 0.37
    given = given_to_hops(name, fields)
    own = {"xi0": 1.0, "nu": 1.0} if name in ("moebius", "domain_wall") else {}
    own |= {"exp_mu": np.exp(PARAMETERS["mu"]), "exp_minus_mu": np.exp(-PARAMETERS["mu"])}
    p = applied(f"force_{HOPS.get(name, 'wilson')}", given, weight=weight, **own)["out"]
    if "clover" in name:
        sources = applied("source_clover", given | {"magnetic": ZERO, "electric": ZERO}, weight=weight)
        for mu, nu in [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]:
            source = sources["electric_out" if nu == 3 else "magnetic_out"]
            sign = -1.0 if nu < mu else 1.0  # what stands there is the derivative by F_xz
            add_in_plane(p, "force_clover", (mu, nu), {"u": fields["u"], "source": source, "p": p}, weight=sign)
    assert_force(quark_action(name, fields), p / weight, fields["u"])


def along(name, mu, fields, **numbers):
    """What an expression of one direction gives."""
    result = OPERATORS[name].definition.results[0]
    node = result[CALLED[0]] if isinstance(result, dict) else result
    return Interpreter(EXTENT, fields, numbers, PHASES)(with_directions(node, (mu,)))


@pytest.mark.parametrize("name", STEPWISE)
def test_forces_of_long_formulas_go_along_their_paths(name):
    """As solvers/hmc/path_force.cpp goes; what the fields add up to is the formula but for what stands at x."""
    fields, weight, paths = fields_of(name), 0.37, force_paths(ACTIONS[name])
    u, psi, chi = (fields[n] for n in ("u", "psi", "y"))

    def carried(start, to, step):
        kernel = "path_ahead" if step > 0 else "path_behind"
        return along(kernel, abs(step) - 1, {"u": u, "psi": start, "before": to})

    beyond = []
    for numbers in paths.ends:
        given = dict(zip(("one", "x", "y", "z", "t"), numbers, strict=True))
        beyond.append(along("path_end", 0, {"psi": psi, "before": 0 * psi}, **given))
    for s in reversed(paths.steps):
        beyond[s.start] = carried(beyond[s.to], beyond[s.start], s.step)
    action = quark_action(name, fields)
    whole = evaluate(ACTIONS[name].matrix, fields)
    local = evaluate(ACTIONS[name].matrix, fields | {"u": 0 * u})
    assert np.allclose(beyond[0], whole - local, atol=1e-13 * np.abs(whole).max())
    reached, p = {0: chi}, ZERO.copy()
    for s in paths.steps:
        ends = (beyond[s.to], reached[s.start])
        after, before = ends if s.step > 0 else reversed(ends)
        mu = abs(s.step) - 1
        p[:, :, :, :, mu] = along("force_path", mu, {"u": u, "psi": after, "chi": before, "p": p}, weight=weight)
        reached[s.to] = carried(reached[s.start], reached.get(s.to, 0 * chi), -s.step)
    assert_force(action, p / weight, u)


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
        body = OPERATORS["force_wilson"].body(kernel("force_wilson", "double", "r18", basis))
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


def test_the_row_that_a_program_asks_for_is_that_of_a_force():
    """As runtime/registry.cpp writes it for an expression with a basis."""
    row = '[[kernel]]\noperator = "force_d234"\nprecision = ["double"]\nlinks = ["18"]\n'
    assert one_of_row(row + 'basis = ["non_relativistic"]\n').name == "force_d234_double_r18_nr"
