"""Expressions that follow from others, and what forces add to the fields that they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from generator.language import Direction, Expression, directions, summed, ta
from generator.language.derivative import Weighted, parts, weighted
from generator.language.graph import FIFTH, Node, Step
from generator.language.lower import Lowering, topological
from generator.language.size import are_inlined, many_spinors
from generator.language.symbols import Definition, FourMatrices, define
from generator.lower.factors import factored, shared_loops
from generator.spec import KernelSpec

MOMENTA = FourMatrices("p", algebra=True)
CALLED = tuple(Direction(n) for n in range(4, FIFTH))
"""Directions that come with a call: mu, nu, rho, sigma."""


@dataclass(frozen=True, eq=False)
class Derived(Expression):
    """An expression that follows from others.

    Attributes:
        derive: makes its definition, when that is first asked for.
        together: as of Expression.
        kept: as of Expression.
        room: for how many blocks of threads a GPU's multiprocessor is to have registers; if given, sums count as long.
    """

    derive: Callable[[], Definition] = field(kw_only=True)
    together: bool = field(default=False, kw_only=True)
    kept: int = field(default=0, kw_only=True)
    room: int = field(default=0, kw_only=True)

    @cached_property
    def definition(self) -> Definition:
        """What follows."""
        return self.derive()

    @property
    def sparing(self) -> bool:
        """Long sums of paths: on a GPU registers are short of matrices by far."""
        roots = [[v for *_, v in results] for _, results in self.blocks]
        return self.room > 0 or any(many_spinors(r) or not are_inlined(r) for r in roots)

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """A loop where all directions have the same long functions: four times their text does not stay in a cache."""
        data = super().body(spec)
        values = topological(v for _, results in self.blocks for *_, v in results)
        if not any(v.op in ("exp_adjoint", "project_u3_adjoint") for v in values):
            return data
        (mu, *_), lowering = CALLED, Lowering()
        each = [[renamed(r[d], {d: mu}) for r in self.definition.results] for d in directions]
        if len({tuple(map(str, nodes)) for nodes in each}) > 1:
            return data
        outputs = [name for name, _ in self.definition.outputs]
        results = [(o, mu.index, lowering.lower(node)) for o, node in zip(outputs, each[0], strict=True)]
        lines = self._block("", results, spec.basis)["lines"]
        head = ["QUARKSMITH_ROLLED", f"for (int {mu.name} = 0; {mu.name} < directions; ++{mu.name}) {{"]
        return data | {"blocks": [{"title": "", "lines": [*head, *(f"  {line}" for line in lines), "}"]}]}


def sparing(room: int, **settings: Any) -> Callable[[Callable[..., Any]], Derived]:
    """Decorator: an expression with long sums of paths."""
    return lambda function: Derived(function, derive=lambda: define(function), room=room, **settings)


def kicked(u: Any, derivatives: Mapping[Direction, Node], weight: Node | None = None) -> dict[Direction, Node]:
    """P + weight [U G]_TA / 2, in all directions or in those of the call."""
    along = derivatives if all(mu.comes_with_call for mu in derivatives) else directions
    return {mu: added(MOMENTA[mu], derivatives.get(mu), weight, u[mu]) for mu in along}


def kicked_in_plane(u: Any, derivatives: Mapping[Direction, Node], weight: Node | None = None) -> dict[Direction, Node]:
    """The same in two directions of a call; loops through both links are multiplied once: [L^+]_TA = -[L]_TA."""
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
    return Weighted(w.factor / 2, (*([weight] if weight else []), *w.numbers), of(w.node)).value


def renamed(node: Node, names: Mapping[Direction, Direction]) -> Node:
    """A graph of links with other directions in place of some."""
    numbers = {before.index: after.index for before, after in names.items()}
    data = node.data
    if node.op == "load" and isinstance(data, tuple):
        data = (data[0], numbers.get(data[1], data[1]))
    if node.op == "shift":
        vector = [0] * len(data.vector)
        for mu, n in enumerate(data.vector):
            vector[numbers.get(mu, mu)] += n
        data = Step(tuple(vector))
    return Node(node.op, node.kind, tuple(renamed(a, names) for a in node.args), data, node.algebra, node.place)


def added(before: Node, g: Node | None, weight: Node | None, link: Node | None = None) -> Node:
    """Before + weight G / 2, or [U G]_TA of a link; numbers come last, sums over right-hand sides where spinors are."""
    if g is None:
        return before

    def core(node: Node) -> Node:
        whole = summed(node) if any(n.kind == "spinor" for n in parts([node])) else node
        return whole if link is None else ta(link * whole)

    return before + _weighed(core, g, weight)
