"""Statements whose fermion hops over one link a term: D and T of M = T + h D, with everything that is printed of them.

D is normalised so that the largest element of its spin matrices is 1 and the first element of the first forward hop is
positive; what depends on parameters alone (anisotropy) multiplies hops when they run, as boundary phases do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generator.algebra.gamma import BASES, TOLERANCE, Basis, Matrix, snap
from generator.language import Action
from generator.language.graph import FIFTH, ExpressionError, Node, text
from generator.lower.terms import HERE, Link, Term, expand, product_value

DIRECTION_NAMES = "xyzt"


class ShapeError(ExpressionError):
    """A statement is not made of hops over one link and terms at a site."""


@dataclass(frozen=True)
class StatedHop:
    """The hop to one neighbour: all terms of a statement with that displacement of psi.

    Attributes:
        mu, sign, length: psi stands at x + sign * length * mu.
        field: whose link it takes.
        terms: one, or several that differ in their spin matrices.
    """

    mu: int
    sign: int
    length: int
    field: str
    terms: tuple[Term, ...]

    @property
    def phase(self) -> tuple[int, ...]:
        """Coordinates whose sum's parity gives the hop a sign."""
        return self.terms[0].signs

    @property
    def weight(self) -> str:
        """The numbers that multiply it, in words: one text, one run-time coefficient."""
        return " * ".join(map(str, self.terms[0].numbers))

    def matrix(self, basis: Basis | None, spins: int) -> Matrix:
        """Its spin matrix, constants included."""
        return np.asarray(sum(t.factor * product_value(t.spin, basis, spins) for t in self.terms))


