"""Twisted mass with the clover term (D. Becirevic et al., hep-lat/0605006): T = C + i mu gamma_5."""

from dataclasses import replace

from generator.operators import wilson
from generator.operators.site_term import TWISTED_TERM

OPERATOR = replace(
    wilson.OPERATOR,
    name="twisted_clover",
    formula=f"{wilson.OPERATOR.formula}; {TWISTED_TERM.formula}",
    site_term=TWISTED_TERM,
    hops_of="wilson",
)
