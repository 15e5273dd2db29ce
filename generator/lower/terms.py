"""A formula linear in a fermion, written out: the sum of terms number * spin * colour * psi at another site."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.gamma import Basis, Matrix
from ..errors import ExpressionError, ShapeError
from ..language.graph import FIFTH, NAMES, NUMBERS, Node, is_uniform
from ..language.symbols import adj
from .constants import is_constant, spin_value

Place = tuple[int, ...]
"""A displacement in sites or slices along each of NAMES."""
HERE: Place = (0,) * len(NAMES)
MOST_TERMS = 20000
"""Most terms of a formula that is written out; more would take minutes and are taken for a mistake."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A colour matrix, or a number of the site, at a displaced site, or its conjugate."""

    node: Node
    at: Place
    adjoint: bool

    @property
    def link(self) -> tuple[str, int] | None:
        """Field and direction where it is a matrix that stands in memory under a name."""
        return self.node.data if self.node.op == "load" and self.node.kind == "matrix" else None


@dataclass(frozen=True, eq=False)
class Term:
    """One term of M psi(x).

    Attributes:
        numbers: factors that are the same at all sites.
        signs: (-1) to the sum of these coordinates of x.
        spin, flavour: constant matrices, each a product from left to right.
        colour: matrices in colour and numbers of sites, from left to right.
        site: functions of matrices in spin and colour at x.
        at: displacement of psi.
        walls: (direction +1 or -1, factor) for steps along the fifth dimension.
        factor: a constant.
    """

    numbers: tuple[Node, ...] = ()
    signs: tuple[int, ...] = ()
    spin: tuple[Node, ...] = ()
    flavour: tuple[Node, ...] = ()
    colour: tuple[Factor, ...] = ()
    site: tuple[Node, ...] = ()
    at: Place = HERE
    walls: tuple[tuple[int, Node], ...] = ()
    factor: complex = 1

    @property
    def is_local(self) -> bool:
        """Whether psi stands at x and in the same slice."""
        return self.at == HERE

    @property
    def number_key(self) -> tuple[str, ...]:
        """The numbers of the term as text, by which equal ones are recognised."""
        return tuple(map(str, self.numbers))


def expand(node: Node, fermion: str, at: Place = HERE) -> list[Term]:
    """The terms of a spinor node.

    Raises:
        ExpressionError: the formula is not linear in the fermion.
        ShapeError: it acts on other spinors too, or has functions of sums at other sites.
    """
    if node.op == "load" and node.kind == "spinor":
        if node.data != fermion:
            raise ShapeError(f"{node.place}: {node}: a sum of terms acts on {fermion} alone")
        return [Term(at=at)]
    if node.op in ("add", "sub"):
        second = expand(node.args[1], fermion, at)
        found = expand(node.args[0], fermion, at) + (_times(second, -1) if node.op == "sub" else second)
        if len(found) > MOST_TERMS:
            raise ShapeError(f"{node.place}: more than {MOST_TERMS} terms")
        return found
    if node.op == "neg":
        return _times(expand(node.args[0], fermion, at), -1)
    if node.op == "shift":
        terms = expand(node.args[0], fermion, _moved(at, node.data.vector))
        steps = node.data.vector[FIFTH]
        wall = ((int(math.copysign(1, steps)), node.args[1]),) if steps else ()
        return [replace(t, walls=wall + t.walls) for t in terms]
    if node.op == "mul":
        return _apply(node.args[0], at, expand(node.args[1], fermion, at))
    raise ExpressionError(f"{node.place}: {node} is not linear in {fermion}")


def apply_matrix(matrix: Node) -> list[Term]:
    """The terms of a matrix in spin, flavour and colour that multiplies psi at its site."""
    return _apply(matrix, HERE, [Term()])


def _moved(at: Place, steps: Sequence[int]) -> Place:
    return tuple(a + b for a, b in zip(at, steps, strict=True))


