"""Clover term from four leaves a plane (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from generator.algebra.gamma import DEGRAND_ROSSI, Matrix, snap
from generator.cost import Cost, combination_flops
from generator.emit.cpp import combination, statements_of
from generator.language.gauge import PLANES, field_strength
from generator.language.graph import Direction, Node
from generator.language.lower import Lowering, Value, flops, topological
from generator.language.printed import printed
from generator.language.symbols import FourMatrices, time
from generator.language.text import Statements
from generator.operator import Operator
from generator.operators.derived import CALLED
from generator.operators.site_term import TERM_REALS
from generator.spec import KernelSpec

_MU, _NU = CALLED[:2]
_MATRIX_REALS = 18
_ELEMENTS = {"upper": (0, 0), "lower": (1, 1), "across": (1, 0)}


def plane_term(u: Any, mu: Direction, nu: Direction) -> Node:
    """What sigma[mu, nu] multiplies, but for the coefficient of the plane."""
    return -0.5 * field_strength(u, mu, nu)


def sigma(mu: Direction, nu: Direction) -> Matrix:
    """(i/2) [gamma_mu, gamma_nu] in the basis where gamma_5 is diag(1, 1, -1, -1)."""
    a, b = DEGRAND_ROSSI.gamma[mu.index], DEGRAND_ROSSI.gamma[nu.index]
    return snap(0.5j * (a @ b - b @ a))


def blocks() -> list[dict[str, np.ndarray]]:
    """For each eigenvalue of gamma_5 the factors of the six planes in the 2x2 spin block.

    Each value is a row over PLANES: `upper` and `lower` the diagonal elements, `across` the element (1, 0).

    Raises:
        ArithmeticError: sigma mixes the eigenvalues of gamma_5 (a bug).
    """
    matrices = [sigma(*plane) for plane in PLANES]
    if any(np.abs(m[:2, 2:]).max() > 0 for m in matrices):
        raise ArithmeticError("sigma mixes the eigenvalues of gamma_5")
    return [
        {
            name: np.array([m[first + row, first + column] for m in matrices])
            for name, (row, column) in _ELEMENTS.items()
        }
        for first in (0, 2)
    ]


@dataclass(frozen=True, eq=False)
class CloverTerm(Operator):
    """T = diagonal - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu."""

    name = "clover_term"
    family = "term"
    group = "clover"
    template = "clover.hpp.j2"
    headers = ("expression_site",)
    parities = 2
    axes = ("precision", "links")

    @cached_property
    def _term(self) -> Node:
        return plane_term(FourMatrices("u", algebra=False), _MU, _NU)

    @property
    def formula(self) -> str:
        """The term, and what a plane adds to it."""
        planes = printed([("f_munu = ", self._term)])
        return f"T = c + sum_{{mu<nu}} c_munu sigma_munu f_munu, c_ij = a, c_i4 = b; {planes}"

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.link_codec, spec.links.upper()]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Statements of any plane; expressions of the blocks in the six of them."""
        names = [f"f[{k}]" for k in range(len(PLANES))]
        value = self._value()
        statements = Statements({"u": "links"}, {"u": "links"}, [value], inlined=True)
        code = statements.value(value)
        rows = [{key: combination(row, names) for key, row in block.items()} for block in blocks()]
        return {
            "formula": self.formula,
            "planes": len(PLANES),
            "time": time.index,
            "statements": statements_of(self.formula),
            "lines": [*statements.lines, f"return {code};"],
            "blocks": rows,
        }

    def _value(self) -> Value:
        return Lowering().lower(self._term)

    def cost(self, spec: KernelSpec) -> Cost:
        """Planes and what they add to the blocks; links read once, the term written."""
        values = topological([self._value()])
        sums = sum(3 * combination_flops(row, first=True) for block in blocks() for row in block.values())
        count = len(PLANES) * (sum(flops(v, 0) for v in values) + _MATRIX_REALS) + sums
        reals = 4 * spec.storage.reals + TERM_REALS
        return Cost(count, count, spec.format.link_bytes(reals), reals)


OPERATOR = CloverTerm()
