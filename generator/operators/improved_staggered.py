"""Improved staggered hopping term with fat and long links, one colour vector a site.

Asqtad: K. Orginos, D. Toussaint and R. L. Sugar, Phys. Rev. D 60 (1999) 054503; HISQ: E. Follana et al., Phys. Rev. D
75 (2007) 054502. The phases have time first, eta_x = (-1)^t, eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), eta_t = 1, as
files of the MILC collaboration do; links are stored without them.
"""

import numpy as np

from generator.operators.hopping import HoppingOperator

OPERATOR = HoppingOperator(
    name="improved_staggered",
    formula="D psi(x) = sum_mu eta_mu(x) [F_mu(x) psi(x+mu) - F_mu(x-mu)^+ psi(x-mu) + the same of L with 3mu]",
    spins=1,
    directions=(0, 1, 2, 3),
    spin_matrix=lambda basis, mu, sign: sign * np.eye(1),
    term_of=lambda mu, sign: "" if sign > 0 else "-",
    has_basis=False,
    reported_flops=1146,
    phase=lambda mu: () if mu == 3 else (3, *range(mu)),
    lengths=(1, 3),
)
