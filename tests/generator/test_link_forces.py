"""Forces on smeared links taken back to thin links, against differences of actions of links smeared path by path."""

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from lattice import exponential, random_links
from slopes import EXTENT, ZERO, add_in_plane, add_plaquettes, applied, assert_force, gaussian, in_plane

from generator.operators import OPERATORS
from generator.operators.derived import Derived
from generator.spec import KernelSpec


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
    weights = dict(zip(combinations(range(4), 2), (0.4, 1.3, 2.1, -0.6, 0.9, 1.6), strict=True))

    def plain(v):
        return sum(in_plane("plaquette_action", plane, {"u": v}, c=c)[0] for plane, c in weights.items())

    z = ZERO.copy()
    add_plaquettes(z, twice, weights)
    for links in (once, u):
        z = back_through_stout(links, z, rho, dimensions)
    assert_force(lambda v: plain(stouted(stouted(v, rho, dimensions), rho, dimensions)), z, u)


def back_through_stout(u, z, rho, dimensions):
    """The force by the links before a step from that by those after it, as docs/forces.md tells."""
    planes = list(permutations(range(dimensions), 2))
    c, by_path, by_side = (ZERO.copy() for _ in range(3))
    for plane in planes:
        add_in_plane(c, "last_staple", plane, {"u": u, "v": u, "fat": c}, weight=1.0)
    turned = applied("back_stout", {"u": u, "c": c, "z": z, "p": ZERO}, rho=rho)
    for mu, nu in planes:
        fields = {"u": u, "v": u, "g": turned["source"], "by_v": by_path, "by_u": by_side}
        to_path, to_side = in_plane("back_staple", (mu, nu), fields, weight_v=1.0, weight_u=1.0)
        by_path[:, :, :, :, mu], by_side[:, :, :, :, nu] = to_path[mu], to_side[nu]
    return applied("force_link", {"u": u, "g": by_path + by_side, "p": turned["out"]})["out"]


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
    (found,) = in_plane("last_staple", (mu, nu), {"u": u, "v": v, "fat": ZERO}, weight=1.0)
    whole = ZERO.copy()
    whole[:, :, :, :, mu] = found[mu]
    return whole


def taken_back(u, by_fat, by_long, c):
    """Derivatives by thin links from those by fat and long ones, as docs/forces.md tells."""
    by_u = (c["one"] - 6 * c["lepage"]) * by_fat  # up and down again is the link itself
    by_u += applied("back_naik", {"u": u, "g": by_long, "by_u": ZERO}, weight=c["naik"])["by_u_out"]

    def back(v, g, by_v, mu, nu, weight_v, weight_u):
        fields = {"u": u, "v": v, "g": g, "by_v": by_v, "by_u": by_u}
        to_v, to_u = in_plane("back_staple", (mu, nu), fields, weight_v=weight_v, weight_u=weight_u)
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


@pytest.mark.parametrize(
    ("name", "function"), {"back_stout": "exponential_adjoint", "back_project_u3": "nearest_unitary_adjoint"}.items()
)
def test_long_functions_stand_once_in_a_loop_over_directions(name, function):
    """A compiler makes thousands of instructions of each; where directions differ there is no loop."""
    operator = OPERATORS[name]
    links = "r18" if "links" in operator.axes else ""
    (block,) = operator.body(KernelSpec(operator, "double", links))["blocks"]
    assert sum(function in line for line in block["lines"]) == 1
    definition = operator.definition
    first, *others = definition.results
    twice = replace(definition, results=({d: m + m if d.index == 0 else m for d, m in first.items()}, *others))
    differing = Derived(operator.function, name, derive=lambda: twice)
    assert len(differing.body(KernelSpec(differing, "double", links))["blocks"]) == 4
