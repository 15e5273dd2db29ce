"""Steps of the force of a long formula, a sum over paths of links: one link at a time, from field to field.

A kernel with all paths has some ten thousand lines. As fields N_n (lower/paths.py) such a sum takes as many products of
links and spinors as M itself, twice: those that lie beyond each link, and chi taken along the paths to it.
"""

from __future__ import annotations

from ..language import Direction, Fermion, Links, Real, adj, directions, dot, expression, gamma, re, shift
from ..language.formula import Definition, Formula, parameter_symbol
from ..language.graph import make
from ..language.symbols import Four
from ..lower.derivative import derivative
from ..lower.program import CALLED
from .derived import kicked
from .expression import Expression
from .schedule import LONG


@expression(group="paths")
def path_end(psi: Fermion, before: Fermion, one: Real, x: Real, y: Real, z: Real, t: Real) -> Fermion:
    """Before + (one + x gamma_x + y gamma_y + z gamma_z + t gamma_t) psi."""
    along = sum(number * (gamma[mu] * psi) for mu, number in zip(directions, (x, y, z, t), strict=True))
    return before + one * psi + along


@expression(group="paths")
def path_ahead(u: Links, psi: Fermion, before: Fermion, mu: Direction) -> Fermion:
    """Before + U_mu(x) psi(x + mu)."""
    return before + u[mu] * shift(psi, +mu)


@expression(group="paths")
def path_behind(u: Links, psi: Fermion, before: Fermion, mu: Direction) -> Fermion:
    """Before + U_mu(x - mu)^+ psi(x - mu)."""
    return before + shift(adj(u[mu]) * psi, -mu)


def _force() -> Definition:
    mu, u = CALLED[0], Four("u")
    psi, chi = (make("load", "spinor", (), name) for name in ("psi", "chi"))
    functional = -2.0 * re(dot(chi, u[mu] * shift(psi, +mu)))
    moved = kicked(u, derivative(functional, "u"), parameter_symbol("weight"))
    fields = (("u", "links"), ("psi", "fermion"), ("chi", "fermion"), ("p", "algebra"))
    inputs = (*fields, ("weight", "real"), ("mu", "direction"))
    text = "out = p + weight dP/dtau of -2 Re chi(x)^+ U_mu(x) psi(x + mu)"
    return Definition("force_path", path_ahead.definition.place, text, inputs, (("out", "algebra"),), (moved,))


force_path = Expression(Formula("force_path", _force, "paths"), LONG)
