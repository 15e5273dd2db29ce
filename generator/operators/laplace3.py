"""Hops of the covariant Laplace operator in space, on Dirac spinors: the kernel of Gaussian smearing."""

import numpy as np

from generator.operators.hopping import HoppingOperator

OPERATOR = HoppingOperator(
    name="laplace3",
    formula="D psi(x) = sum_{i=x,y,z} U_i(x) psi(x+i) + U_i(x-i)^+ psi(x-i)   (Laplace psi = D psi - 6 psi)",
    spins=4,
    directions=(0, 1, 2),
    spin_matrix=lambda basis, mu, sign: np.eye(4),
    term_of=lambda mu, sign: "1",
    has_basis=False,
)
