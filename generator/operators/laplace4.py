"""Hops of the covariant Laplace operator in four dimensions, on Dirac spinors."""

import numpy as np

from generator.operators.hopping import HoppingOperator

OPERATOR = HoppingOperator(
    name="laplace4",
    formula="D psi(x) = sum_mu U_mu(x) psi(x+mu) + U_mu(x-mu)^+ psi(x-mu)   (Laplace psi = D psi - 8 psi)",
    spins=4,
    directions=(0, 1, 2, 3),
    spin_matrix=lambda basis, mu, sign: np.eye(4),
    term_of=lambda mu, sign: "1",
    has_basis=False,
)
