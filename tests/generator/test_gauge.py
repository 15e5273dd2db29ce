"""Plaquettes, staples, leaves and fat-link paths: which links they multiply, in which order, and what comes of them."""

from __future__ import annotations

import cmath
import itertools
import math

import pytest

from generator.errors import ExpressionError
from generator.language import (
    Direction,
    Links,
    Matrices,
    adj,
    directions,
    expression,
    x,
    y,
    z,
)
from generator.language.gauge import (
    PLANES,
    field_strength,
    leaves,
    line,
    moved_down,
    moved_up,
    plaquette,
    staple,
    staples,
)
from generator.language.graph import NAMES, Node
from generator.language.symbols import Four
from generator.lower.values import Lowering, Value
from generator.operators import find_operator, kernel

U = Four("u")
Path = tuple[int, ...]


def paths(node: Node, start: Direction | None = None) -> list[Path]:
    """The paths of a sum of products of links: steps +1..+4, -1..-4, checked to hang together from x (+ start) on."""
    found = []
    for factors in terms(Lowering().lower(node)):
        at, steps = [int(start is not None and n == start.index) for n in range(len(NAMES))], []
        for mu, place, adjoint in factors:
            if adjoint:
                at[mu] -= 1
            assert tuple(at) == place, "a link does not begin where the path before it ends"
            if not adjoint:
                at[mu] += 1
            steps.append(-mu - 1 if adjoint else mu + 1)
        found.append(tuple(steps))
    return found


def terms(v: Value, adjoint: bool = False) -> list[list[tuple[int, tuple[int, ...], bool]]]:
    if v.op == "add":
        return terms(v.args[0], adjoint) + terms(v.args[1], adjoint)
    if v.op == "adj":
        return terms(v.args[0], not adjoint)
    if v.op == "mul":
        first, second = reversed(v.args) if adjoint else v.args
        return [a + b for a in terms(first, adjoint) for b in terms(second, adjoint)]
    assert v.op == "load"
    return [[(v.data[1], v.data[2], adjoint)]]


def end(path: Path) -> list[int]:
    at = [0] * 5
    for step in path:
        at[abs(step)] += 1 if step > 0 else -1
    return at


def test_plaquettes_are_closed_one_to_a_plane():
    found = [paths(plaquette(U, mu, nu)) for mu, nu in PLANES]
    assert found == [[(m, n, -m, -n)] for n in range(1, 5) for m in range(1, n)]


@pytest.mark.parametrize("mu", directions, ids=lambda mu: mu.name)
def test_staples_close_plaquettes(mu):
    m = mu.index + 1
    found = paths(staples(U, mu))
    assert sorted(found) == sorted((s, m, -s) for n in range(1, 5) if n != m for s in (n, -n))
    for path in paths(adj(staples(U, mu)), mu):  # what updates take: from x + mu to x
        assert end((m, *path)) == [0] * 5


def test_leaves_are_the_four_plaquettes_at_a_site_in_one_sense():
    for mu, nu in PLANES:
        m, n = mu.index + 1, nu.index + 1
        assert paths(leaves(U, mu, nu)) == [(a, b, -a, -b) for a, b in ((m, n), (n, -m), (-m, -n), (-n, m))]


def test_staples_of_staples_are_all_fat_paths():
    """Paths of 1, 3, 5, 7 links between the ends of a link whose steps aside go in different directions."""
    mu = z
    others = [d for d in directions if d != mu]
    made: dict[tuple[Direction, ...], Node] = {(): U[mu]}
    for aside, count in ((0, 1), (1, 6), (2, 24), (3, 48)):
        found = [p for node in made.values() for p in paths(node)]
        signed = itertools.product(itertools.permutations(others, aside), itertools.product((1, -1), repeat=aside))
        words = [[s * (d.index + 1) for d, s in zip(ds, ss, strict=True)] for ds, ss in signed]
        wanted = [(*reversed(w), mu.index + 1, *(-s for s in w)) for w in words]
        assert sorted(found) == sorted(wanted)
        assert len(found) == len(set(found)) == count
        made = {
            (*used, nu): staple(U[nu], node, mu, nu) for used, node in made.items() for nu in others if nu not in used
        }
    assert not made


def test_long_paths():
    assert paths(line(U, y, 3)) == [(2, 2, 2)]
    up = moved_up(U[x], moved_up(U[x], U[y], y, x), y, x)
    down = moved_down(U[x], moved_down(U[x], U[y], y, x), y, x)
    assert paths(up + down) == [(1, 1, 2, -1, -1), (-1, -1, 2, 1, 1)]


def test_the_field_strength_is_hermitian_and_of_the_right_sign():
    """Of four plaquettes exp(i theta) it is sin(theta)."""
    node = field_strength(U, x, y)
    assert node.args[0].data == 0.125j
    difference = node.args[1]
    assert difference.op == "sub"
    assert difference.args[0].args[0] is difference.args[1]  # q^+ - q
    theta = 0.3
    q = 4 * cmath.exp(1j * theta)
    assert node.args[0].data * (q.conjugate() - q) == pytest.approx(math.sin(theta))


def test_whether_directions_of_a_call_are_a_certain_one_is_not_asked():
    @expression
    def around(u: Links, mu: Direction) -> Matrices:
        return {mu: staples(u, mu)}

    with pytest.raises(ExpressionError, match="is not known before the call"):
        _ = around.definition

    @expression
    def named(u: Links, tau: Direction) -> Matrices:
        return {tau: u[tau]}

    with pytest.raises(ExpressionError, match="called mu, nu, rho and sigma; rename tau"):
        _ = named.definition

    @expression
    def mixed(u: Links, mu: Direction) -> Matrices:
        return {mu: u[mu], x: u[x]}

    with pytest.raises(ExpressionError, match="is not known before the call"):
        _ = mixed.definition


def test_costs_of_gauge_kernels():
    def cost(name: str) -> tuple[int, float]:
        operator = find_operator(name)
        c = operator.cost(kernel(name, "double", "r18" if "links" in operator.axes else ""))
        return c.flops, c.bytes / 144

    assert cost("plaquette") == (6 * (3 * 198 + 4) + 4 * 4 + 7 + 3, 4)
    assert cost("set_staple") == (4 * 198 + 18 + 18, 3)  # u, v and the result
    assert cost("add_staple") == (4 * 198 + 18 + 18 + 18, 4)
    assert cost("keep_staple") == (4 * 198 + 18 + 18 + 18, 5)
    assert cost("set_naiks")[1] == 8  # links and out
    assert cost("heatbath")[1] == 9  # u along mu both, the others both, one written
    assert cost("set_clover")[1] == 3
