"""Expressions of forces against differences of the actions, evaluated on whole fields."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from lattice import gaussian, random_links
from lowered import Machine
from slopes import EXTENT, add_in_plane, add_plaquettes, algebra, assert_force, in_plane, slope
from statements import EVERY, MAKING, MOVING, read_by, spinor_of, stated, values_of, with_made

from generator.algebra.gamma import BASES
from generator.errors import ExpressionError
from generator.language import Matrices, Spinor, directions, expression, outer, summed
from generator.language.formula import Formula
from generator.language.walks import parts
from generator.launch import default_launch
from generator.operators import OPERATORS, kernel
from generator.operators.expression import Expression
from generator.operators.quark_forces import force_paths
from generator.profile import one_of_row
from generator.spec import KernelSpec

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
    found = [v for v in parts([r for *_, r in results]) if v.op == "mul" and v.args[0].kind == "matrix"]
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


def on(record, extent=EXTENT):
    """Fields, parameters and two spinors for an action."""
    fields, values = read_by(record.action, extent), values_of(record.action)
    return fields, values, spinor_of(record, 7, extent), spinor_of(record, 8, extent)


@pytest.mark.parametrize("name", [n for n, r in MOVING.items() if r.action.has_matrix])
def test_kernels_of_forces_give_the_slopes_of_their_actions(name):
    """Hops or body, site term, and back through all that the statement makes of links."""
    record = MOVING[name]
    fields, values, psi, chi = on(record)

    def quark_action(u):
        there = with_made(record.action, fields | {record.gauge: u}, values)
        return -2 * np.vdot(chi, stated(record.action, there, psi, values)).real

    assert_force(quark_action, Machine(record, fields, values).force(psi, chi), fields[record.gauge])


def test_forces_of_long_formulas_go_along_their_paths():
    """What the fields on the way add up to is the formula but for what stands at x."""
    found = [r for r in MOVING.values() if force_paths(r)]
    assert "brillouin" in [r.name for r in found]
    for record in found:
        fields, values, psi, chi = on(record)
        machine = Machine(record, fields, values)
        machine.force(psi, chi)
        whole = stated(record.action, fields, psi, values)
        local = stated(record.action, fields | {record.gauge: 0 * fields[record.gauge]}, psi, values)
        assert np.allclose(machine.beyond[0], whole - local, atol=1e-13 * np.abs(whole).max())


@pytest.mark.parametrize("name", [n for n, r in MAKING.items() if r.action.links])
def test_derivatives_go_back_through_the_fields_that_statements_make(name):
    """S = 2 Re tr of them with given matrices: smearings too."""
    record = MAKING[name]
    fields, values, rng = read_by(record.action, EXTENT), values_of(record.action), np.random.default_rng(3)
    by = {n: gaussian(rng, (*EXTENT, 4, 3, 3)) for n in record.action.links}

    def linear(u):
        made = with_made(record.action, fields | {record.gauge: u}, values)
        return 2 * sum(np.sum(made[n] * np.swapaxes(g, -1, -2)).real for n, g in by.items())

    machine = Machine(record, fields, values)
    force = machine.back({n: g.copy() for n, g in by.items()}, machine.zero())
    assert_force(linear, force, fields[record.gauge])


@pytest.mark.parametrize("field", ["fat", "long"])
def test_derivatives_by_fat_and_long_links(field):
    record = EVERY["improved_staggered"]
    fields, values, psi, chi = on(record)
    machine = Machine(record, fields, values)
    by = {}
    record.__dict__["moving"] = frozenset(("fat", "long"))  # as if links were made of those of a configuration
    try:
        machine._force_of_hops(psi, chi, by, machine.zero())
    finally:
        del record.__dict__["moving"]
    w = gaussian(np.random.default_rng(5), (*EXTENT, 4, 3, 3))
    action = lambda v: -2 * np.vdot(chi, stated(record.action, fields | {field: v}, psi, values)).real  # noqa: E731
    given = 2 * np.sum(w * np.swapaxes(by[field], -1, -2)).real
    assert np.isclose(slope(lambda e: action(fields[field] + e * w)), given, rtol=1e-9)


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
        _ = Expression(mixed).signature


def test_the_row_that_a_program_asks_for_is_that_of_a_force():
    """As runtime/registry.cpp writes it for an expression with a basis."""
    row = '[[kernel]]\noperator = "force_d234"\nprecision = ["double"]\nlinks = ["18"]\n'
    assert one_of_row(row + 'basis = ["non_relativistic"]\n').name == "force_d234_double_r18_nr"


@pytest.mark.parametrize(
    ("name", "function"), {"back_stouts": "exponential_adjoint", "back_u3s": "nearest_unitary_adjoint"}.items()
)
def test_long_functions_stand_once_in_a_loop_over_directions(name, function):
    """A compiler makes thousands of instructions of each; where directions differ there is no loop."""
    operator = OPERATORS[name]
    (block,) = operator.body(KernelSpec(operator, "double", "r18" if "links" in operator.axes else ""))["blocks"]
    assert sum(function in line for line in block["lines"]) == 1
    definition = operator.definition
    first, *others = definition.results
    twice = replace(definition, results=({d: m + m if d.index == 0 else m for d, m in first.items()}, *others))
    differing = Expression(Formula(name, lambda: twice), operator.schedule)
    assert len(differing.body(KernelSpec(differing, "double"))["blocks"]) == 4
