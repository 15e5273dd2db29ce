"""Two flavours with the clover term: T = C + i mu gamma_5 tau_3 + epsilon tau_1."""

from dataclasses import replace

from generator.operators import wilson
from generator.operators.site_term import DOUBLET_TWISTED_TERM

OPERATOR = replace(
    wilson.OPERATOR,
    name="twisted_clover_doublet",
    formula=f"{wilson.OPERATOR.formula}; {DOUBLET_TWISTED_TERM.formula}",
    site_term=DOUBLET_TWISTED_TERM,
    hops_of="wilson",
)
