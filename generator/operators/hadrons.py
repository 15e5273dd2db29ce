"""What hadrons are made of: interpolating fields of baryons and all contractions of them, in Dirac components.

Components 0 and 1 are the upper ones with spin up and down, 2 and 3 the lower ones: gamma_t = diag(1, 1, -1, -1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI, Matrix
from ..language.graph import Node
from ..language.symbols import adj, epsilon, gamma, gamma5, t, x, z
from ..lower.constants import spin_value

TURN = (gamma5 * gamma[t] - 1.0) * gamma[x] * gamma[z]
"""sqrt(2) R, of whole numbers, in S_Dirac = R^+ S R."""
_TURN = spin_value(TURN, DEGRAND_ROSSI).real
UP, DOWN = 0, 1
SMALLEST = 1e-12
"""Least weight of a contraction; smaller ones are rounding."""

Quark = tuple[str, int]
"""A quark of an interpolating field: its line and Dirac component."""
Field = Mapping[tuple[Quark, Quark, Quark], float]
"""An interpolating field: weights of eps_abc q1_a q2_b q3_c."""
Element = tuple[str, int, int]
"""An element of a propagator: its line, with sink and source component."""
Contractions = dict[tuple[Element, Element, Element], complex]
"""sum of eps eps' A B C of three elements, in whatever order, by weight."""


def all_contractions(field: Field, norm: float = 1) -> Contractions:
    """The two-point function of a field / norm: signs of exchanges of quarks are those of the colours."""
    found: Contractions = {}
    for (sinks, left), (sources, right) in itertools.product(field.items(), repeat=2):
        for order in itertools.permutations(sources):
            if all(a[0] == b[0] for a, b in zip(sinks, order, strict=True)):
                add(found, left * right, ((a[0], a[1], b[1]) for a, b in zip(sinks, order, strict=True)))
    return {elements: weight / norm for elements, weight in found.items()}


def add(to: Contractions, weight: complex, elements: Iterable[Element]) -> None:
    """Adds a term to others of the same quarks."""
    first, second, third = sorted(elements)
    to[first, second, third] = to.get((first, second, third), 0) + weight


def other_parity(s: Node, parity: Node) -> Node:
    """gamma_5 S gamma_5 for parity -1, S for 1: upper components become lower ones."""
    right, left = 0.5 * (1.0 + gamma5), 0.5 * (1.0 - gamma5)
    return right * s * right + left * s * left + parity * (right * s * left + left * s * right)


def correlator(contractions: Contractions, lines: Mapping[str, Node]) -> Node:
    """The sum of terms, of the propagators of lines: terms with two elements in common share what these give."""
    dirac = {name: 0.5 * (adj(TURN) * s * TURN) for name, s in lines.items()}
    by_pair: dict[tuple[Element, Element], list[tuple[complex, Element]]] = {}
    for (a, b, c), weight in sorted(contractions.items()):
        if abs(weight) > SMALLEST:
            by_pair.setdefault((a, b), []).append((weight, c))
    terms = []
    for (a, b), last in by_pair.items():
        matrix: Node = sum(_times(weight, _element(dirac, c)) for weight, c in last)  # type: ignore[assignment]
        terms.append(epsilon(_element(dirac, a), _element(dirac, b), matrix))
    total: Node = sum(terms)  # type: ignore[assignment]
    return total


def _element(dirac: Mapping[str, Node], e: Element) -> Node:
    line, sink, source = e
    return dirac[line][sink, source]


def _times(weight: complex, m: Node) -> Node:
    number = weight if abs(complex(weight).imag) > SMALLEST else complex(weight).real
    return m if number == 1 else number * m


def octet(flavours: Iterable[Sequence[str]], spin: int) -> Field:
    """q1_s (q2_+ q3_- - q2_- q3_+), summed over orders of flavours."""
    field = {}
    for q1, q2, q3 in flavours:
        field[(q1, spin), (q2, UP), (q3, DOWN)] = 1.0
        field[(q1, spin), (q2, DOWN), (q3, UP)] = -1.0
    return field


def decuplet(flavours: Sequence[str], down: int) -> Field:
    """The sum over the different orders of spins, of which `down` point down."""
    orders = sorted(set(itertools.permutations([DOWN] * down + [UP] * (3 - down))))
    return {tuple(zip(flavours, spins, strict=True)): 1.0 for spins in orders}  # type: ignore[misc]


def in_dirac_components(matrix: Matrix) -> Matrix:
    """A matrix in spin between sink and source; the real rotation turns those between two sinks alike."""
    turned = _TURN.T @ matrix @ _TURN / 2
    return np.where(np.abs(turned) < SMALLEST, 0, turned)