def _times(terms: list[Term], factor: complex) -> list[Term]:
    if factor == 0:
        return []
    return [replace(t, factor=factor * t.factor) for t in terms]


def _apply(op: Node, at: Place, terms: list[Term]) -> list[Term]:
    """Applies a factor that multiplies a spinor from the left to each term."""
    if op.op == "promote":
        return _apply(op.args[0], at, terms)
    if op.kind in NUMBERS:
        return _number(op, at, terms)
    if op.kind == "matrix":
        return _colour(op, at, terms)
    if op.op == "mul" and (op.kind == "block" or op.args[0].kind in NUMBERS or not is_constant(op)):
        return _apply(op.args[0], at, _apply(op.args[1], at, terms))
    if op.op == "neg":
        return _times(_apply(op.args[0], at, terms), -1)
    if op.op == "exp":
        if at != HERE:
            raise ShapeError(f"{op.place}: {op}: exponentials multiply psi at its own site")
        return [replace(t, site=(op, *t.site)) for t in terms]
    if op.op in ("add", "sub") and not is_constant(op):
        second = _apply(op.args[1], at, terms)
        return _apply(op.args[0], at, terms) + (_times(second, -1) if op.op == "sub" else second)
    if op.kind == "spin" and is_constant(op):
        return [replace(t, spin=(op, *t.spin)) for t in terms]
    if op.kind == "flavour" and is_constant(op):
        return [replace(t, flavour=(op, *t.flavour)) for t in terms]
    raise ShapeError(f"{op.place}: {op} is no sum of products")


def _number(op: Node, at: Place, terms: list[Term]) -> list[Term]:
    if op.op == "constant":
        return _times(terms, op.data)
    if op.op == "sign":
        flip = sum(at[mu] for mu in op.data) % 2
        signed = [replace(t, signs=tuple(sorted(set(t.signs) ^ set(op.data)))) for t in terms]
        return _times(signed, -1) if flip else signed
    if op.op == "mul":
        return _number(op.args[0], at, _number(op.args[1], at, terms))
    if op.op == "neg":
        return _times(_number(op.args[0], at, terms), -1)
    if is_uniform(op):
        return [replace(t, numbers=(op, *t.numbers)) for t in terms]
    return _colour(op, at, terms)


def _colour(op: Node, at: Place, terms: list[Term]) -> list[Term]:
    """A matrix in colour or a number of the site; what is the same at all sites stands among the numbers."""
    factors = _factors(op, at, adjoint=False)
    colour = tuple(f for f in factors if not is_uniform(f.node))
    numbers = tuple(adj(f.node) if f.adjoint else f.node for f in factors if is_uniform(f.node))
    constant = complex(np.prod([complex(n.data) for n in numbers if n.op == "constant"]))
    rest = tuple(n for n in numbers if n.op != "constant")
    factor = constant if constant.imag else constant.real
    return [
        replace(t, colour=(*colour, *t.colour), numbers=(*rest, *t.numbers), factor=factor * t.factor) for t in terms
    ]


def _factors(op: Node, at: Place, *, adjoint: bool) -> tuple[Factor, ...]:
    """A product of matrices and numbers of sites, taken apart."""
    if op.op == "shift":
        return _factors(op.args[0], _moved(at, op.data.vector), adjoint=adjoint)
    if op.op == "adj":
        return _factors(op.args[0], at, adjoint=not adjoint)
    if op.op == "mul":
        parts = [_factors(a, at, adjoint=adjoint) for a in op.args]
        return (*parts[1], *parts[0]) if adjoint else (*parts[0], *parts[1])
    return () if op.op == "identity" else (Factor(op, at, adjoint),)


def product_value(nodes: Sequence[Node], basis: Basis | None, size: int) -> Matrix:
    """The product of constant matrices."""
    result = np.eye(size, dtype=complex)
    for n in nodes:
        result = result @ spin_value(n, basis)
    return result
