"""Statements of actions against Dirac operators written down here once more, term by term, as dense matrices."""

import itertools

import numpy as np
import pytest
from lattice import Interpreter, random_links

from generator.actions import ACTIONS
from generator.algebra.gamma import BASES, DEGRAND_ROSSI
from generator.language import Fermion, Links, Real, action, adj, directions, gamma, gamma5, parameter, shift, x, y
from generator.language.graph import ExpressionError
from generator.lower.adjoint import adjoint
from generator.lower.fifth import FifthForm
from generator.lower.hopping import HoppingForm, ShapeError
from generator.lower.paths import along_paths
from generator.lower.site import SiteForm
from generator.lower.terms import product_value, value_of
from generator.operators import OPERATORS

EXTENT = (2, 2, 2, 4)
PARAMETERS = {
    "mass": 0.31, "xi0": 1.7, "nu": 0.9, "csw_r": 1.3, "csw_t": 0.8, "mu": 0.23, "epsilon": 0.11,
    "m5": 1.4, "b": 1.5, "c": 0.5, "b5": 1.4, "c5": 0.6, "u0": 0.9, "naik_epsilon": -0.1,
}  # fmt: skip
PHASES = (1, np.exp(0.4j), 1, -1)
G = DEGRAND_ROSSI.gamma
G5 = np.diag([1, 1, -1, -1]).astype(complex)
ONE = np.eye(4)


