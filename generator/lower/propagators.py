"""Propagators as the colour matrices of their spins: products with spin matrices, traces, elements.

What a formula says of 12x12 matrices becomes sums of products of 3x3 ones: constant matrices in spin, which have few
elements, are gone before a kernel is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI
from ..errors import ExpressionError
from ..language.graph import NUMBERS, Node
from .constants import is_constant, spin_value

Value = Any
"""A value as in generator/lower/values.py, which uses this module for blocks."""
Lowering = Any
Displacement = tuple[int, ...]
SPINS = range(4)


class Partner(NamedTuple):
    """The column in which row `spin` of a gamma matrix that comes with the call has its element, and the reverse."""

    gamma: str
    spin: int


Spin = int | Partner


class Term(NamedTuple):
    """A constant, numbers of the call, and a colour matrix; None: 1."""

    weight: complex
    numbers: tuple[Value, ...]
    matrix: Value | None


@dataclass(frozen=True)
class Elements:
    """Makes elements of matrices in spin and colour at one site.

    Attributes:
        lowering: of all else.
        at: the site.
    """

    lowering: Lowering
    at: Displacement

    def of(self, node: Node, sink: Spin, source: Spin) -> list[Term]:
        """The colour matrix that leads from a spin to another, as a sum."""
        known, key = self.lowering.elements, (id(node), self.at, sink, source)
        if key not in known:
            known[key] = node, self._made(node, sink, source)  # kept, for its id to stay its own
        return known[key][1]

    def _made(self, node: Node, sink: Spin, source: Spin) -> list[Term]:
        if node.op == "load":
            return [Term(1, (), self._value("load", "matrix", (), (node.data, (sink, source), self.at)))]
        if node.op == "promote":
            return self.of(node.args[0], sink, source)
        if node.kind in NUMBERS or node.kind == "matrix":
            same = sink == source
            return (
                [Term(1, (), self.lowering.lower(node, self.at))]
                if same and node.kind == "matrix"
                else ([Term(1, (self.lowering.lower(node, self.at),), None)] if same else [])
            )
        if node.kind == "spin" and is_constant(node):
            weight = complex(self._spin(node)[_whole(node, sink), _whole(node, source)])
            return [Term(weight, (), None)] if weight else []
        if node.op == "parameter":
            raise ExpressionError(f"{node.place}: {node}: a gamma matrix of the call multiplies a propagator")
        if node.op == "adj":
            return [self._adjoint(t) for t in self.of(node.args[0], source, sink)]
        if node.op == "neg":
            return [t._replace(weight=-t.weight) for t in self.of(node.args[0], sink, source)]
        if node.op in ("add", "sub"):
            sign = 1 if node.op == "add" else -1
            left, right = (self.of(a, sink, source) for a in node.args)
            return [*left, *(t._replace(weight=sign * t.weight) for t in right)]
        if node.op == "mul":
            return self._product(node.args[0], node.args[1], sink, source)
        raise ExpressionError(f"{node.place}: {node}: it is no product or sum of propagators in a kernel")

    def matrix(self, terms: Sequence[Term]) -> Value:
        """A sum of colour matrices."""
        return self._sum("matrix", [(t.weight, self._scaled(t.numbers, self._or_unit(t.matrix))) for t in terms])

    def trace(self, node: Node) -> Value:
        """The trace over spin and colour of a product."""
        groups = _grouped(node)
        if len(groups) > 2:
            groups = [_chain(groups[:-1]), groups[-1]]
        found = []
        if len(groups) == 1:
            for spin in SPINS:
                for t in self.of(groups[0], spin, spin):
                    one = self._value("trace", "complex", (self._or_unit(t.matrix),), None)
                    found.append((t.weight, self._scaled(t.numbers, one)))
        else:
            for sink in SPINS:
                for source in SPINS:
                    found += self._traced(self.of(groups[0], sink, source), self.of(groups[1], source, sink))
        return self._sum("complex", found)

    def _traced(self, left: list[Term], right: list[Term]) -> list[tuple[complex, Value]]:
        if not left or not right:
            return []
        a, b = self._single(left), self._single(right)
        two = self._value("trace", "complex", (self._or_unit(a.matrix), self._or_unit(b.matrix)), None)
        return [(a.weight * b.weight, self._scaled((*a.numbers, *b.numbers), two))]

    def _product(self, a: Node, b: Node, sink: Spin, source: Spin) -> list[Term]:
        if a.kind in NUMBERS:
            number = (1, (self.lowering.lower(a, self.at),)) if a.op != "constant" else (complex(a.data), ())
            return [
                t._replace(weight=number[0] * t.weight, numbers=(*number[1], *t.numbers))
                for t in self.of(b, sink, source)
            ]
        if a.op == "mul" and a.kind == "spin" and not is_constant(a):
            return self._product(a.args[0], _mul(a.args[1], b), sink, source)
        if b.op == "mul" and b.kind == "spin" and not is_constant(b):
            return self._product(_mul(a, b.args[0]), b.args[1], sink, source)
        if a.kind == "spin" and a.op == "parameter":
            return self._with(self._unit(a, sink), self.of(b, _partner(a, sink), source))
        if b.kind == "spin" and b.op == "parameter":
            across = _partner(b, source)
            return self._with(self._unit(b, across), self.of(a, sink, across))
        if a.kind == "spin":
            row = self._spin(a)[_whole(a, sink)]
            return [
                t._replace(weight=complex(row[k]) * t.weight) for k in SPINS if row[k] for t in self.of(b, k, source)
            ]
        if b.kind == "spin":
            column = self._spin(b)[:, _whole(b, source)]
            return [
                t._replace(weight=complex(column[k]) * t.weight)
                for k in SPINS
                if column[k]
                for t in self.of(a, sink, k)
            ]
        found = []
        for k in SPINS:
            left, right = self.of(a, sink, k), self.of(b, k, source)
            if left and right:
                found.append(self._times(self._single(left), self._single(right)))
        return found

    def _times(self, a: Term, b: Term) -> Term:
        matrices = [m for m in (a.matrix, b.matrix) if m is not None]
        both = self._value("mul", "matrix", tuple(matrices), None) if len(matrices) == 2 else None
        return Term(a.weight * b.weight, (*a.numbers, *b.numbers), both or (matrices or [None])[0])

    def _single(self, terms: list[Term]) -> Term:
        return terms[0] if len(terms) == 1 else Term(1, (), self.matrix(terms))

    def _adjoint(self, t: Term) -> Term:
        numbers = tuple(n if n.kind == "real" else self._conjugate(n) for n in t.numbers)
        return Term(t.weight.conjugate(), numbers, None if t.matrix is None else self._conjugate(t.matrix))

    def _conjugate(self, v: Value) -> Value:
        return v.args[0] if v.op == "adj" else self._value("adj", v.kind, (v,), None)

    def _with(self, number: Value, terms: list[Term]) -> list[Term]:
        return [t._replace(numbers=(number, *t.numbers)) for t in terms]

    def _unit(self, gamma: Node, row: Spin) -> Value:
        return self._value("unit", "complex", (), (gamma.data, row))

    def _or_unit(self, matrix: Value | None) -> Value:
        return self._value("identity", "matrix", (), None) if matrix is None else matrix

    def _scaled(self, numbers: Iterable[Value], v: Value) -> Value:
        def times(product: Value, number: Value) -> Value:
            kind = "complex" if product.kind == "real" else product.kind
            return self._value("mul", kind, (number, product), None)

        return reduce(times, numbers, v)

    def _sum(self, kind: str, terms: Sequence[tuple[complex, Value]]) -> Value:
        """Signs become those of the sum."""
        total: Value | None = None
        for weight, v in sorted(terms, key=lambda term: term[0] not in (1, 1j) and _leads(term[0])):
            sign = _leads(weight)
            factor = -weight if sign else weight
            number = factor if factor.imag else factor.real
            part = v
            if number != 1:
                const = self._value("constant", "complex" if factor.imag else "real", (), number)
                part = self._value("mul", kind, (const, v), None)
            if total is None:
                total = self._value("neg", kind, (part,), None) if sign else part
            else:
                total = self._value("sub" if sign else "add", kind, (total, part), None)
        if total is None:
            zero = self._value("constant", "real", (), 0.0)
            return (
                self._value("mul", kind, (zero, self._or_unit(None)), None)
                if kind == "matrix"
                else (self._value("constant", "complex", (), 0j))
            )
        return total

    def _spin(self, node: Node) -> Any:
        known = self.lowering.spins
        if id(node) not in known:
            known[id(node)] = node, spin_value(node, DEGRAND_ROSSI)
        return known[id(node)][1]

    @property
    def _value(self) -> Callable[..., Value]:
        return self.lowering.value


def elements_of(node: Node) -> list[tuple[int, Node]]:
    """The colour matrices of a propagator, numbered 4 sink + source; of one spin itself."""
    if node.kind == "matrix":
        return [(0, node)]
    pairs = ((i, j) for i in SPINS for j in SPINS)
    return [(4 * i + j, Node("element", "matrix", (node,), (i, j), place=node.place)) for i, j in pairs]


def gamma_products() -> tuple[int, list[int]]:
    """The sixteen products of gamma matrices in packed bits, by number.

    Returns:
        What the column of the element of row i differs from i in, 2 bits for each product; k of the element i^k, 2 bits
        for row i of product n at 2 (4 n + i), in words of 64 bits.
    """
    flips, units = 0, 0
    for n in range(16):
        product = np.eye(4, dtype=complex)
        for mu in range(4):
            if n >> mu & 1:
                product = product @ DEGRAND_ROSSI.gamma[mu]
        columns = [int(np.flatnonzero(row)[0]) for row in product]
        flip = columns[0]
        if any(c != i ^ flip for i, c in enumerate(columns)) or np.count_nonzero(product) != 4:
            raise ArithmeticError(f"product {n} of gamma matrices does not pair spins off")
        flips |= flip << 2 * n
        for i, c in enumerate(columns):
            units |= round(np.angle(product[i, c]) / (np.pi / 2)) % 4 << 2 * (4 * n + i)
    return flips, [units & (1 << 64) - 1, units >> 64]


def _leads(weight: complex) -> bool:
    """Whether it is printed with a minus sign."""
    return weight.real < 0 or (weight.real == 0 and weight.imag < 0)


def _whole(node: Node, spin: Spin) -> int:
    if isinstance(spin, int):
        return spin
    raise ExpressionError(f"{node.place}: {node}: gamma matrices of the call stand beside the propagator itself")


def _partner(gamma: Node, spin: Spin) -> Partner:
    return Partner(gamma.data, _whole(gamma, spin))


def _mul(a: Node, b: Node) -> Node:
    return Node("mul", "spin" if a.kind == b.kind == "spin" else "block", (a, b), None, place=a.place)


def _chain(nodes: Sequence[Node]) -> Node:
    return reduce(_mul, nodes)


def _grouped(node: Node) -> list[Node]:
    """The factors of a product, matrices in spin with the propagator that follows, at the end with that before."""

    def factors(n: Node) -> list[Node]:
        if n.op == "mul" and n.args[0].kind not in NUMBERS:
            return [*factors(n.args[0]), *factors(n.args[1])]
        return [n]

    groups: list[Node] = []
    waiting: list[Node] = []
    for f in factors(node):
        waiting.append(f)
        if f.kind != "spin":
            groups.append(_chain(waiting))
            waiting = []
    if not groups:
        return [_chain(waiting)]
    groups[-1] = _chain([groups[-1], *waiting])
    return groups
