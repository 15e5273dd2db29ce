"""What log |det T| of the clover term adds to the derivatives by its field strengths.

d log |det T| = Re tr T^-1 dT (K. Jansen and C. Liu, Comput. Phys. Commun. 99 (1997) 221, section 3), and T depends on
F_munu by sigma_munu: the spins of sigma_munu T^-1 are summed, what is left is a colour matrix for each plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.cost import Cost, combination_flops
from generator.emit.cpp import combination
from generator.language.gauge import PLANES
from generator.operators.clover import blocks
from generator.operators.forces import slot
from generator.operators.site_term import TERM_REALS
from generator.spec import KernelSpec

_MATRIX_REALS = 18


@dataclass(frozen=True)
class LogDetSource:
    """The same as `source_clover` of the twelve columns of T^-1 with those of 1, without any of them."""

    name = "source_log_det"
    family = "term"
    group = "clover"
    template = "log_det.hpp.j2"
    formula = "out_munu = out_munu + c_munu summed(sigma_munu T^-1), c_ij = a, c_i4 = b; T^-1 is a.term"
    axes = ("precision",)
    terms = 1

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.link_codec]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """The colour matrix of each plane, from the three parts of each block."""
        return {"formula": self.formula, "planes": [self._plane(n) for n in range(len(PLANES))]}

    def _rows(self, plane: int) -> tuple[np.ndarray, np.ndarray]:
        """Factors of the diagonal parts of both blocks, and of those below the diagonal."""
        parts = blocks()
        diagonal = [parts[b][part][plane] for b in range(2) for part in ("upper", "lower")]
        return np.array(diagonal), np.array([np.conj(parts[b]["across"][plane]) for b in range(2)])

    def _plane(self, plane: int) -> dict[str, Any]:
        diagonal, across = self._rows(plane)
        terms = [combination(diagonal, ["upper0", "lower0", "upper1", "lower1"])]
        if below := combination(across, ["across0", "across1"]):
            terms.append(f"with_adjoint({below})")
        mu, nu = PLANES[plane]
        electric, direction = slot(mu, nu)
        return {
            "field": "w" if electric else "out",
            "direction": direction.index,
            "coefficient": "time" if electric else "space",
            "value": " + ".join(t for t in terms if t),
        }

    def cost(self, spec: KernelSpec) -> Cost:
        """One block read, six matrices read and written."""
        sums = sum(3 * sum(combination_flops(row, first=True) for row in self._rows(n)) for n in range(len(PLANES)))
        count = sums + len(PLANES) * 2 * _MATRIX_REALS
        reals = TERM_REALS + 2 * len(PLANES) * _MATRIX_REALS
        return Cost(count, count, spec.format.link_bytes(reals), reals)


OPERATOR = LogDetSource()