def spinor(action_name: str, seed: int, slices: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    spins = ACTIONS[action_name].spins
    shape = (*EXTENT, slices, 2 if "doublet" in action_name else 1, spins, 3)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def at(site, mu, steps):
    """The site `steps` away along mu, and the phase that a fermion picks up on the way."""
    phase = 1
    there = list(site)
    for _ in range(abs(steps)):
        there[mu] += 1 if steps > 0 else -1
        if there[mu] in (-1, EXTENT[mu]):
            phase *= PHASES[mu] if steps > 0 else np.conj(PHASES[mu])
            there[mu] %= EXTENT[mu]
    return tuple(there), phase


def hop(u, psi, site, mu, steps=1):
    """U psi of the forward and of the backward neighbour."""
    ahead, p = at(site, mu, steps)
    behind, q = at(site, mu, -steps)
    back = u[(*behind, mu)].conj().T
    return np.einsum("ab,...b->...a", p * u[(*site, mu)], psi[ahead]), np.einsum("ab,...b->...a", q * back, psi[behind])


def each_site(psi, function):
    out = np.zeros_like(psi)
    for site in itertools.product(*map(range, EXTENT)):
        out[site] = function(site)
    return out


def spin(matrix, psi):
    return np.einsum("ab,...bc->...ac", matrix, psi)


def wilson(u, psi, mass, xi0=1.0, nu=1.0):
    def at_site(site):
        result = (mass + 1 + 3 * nu / xi0) * psi[site]
        for mu in range(4):
            forward, backward = hop(u, psi, site, mu)
            weight = 0.5 * (1 if mu == 3 else nu / xi0)
            result = result - weight * (spin(ONE - G[mu], forward) + spin(ONE + G[mu], backward))
        return result

    return each_site(psi, at_site)


def clover_term(u, psi, csw_r, csw_t):
    """(i/4) sum over all ordered pairs of c sigma_munu Fhat, Fhat = (Q - Q^+)/8 (hep-lat/9605038, eq. 2.2)."""

    def link(site, mu, forward):
        if forward:
            return u[(*site, mu)], at(site, mu, 1)[0]
        behind = at(site, mu, -1)[0]
        return u[(*behind, mu)].conj().T, behind

    def path(site, steps):
        product = np.eye(3)
        for mu, forward in steps:
            matrix, site = link(site, mu, forward)
            product = product @ matrix
        return product

    def at_site(site):
        result = np.zeros_like(psi[site])
        for mu, nu in itertools.permutations(range(4), 2):
            c = csw_t if 3 in (mu, nu) else csw_r
            q = sum(
                path(site, steps)
                for steps in (
                    ((mu, 1), (nu, 1), (mu, 0), (nu, 0)), ((nu, 1), (mu, 0), (nu, 0), (mu, 1)),
                    ((mu, 0), (nu, 0), (mu, 1), (nu, 1)), ((nu, 0), (mu, 1), (nu, 1), (mu, 0)),
                )
            )  # fmt: skip
            sigma = 0.5j * (G[mu] @ G[nu] - G[nu] @ G[mu])
            result = result + 0.25j * c * spin(sigma, np.einsum("ab,...b->...a", (q - q.conj().T) / 8, psi[site]))
        return result

    return each_site(psi, at_site)


def stag(u, psi, mass, order, long=None):
    def at_site(site):
        result = 2 * mass * psi[site]
        for mu in range(4):
            eta = (-1) ** sum(site[nu] for nu in order[: order.index(mu)])
            for links, steps in ((u, 1), (long, 3)):
                if links is not None:
                    forward, backward = hop(links, psi, site, mu, steps)
                    result = result + eta * (forward - backward)
        return result

    return each_site(psi, at_site)


def domain_wall(u, psi, mass, m5, b, c):
    """D psi_s = (b D_W + 1) psi_s + (c D_W - 1) (P_- psi_{s+1} + P_+ psi_{s-1}) (arXiv:1206.5214)."""
    slices = psi.shape[4]
    around = np.zeros_like(psi)
    for s in range(slices):
        up = psi[..., (s + 1) % slices, :, :, :] * (-mass if s + 1 == slices else 1)
        down = psi[..., s - 1, :, :, :] * (-mass if s == 0 else 1)
        around[..., s, :, :, :] = spin((ONE - G5) / 2, up) + spin((ONE + G5) / 2, down)
    return b * wilson(u, psi, -m5) + psi + c * wilson(u, around, -m5) - around


def twisted(u, psi, wilson_part, mu, epsilon=0.0):
    tau3 = np.diag([1, -1]) if psi.shape[5] == 2 else np.eye(1)
    tau1 = np.array([[0, 1], [1, 0]]) if psi.shape[5] == 2 else np.zeros((1, 1))
    turned = np.einsum("fg,...gsc->...fsc", tau3, spin(G5, psi))
    return wilson_part + 1j * mu * turned + epsilon * np.einsum("fg,...gsc->...fsc", tau1, psi)


def d234(u, psi, mass, b, c):
    """sum_mu gamma_mu nabla_mu (1 - b Delta_mu) + c Delta_mu^2, one derivative after the other."""
    result = mass * psi
    for mu in range(4):
        second = lambda v: each_site(v, lambda s: sum(hop(u, v, s, mu)) - 2 * v[s])  # noqa: B023, E731
        first = lambda v: each_site(v, lambda s: np.subtract(*hop(u, v, s, mu)) / 2)  # noqa: B023, E731
        result = result + spin(G[mu], first(psi - b * second(psi))) + c * second(second(psi))
    return result


def brillouin(u, psi, mass):
    """Stencils of arXiv:1012.3615, links averaged over the orders of the steps."""
    gradient = {1: 64, 2: 16, 3: 4, 4: 1}
    laplacian = {0: -240, 1: 8, 2: 4, 3: 2, 4: 1}

    def transported(site, corner):
        steps = [mu for mu in range(4) if corner[mu]]
        paths = list(itertools.permutations(steps))
        total = np.zeros_like(psi[site])
        for path in paths:
            here, product = site, np.eye(3)
            for mu in path:
                there, phase = at(here, mu, corner[mu])
                link = u[(*here, mu)] if corner[mu] > 0 else u[(*there, mu)].conj().T
                here, product = there, phase * product @ link
            total = total + np.einsum("ab,...b->...a", product, psi[here]) / len(paths)
        return total

    def at_site(site):
        result = mass * psi[site]
        for corner in itertools.product((-1, 0, 1), repeat=4):
            k = sum(map(abs, corner))
            matrix = -laplacian[k] / 128 * ONE
            if k:
                matrix = matrix + gradient[k] / 432 * sum(c * g for c, g in zip(corner, G, strict=True))
            result = result + spin(matrix, transported(site, corner))
        return result

    return each_site(psi, at_site)


def expected(name, fields, psi, p):
    u = fields.get("u")
    base = lambda: wilson(u, psi, p["mass"], p["xi0"], p["nu"])  # noqa: E731
    clover = lambda: base() + clover_term(u, psi, p["csw_r"] / p["xi0"], p["csw_t"])  # noqa: E731
    return {
        "wilson": base,
        "clover": clover,
        "twisted_mass": lambda: twisted(u, psi, base(), p["mu"]),
        "twisted_doublet": lambda: twisted(u, psi, base(), p["mu"], p["epsilon"]),
        "twisted_clover": lambda: twisted(u, psi, clover(), p["mu"]),
        "twisted_clover_doublet": lambda: twisted(u, psi, clover(), p["mu"], p["epsilon"]),
        "staggered": lambda: stag(u, psi, p["mass"], [0, 1, 2, 3]),
        **dict.fromkeys(
            ("improved_staggered", "asqtad", "hisq"),
            lambda: stag(fields["fat"], psi, p["mass"], [3, 0, 1, 2], fields["long"]),
        ),
        "moebius": lambda: domain_wall(u, psi, p["mass"], p["m5"], p["b5"], p["c5"]),
        "domain_wall": lambda: domain_wall(u, psi, p["mass"], p["m5"], 1, 0),
        "naive": lambda: naive(u, psi, p["mass"], p["mu"]),
        "brillouin": lambda: brillouin(u, psi, p["mass"]),
        "d234": lambda: d234(u, psi, p["mass"], p["b"], p["c"]),
        "laplace3": lambda: laplace(u, psi, 3),
        "laplace4": lambda: laplace(u, psi, 4),
    }[name]()


def laplace(u, psi, dimensions):
    return each_site(psi, lambda s: sum(sum(hop(u, psi, s, mu)) - 2 * psi[s] for mu in range(dimensions)))


def naive(u, psi, mass, mu):
    """Naive fermions: m + sum_nu gamma_nu (e^mu U - e^-mu U^+)/2, mu for nu = t alone (PLB 125 (1983) 308)."""

    def at_site(site):
        result = mass * psi[site]
        for nu in range(4):
            forward, backward = hop(u, psi, site, nu)
            weight = np.exp(mu) if nu == 3 else 1
            result = result + 0.5 * spin(G[nu], weight * forward - backward / weight)
        return result

    return each_site(psi, at_site)


def inputs(name):
    slices = 4 if FifthForm(ACTIONS[name]).has_slices else 1
    fields = {f.name: random_links(EXTENT, n) for n, f in enumerate(ACTIONS[name].fields[:-1])}
    psi = spinor(name, 7, slices)
    return fields, psi


@pytest.mark.parametrize("name", ACTIONS)
def test_a_statement_is_the_operator_of_the_literature(name):
    """Catches any sign, factor, direction or matrix of a statement: the other side is written in this file alone."""
    fields, psi = inputs(name)
    given = Interpreter(EXTENT, fields | {"psi": psi}, PARAMETERS, PHASES)(ACTIONS[name].matrix)
    assert np.allclose(given, expected(name, fields, psi, PARAMETERS), atol=1e-12)


@pytest.mark.parametrize("name", ACTIONS)
def test_the_adjoint_of_a_formula_is_that_of_its_operator(name):
    fields, psi = inputs(name)
    phi = spinor(name, 8, psi.shape[4])
    matrix = ACTIONS[name].matrix
    apply = lambda graph, v: Interpreter(EXTENT, fields | {"psi": v}, PARAMETERS, PHASES)(graph)  # noqa: E731
    left, right = np.vdot(phi, apply(matrix, psi)), np.vdot(apply(adjoint(matrix, "psi"), phi), psi)
    assert abs(left - right) < 1e-12 * abs(left)
    assert np.allclose(apply(along_paths(matrix, "psi"), psi), apply(matrix, psi), atol=1e-12)
    assert np.allclose(
        apply(along_paths(adjoint(matrix, "psi"), "psi"), phi), apply(adjoint(matrix, "psi"), phi), atol=1e-12
    )


SHAPED = [n for n in ACTIONS if HoppingForm(ACTIONS[n]).has_shape]


@pytest.mark.parametrize("name", SHAPED)
def test_what_is_lowered_is_what_was_stated(name):
    """H D + T + the terms along s, made of what kernels are rendered from, give M psi."""
    form = FifthForm(ACTIONS[name])
    fields, psi = inputs(name)
    given = Interpreter(EXTENT, fields | {"psi": psi}, PARAMETERS, PHASES)(ACTIONS[name].matrix)
    weight = lambda numbers: np.prod([value_of(n, PARAMETERS) for n in numbers])  # noqa: E731
    total = np.zeros_like(psi)
    around = np.zeros_like(psi)
    if form.has_slices:
        for step in (1, -1):
            moved = np.roll(psi, -step, axis=4)
            edge = -1 if step > 0 else 0
            moved[..., edge, :, :, :] *= -PARAMETERS["mass"]
            around += spin(form.step_matrix(step, DEGRAND_ROSSI), moved)
    b, c = (PARAMETERS["b5"], PARAMETERS["c5"]) if name == "moebius" else (1, 0)
    hopped = b * psi + c * around if form.has_slices else psi
    for h in form.stated:
        u = fields[h.field]
        numbers = [n for n in h.terms[0].numbers if str(n) != "b5"]
        matrix = form.factor * form.spin_matrix(DEGRAND_ROSSI, h.mu, h.sign, h.length) * weight(numbers)
        for site in itertools.product(*map(range, EXTENT)):
            value = hop(u, hopped, site, h.mu, h.length)[0 if h.sign > 0 else 1]
            eta = (-1) ** sum(site[nu] for nu in h.phase)
            total[site] += eta * (spin(matrix, value) if psi.shape[6] == 4 else matrix[0, 0] * value)
    site_form = SiteForm(ACTIONS[name], form.local)
    matrix = site_form.matrix(PARAMETERS).reshape(2, 4, 2, 4)[: psi.shape[5], :, : psi.shape[5], :]
    if psi.shape[6] == 1:
        total += matrix[0, 0, 0, 0] * psi
    else:
        total += np.einsum("fsgr,...grc->...fsc", matrix, psi)
    for term in form.local:
        for block in term.blocks:
            colour = Interpreter(EXTENT, fields, PARAMETERS, PHASES)(block)
            applied = np.einsum("xyztab,xyztmfsb->xyztmfsa", colour, psi)
            total += term.factor * weight(term.numbers) * spin(product_value(term.spin, DEGRAND_ROSSI, 4), applied)
    if form.has_slices:
        total += ((4 - PARAMETERS["m5"]) * c - 1) * around
    assert np.allclose(total, given, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in ACTIONS if ACTIONS[n].spins == 4 and "laplace" not in n])
