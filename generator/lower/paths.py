"""Formulas that are sums over paths of links, written so that each site on the way is met once.

sum_w S_w U_w psi(end of w) over paths w becomes Horner's form: what lies beyond a first step is added up at its end and
then transported over that one link. What lies beyond the same steps in another order is the same graph, made once.

The same as steps over one link each, from field to field, is what forces of long formulas are made of (`path_fields`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI, TOLERANCE
from ..errors import ExpressionError, ShapeError
from ..language.graph import Node, make
from ..language.symbols import adj, directions, shift, sign
from ..language.walks import merged
from .terms import HERE, Term, expand, product_value


@dataclass
class _Point:
    """Where a path has come: terms that end there, and what lies beyond each next step."""

    ends: list[Term] = field(default_factory=list)
    beyond: dict[tuple[str, int], _Point] = field(default_factory=dict)
    """Fields of paths, by field and step: +1..+4 forward, -1..-4 backward."""


def along_paths(matrix: Node, fermion: str) -> Node:
    """The operator in Horner's form; the unchanged graph if some term is not a path of links."""
    root = _tree(matrix, fermion)
    return matrix if root is None else merged(_value(root, make("load", "spinor", (), fermion)))


@dataclass(frozen=True)
class PathStep:
    """N_from(x) has a term U_mu(x) N_to(x + mu), or of a step backward U_mu(x - mu)^+ N_to(x - mu)."""

    start: int
    to: int
    step: int
    """Direction of the step: +1..+4 forward, -1..-4 backward."""


@dataclass(frozen=True)
class PathFields:
    """M psi = what stands at x + N_0 for fields N_n = ends_n psi + what steps bring; each after those that read it.

    Attributes:
        ends: factors of 1, gamma_x, gamma_y, gamma_z, gamma_t.
    """

    ends: tuple[tuple[float, ...], ...]
    steps: tuple[PathStep, ...]


def path_fields(matrix: Node, fermion: str) -> PathFields | None:
    """A sum over paths as steps between fields, None if the formula is no such sum.

    Raises:
        ExpressionError: a path is multiplied by a parameter or by spins that are not made of 1 and gamma_mu.
    """
    root = _tree(matrix, fermion)
    if root is None:
        return None
    numbers: dict[_Key, int] = {}
    fields: list[_Key] = []

    def visit(point: _Point, ends: tuple[float, ...]) -> int:
        key = ends, tuple((mu, visit(p, _ends(p.ends))) for (_, mu), p in sorted(point.beyond.items()))
        if key not in numbers:
            numbers[key] = len(fields)
            fields.append(key)
        return numbers[key]

    last = visit(root, (0.0,) * 5)
    steps = [PathStep(last - n, last - to, mu) for n, (_, beyond) in enumerate(fields) for mu, to in beyond]
    order = tuple(sorted(steps, key=lambda s: (s.start, s.to)))
    return PathFields(tuple(ends for ends, _ in reversed(fields)), order)


_Key = tuple[tuple[float, ...], tuple[tuple[int, int], ...]]
"""What ends at a point, and steps to others by number."""


def _ends(terms: list[Term]) -> tuple[float, ...]:
    """The spin matrix of all terms in units of 1 and gamma_mu."""
    units = (np.eye(4), *DEGRAND_ROSSI.gamma)
    total = np.zeros((4, 4), complex)
    for t in terms:
        if t.numbers or t.signs:
            raise ExpressionError(f"{t.numbers or t.signs}: paths of a long formula have constant factors")
        total = total + complex(t.factor) * product_value(t.spin, DEGRAND_ROSSI, 4)
    found = [complex(np.vdot(unit, total)) / 4 for unit in units]
    rest = total - sum(c * unit for c, unit in zip(found, units, strict=True))
    if max(np.abs(rest).max(), *(abs(c.imag) for c in found)) > TOLERANCE:
        raise ExpressionError("spins of a long formula are made of 1 and gamma_mu with real factors")
    return tuple(c.real for c in found)


_trees: dict[tuple[int, str], tuple[Node, _Point | None]] = {}


def _tree(matrix: Node, fermion: str) -> _Point | None:
    """All paths from x, None where some term is none; of each formula made once."""
    if (id(matrix), fermion) not in _trees:
        _trees[id(matrix), fermion] = matrix, _grown(matrix, fermion)
    return _trees[id(matrix), fermion][1]


def _grown(matrix: Node, fermion: str) -> _Point | None:
    try:
        terms = expand(matrix, fermion)
    except ShapeError:
        return None
    words = [_word(t) for t in terms]
    if any(w is None for w in words):
        return None
    root = _Point()
    for term, word in zip(terms, words, strict=True):
        point = root
        for step in word or ():
            point = point.beyond.setdefault(step, _Point())
        point.ends.append(term)
    return root


def _word(term: Term) -> tuple[tuple[str, int], ...] | None:
    """The steps of a term from x to where psi stands, None if its matrices are no links that lead there."""
    if term.site or term.walls or term.flavour:
        return None
    steps, at = [], list(HERE)
    for factor in term.colour:
        if factor.link is None:
            return None
        field, mu = factor.link
        if factor.adjoint:
            at[mu] -= 1
        if tuple(at) != factor.at:
            return None
        if not factor.adjoint:
            at[mu] += 1
        steps.append((field, -mu - 1 if factor.adjoint else mu + 1))
    return tuple(steps) if tuple(at) == term.at else None


def _value(point: _Point, psi: Node) -> Node:
    total: Node | None = None
    groups: dict[object, list[Term]] = {}
    for t in point.ends:
        groups.setdefault((t.number_key, t.signs), []).append(t)
    for alike in groups.values():
        total = _plus(total, _coefficient(alike, psi))
    for (name, step), further in point.beyond.items():
        mu = directions[abs(step) - 1]
        link = make("load", "matrix", (), (name, mu.index))
        value = _value(further, psi)
        total = _plus(total, link * shift(value, +mu) if step > 0 else shift(adj(link) * value, -mu))
    assert total is not None
    return total


def _coefficient(terms: list[Term], psi: Node) -> Node:
    """Terms with the same numbers and signs that end at one site, of that site's psi."""
    result: Node | None = None
    for term in terms:
        value: Node | None = None
        for matrix in term.spin:
            value = matrix if value is None else value * matrix
        flip = sum(term.at[mu] for mu in term.signs) % 2
        factor = complex(term.factor) * (-1 if flip else 1)
        number = factor if factor.imag else factor.real
        spin = make("constant", "complex" if factor.imag else "real", (), number) if value is None else number * value
        result = _plus(result, spin)
    assert result is not None
    value = result * psi
    if terms[0].signs:
        value = sign(*(directions[mu] for mu in terms[0].signs)) * value
    for n in reversed(terms[0].numbers):
        value = n * value
    return value


def _plus(a: Node | None, b: Node) -> Node:
    return b if a is None else a + b
