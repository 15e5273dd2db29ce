"""The site term T of a statement: numbers, i mu gamma_5, flavours, Hermitian blocks of links; and its inverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generator.algebra.gamma import DEGRAND_ROSSI, TOLERANCE, Matrix
from generator.language import Action
from generator.language.graph import ExpressionError, Node
from generator.lower.terms import Term, product_value, value_of

_ONE, _G5 = np.eye(4), DEGRAND_ROSSI.gamma5
_ONE2, _TAU1, _TAU3 = np.eye(2), np.array([[0, 1], [1, 0]]), np.diag([1, -1])
_PARTS = {
    "diagonal": np.kron(_ONE2, _ONE),
    "twist": 1j * np.kron(_TAU3, _G5),
    "twist_of_one": 1j * np.kron(_ONE2, _G5),
    "splitting": np.kron(_TAU1, _ONE),
}
"""Orthogonal matrices in flavour and spin of which T may be a real combination."""


@dataclass(frozen=True, eq=False)
class SiteForm:
    """T = t + i mu gamma_5 (tau_3) + epsilon tau_1 + Hermitian blocks that commute with gamma_5."""

    action: Action
    terms: tuple[Term, ...]

    @cached_property
    def flavours(self) -> int:
        """Flavours that T mixes or tells apart."""
        return 2 if any(t.flavour for t in self.terms) else 1

    @property
    def stored(self) -> bool:
        """Whether T has a part made of links."""
        return any(t.blocks for t in self.terms)

    @cached_property
    def twisted(self) -> bool:
        """Whether T has a part i gamma_5."""
        return bool(self.parts["twist"] or self.parts["twist_of_one"])

    @cached_property
    def parts(self) -> Mapping[str, tuple[tuple[float, tuple[Node, ...]], ...]]:
        """For each matrix of _PARTS the numbers that multiply it: (constant, parameters' factors).

        Raises:
            ExpressionError: T has another matrix: no closed form of its inverse is known here.
        """
        found: dict[str, list[tuple[float, tuple[Node, ...]]]] = {name: [] for name in _PARTS}
        for term in self.terms:
            if term.blocks:
                self._check_block(term)
                continue
            matrix = term.factor * np.kron(
                product_value(term.flavour, None, 2), product_value(term.spin, DEGRAND_ROSSI, 4)
            )
            for name, part in self._decompose(matrix, term).items():
                found[name].append((part, term.numbers))
        return {name: tuple(rows) for name, rows in found.items()}

    def _decompose(self, matrix: Matrix, term: Term) -> dict[str, float]:
        weights = {name: complex(np.vdot(part, matrix)) / 8 for name, part in _PARTS.items()}
        rest = matrix - sum(w * _PARTS[name] for name, w in weights.items())
        if np.abs(rest).max() > TOLERANCE or any(abs(w.imag) > TOLERANCE for w in weights.values()):
            raise ExpressionError(
                f"{self.action.place}: the site term of {self.action.name} holds {_described(term)}; even-odd forms "
                "know numbers, i gamma_5 (tau_3), tau_1, and Hermitian blocks that commute with gamma_5"
            )
        return {name: w.real for name, w in weights.items() if abs(w) > TOLERANCE}

    def _check_block(self, term: Term) -> None:
        spin = term.factor * product_value(term.spin, DEGRAND_ROSSI, 4)
        if np.abs(spin @ _G5 - _G5 @ spin).max() > TOLERANCE or term.flavour:
            raise ExpressionError(f"{self.action.place}: {_described(term)} does not commute with gamma_5 and flavour")

    def value(self, part: str, parameters: Mapping[str, float]) -> float:
        """The number that multiplies a part, for given parameters."""
        return sum(c * _product(numbers, parameters).real for c, numbers in self.parts[part])

    def matrix(self, parameters: Mapping[str, float]) -> Matrix:
        """T without blocks, flavour outside spin, in the DeGrand-Rossi basis."""
        return np.asarray(sum(self.value(name, parameters) * part for name, part in _PARTS.items()))


def _product(numbers: Sequence[Node], parameters: Mapping[str, float]) -> complex:
    result = complex(1)
    for n in numbers:
        result *= value_of(n, parameters)
    return result


def _described(term: Term) -> str:
    nodes = (*term.numbers, *term.flavour, *term.spin, *term.blocks)
    return " * ".join(str(n)[:80] for n in nodes) or str(term.factor)