def test_gamma5_hermiticity(name):
    """<phi, M psi> = <M' phi, psi> with M' = gamma5 M gamma5, R: s -> Ls - 1 - s.

    For one flavour of twisted mass, and for a chemical potential, mu -> -mu.
    """
    fields, psi = inputs(name)
    phi = spinor(name, 8, psi.shape[4])
    m = lambda v, p: Interpreter(EXTENT, fields | {"psi": v}, p, PHASES)(ACTIONS[name].matrix)  # noqa: E731
    flip = {"mu": -PARAMETERS["mu"]} if "twisted" in name or name == "naive" else {}

    def five(v):
        turned = spin(G5, v)
        return turned[..., ::-1, :, :, :] if psi.shape[4] > 1 else turned

    if name == "moebius":
        pytest.skip("Moebius operators are Hermitian up to a matrix along s")
    left = np.vdot(phi, m(psi, PARAMETERS))
    right = np.vdot(five(m(five(phi), PARAMETERS | flip)), psi)
    assert abs(left - right) < 1e-10 * abs(left)


@pytest.mark.parametrize("basis", BASES.values(), ids=lambda b: b.short)
@pytest.mark.parametrize("name", [n for n in SHAPED if ACTIONS[n].spins == 4])
def test_printed_spin_matrices_are_those_that_are_emitted(name, basis):
    """`(1 - gamma_x)` is read back, digit by digit."""
    form = HoppingForm(ACTIONS[name])
    names = {f"gamma_{a}": g for a, g in zip("xyzt", basis.gamma, strict=True)} | {"one": np.eye(4)}
    for h in form.stated:
        printed = form.term_text(h.mu, h.sign, length=h.length).replace("(1 ", "(one ") or "one"
        assert np.allclose(eval(printed, names), form.spin_matrix(basis, h.mu, h.sign, h.length))


