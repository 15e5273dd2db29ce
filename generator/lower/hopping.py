"""Statements whose fermion hops over one link a term: D and T of M = T + h D, with everything that is printed of them.

D is normalised so that the largest element of its spin matrices is 1 and the first element of the first forward hop is
positive; what depends on parameters alone (anisotropy) multiplies hops when they run, as boundary phases do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from ..algebra.gamma import BASES, TOLERANCE, Basis, Matrix, clifford, snap
from ..errors import ShapeError
from ..language.action import Action
from ..language.graph import FIFTH, Node, text
from .numeric import random_values, value_of
from .terms import HERE, Term, expand, product_value
from .transport import plain_field, transporter

DIRECTION_NAMES = "xyzt"
LENGTHS = ((1,), (1, 3))
"""Lengths of hops in sites for which there are kernels."""


@dataclass(frozen=True, eq=False)
class StatedHop:
    """The hop to one neighbour: all terms of a statement with that displacement of psi.

    Attributes:
        mu, sign, length: psi stands at x + sign * length * mu.
        link: the matrix that it takes, at the end that is left in forward direction.
        terms: one, or several that differ in their spin matrices.
    """

    mu: int
    sign: int
    length: int
    link: Node
    terms: tuple[Term, ...]

    @property
    def phase(self) -> tuple[int, ...]:
        """Coordinates whose sum's parity gives the hop a sign."""
        return self.terms[0].signs

    @property
    def numbers(self) -> tuple[Node, ...]:
        """The numbers that multiply it."""
        return self.terms[0].numbers

    @property
    def weight(self) -> str:
        """The factors of the hop in words; hops with the same text share one run-time coefficient."""
        return " * ".join(map(str, self.numbers))

    @property
    def is_complex(self) -> bool:
        """Whether one of these is not real."""
        return any(n.kind == "complex" for n in self.numbers)

    def value(self, seed: int) -> complex:
        """The product of these for random values of the parameters."""
        values = random_values(sorted(set(_names(self.numbers))), seed)
        return complex(np.prod([value_of(n, values) for n in self.numbers]))

    def matrix(self, basis: Basis | None, spins: int) -> Matrix:
        """The spin matrix of the hop, including constant factors."""
        return np.asarray(sum(t.factor * product_value(t.spin, basis, spins) for t in self.terms))


def _names(nodes: Sequence[Node]) -> list[str]:
    return [name for n in nodes for name in ([n.data] if n.op == "parameter" else _names(n.args))]


