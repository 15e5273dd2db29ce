"""Fifth dimension of domain-wall and Moebius fermions: the chiralities run in opposite directions.

D. B. Kaplan, Phys. Lett. B 288 (1992) 342; Y. Shamir, Nucl. Phys. B 406 (1993) 90; R. C. Brower, H. Neff and
K. Orginos, Comput. Phys. Commun. 220 (2017) 1 (arXiv:1206.5214).
"""

import numpy as np

from generator.algebra.gamma import Basis, Matrix
from generator.operators.slices import SliceOperator


def _chiralities(basis: Basis) -> tuple[tuple[Matrix, int, str], ...]:
    """R psi_s = P_- psi_{s+1} + P_+ psi_{s-1}: what P_- takes comes from larger s."""
    one = np.eye(4)
    return ((one - basis.gamma5) / 2, -1, "P_-"), ((one + basis.gamma5) / 2, 1, "P_+")


OPERATOR = SliceOperator(
    name="domain_wall",
    formula="out = (p + q R) (d + e R)^-1 in, R psi_s = P_- psi_{s+1} + P_+ psi_{s-1}; p, q, d, e of each slice",
    parts=_chiralities,
)
