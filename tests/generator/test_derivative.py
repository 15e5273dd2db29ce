"""Derivatives of formulas against differences of the formulas themselves, evaluated on whole fields."""

from itertools import permutations, product

import numpy as np
import pytest
from lattice import Interpreter, exponential, random_links

from generator.actions import ACTIONS
from generator.language import adj, dot, exp, gamma, im, outer, re, shift, sigma, sign, t, ta, trace, x, y, z
from generator.language import derivative as derivatives
from generator.language.derivative import derivative
from generator.language.graph import Node, Step, make
from generator.language.symbols import FourMatrices
from generator.lower.fifth import FifthForm
from generator.operators import OPERATORS

EXTENT = (2, 4, 2, 4)
PARAMETERS = {
    "mass": 0.31, "xi0": 1.7, "nu": 0.9, "csw_r": 1.3, "csw_t": 0.8, "mu": 0.23, "epsilon": 0.11,
    "m5": 1.4, "b": 0.7, "c": 0.4,
}  # fmt: skip
PHASES = (1, np.exp(0.4j), 1, -1)
MATRICES = {
    (name, f.name): f.kind for name, action in ACTIONS.items() for f in action.fields if f.kind in ("links", "matrices")
}


def gaussian(rng, shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def algebra(rng, shape):
    m = gaussian(rng, (*shape, 3, 3))
    m = m - np.swapaxes(m, -1, -2).conj()
    return m - np.trace(m, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3


def slope(f, step=0.02):
    """f'(0) from symmetric differences at three steps, extrapolated: errors of order step^6."""
    rows = [(f(step / 2**k) - f(-step / 2**k)) / (2 * step / 2**k) for k in range(4)]
    for order in (1, 2, 3):
        rows = [(4**order * b - a) / (4**order - 1) for a, b in zip(rows, rows[1:], strict=False)]
    return rows[0]


def evaluate(graph, fields):
    return Interpreter(EXTENT, fields, PARAMETERS, PHASES)(graph)


def assert_slopes(functional, name, fields, gradient, links=True):
    """Along random directions, at one site alone too: dS = sum Re tr(dU G)."""
    u = fields[name]
    g = np.zeros((*EXTENT, 4, 3, 3), complex)
    for mu, node in gradient.items():
        g[:, :, :, :, mu.index] = evaluate(node, fields)
    rng = np.random.default_rng(5)
    masks = [np.ones((*EXTENT, 4))]
    for where in ((0, 0, 0, 0, 0), (1, 3, 1, 3, 1), (0, 2, 1, 3, 2), (1, 0, 0, 3, 3)):
        masks.append(np.zeros((*EXTENT, 4)))
        masks[-1][where] = 1
    for mask in masks:
        w = mask[..., None, None] * (algebra(rng, (*EXTENT, 4)) if links else gaussian(rng, (*EXTENT, 4, 3, 3)))
        moved = lambda e: exponential(e * w) @ u if links else u + e * w  # noqa: B023, E731
        wanted = slope(lambda e: evaluate(functional, fields | {name: moved(e)}).sum())  # noqa: B023
        du = w @ u if links else w
        found = np.sum(du * np.swapaxes(g, -1, -2)).real
        size = np.sqrt(np.sum(np.abs(du) ** 2) * np.sum(np.abs(g * mask[..., None, None]) ** 2))
        assert abs(found - wanted) <= 1e-9 * size, (found, wanted)


def fermion_functional(name):
    """-2 Re Y^+ M X."""
    action = ACTIONS[name]
    return -2.0 * re(dot(make("load", "spinor", (), "y"), action.matrix))


def fields_of(name):
    action = ACTIONS[name]
    rng = np.random.default_rng(3)
    slices = 4 if FifthForm(action).has_slices else 1
    shape = (*EXTENT, slices, 2 if "doublet" in name else 1, action.spins, 3)
    fields = {f.name: random_links(EXTENT, n + 1) for n, f in enumerate(action.fields[:-1])}
    return fields | {"psi": gaussian(rng, shape), "y": gaussian(rng, shape)}


@pytest.mark.parametrize(("name", "field"), MATRICES)
def test_fermion_forces_are_the_slopes_of_their_actions(name, field):
    functional = fermion_functional(name)
    links = MATRICES[name, field] == "links" and field != "long"
    assert_slopes(functional, field, fields_of(name), derivative(functional, field), links)


def applied(name, fields, **numbers):
    """What an expression gives: its outputs by name."""
    definition = OPERATORS[name].definition
    interpreter = Interpreter(EXTENT, fields, PARAMETERS | numbers, PHASES)
    outputs = {}
    for (output, _), result in zip(definition.outputs, definition.results, strict=True):
        outputs[output] = np.zeros((*EXTENT, 4, 3, 3), complex)
        for mu, node in result.items():
            outputs[output][:, :, :, :, mu.index] = interpreter(node)
    return outputs


def assert_force(action, found, u):
    """`action` as a function of links; `found` = dP/dtau = [U G]_TA / 2, so that dS = 2 sum Re tr(A dP/dtau)."""
    rng = np.random.default_rng(5)
    masks = [np.ones((*EXTENT, 4))]
    for where in ((0, 0, 0, 0, 0), (1, 3, 1, 3, 1), (0, 2, 1, 3, 2), (1, 0, 0, 3, 3)):
        masks.append(np.zeros((*EXTENT, 4)))
        masks[-1][where] = 1
    for mask in masks:
        w = mask[..., None, None] * algebra(rng, (*EXTENT, 4))
        wanted = slope(lambda e: action(exponential(e * w) @ u))  # noqa: B023
        given = 2 * np.sum(w * np.swapaxes(found, -1, -2)).real
        size = 2 * np.sqrt(np.sum(np.abs(w) ** 2) * np.sum(np.abs(found * mask[..., None, None]) ** 2))
        assert abs(given - wanted) <= 1e-9 * size, (given, wanted)
    assert np.allclose(found, -np.swapaxes(found, -1, -2).conj())
    assert np.allclose(np.trace(found, axis1=-2, axis2=-1), 0)


GAUGE_ACTIONS = {
    "plaquette": {"xy": 0.4, "xz": 1.3, "yz": -0.6, "xt": 2.1, "yt": 0.9, "zt": 1.6},
    "rectangle": {"plaquette": 1.7, "rectangle": -0.3},
    "symanzik": {"plaquette": 1.7, "rectangle": -0.3, "chair": 0.45},
}
ZERO = np.zeros((*EXTENT, 4, 3, 3), complex)


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
        b, c = (PARAMETERS["b"], PARAMETERS["c"]) if name == "moebius" else (1.0, 0.0)
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


def stouted(u, rho, dimensions):
    """V = exp(rho [C U^+]_TA) U (hep-lat/0311018, eqs. 1-3), link by link."""
    v = u.copy()
    for mu in range(dimensions):
        c = np.zeros(u.shape[:4] + (3, 3), complex)
        for nu in (n for n in range(dimensions) if n != mu):
            side, ahead = u[:, :, :, :, nu], np.roll(u, -1, axis=mu)[:, :, :, :, nu]
            above = np.roll(u, -1, axis=nu)[:, :, :, :, mu]
            dagger = lambda m: np.swapaxes(m, -1, -2).conj()  # noqa: E731
            c += side @ above @ dagger(ahead) + np.roll(dagger(side) @ u[:, :, :, :, mu] @ ahead, 1, axis=nu)
        m = c @ dagger(u[:, :, :, :, mu])
        m = (m - dagger(m)) / 2
        m -= np.trace(m, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
        v[:, :, :, :, mu] = exponential(rho * m) @ u[:, :, :, :, mu]
    return v


@pytest.mark.parametrize("dimensions", [3, 4])
def test_forces_through_two_steps_of_stout_smearing(dimensions):
    rho, u = 0.11, random_links(EXTENT, 1)
    once = stouted(u, rho, dimensions)
    twice = stouted(once, rho, dimensions)
    c = GAUGE_ACTIONS["plaquette"]
    plain = lambda v: Interpreter(EXTENT, {"u": v}, c)(OPERATORS["plaquette_action"].definition.results[0])  # noqa: E731
    z = applied("force_plaquette", {"u": twice, "p": ZERO}, **c)["out"]
    for links in (once, u):
        steps = applied(f"source_stout{dimensions}", {"u": links, "z": z, "p": ZERO}, rho=rho)
        z = applied(f"force_stout{dimensions}", {"u": links, "source": steps["source"], "p": steps["out"]})["out"]
    assert_force(lambda v: plain(stouted(stouted(v, rho, dimensions), rho, dimensions)), z, u)


def in_plane(name, mu, nu, fields, **numbers):
    """What a step gives for two directions, which are given their places in a copy of the formula."""
    definition = OPERATORS[name].definition
    found = []
    for result in definition.results:
        bound = {}
        for d, node in result.items():
            at = {4: mu, 5: nu}[d.index]
            bound[at] = Interpreter(EXTENT, fields, numbers, PHASES)(with_directions(node, mu, nu))
        found.append(bound)
    return found


def with_directions(node, mu, nu):
    data = node.data
    if node.op == "load" and isinstance(data, tuple):
        data = (data[0], {4: mu, 5: nu}[data[1]])
    if node.op == "shift":
        vector = [*data.vector]
        vector[mu] += vector[4]
        vector[nu] += vector[5]
        data = Step((*vector[:4], 0, 0, 0))
    return Node(node.op, node.kind, tuple(with_directions(a, mu, nu) for a in node.args), data, node.algebra)


ASQTAD = {"one": 0.6, "three": 0.07, "five": 0.02, "seven": 0.004, "lepage": -0.05, "naik": -0.04}


def fat_and_long(u, c):
    """Fat links of asqtad, and three links in a row, path by path (hep-lat/9903032): nothing of the language."""
    dagger = lambda m: np.swapaxes(m, -1, -2).conj()  # noqa: E731
    moved = lambda m, nu, n: np.roll(m, -n, axis=nu)  # noqa: E731

    def aside(v, mu, nu, ahead):
        side = u[:, :, :, :, nu]
        if ahead:
            return side @ moved(v, nu, 1) @ dagger(moved(side, mu, 1))
        return moved(dagger(side) @ v @ moved(side, mu, 1), nu, -1)

    fat, long = c["one"] * u, np.zeros_like(u)
    for mu in range(4):
        link = u[:, :, :, :, mu]
        long[:, :, :, :, mu] = c["naik"] * link @ moved(link, mu, 1) @ moved(link, mu, 2)
        for path in (p for n in (1, 2, 3) for p in permutations([d for d in range(4) if d != mu], n)):
            for signs in product((True, False), repeat=len(path)):
                v = link
                for nu, ahead in zip(path, signs, strict=True):
                    v = aside(v, mu, nu, ahead)
                fat[:, :, :, :, mu] += c[("three", "five", "seven")[len(path) - 1]] * v
        for nu in (d for d in range(4) if d != mu):
            for ahead in (True, False):
                fat[:, :, :, :, mu] += c["lepage"] * aside(aside(link, mu, nu, ahead), mu, nu, ahead)
    return fat, long


def staples_of(u, v, mu, nu):
    """Of matrices v, of one direction: as the kernel of a step makes them."""
    (found,) = in_plane("last_staple", mu, nu, {"u": u, "v": v, "fat": ZERO}, weight=1.0)
    whole = ZERO.copy()
    whole[:, :, :, :, mu] = found[mu]
    return whole


def taken_back(u, by_fat, by_long, c):
    """Derivatives by thin links from those by fat and long ones, as docs/forces.md tells."""
    by_u = (c["one"] - 6 * c["lepage"]) * by_fat  # up and down again is the link itself
    by_u += applied("back_naik", {"u": u, "g": by_long, "by_u": ZERO}, weight=c["naik"])["by_u_out"]

    def back(v, g, by_v, mu, nu, weight_v, weight_u):
        fields = {"u": u, "v": v, "g": g, "by_v": by_v, "by_u": by_u}
        to_v, to_u = in_plane("back_staple", mu, nu, fields, weight_v=weight_v, weight_u=weight_u)
        by_v[:, :, :, :, mu], by_u[:, :, :, :, nu] = to_v[mu], to_u[nu]

    for mu, nu in permutations(range(4), 2):
        three, by_three = staples_of(u, u, mu, nu), by_fat.copy()
        back(three, by_fat, by_three, mu, nu, c["lepage"] / c["three"], c["lepage"])
        for rho in (d for d in range(4) if d not in (mu, nu)):
            (sigma,) = (d for d in range(4) if d not in (mu, nu, rho))
            five, by_five = staples_of(u, three, mu, rho), by_fat.copy()
            back(five, by_fat, by_five, mu, sigma, c["seven"] / c["five"], c["seven"])
            back(three, by_five, by_three, mu, rho, c["five"] / c["three"], c["five"])
        back(u, by_three, by_u, mu, nu, c["three"], c["three"])
    return by_u


def test_forces_through_fat_links_projection_and_fat_links_again():
    """A chain as that of HISQ, with Naik and Lepage terms at both levels."""
    u, rng = random_links(EXTENT, 1), np.random.default_rng(4)
    by_fat, by_long, by_first = (gaussian(rng, (*EXTENT, 4, 3, 3)) for _ in range(3))
    flat = lambda g, m: np.sum(g * np.swapaxes(m, -1, -2)).real  # noqa: E731

    def nearest(v):
        left, _, right = np.linalg.svd(v)
        return left @ right

    def action(links):
        v, first = fat_and_long(links, ASQTAD)
        fat, long = fat_and_long(nearest(v), ASQTAD)
        return flat(by_fat, fat) + flat(by_long, long) + flat(by_first, first)

    v, _ = fat_and_long(u, ASQTAD)
    by_w = taken_back(nearest(v), by_fat, by_long, ASQTAD)
    by_v = applied("back_project_u3", {"v": v, "g": by_w})["by_v"]
    by_u = taken_back(u, by_v, by_first, ASQTAD)
    assert_force(action, applied("force_link", {"u": u, "g": by_u / 2, "p": ZERO})["out"], u)


def stored(matrix):
    return make("stored", "matrix", (matrix,))


def functionals():
    """Real functions of links that pass through every operation which has a rule."""
    u, f, g = FourMatrices("u", algebra=False), *(make("load", "spinor", (), n) for n in ("psi", "y"))
    number = make("parameter", "complex", (), "number")
    colour = trace(u[x] * shift(u[y], +x)) * number
    turned = exp(ta(u[z] * shift(adj(u[x]), -z)))
    return [
        im(colour) * re(trace(turned * u[t])) - re(adj(colour) * trace(u[x])),
        re(dot(f, outer(u[x] * f, shift(u[y] * g, +t)) * g)) + im(dot(sign(x, y) * (gamma[x] * (u[y] * f)), u[t] * g)),
        re(trace(stored(make("project_u3", "matrix", (u[x] + 0.4 * u[y] + 0.2 * u[z],))) * u[t])),
        re(dot(f, (re(trace(u[z])) * u[x] + -u[y] - (2 + 1j) * u[t]) * g)) + re(dot(sigma[x, y] * u[x] * g, f)),
    ]


def slopes_hold(functional, fields):
    try:
        assert_slopes(functional, "u", fields, derivative(functional, "u"))
    except AssertionError:
        return False
    return True


@pytest.fixture(scope="module")
def some_fields():
    return fields_of("wilson")


@pytest.fixture(autouse=True)
def a_number(monkeypatch):
    monkeypatch.setitem(PARAMETERS, "number", 0.7 - 0.4j)


def test_every_operation_has_its_derivative(some_fields):
    for functional in functionals():
        assert slopes_hold(functional, some_fields), functional


@pytest.mark.parametrize("op", [op for op in derivatives.RULES if op != "promote"])
def test_a_sign_planted_in_a_rule_is_caught(op, some_fields, monkeypatch):
    """Of each part that it passes something on to, one at a time."""
    rule, count = derivatives.RULES[op], []

    def planted(number):
        def wrong(node, c):
            passed = rule(node, c)
            count.append(len(passed))
            return [(below, -value if k == number else value) for k, (below, value) in enumerate(passed)]

        return wrong

    number = 0
    while number == 0 or number < max(count):
        monkeypatch.setitem(derivatives.RULES, op, planted(number))
        assert not all(slopes_hold(f, some_fields) for f in functionals()), (op, number)
        number += 1