def test_every_hopping_kernel_of_an_action_is_there():
    hopping = {n for n, o in OPERATORS.items() if o.family == "hopping"}
    assert hopping == {
        "wilson", "staggered", "improved_staggered", "laplace3", "laplace4", "naive",
        "twisted_mass", "twisted_doublet", "twisted_clover", "twisted_clover_doublet",
    }  # fmt: skip
    assert OPERATORS["domain_wall"].family == "slices"


def test_parameters_are_those_of_the_statement():
    assert [p.name for p in ACTIONS["twisted_clover"].parameters] == ["mass", "xi0", "nu", "csw_r", "csw_t", "mu"]
    assert [p.name for p in ACTIONS["domain_wall"].parameters] == ["mass", "m5"]  # b5 and c5 are given by the class
    assert [p.name for p in ACTIONS["asqtad"].parameters] == ["mass", "u0"]
    assert [p.name for p in ACTIONS["hisq"].parameters] == ["mass", "naik_epsilon"]
    assert ACTIONS["wilson"].parameters[1].default == 1


def test_forms_that_templates_do_not_know_are_refused_at_the_statement():
    @action
    class Corners:
        mass: Real = parameter(help="mass")

        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return self.mass * psi + u[x] * shift(u[y] * shift(psi, +y), +x)

    with pytest.raises(ShapeError, match=r"test_actions.py:\d+: corners has a term that is no hop over one link"):
        _ = HoppingForm(Corners.action).stated

    @action
    class WrongLink:
        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return u[y] * shift(psi, +x)

    with pytest.raises(ShapeError, match="takes Link"):
        _ = HoppingForm(WrongLink.action).stated

    @action
    class Vector:
        c: Real = parameter(help="weight")

        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            hops = sum(gamma[mu] * (u[mu] * shift(psi, +mu) - shift(adj(u[mu]) * psi, -mu)) for mu in directions)
            return hops / 2 + self.c * (gamma[x] * psi)

    form = HoppingForm(Vector.action)
    assert form.formula.startswith("D psi(x) = sum_mu gamma_mu U_mu(x) psi(x+mu) - gamma_mu U_mu(x-mu)^+ psi(x-mu)")
    with pytest.raises(ExpressionError, match="even-odd forms know numbers"):
        _ = SiteForm(Vector.action, form.local).parts


def test_products_of_the_fermion_with_itself_are_refused():
    @action
    class Square:
        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return gamma5 * psi * psi

    with pytest.raises(ExpressionError, match="cannot multiply a spinor by a spinor"):
        _ = Square.action.matrix
