"""The site term T of a statement: one constant matrix in flavour and spin, and Hermitian blocks made of fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI, TOLERANCE, Matrix
from ..errors import ShapeError
from ..language.action import Action
from ..language.gauge import PLANES, field_strength
from ..language.graph import Node, constant
from ..language.symbols import Four, sigma, time
from ..language.walks import parts
from .made import Graphs
from .numbers import Product, printed_sum
from .numeric import value_of
from .terms import HERE, Term, apply_matrix, product_value
from .transport import colour_matrix

_ONE, _G5 = np.eye(4), DEGRAND_ROSSI.gamma5
_ONE2, _TAU1, _TAU3 = np.eye(2), np.array([[0, 1], [1, 0]]), np.diag([1, -1])
_PARTS = {
    "diagonal": np.kron(_ONE2, _ONE),
    "twist": 1j * np.kron(_TAU3, _G5),
    "twist_of_one": 1j * np.kron(_ONE2, _G5),
    "splitting": np.kron(_TAU1, _ONE),
}
"""Orthogonal matrices in flavour and spin: kernels of their own know real combinations of them and their inverses."""


@dataclass(frozen=True, eq=False)
class Block:
    """A part of T that is made of fields: c S F.

    Attributes:
        number: real c, as a constant and the numbers of the statement.
        spin: a Hermitian 4x4 matrix that commutes with gamma_5, in the DeGrand-Rossi basis; its largest element is of
            modulus 1, and the first of those is positive, or i times so.
        matrix: F, Hermitian colour matrices of the site.
    """

    number: Product
    spin: Matrix
    matrix: Node


@dataclass(frozen=True, eq=False)
class SiteForm:
    """T = constant + blocks, or constant + d exp(blocks)."""

    graphs: Graphs
    terms: tuple[Term, ...]

    @property
    def action(self) -> Action:
        """The statement."""
        return self.graphs.action

    @cached_property
    def flavours(self) -> int:
        """Flavours that T mixes or distinguishes."""
        return 2 if any(t.flavour for t in self.terms) else 1

    @cached_property
    def constant(self) -> tuple[tuple[Product, Matrix], ...]:
        """The constant matrix: numbers and what they multiply, flavour outside spin, in the DeGrand-Rossi basis."""
        return tuple(
            (
                (1.0, t.numbers),
                t.factor * np.kron(product_value(t.flavour, None, 2), product_value(t.spin, DEGRAND_ROSSI, 4)),
            )
            for t in self.terms
            if not t.colour and not t.site
        )

    @cached_property
    def _exponent(self) -> Term | None:
        found = [t for t in self.terms if t.site]
        if not found:
            return None
        term = found[0]
        plain = not (term.spin or term.flavour or term.colour or term.signs) and abs(term.factor.imag) < TOLERANCE
        if len(found) > 1 or len(term.site) > 1 or not plain:
            raise self._refused("one exponential stands at a site, times real numbers")
        if any(t.colour for t in self.terms):
            raise self._refused("what stands beside an exponential at a site is constant")
        return term

    def _refused(self, why: str) -> ShapeError:
        return ShapeError(f"{self.action.place}: {self.action.name}: {why}")

    @cached_property
    def exponential(self) -> Product | None:
        """The d of d exp(blocks); None for blocks that are added."""
        term = self._exponent
        return None if term is None else (complex(term.factor).real, term.numbers)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The part that is made of fields.

        Raises:
            ShapeError: it is not Hermitian, does not commute with gamma_5, or tells flavours apart.
        """
        term = self._exponent
        if term is None:
            return tuple(self._block(t) for t in self.terms if t.colour)
        inner = apply_matrix(term.site[0].args[0])
        if any(not t.colour for t in inner):
            raise self._refused("what is exponentiated at a site is made of colour matrices")
        return tuple(self._block(t) for t in inner)

    def _block(self, term: Term) -> Block:
        if term.flavour or term.signs or any(n.kind == "complex" for n in term.numbers) or term.at != HERE:
            raise self._refused("matrices of the site tell flavours or sites apart")
        spin = np.asarray(term.factor * product_value(term.spin, DEGRAND_ROSSI, 4))
        colour = colour_matrix(term.colour)
        if any(n.kind == "spinor" for n in parts([colour])):
            raise self._refused("matrices of the site are made of another spinor")
        for unit in (1, 1j):
            turned = colour if unit == 1 else constant(1j) * colour
            if self.graphs.is_hermitian(turned):
                spin = spin / unit
                break
        else:
            raise self._refused(f"{str(colour)[:80]} is not Hermitian")
        if max(np.abs(spin @ _G5 - _G5 @ spin).max(), np.abs(spin - spin.conj().T).max()) > TOLERANCE:
            raise self._refused(
                f"{str(colour)[:80]} multiplies spins by no Hermitian matrix that commutes with gamma_5"
            )
        size = _size(spin)
        return Block((size, term.numbers), spin / size, turned)

    @property
    def stored(self) -> bool:
        """Whether T has a part made of fields."""
        return any(t.colour or t.site for t in self.terms)

    @cached_property
    def parts(self) -> Mapping[str, tuple[Product, ...]]:
        """For each matrix of _PARTS the real numbers that multiply it: (constant, factors).

        Raises:
            ShapeError: T has another constant matrix.
        """
        found: dict[str, list[Product]] = {name: [] for name in _PARTS}
        for (one, numbers), matrix in self.constant:
            if any(n.kind == "complex" for n in numbers):
                raise self._refused("a number of the site term is complex")
            for name, part in self._decompose(matrix).items():
                found[name].append((one * part, numbers))
        if found["twist_of_one"] and (found["twist"] or self.flavours > 1):
            raise self._refused("i gamma_5 stands beside tau_3 or tau_1")
        return {name: tuple(rows) for name, rows in found.items()}

    @property
    def numbers(self) -> dict[str, tuple[Product, ...]]:
        """The numbers of a T that kernels know."""
        if self.is_general:
            return {}
        twist = self.parts["twist"] or self.parts["twist_of_one"]
        found = {"diagonal": self.parts["diagonal"], "twist": twist, "splitting": self.parts["splitting"]}
        return {name: rows for name, rows in found.items() if rows}

    def _decompose(self, matrix: Matrix) -> dict[str, float]:
        weights = {name: complex(np.vdot(part, matrix)) / 8 for name, part in _PARTS.items()}
        rest = matrix - sum(w * _PARTS[name] for name, w in weights.items())
        if np.abs(rest).max() > TOLERANCE or any(abs(w.imag) > TOLERANCE for w in weights.values()):
            raise self._refused("the constant part of the site term is made of other matrices than 1, i gamma_5, tau_1")
        return {name: w.real for name, w in weights.items() if abs(w) > TOLERANCE}

    @cached_property
    def is_general(self) -> bool:
        """Whether the constant matrix has no form that kernels know; the host inverts it, if nothing is stored.

        Raises:
            ShapeError: it stands beside blocks made of fields.
        """
        try:
            return not self.parts
        except ShapeError:
            if self.stored:
                raise
            return True

    @cached_property
    def twisted(self) -> bool:
        """Whether T has a part i gamma_5, and no other matrix than those that kernels know besides it."""
        return not self.is_general and bool(self.parts["twist"] or self.parts["twist_of_one"])

    def check(self) -> None:
        """Checks that T is of this form.

        Raises:
            ShapeError: it is not.
        """
        if any(t.signs for t in self.terms):
            raise self._refused("numbers of the site term change sign from site to site")
        assert self.is_general is not None and self.blocks is not None

    @cached_property
    def clover(self) -> dict[str, tuple[Product, ...]] | None:
        """The c of -(1/2) sum_{mu<nu} c_munu sigma_munu F_munu: for planes in `space` and in `time`.

        None where the blocks are others, or planes of a kind differ.
        """
        gauge = next((f.name for f in self.action.fields if f.origin == "gauge"), "")
        planes = {plane: _plane(gauge, *plane) for plane in PLANES}
        found: dict[str, dict[str, tuple[Product, ...]]] = {"space": {}, "time": {}}
        known = 0
        for plane, unit in planes.items():
            mine = [b for b in self.blocks if str(b.matrix) == str(unit.matrix)]
            ratios = [_ratio(b.spin, unit.spin) for b in mine]
            if None in ratios:
                return None
            rows = tuple((-2 * (r or 0.0) * b.number[0], b.number[1]) for r, b in zip(ratios, mine, strict=True))
            known += len(mine)
            found["time" if time in plane else "space"][printed_sum(rows)] = rows
        if known != len(self.blocks) or not known or any(len(values) > 1 for values in found.values()):
            return None
        return {kind: next(iter(values.values())) for kind, values in found.items()}

    def value(self, part: str, parameters: Mapping[str, complex]) -> float:
        """The number that multiplies a part, for given parameters."""
        return sum(c * _product(numbers, parameters).real for c, numbers in self.parts[part])

    def matrix(self, parameters: Mapping[str, complex]) -> Matrix:
        """T without blocks, flavour outside spin, in the DeGrand-Rossi basis."""
        return np.asarray(sum((c * _product(n, parameters) * m for (c, n), m in self.constant), np.zeros((8, 8))))


