"""Stout links, which any action can be given in place of those of a configuration."""

from ..language import Direction, Links, Real, action, adj, directions, exp, parameter, space, ta
from ..language.gauge import staples


@action
class Stout:
    """Stout links (C. Morningstar and M. Peardon, hep-lat/0311018)."""

    rho: Real = parameter(help="weight of the staples")

    smeared: tuple[Direction, ...] = directions

    def links(self, u: Links) -> dict[Direction, Links]:
        moved = {mu: self.rho * ta(staples(u, mu, self.smeared) * adj(u[mu])) for mu in self.smeared}
        return {mu: exp(moved[mu]) * u[mu] if mu in moved else u[mu] for mu in directions}


@action
class StoutSpace(Stout):
    """Stout links in space, with staples in space."""

    smeared = space
