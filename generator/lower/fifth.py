"""Actions with a fifth dimension: M = A - H B/2, where A and B are made of 1 and one shift R, and H hops in a slice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..algebra.gamma import BASES, TOLERANCE, Basis, Matrix
from ..errors import ExpressionError
from ..language.graph import FIFTH, Node
from .hopping import HoppingForm, StatedHop
from .numbers import Product, collected, printed_sum
from .terms import HERE, Term, product_value


@dataclass(frozen=True, eq=False)
class FifthForm(HoppingForm):
    """An action whose fermion moves along the fifth dimension.

    The shift is R psi_s = sum over the steps +1 and -1 of (matrix of the step) psi_{s + step}; slices beyond the ends
    are those of the other end times `wall`.
    """

    @cached_property
    def steps(self) -> dict[int, Matrix]:
        """The matrices of R for the steps +1 and -1 in the DeGrand-Rossi basis; `step_matrix` gives any basis."""
        return {step: self.step_matrix(step, BASES["degrand_rossi"]) for step in (1, -1)}

    @cached_property
    def _along(self) -> dict[tuple[str, ...], dict[int, list[Term]]]:
        """Terms that move to another slice at the same site, by their numbers and their step."""
        found: dict[tuple[str, ...], dict[int, list[Term]]] = defaultdict(lambda: defaultdict(list))
        for t in self.terms:
            if t.at[:4] == HERE[:4] and t.at[FIFTH]:
                if abs(t.at[FIFTH]) > 1 or t.colour or t.site or t.flavour:
                    raise ExpressionError(f"{self.action.place}: {self.action.name}: steps along s are of one slice")
                found[t.number_key][t.at[FIFTH]].append(t)
        return found

    @property
    def has_slices(self) -> bool:
        """Whether anything moves along the fifth dimension."""
        return any(t.at[FIFTH] for t in self.terms)

    @cached_property
    def wall(self) -> str:
        """The factor of slices from beyond the ends, as text; the same in all terms.

        Raises:
            ExpressionError: terms have different factors.
        """
        walls = {str(w) for t in self.terms for _, w in t.walls}
        if len(walls) != 1:
            raise ExpressionError(f"{self.action.place}: {self.action.name} has walls that differ: {', '.join(walls)}")
        return walls.pop()

    def step_matrix(self, step: int, basis: Basis) -> Matrix:
        """The matrix of a step in R, normalised so that those of both steps are projectors with the sum 1.

        Raises:
            ExpressionError: they are no such projectors, or terms with different numbers have different ones.
        """
        found = []
        for group in self._along.values():
            parts = {n: _matrix(group.get(n, ()), basis) for n in (1, -1)}
            scale = np.trace(parts[1] + parts[-1]) / 4
            if abs(scale) < TOLERANCE or any(np.abs(p @ p - scale * p).max() > TOLERANCE for p in parts.values()):
                raise ExpressionError(f"{self.action.place}: steps of {self.action.name} along s are no projectors")
            found.append(parts[step] / scale)
        if any(np.abs(f - found[0]).max() > TOLERANCE for f in found):
            raise ExpressionError(f"{self.action.place}: {self.action.name} moves along s in different ways")
        return np.asarray(found[0])

    @cached_property
    def common(self) -> tuple[Node, ...]:
        """Factors that hops in all directions have in common: the b of M = A + h D (b + c R)."""
        left = [list(h.numbers) for h in self.stated]
        found = []
        for n in self.stated[0].numbers:
            if all(str(n) in map(str, numbers) for numbers in left):
                found.append(n)
                for numbers in left:
                    del numbers[[str(m) for m in numbers].index(str(n))]
        return tuple(found)

    def own_numbers(self, hop: StatedHop) -> tuple[Node, ...]:
        """Factors of a hop besides the common ones, such as the anisotropy."""
        return without(hop.numbers, self.common)

    def weight(self, mu: int, sign: int) -> tuple[Product, ...]:
        """The weight of a hop of D; along a fifth dimension without the b that hops of all directions have."""
        if mu not in self.directions:
            return ()
        hop = next(h for h in self.stated if (h.mu, h.sign) == (mu, sign))
        return ((1.0, self.own_numbers(hop) if self.has_slices else hop.numbers),)

    def across(self, hop: StatedHop, step: int) -> list[Term]:
        """The terms that make a hop and a step to another slice at once."""
        there = list(HERE)
        there[hop.mu], there[FIFTH] = hop.sign * hop.length, step
        return [t for t in self.terms if t.at == tuple(there)]

    def check_hops(self) -> None:
        """Checks that hops to other slices are those within a slice, times c R from the right.

        Raises:
            ExpressionError: hops to other slices have another form.
        """
        basis = BASES["degrand_rossi"]
        known = 0
        for hop in self.stated:
            for step in (1, -1):
                terms = self.across(hop, step)
                known += len(terms)
                expected = hop.matrix(basis, 4) @ self.step_matrix(step, basis)
                ratio = np.vdot(expected, _matrix(terms, basis)) / np.vdot(expected, expected)
                if np.abs(_matrix(terms, basis) - ratio * expected).max() > TOLERANCE:
                    raise self._not_chained()
        if known != sum(1 for t in self.terms if t.at[FIFTH] and t.at[:4] != HERE[:4]):
            raise self._not_chained()

    def _not_chained(self) -> ExpressionError:
        return ExpressionError(
            f"{self.action.place}: hops of {self.action.name} to other slices are not D times the step along s"
        )

    @cached_property
    def numbers_along_slices(self) -> dict[str, tuple[Product, ...]]:
        """The beta, b and c of M = (alpha + beta R) + h D (b + c R), and the wall of R.

        Raises:
            ExpressionError: hops in different directions have different b or c.
        """
        beta = [
            (_part(_matrix([t], self._basis), self.steps[1]), t.numbers)
            for t in self.terms
            if t.at[:4] == HERE[:4] and t.at[FIFTH] == 1
        ]
        c = {printed_sum(rows): rows for rows in map(self._across_numbers, self.stated)}
        if len(c) > 1:
            raise self._not_chained()
        wall = next(w for t in self.terms for _, w in t.walls)
        return {"beta": tuple(beta), "b": ((1.0, self.common),), "c": c.popitem()[1], "wall": ((1.0, (wall,)),)}

    _basis = BASES["degrand_rossi"]

    def _across_numbers(self, hop: StatedHop) -> tuple[Product, ...]:
        """The c of one hop."""
        unit = hop.matrix(self._basis, 4) @ self.steps[1]
        own = self.own_numbers(hop)
        rows = [(_part(_matrix([t], self._basis), unit), without(t.numbers, own)) for t in self.across(hop, 1)]
        return collected(rows) or ((0.0, ()),)

    @cached_property
    def shift_formula(self) -> str:
        """The formula of R, as text."""
        terms = " + ".join(f"{self.step_title(n)} psi_{{s{n:+d}}}" for n in (1, -1))
        return f"R psi_s = {terms}"

    def step_title(self, step: int) -> str:
        """The name of a step's matrix in `shift_formula`: P_- or P_+ for chiral projectors, else S_+1 or S_-1."""
        basis = BASES["degrand_rossi"]
        for name, sign in (("P_-", -1), ("P_+", 1)):
            if np.abs(self.steps[step] - (np.eye(4) + sign * basis.gamma5) / 2).max() < TOLERANCE:
                return name
        return f"S_{step:+d}"


def _matrix(terms: object, basis: Basis) -> Matrix:
    total = np.zeros((4, 4), dtype=complex)
    for t in terms:  # type: ignore[attr-defined]
        total = total + t.factor * product_value(t.spin, basis, 4)
    return total


def _part(matrix: Matrix, unit: Matrix) -> float:
    """The number c of matrix = c unit, by projection on `unit`.

    Raises:
        ExpressionError: c is not real.
    """
    c = complex(np.vdot(unit, matrix) / np.vdot(unit, unit))
    if abs(c.imag) > TOLERANCE:
        raise ExpressionError(f"numbers along the fifth dimension are real, not {c}")
    return c.real


def without(numbers: Sequence[Node], taken: Sequence[Node]) -> tuple[Node, ...]:
    """The factors in `numbers` without those in `taken`.

    Raises:
        ExpressionError: one of `taken` is not among `numbers`.
    """
    left = list(numbers)
    for n in taken:
        texts = [str(m) for m in left]
        if str(n) not in texts:
            raise ExpressionError(f"{n.place}: {n} does not multiply all hops")
        del left[texts.index(str(n))]
    return tuple(left)