@dataclass(frozen=True, eq=False)
class HoppingForm:
    """M = T + h D of an action."""

    action: Action

    @property
    def fermion(self) -> str:
        """Name of the field that the matrix acts on."""
        return self.action.fields[-1].name

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All terms of M psi; steps along the fifth dimension that hops share are left out (lower/fifth.py)."""
        return tuple(expand(self.action.matrix, self.fermion))

    @cached_property
    def local(self) -> tuple[Term, ...]:
        """The site term T."""
        return tuple(t for t in self.terms if t.is_local and not t.links)

    @cached_property
    def stated(self) -> tuple[StatedHop, ...]:
        """All hops in the order of emission: x forward, x backward, y forward, ...; of a direction short ones first.

        Raises:
            ShapeError: some term is neither a hop over one link nor local.
        """
        groups: dict[tuple[int, int, int], list[Term]] = {}
        for term in self.terms:
            if term.at[:4] == HERE[:4] and not term.links:
                continue
            if term.at[FIFTH] == 0:  # hops to other slices: lower/fifth.py
                groups.setdefault(self._direction(term), []).append(term)
        hops = [self._hop(key, terms) for key, terms in groups.items()]
        return tuple(sorted(hops, key=lambda h: (h.mu, h.length, -h.sign)))

    def _direction(self, term: Term) -> tuple[int, int, int]:
        along = [mu for mu in range(4) if term.at[mu]]
        if len(along) != 1 or len(term.links) != 1 or term.flavour or term.blocks:
            raise ShapeError(f"{self.action.place}: {self.action.name} has a term that is no hop over one link")
        mu = along[0]
        steps = term.at[mu]
        there = tuple(min(n, 0) for n in term.at)
        if term.links != (Link(term.links[0].field, mu, (*there[:FIFTH], 0), steps < 0),):
            raise ShapeError(
                f"{self.action.place}: {self.action.name} takes {term.links[0]} for a hop of {steps} along "
                f"{DIRECTION_NAMES[mu]}"
            )
        return mu, 1 if steps > 0 else -1, abs(steps)

    def _hop(self, key: tuple[int, int, int], terms: list[Term]) -> StatedHop:
        alike = {(t.signs, tuple(map(str, t.numbers)), t.links[0].field) for t in terms}
        if len(alike) > 1:
            raise ShapeError(
                f"{self.action.place}: terms of {self.action.name} for one neighbour differ in numbers, signs or links"
            )
        return StatedHop(*key, terms[0].links[0].field, tuple(terms))

    @cached_property
    def has_shape(self) -> bool:
        """Whether the statement is of this shape."""
        try:
            return bool(self.stated and self.lengths in ((1,), (1, 3)))
        except ShapeError:
            return False

    @property
    def spins(self) -> int:
        """Colour vectors of a site."""
        return self.action.spins

    @cached_property
    def has_basis(self) -> bool:
        """Whether hops have spin matrices."""
        return any(t.spin for h in self.stated for t in h.terms)

    @cached_property
    def factor(self) -> complex:
        """The h of M = T + h D."""
        basis = BASES["degrand_rossi"]
        matrices = [h.matrix(basis, self.spins) for h in self.stated]
        first = matrices[0].flat[np.flatnonzero(np.abs(matrices[0]) > 1e-12)[0]]
        return complex(max(np.abs(m).max() for m in matrices) * np.sign(first.real or first.imag))

    def spin_matrix(self, basis: Basis | None, mu: int, sign: int, length: int = 1) -> Matrix:
        """The spin matrix of a hop of D."""
        return snap(self._find(mu, sign, length).matrix(basis, self.spins) / self.factor)

    def _find(self, mu: int, sign: int, length: int) -> StatedHop:
        return next(h for h in self.stated if (h.mu, h.sign, h.length) == (mu, sign, length))

    @cached_property
    def directions(self) -> tuple[int, ...]:
        """Directions in which it hops."""
        return tuple(sorted({h.mu for h in self.stated}))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Sites of its hops.

        Raises:
            ShapeError: not every direction has the same hops, both ways.
        """
        found = sorted({h.length for h in self.stated})
        if len(self.stated) != 2 * len(found) * len(self.directions):
            raise ShapeError(f"{self.action.place}: hops of {self.action.name} differ from direction to direction")
        return tuple(found)

    def numbers(self, mu: int, sign: int, length: int = 1) -> tuple[Node, ...]:
        """What multiplies a hop of D when it runs, beside boundary phases."""
        return self._find(mu, sign, length).terms[0].numbers

    @cached_property
    def directed(self) -> tuple[int, ...]:
        """Directions in which forward and backward hops have different numbers, as a chemical potential makes them.

        Raises:
            ShapeError: they have so beside longer hops.
        """
        found = tuple(
            mu
            for mu in self.directions
            if any(self._find(mu, 1, n).weight != self._find(mu, -1, n).weight for n in self.lengths)
        )
        if found and len(self.lengths) > 1:
            raise ShapeError(
                f"{self.action.place}: numbers of {self.action.name} differ for forward and backward hops; that is for "
                "actions whose hops have one length"
            )
        return found

    @cached_property
    def anti_hermitian(self) -> bool:
        """Whether D^+ = -D with any links."""
        basis = BASES["degrand_rossi"]
        return not self.directed and all(
            h.phase == self._find(h.mu, -h.sign, h.length).phase
            and np.abs(
                h.matrix(basis, self.spins) + self._find(h.mu, -h.sign, h.length).matrix(basis, self.spins).conj().T
            ).max()
            < TOLERANCE
            for h in self.stated
        )

    def phase(self, mu: int) -> tuple[int, ...]:
        """Coordinates whose sum's parity gives hops along mu a sign."""
        return self._find(mu, 1, self.lengths[0]).phase

    # --- what is printed

    def term_text(self, mu: int, sign: int, name: str = "", length: int = 0) -> str:
        """The spin matrix of a hop of D, e.g. `(1 - gamma_x)`; empty for 1. `name` stands for the direction."""
        hop = self._find(mu, sign, length or self.lengths[0])
        printed = [_signed(t, t.factor / self.factor, DIRECTION_NAMES[mu], name) for t in hop.terms]
        if len(printed) == 1:
            return printed[0]
        return "(" + " + ".join(p or "1" for p in printed).replace("+ -", "- ") + ")"

    @cached_property
    def formula(self) -> str:
        """D psi(x) in one line."""
        rows = {self._row(mu, "mu") for mu in self.directions}
        if len(rows) > 1:
            lines = [self._row(mu, DIRECTION_NAMES[mu]) for mu in self.directions]
            total = " + ".join(lines)
        elif self.directions == (0, 1, 2, 3):
            total = "sum_mu " + rows.pop()
        else:
            names = ",".join(DIRECTION_NAMES[mu] for mu in self.directions)
            total = f"sum_{{i={names}}} " + self._row(self.directions[0], "i")
        return f"D psi(x) = {total}{self._constant_term()}"

    def _row(self, mu: int, name: str) -> str:
        """Hops along mu. Longer ones of the same form are told by their field and length."""
        hops = [self._pair(mu, name, length) for length in self.lengths]
        text_of = hops[0]
        if len(hops) > 1:
            plain = [
                h.replace(self.field_letter(n), "U").replace(f"{n}{name}", name)
                for h, n in zip(hops, self.lengths, strict=False)
            ]
            if len(set(plain)) > 1:
                text_of = " + ".join(hops).replace("+ -", "- ")
            else:
                others = (f"L with {n}{name}".replace("L", self.field_letter(n)) for n in self.lengths[1:])
                text_of += "".join(f" + the same of {other}" for other in others)
        return f"eta_{name}(x) [{text_of}]" if self._has_phases else text_of

    @cached_property
    def _has_phases(self) -> bool:
        return any(h.phase for h in self.stated)

    def field_letter(self, length: int) -> str:
        """How the links of hops of a length are called: U, or by the fields' first letters if there are several."""
        if len(self.lengths) == 1:
            return "U"
        return next(h.field[0].upper() for h in self.stated if h.length == length)

    def _pair(self, mu: int, name: str, length: int) -> str:
        u, there = self.field_letter(length), name if length == 1 else f"{length}{name}"
        ahead, back = (self.term_text(mu, sign, name, length) for sign in (1, -1))
        first = f"{ahead} {u}_{name}(x) psi(x+{there})".lstrip()
        sign, back = ("-", back[1:]) if back.startswith("-") else ("+", back)
        second = f"{back} {u}_{name}(x-{there})^+ psi(x-{there})".lstrip()
        return f"{first} {sign} {second}"

    def _constant_term(self) -> str:
        """What M is beside D, if that is a number alone."""
        if self.factor != 1 or any(t.numbers or t.spin or t.flavour or t.blocks for t in self.local):
            return ""
        t = sum(t.factor for t in self.local).real
        name = self.action.statement.__name__.rstrip("0123456789")
        return f"   ({name} psi = D psi {'-' if t < 0 else '+'} {abs(t):g} psi)"


