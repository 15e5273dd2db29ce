"""Derivatives of formulas with respect to link fields, as formulas of the same language: reverse mode on the graph.

Each node N of a graph receives its cotangent C, which says how the functional depends on N, and passes cotangents on to
its arguments. C is defined by the sum over all sites

    dS = sum Re(C dN) of numbers, Re tr(dN C) of matrices, Re C^+ dN of spinors,

so that the derivative G of a link is its cotangent: dS = sum_x,mu Re tr(dU_mu(x) G_mu(x)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import ExpressionError
from ..language.graph import LINEAR, NUMBERS, Direction, Node, Step, constant, is_uniform, make
from ..language.symbols import adj, dot, identity, outer, re, shift, ta, trace
from ..language.walks import all_merged, parts, rewritten
from .constants import conjugate

Passed = list[tuple[Node, Node]]
"""Arguments of a node, each with the cotangent that it receives."""


@dataclass(frozen=True)
class Weighted:
    """The product factor * numbers * node; the numbers are real and the same at all sites, so they commute with all."""

    factor: float
    numbers: tuple[Node, ...]
    node: Node

    @property
    def value(self) -> Node:
        """The product as a node."""
        result = self.node
        for n in reversed(self.numbers):
            result = n * result
        if self.factor == -1:
            return -result
        return result if self.factor == 1 else constant(self.factor) * result


def derivative(functional: Node, field: str) -> dict[Direction, Node]:
    """The G of dS = sum Re tr(dU G) for the sum S over all sites of a real number, or for a `total`, which is a sum.

    Directions that S does not depend on are left out.

    Raises:
        ExpressionError: the functional is not a real number, or an operation in it has no derivative.
    """
    if functional.op == "total":
        functional = functional.args[0]
    if functional.kind != "real":
        raise ExpressionError(f"{functional.place}: {functional}: only a real number has a derivative by links")
    return pulled_back([(functional, constant(1.0))], field)


def pulled_back(outputs: Sequence[tuple[Node, Node]], field: str) -> dict[Direction, Node]:
    """The chain rule: derivatives by the links of matrices (numbers, spinors) whose cotangents are given."""
    roots = all_merged(rewritten([n for n, _ in outputs], _spelled_out))
    order = depending(roots, field)
    depends = set(map(id, order))
    received: dict[int, list[Weighted]] = {}
    for root, (_, cotangent) in zip(roots, outputs, strict=True):
        received.setdefault(id(root), []).append(weighted(cotangent))
    result: dict[Direction, list[Weighted]] = {}
    for node in reversed(order):
        if id(node) not in received:
            continue
        passed_on = received.pop(id(node))
        if node.op == "load":
            result.setdefault(Direction(node.data[1]), []).extend(passed_on)
            continue
        whole = _collapsed(passed_on)
        for below, passed in _passed_on(node, whole.node):
            if id(below) in depends:
                w = weighted(passed)
                again = Weighted(whole.factor * w.factor, whole.numbers + w.numbers, w.node)
                received.setdefault(id(below), []).append(again)
    names = sorted(result, key=lambda mu: mu.index)
    values = all_merged(_collapsed(result[mu]).value for mu in names)
    return dict(zip(names, values, strict=True))


def depending(roots: Sequence[Node], field: str) -> list[Node]:
    """All parts that depend on a field, each after those that it is made of."""
    found: dict[int, Node] = {}
    for n in parts(roots):
        if (n.op == "load" and n.field == field) or any(id(a) in found for a in n.args):
            found[id(n)] = n
    return list(found.values())


def _spelled_out(n: Node, args: tuple[Node, ...]) -> Node:
    """A new part with sums of products of matrices in spin and colour applied term by term: each has one kind."""
    if n.op == "mul" and args[1].kind == "spinor" and args[0].kind in LINEAR:
        return applied(*args)
    return Node(n.op, n.kind, args, n.data, n.algebra, n.place)


def applied(matrix: Node, psi: Node) -> Node:
    """A matrix in spin, flavour and colour times a spinor, as sums of products of one kind each."""
    if matrix.op == "promote":
        return applied(matrix.args[0], psi)
    if matrix.kind != "block":
        return matrix * psi
    if matrix.op == "mul":
        return applied(matrix.args[0], applied(matrix.args[1], psi))
    args = tuple(applied(a, psi) for a in matrix.args)
    return make(matrix.op, "spinor", args)


def weighted(node: Node) -> Weighted:
    """A node as `Weighted`: its sign and real factors that are the same at all sites are taken out."""
    if node.op == "neg":
        inner = weighted(node.args[0])
        return Weighted(-inner.factor, inner.numbers, inner.node)
    if node.op == "constant" and node.kind == "real":
        return Weighted(float(node.data), (), _ONE)
    if node.op == "mul" and node.args[0].kind == "real" and is_uniform(node.args[0]):
        inner, number = weighted(node.args[1]), node.args[0]
        if number.op == "constant":
            return Weighted(number.data * inner.factor, inner.numbers, inner.node)
        return Weighted(inner.factor, (number, *inner.numbers), inner.node)
    return Weighted(1.0, (), node)


_ONE = Node("constant", "real", (), 1.0)


def _collapsed(parts: Sequence[Weighted]) -> Weighted:
    """The sum of weighted terms; factors that all terms share are taken out."""
    groups: dict[tuple[tuple[str, ...], float], list[Weighted]] = {}
    for p in parts:
        groups.setdefault((tuple(map(str, p.numbers)), abs(p.factor)), []).append(p)
    sums = []
    for (_, size), group in groups.items():
        lead = group[0].factor / size if size else 1.0
        total = group[0].node
        for p in group[1:]:
            total = total + p.node if p.factor * lead > 0 or not size else total - p.node
        sums.append(Weighted(lead * size, group[0].numbers, total))
    if len(sums) == 1:
        return sums[0]
    total = sums[0].value
    for w in sums[1:]:
        positive = w.factor > 0
        value = Weighted(abs(w.factor), w.numbers, w.node).value
        total = total + value if positive else total - value
    return Weighted(1.0, (), total)


def _product(a: Node, b: Node) -> Node:
    """The product a b of matrices, simplified where one is the unit matrix or a multiple of it."""
    for one, other in ((a, b), (b, a)):
        if one.op == "identity":
            return other
        if one.op == "mul" and one.args[1].op == "identity":
            return one.args[0] * other
    return a * b


def _conjugated(m: Node) -> Node:
    """The Hermitian conjugate of a matrix; for an outer product, again an outer product."""
    if m.op == "identity":
        return m
    return outer(m.args[1], m.args[0]) if m.op == "outer" else adj(m)


def _passed_on(node: Node, c: Node) -> Passed:
    """Cotangents of the arguments of a node, given its own cotangent c.

    Raises:
        ExpressionError: the operation has no derivative here.
    """
    rule = RULES.get(node.op)
    if rule is None or "sum" in (a.kind for a in node.args):
        raise ExpressionError(f"{node.place}: {node}: {node.op} has no derivative by links")
    return rule(node, c)


def _of_product(node: Node, c: Node) -> Passed:
    a, b = node.args
    if a.kind in NUMBERS:
        below = (adj(a) if node.kind == "spinor" else a) * c
        return [(b, below), (a, _by_number(a, b, c))]
    if node.kind == "spinor":
        by_matrix = [(a, outer(b, c))] if a.kind == "matrix" else []
        return [(b, conjugate(a) * c), *by_matrix]
    return [(a, _product(b, c)), (b, _product(c, a))]


def _by_number(a: Node, b: Node, c: Node) -> Node:
    """The derivative of a product a b with respect to its number a."""
    value = b * c if b.kind in NUMBERS else dot(c, b) if b.kind == "spinor" else trace(_product(b, c))
    return _as(a.kind, value)


def _as(kind: str, value: Node) -> Node:
    return re(value) if kind == "real" and value.kind == "complex" else value


def _of_adjoint(node: Node, c: Node) -> Passed:
    return [(node.args[0], adj(c) if node.kind in NUMBERS else _conjugated(c))]


def _of_shift(node: Node, c: Node) -> Passed:
    back = Step(tuple(-n for n in node.data.vector))
    return [(node.args[0], shift(c, back, wall=node.args[1]) if len(node.args) > 1 else shift(c, back))]


def _of_dot(node: Node, c: Node) -> Passed:
    f, g = node.args
    return [(f, c * g), (g, (adj(c) if c.kind == "complex" else c) * f)]


def _of_outer(node: Node, c: Node) -> Passed:
    f, g = node.args
    return [(f, _conjugated(c) * g), (g, c * f)]


RULES: dict[str, Callable[[Node, Node], Passed]] = {
    "add": lambda n, c: [(a, _as(a.kind, c)) for a in n.args],
    "sub": lambda n, c: [(n.args[0], c), (n.args[1], -c)],
    "neg": lambda n, c: [(n.args[0], -c)],
    "promote": lambda n, c: [(n.args[0], _as(n.args[0].kind, c))],
    "mul": _of_product,
    "adj": _of_adjoint,
    "shift": _of_shift,
    "trace": lambda n, c: [(n.args[0], c * identity)],
    "re": lambda n, c: [(n.args[0], c)],
    "im": lambda n, c: [(n.args[0], -1j * c)],
    "dot": _of_dot,
    "outer": _of_outer,
    "ta": lambda n, c: [(n.args[0], c if c.algebra else ta(c))],
    "exp": lambda n, c: [(n.args[0], make("exp_adjoint", "matrix", (n.args[0], c), algebra=True))],
    "project": lambda n, c: [(n.args[0], make("project_adjoint", "matrix", (n.args[0], c)))],
    "project_u3": lambda n, c: [(n.args[0], make("project_u3_adjoint", "matrix", (n.args[0], c)))],
    "stored": lambda n, c: [(n.args[0], c)],
}