@dataclass(frozen=True, eq=False)
class HoppingForm:
    """M = T + h D of an action.

    Attributes:
        action: whose parameters these are.
        matrix: M psi, of fields by their names.
    """

    action: Action
    matrix: Node

    @property
    def fermion(self) -> str:
        """Name of the field that the matrix acts on."""
        return self.action.fermion

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All terms of M psi; steps along the fifth dimension that hops share are left out (lower/fifth.py)."""
        return tuple(expand(self.matrix, self.fermion))

    @cached_property
    def local(self) -> tuple[Term, ...]:
        """The site term T."""
        return tuple(t for t in self.terms if t.is_local)

    @cached_property
    def stated(self) -> tuple[StatedHop, ...]:
        """All hops in the order of emission: x forward, x backward, y forward, ...; of a direction short ones first.

        Raises:
            ShapeError: some term is neither a hop over one link nor local, or hops there and back differ.
        """
        groups: dict[tuple[int, int, int], list[Term]] = {}
        for term in self.terms:
            if term.at[:4] != HERE[:4] and term.at[FIFTH] == 0:  # hops to other slices: lower/fifth.py
                groups.setdefault(self._direction(term), []).append(term)
        hops = {key: self._hop(key, terms) for key, terms in groups.items()}
        for (mu, sign, length), hop in hops.items():
            back = hops.get((mu, -sign, length))
            if back is None or str(back.link) != str(hop.link):
                raise self._refused(f"hops along {DIRECTION_NAMES[mu]} differ there and back")
        folded = [self._with_phase(hop, hops[hop.mu, -hop.sign, hop.length]) for hop in hops.values()]
        return tuple(sorted(folded, key=lambda h: (h.mu, h.length, -h.sign)))

    def _refused(self, why: str) -> ShapeError:
        return ShapeError(f"{self.action.place}: {self.action.name}: {why}")

    def _direction(self, term: Term) -> tuple[int, int, int]:
        along = [mu for mu in range(4) if term.at[mu]]
        if len(along) != 1 or term.flavour or term.site:
            raise self._refused("a term is no hop along one direction")
        return along[0], 1 if term.at[along[0]] > 0 else -1, abs(term.at[along[0]])

    def _hop(self, key: tuple[int, int, int], terms: list[Term]) -> StatedHop:
        mu, sign, length = key
        links = [transporter(t, mu, sign * length) for t in terms]
        alike = {(t.signs, t.number_key, str(v)) for t, v in zip(terms, links, strict=True)}
        if len(alike) > 1:
            raise self._refused("terms for one neighbour differ in numbers, signs or links")
        return StatedHop(mu, sign, length, links[0], tuple(terms))

    def _with_phase(self, hop: StatedHop, back: StatedHop) -> StatedHop:
        """A complex number and its conjugate on the way back are part of the link, as a field of U(1) would be."""
        if not (hop.is_complex or back.is_complex):
            return hop
        if any(abs(hop.value(seed) - back.value(seed).conjugate()) > TOLERANCE for seed in (1, 2)):
            raise self._refused(
                f"hops along {DIRECTION_NAMES[hop.mu]} have complex numbers that are not conjugate there and back"
            )
        link, forward = hop.link, hop if hop.sign > 0 else back
        for n in reversed(forward.numbers):
            link = n * link
        return replace(hop, link=link, terms=tuple(replace(t, numbers=()) for t in hop.terms))

    @cached_property
    def fields(self) -> dict[int, str]:
        """The link field of hops of each length; empty for links that are made (lower/record.py gives them a name)."""
        return {n: plain_field(self.links(n)) for n in self.lengths}

    def links(self, length: int) -> dict[int, Node]:
        """The matrices of hops of a length, by direction."""
        return {h.mu: h.link for h in self.stated if h.length == length}

    def check(self) -> None:
        """Checks that the statement is T plus hops along one direction.

        Raises:
            ShapeError: it is not; the message says why.
        """
        if not self.stated:
            raise self._refused("nothing hops")
        if self.lengths not in LENGTHS:
            raise self._refused(f"hops go over {' and '.join(map(str, self.lengths))} sites")
        if self.directed is None or abs(self.factor.imag) > 0:
            raise self._refused("hops have a complex factor")
        for mu in self.directions:
            for sign in (1, -1):
                if len({self._find(mu, sign, n).weight for n in self.lengths}) > 1:
                    raise self._refused("short and long hops have numbers that differ")

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
        """The h of M = T + h D: the first hop of D has a matrix with a coefficient 1."""
        basis = BASES["degrand_rossi"]
        matrices = [h.matrix(basis, self.spins) for h in self.stated]
        if self.spins == len(basis.gamma):
            real = (c.real for c in clifford(matrices[0]).values() if abs(c.real) > TOLERANCE)
            if number := next(real, 0.0):
                return complex(number)
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
            ShapeError: not every direction has the same hops.
        """
        found = sorted({h.length for h in self.stated})
        if len(self.stated) != 2 * len(found) * len(self.directions):
            raise self._refused("hops differ from direction to direction")
        return tuple(found)

    def numbers(self, mu: int, sign: int, length: int = 1) -> tuple[Node, ...]:
        """Run-time coefficients of hops of D, without boundary phases."""
        return self._find(mu, sign, length).numbers

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
            raise self._refused("numbers differ for forward and backward hops of several lengths")
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
        if any((t.factor / self.factor).imag or any("*" in str(n) for n in t.spin) for t in hop.terms):
            return clifford_text(
                hop.matrix(BASES["degrand_rossi"], self.spins) / self.factor, DIRECTION_NAMES[mu], name
            )
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
        """Hops along mu. Longer ones of the same form are distinguished by field and length."""
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
        """The letter for links of hops of a given length in formulas: the first of their field's name, or V."""
        return (self.fields[length] or "V")[0].upper()

    def _pair(self, mu: int, name: str, length: int) -> str:
        unit = f"e{name}" if name in DIRECTION_NAMES else name
        u, there = self.field_letter(length), unit if length == 1 else f"{length}{unit}"
        ahead, back = (self.term_text(mu, sign, name, length) for sign in (1, -1))
        first = f"{ahead} {u}_{name}(x) psi(x+{there})".lstrip()
        sign, back = ("-", back[1:]) if back.startswith("-") else ("+", back)
        second = f"{back} {u}_{name}(x-{there})^+ psi(x-{there})".lstrip()
        return f"{first} {sign} {second}"

    def _constant_term(self) -> str:
        """M without D if that is only a number."""
        if self.factor != 1 or any(t.numbers or t.spin or t.flavour or t.colour or t.site for t in self.local):
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


def clifford_text(matrix: Matrix, axis: str = "", name: str = "") -> str:
    """A matrix in the DeGrand-Rossi basis as a sum of products of gammas; `name` stands for the direction `axis`."""
    total = ""
    for indices, c in clifford(matrix).items():
        gammas = " ".join(
            f"gamma_{name if name and DIRECTION_NAMES[mu] == axis else DIRECTION_NAMES[mu]}" for mu in indices
        )
        for size, unit in ((c.real, ""), (c.imag, "i")):
            if abs(size) > TOLERANCE:
                number = f"{abs(size):g}" if abs(abs(size) - 1) > TOLERANCE or not (unit or gammas) else ""
                term = " ".join(filter(None, (number, unit, gammas)))
                total += f" {'-' if size < 0 else '+'} {term}" if total else f"{'-' if size < 0 else ''}{term}"
    return f"({total})" if " + " in total or " - " in total else total


def _spin_text(node: Node, axis: str, name: str) -> str:
    printed = text(node, level=2)
    for old, new in ((f"gamma[{axis}]", f"gamma_{name}"), *((f"gamma[{a}]", f"gamma_{a}") for a in DIRECTION_NAMES)):
        printed = printed.replace(old, new)
    return printed.replace("gamma5", "gamma_5").replace("1.0", "1")


@cache
def same_hops(a: HoppingForm, b: HoppingForm) -> bool:
    """Whether two actions share the kernels of D, whatever their links are made of."""
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
