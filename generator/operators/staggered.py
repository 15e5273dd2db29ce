"""Naive staggered hopping term (J. Kogut and L. Susskind, Phys. Rev. D 11 (1975) 395), one colour vector a site.

eta_mu(x) = (-1)^(x_0 + ... + x_{mu-1}).
"""

import numpy as np

from generator.operators.hopping import HoppingOperator

OPERATOR = HoppingOperator(
    name="staggered",
    formula="D psi(x) = sum_mu eta_mu(x) [U_mu(x) psi(x+mu) - U_mu(x-mu)^+ psi(x-mu)]",
    spins=1,
    directions=(0, 1, 2, 3),
    spin_matrix=lambda basis, mu, sign: sign * np.eye(1),
    term_of=lambda mu, sign: "" if sign > 0 else "-",
    has_basis=False,
    phase=lambda mu: tuple(range(mu)),
)
