"""A formula linear in a fermion, written out: the sum of terms number * spin * links * psi at another site."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from generator.algebra.gamma import Basis, Matrix
from generator.language.constants import is_constant, spin_value
from generator.language.graph import FIFTH, NAMES, NUMBERS, ExpressionError, Node, is_uniform

Place = tuple[int, ...]
"""Sites or slices along each of NAMES."""
HERE: Place = (0,) * len(NAMES)


@dataclass(frozen=True)
class Link:
    """A matrix of a field at a displaced site, or its conjugate."""

    field: str
    mu: int
    at: Place
    adjoint: bool


@dataclass(frozen=True)
class Term:
    """One term of M psi(x).

    Attributes:
        numbers: factors that are the same at all sites.
        signs: (-1) to the sum of these coordinates of x.
        spin, flavour: constant matrices, each a product from left to right.
        links: product of links from left to right.
        blocks: matrices of a site that are no products of links, such as field strengths.
        at: displacement of psi.
        walls: (direction +1 or -1, factor) for steps along the fifth dimension.
    """

    numbers: tuple[Node, ...] = ()
    signs: tuple[int, ...] = ()
    spin: tuple[Node, ...] = ()
    flavour: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    blocks: tuple[Node, ...] = ()
    at: Place = HERE
    walls: tuple[tuple[int, Node], ...] = ()
    factor: complex = 1

    @property
    def is_local(self) -> bool:
        """Whether psi stands at x and in the same slice."""
        return self.at == HERE


def expand(node: Node, fermion: str, at: Place = HERE) -> list[Term]:
    """The terms of a spinor node.

    Raises:
        ExpressionError: the formula is not linear in the fermion.
    """
    if node.op == "load" and node.kind == "spinor":
        if node.data != fermion:
            raise ExpressionError(f"{node.place}: {node}: a Dirac operator acts on {fermion} alone")
        return [Term(at=at)]
    if node.op in ("add", "sub"):
        second = expand(node.args[1], fermion, at)
        return expand(node.args[0], fermion, at) + (_times(second, -1) if node.op == "sub" else second)
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


def _moved(at: Place, steps: Sequence[int]) -> Place:
    return tuple(a + b for a, b in zip(at, steps, strict=True))


def _times(terms: list[Term], factor: complex) -> list[Term]:
    if factor == 0:
        return []
    return [replace(t, factor=factor * t.factor) for t in terms]


def _apply(op: Node, at: Place, terms: list[Term]) -> list[Term]:
    """What multiplies a spinor from the left, on each term."""
    if op.op == "promote":
        return _apply(op.args[0], at, terms)
    if op.kind in NUMBERS:
        return _number(op, at, terms)
    if op.op == "mul" and (op.kind in ("block", "matrix") or op.args[0].kind in NUMBERS or not is_constant(op)):
        return _apply(op.args[0], at, _apply(op.args[1], at, terms))
    if op.op == "neg" and op.kind != "matrix":
        return _times(_apply(op.args[0], at, terms), -1)
    if op.kind == "block" or (op.kind in ("spin", "flavour") and not is_constant(op)):
        second = _apply(op.args[1], at, terms)
        return _apply(op.args[0], at, terms) + (_times(second, -1) if op.op == "sub" else second)
    if op.kind == "spin":
        return [replace(t, spin=(op, *t.spin)) for t in terms]
    if op.kind == "flavour":
        return [replace(t, flavour=(op, *t.flavour)) for t in terms]
    return [_with_colour(op, at, t) for t in terms]


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
    if not is_uniform(op):
        raise ExpressionError(f"{op.place}: {op}: numbers of an action are parameters and signs of the site")
    return [replace(t, numbers=(op, *t.numbers)) for t in terms]


def _with_colour(op: Node, at: Place, term: Term) -> Term:
    """A matrix in colour: products of links are taken apart, anything else is a block."""
    link = _links(op, at, adjoint=False)
    if link is None:
        if at != HERE:
            raise ExpressionError(f"{op.place}: {op}: sums of links may multiply psi at its own site alone")
        return replace(term, blocks=(op, *term.blocks))
    return replace(term, links=(*link, *term.links))


def _links(op: Node, at: Place, *, adjoint: bool) -> tuple[Link, ...] | None:
    if op.op == "load":
        field, mu = op.data
        return (Link(field, mu, at, adjoint),)
    if op.op == "shift":
        return _links(op.args[0], _moved(at, op.data.vector), adjoint=adjoint)
    if op.op == "adj":
        return _links(op.args[0], at, adjoint=not adjoint)
    if op.op == "mul" and op.args[0].kind == "matrix":
        parts = [_links(a, at, adjoint=adjoint) for a in op.args]
        if parts[0] is None or parts[1] is None:
            return None
        return parts[1] + parts[0] if adjoint else parts[0] + parts[1]
    return () if op.op == "identity" else None


def value_of(node: Node, values: Mapping[str, float]) -> complex:
    """A number with given parameters."""
    if node.op == "constant":
        return complex(node.data)
    if node.op == "parameter":
        return complex(values[node.data])
    args = [value_of(a, values) for a in node.args]
    if node.op in ("neg", "exp"):
        return -args[0] if node.op == "neg" else complex(np.exp(args[0]))
    a, b = args
    return {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b if b else math.nan}[node.op]


def product_value(nodes: Sequence[Node], basis: Basis | None, size: int) -> Matrix:
    """The product of constant matrices."""
    result = np.eye(size, dtype=complex)
    for n in nodes:
        result = result @ spin_value(n, basis)
    return result
