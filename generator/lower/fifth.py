"""Statements along a fifth dimension: M = A - H B/2 with A and B made of 1 and one shift R, H hops within a slice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generator.algebra.gamma import BASES, TOLERANCE, Basis, Matrix
from generator.language.graph import FIFTH, ExpressionError
from generator.lower.hopping import HoppingForm
from generator.lower.terms import HERE, Term, product_value


@dataclass(frozen=True, eq=False)
class FifthForm(HoppingForm):
    """An action whose fermion moves along the fifth dimension.

    R psi_s = sum over the steps +1 and -1 of (matrix of the step) psi_{s + step}, and `wall` times what comes from
    beyond the ends.
    """

    @cached_property
    def steps(self) -> dict[int, Matrix]:
        """For the steps +1 and -1 the matrix of R in each basis is `step_matrix`; here in the DeGrand-Rossi basis."""
        return {step: self.step_matrix(step, BASES["degrand_rossi"]) for step in (1, -1)}

    @cached_property
    def _along(self) -> dict[tuple[str, ...], dict[int, list[Term]]]:
        """Terms at a site that go to another slice, by their numbers and their step."""
        found: dict[tuple[str, ...], dict[int, list[Term]]] = defaultdict(lambda: defaultdict(list))
        for t in self.terms:
            if t.at[:4] == HERE[:4] and t.at[FIFTH]:
                if abs(t.at[FIFTH]) > 1 or t.links or t.blocks or t.flavour:
                    raise ExpressionError(f"{self.action.place}: {self.action.name}: steps along s are of one slice")
                found[tuple(map(str, t.numbers))][t.at[FIFTH]].append(t)
        return found

    @property
    def has_slices(self) -> bool:
        """Whether anything moves along the fifth dimension."""
        return any(t.at[FIFTH] for t in self.terms)

    @cached_property
    def wall(self) -> str:
        """The factor of what comes from beyond the ends, in words; one for all.

        Raises:
            ExpressionError: walls differ.
        """
        walls = {str(w) for t in self.terms for _, w in t.walls}
        if len(walls) != 1:
            raise ExpressionError(f"{self.action.place}: {self.action.name} has walls that differ: {', '.join(walls)}")
        return walls.pop()

    def step_matrix(self, step: int, basis: Basis) -> Matrix:
        """The matrix of a step in R, normalised so that those of both steps are projectors with the sum 1.

        Raises:
            ExpressionError: they are not, or terms with different numbers have different ones.
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

    def check_hops(self) -> None:
        """That hops to other slices are those within a slice, times R from the right.

        Raises:
            ExpressionError: they are not.
        """
        basis = BASES["degrand_rossi"]
        groups: dict[tuple[int, ...], list[Term]] = defaultdict(list)
        for t in self.terms:
            if t.links and t.at[FIFTH]:
                groups[t.at].append(t)
        for at, terms in groups.items():
            same = [t for t in self.terms if t.links and t.at == (*at[:FIFTH], 0)]
            expected = _matrix(same, basis) @ self.step_matrix(at[FIFTH], basis)
            given = _matrix(terms, basis)
            ratio = np.vdot(expected, given) / np.vdot(expected, expected) if same else 0
            if not same or np.abs(given - ratio * expected).max() > TOLERANCE:
                raise ExpressionError(
                    f"{self.action.place}: hops of {self.action.name} to other slices are not D times the step along s"
                )

    @cached_property
    def shift_formula(self) -> str:
        """R in words."""
        terms = " + ".join(f"{self.step_title(n)} psi_{{s{n:+d}}}" for n in (1, -1))
        return f"R psi_s = {terms}"

    def step_title(self, step: int) -> str:
        """P_-, P_+ for the chiralities, else the matrix."""
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
