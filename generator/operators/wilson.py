"""Wilson hopping term (K. G. Wilson, Phys. Rev. D 10 (1974) 2445), r = 1."""

import numpy as np

from generator.algebra.gamma import Basis, Matrix
from generator.operators.hopping import DIRECTION_NAMES, HoppingOperator


def _projector(basis: Basis | None, mu: int, sign: int) -> Matrix:
    assert basis is not None
    return np.eye(4) - sign * basis.gamma[mu]


OPERATOR = HoppingOperator(
    name="wilson",
    formula="D psi(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^+ psi(x-mu)",
    spins=4,
    directions=(0, 1, 2, 3),
    spin_matrix=_projector,
    term_of=lambda mu, sign: f"(1 {'-' if sign > 0 else '+'} gamma_{DIRECTION_NAMES[mu]})",
    reported_flops=1320,
)
