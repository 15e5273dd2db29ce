"""The part of a site term that is made of links, as the library stores it: clover terms and their coefficients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generator.algebra.gamma import DEGRAND_ROSSI, TOLERANCE, Matrix
from generator.language import Action, sigma, time
from generator.language.gauge import PLANES, field_strength
from generator.language.graph import ExpressionError, make
from generator.language.symbols import FourMatrices
from generator.lower.numbers import Product, printed_sum
from generator.lower.terms import Term, expand, product_value


def clover_coefficients(action: Action, terms: Sequence[Term]) -> dict[str, tuple[Product, ...]]:
    """The c of T = ... - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu: for planes in `space` and in `time`.

    Raises:
        ExpressionError: blocks of the site term are others, or planes of a kind differ.
    """
    planes = {plane: _plane(action, *plane) for plane in PLANES}
    found: dict[str, dict[str, tuple[Product, ...]]] = {"space": {}, "time": {}}
    for plane, (block, unit) in planes.items():
        rows = [(-2 * _ratio(action, t, unit), t.numbers) for t in terms if tuple(map(str, t.blocks)) == block]
        kind = "time" if time in plane else "space"
        found[kind][printed_sum(rows)] = tuple(rows)
    known = {block for block, _ in planes.values()}
    if any(t.blocks and tuple(map(str, t.blocks)) not in known for t in terms):
        raise ExpressionError(
            f"{action.place}: {action.name} has sums of links at a site that are no field_strength(u, mu, nu); such "
            "site terms are not stored"
        )
    for kind, values in found.items():
        if len(values) > 1:
            raise ExpressionError(
                f"{action.place}: planes in {kind} of {action.name} have coefficients that differ: {', '.join(values)}"
            )
    return {kind: next(iter(values.values())) for kind, values in found.items()}


def _plane(action: Action, mu: object, nu: object) -> tuple[tuple[str, ...], Matrix]:
    """What sigma_munu F_munu psi is, written out."""
    u, psi = FourMatrices(action.fields[0].name, algebra=False), make("load", "spinor", (), action.fields[-1].name)
    (term,) = expand(sigma[mu, nu] * field_strength(u, mu, nu) * psi, action.fields[-1].name)  # type: ignore[index, arg-type]
    return tuple(map(str, term.blocks)), _spin(term)


def _spin(term: Term) -> Matrix:
    return np.asarray(term.factor * product_value(term.spin, DEGRAND_ROSSI, 4))


def _ratio(action: Action, term: Term, unit: Matrix) -> float:
    matrix = _spin(term)
    ratio = complex(np.vdot(unit, matrix) / np.vdot(unit, unit))
    if abs(ratio.imag) > TOLERANCE or np.abs(matrix - ratio * unit).max() > TOLERANCE:
        raise ExpressionError(f"{action.place}: {action.name} multiplies a field strength by another matrix than sigma")
    return ratio.real
