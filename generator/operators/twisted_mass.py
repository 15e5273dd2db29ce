"""Twisted mass (R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, hep-lat/0101001): M = D_W + i mu gamma_5."""

from dataclasses import replace

from generator.operators import wilson
from generator.operators.site_term import TWIST

OPERATOR = replace(
    wilson.OPERATOR,
    name="twisted_mass",
    formula=f"{wilson.OPERATOR.formula}; {TWIST.formula}",
    site_term=TWIST,
    hops_of="wilson",
)