def _plane(gauge: str, mu: object, nu: object) -> Block:
    """The term sigma_munu F_munu, written out."""
    (term,) = apply_matrix(sigma[mu, nu] * field_strength(Four(gauge), mu, nu))  # type: ignore[index, arg-type]
    spin = np.asarray(term.factor * product_value(term.spin, DEGRAND_ROSSI, 4))
    return Block((1.0, ()), spin / 1j, constant(1j) * colour_matrix(term.colour))


def _size(spin: Matrix) -> float:
    """Normalisation of a matrix, by which statements with other numbers share one."""
    largest = float(np.abs(spin).max())
    first = spin.flat[np.flatnonzero(np.abs(spin) > largest - TOLERANCE)[0]]
    return largest * float(np.sign(first.real or first.imag))


def _ratio(matrix: Matrix, unit: Matrix) -> float | None:
    ratio = complex(np.vdot(unit, matrix) / np.vdot(unit, unit))
    fits = abs(ratio.imag) < TOLERANCE and np.abs(matrix - ratio * unit).max() < TOLERANCE
    return ratio.real if fits else None


def _product(numbers: Sequence[Node], parameters: Mapping[str, complex]) -> complex:
    result = complex(1)
    for n in numbers:
        result *= value_of(n, parameters)
    return result
