"""Two flavours split in mass (R. Frezzotti and G. C. Rossi, hep-lat/0311008): + i mu gamma_5 tau_3 + epsilon tau_1."""

from dataclasses import replace

from generator.operators import wilson
from generator.operators.site_term import DOUBLET_TWIST

OPERATOR = replace(
    wilson.OPERATOR,
    name="twisted_doublet",
    formula=f"{wilson.OPERATOR.formula}; {DOUBLET_TWIST.formula}",
    site_term=DOUBLET_TWIST,
    hops_of="wilson",
)