def _signed(term: Term, factor: complex, axis: str, name: str) -> str:
    """A constant times spin matrices, `name` in place of the direction."""
    factors = [_spin_text(n, axis, name or axis) for n in term.spin]
    if factor == -1:
        return "-" + " ".join(factors)
    if factor != 1:
        number = f"{factor.real:g}" if factor.imag == 0 else f"({factor:g})"
        factors.insert(0, number)
    return " ".join(factors)


def _spin_text(node: Node, axis: str, name: str) -> str:
    printed = text(node, level=2)
    for old, new in ((f"gamma[{axis}]", f"gamma_{name}"), *((f"gamma[{a}]", f"gamma_{a}") for a in DIRECTION_NAMES)):
        printed = printed.replace(old, new)
    return printed.replace("gamma5", "gamma_5").replace("1.0", "1")


def same_hops(a: HoppingForm, b: HoppingForm) -> bool:
    """Whether two actions share D."""
    if (a.spins, a.has_basis, [_key(h) for h in a.stated]) != (b.spins, b.has_basis, [_key(h) for h in b.stated]):
        return False
    if a.directed != b.directed:
        return False
    pairs: Sequence[tuple[Basis, StatedHop, StatedHop]] = [
        (basis, *hops) for basis in BASES.values() for hops in zip(a.stated, b.stated, strict=True)
    ]
    return all(
        np.abs(h.matrix(basis, a.spins) / a.factor - g.matrix(basis, b.spins) / b.factor).max() < 1e-12
        for basis, h, g in pairs
    )


def _key(h: StatedHop) -> tuple[object, ...]:
    return h.mu, h.sign, h.length, h.phase
