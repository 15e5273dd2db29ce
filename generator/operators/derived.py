"""Expressions by which forces change the fields that they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..language.graph import Direction, Node
from ..language.symbols import Four, directions, summed, ta
from ..language.walks import parts
from ..lower.derivative import Weighted, weighted
from ..lower.factors import factored, shared_loops

MOMENTA = Four("p", algebra=True)


def kicked(
    u: Any, derivatives: Mapping[Direction, Node], weight: Node | None = None, momenta: Four = MOMENTA
) -> dict[Direction, Node]:
    """P + weight [U G]_TA / 2, in all directions or in those of the call."""
    along = derivatives if all(mu.comes_with_call for mu in derivatives) else directions
    return {mu: added(momenta[mu], derivatives.get(mu), weight, u[mu]) for mu in along}


def kicked_in_plane(u: Any, derivatives: Mapping[Direction, Node], weight: Node | None = None) -> dict[Direction, Node]:
    """Kick of momenta in two directions; loops through both links are multiplied once: [L^+]_TA = -[L]_TA."""
    (mu, by_mu), (nu, by_nu) = derivatives.items()
    loops = shared_loops((u[mu], u[nu]), (by_mu, by_nu))
    if loops is None:
        return kicked(u, {a: factored(g) for a, g in derivatives.items()}, weight)
    common, own = ([_weighed(ta, loop, weight) for loop in some] for some in (loops[0], sum(loops[1], [])))
    moved = {mu: MOMENTA[mu], nu: MOMENTA[nu]}
    for loop in common:
        moved = {mu: moved[mu] + loop, nu: moved[nu] - loop}
    for n, loop in enumerate(own):
        a = mu if n < len(loops[1][0]) else nu
        moved[a] = moved[a] + loop
    return moved


def _weighed(of: Callable[[Node], Node], g: Node, weight: Node | None) -> Node:
    """Weight of(g) / 2, numbers last."""
    w = weighted(g)
    return Weighted(w.factor / 2, (*([weight] if weight is not None else []), *w.numbers), of(w.node)).value


def added(before: Node, g: Node | None, weight: Node | None, link: Node | None = None) -> Node:
    """Before + weight G / 2, or [U G]_TA of a link; numbers come last, sums over right-hand sides where spinors are."""
    if g is None:
        return before

    def core(node: Node) -> Node:
        whole = summed(node) if any(n.kind == "spinor" for n in parts([node])) else node
        return whole if link is None else ta(link * whole)

    return before + _weighed(core, g, weight)
