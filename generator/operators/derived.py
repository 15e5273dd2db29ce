"""Expressions that follow from others, and what forces add to the fields that they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from generator.language import Direction, Expression, directions, summed, ta
from generator.language.derivative import Weighted, parts, weighted
from generator.language.graph import Node
from generator.language.symbols import Definition, FourMatrices

MOMENTA = FourMatrices("p", algebra=True)


@dataclass(frozen=True)
class Derived(Expression):
    """An expression that follows from others.

    Attributes:
        derive: makes its definition, when that is first asked for.
    """

    derive: Callable[[], Definition] = field(kw_only=True)

    @cached_property
    def definition(self) -> Definition:
        """What follows."""
        return self.derive()


def kicked(u: Any, derivatives: Mapping[Direction, Node], weight: Node | None = None) -> dict[Direction, Node]:
    """P + weight [U G]_TA / 2."""
    return {mu: added(MOMENTA[mu], derivatives.get(mu), weight, u[mu]) for mu in directions}


def added(before: Node, g: Node | None, weight: Node | None, link: Node | None = None) -> Node:
    """Before + weight G / 2, or [U G]_TA of a link; numbers come last, sums over right-hand sides where spinors are."""
    if g is None:
        return before
    w = weighted(g)
    core = summed(w.node) if any(n.kind == "spinor" for n in parts([w.node])) else w.node
    core = core if link is None else ta(link * core)
    return before + Weighted(w.factor / 2, (*([weight] if weight else []), *w.numbers), core).value
