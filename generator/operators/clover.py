"""Clover term from four leaves a plane (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.algebra.gamma import DEGRAND_ROSSI, Matrix, snap
from generator.cost import Cost
from generator.emit import combination
from generator.lower.hopping import DIRECTION_NAMES
from generator.operators.gauge_paths import DIRECTIONS, PRODUCT_FLOPS, Path, paths_data
from generator.operators.site_term import TERM_REALS
from generator.spec import KernelSpec

PLANES = tuple((mu, nu) for nu in DIRECTIONS for mu in DIRECTIONS if mu < nu)
"""xy, xz, yz, xt, yt, zt as pairs of steps."""


def leaves(mu: int, nu: int) -> list[Path]:
    """The four plaquettes at x in a plane, all counter-clockwise (hep-lat/9605038, eq. 2.5)."""
    return [(mu, nu, -mu, -nu), (nu, -mu, -nu, mu), (-mu, -nu, mu, nu), (-nu, mu, nu, -mu)]


def sigma(mu: int, nu: int) -> Matrix:
    """(i/2) [gamma_mu, gamma_nu] in the basis where gamma_5 is diag(1, 1, -1, -1); steps 1..4."""
    a, b = DEGRAND_ROSSI.gamma[mu - 1], DEGRAND_ROSSI.gamma[nu - 1]
    return snap(0.5j * (a @ b - b @ a))


def blocks() -> list[dict[str, np.ndarray]]:
    """For each eigenvalue of gamma_5 the factors of the six field strengths in the 2x2 spin block.

    Each value is a row over PLANES: `upper` and `lower` the diagonal elements, `across` the element (1, 0).

    Raises:
        ArithmeticError: sigma mixes the eigenvalues of gamma_5 (a bug).
    """
    result = []
    for first in (0, 2):
        inside = slice(first, first + 2)
        parts = [sigma(mu, nu)[inside, inside] for mu, nu in PLANES]
        result.append({name: np.array([p[e] for p in parts]) for name, e in _ELEMENTS.items()})
    for (mu, nu), rows in itertools.product(PLANES, (slice(0, 2),)):
        if np.abs(sigma(mu, nu)[rows, 2:4]).max() > 0:
            raise ArithmeticError(f"sigma_{mu}{nu} mixes the eigenvalues of gamma_5")
    return result


_ELEMENTS = {"upper": (0, 0), "lower": (1, 1), "across": (1, 0)}


@dataclass(frozen=True)
class CloverTerm:
    """T = diagonal - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu, F = (Q - Q^+)/(8i), Q the sum of the leaves."""

    name = "clover_term"
    formula = "T = c - sum_{mu<nu} c_munu sigma_munu (Q - Q^+)_munu / (16 i); c_ij = a, c_i4 = b"
    family = "term"
    group = "clover"
    template = "clover.hpp.j2"
    axes = ("precision", "links")

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.link_codec, spec.links.upper()]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Planes with their leaves; expressions of the blocks in the field strengths f0..f5."""
        names = [f"f{k}" for k in range(len(PLANES))]
        planes = [
            {
                "name": f"f{k}",
                "title": DIRECTION_NAMES[mu - 1] + DIRECTION_NAMES[nu - 1],
                "coefficient": "time" if nu == 4 else "space",
                "leaves": paths_data(leaves(mu, nu)),
            }
            for k, (mu, nu) in enumerate(PLANES)
        ]
        rows = [{key: combination(row, names) for key, row in block.items()} for block in blocks()]
        return {"formula": self.formula, "planes": planes, "blocks": rows}

    def cost(self, spec: KernelSpec) -> Cost:
        """Matrix products alone; links read once, the term written."""
        flops = len(PLANES) * 4 * 3 * PRODUCT_FLOPS
        reals = 4 * spec.storage.reals + TERM_REALS
        return Cost(flops, flops, spec.format.link_bytes(reals), reals)


OPERATOR = CloverTerm()
