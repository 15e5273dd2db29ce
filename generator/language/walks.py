"""Walks through graphs: of nodes, and of whatever else is made of `args`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Node


def parts(roots: Iterable[Any], follow: Callable[[Any], bool] = lambda _: True) -> list[Any]:
    """All parts of some graphs, each after those it is made of, in the order in which an evaluation meets them."""
    order: dict[int, Any] = {}

    def visit(n: Any) -> None:
        if id(n) not in order:
            for a in n.args:
                if id(a) not in order and follow(a):
                    visit(a)
            order[id(n)] = n

    for root in roots:
        visit(root)
    return list(order.values())


def uses(roots: Sequence[Any]) -> Counter[int]:
    """The number of uses of each part, by id."""
    count = Counter(map(id, roots))
    for n in parts(roots):
        count.update(map(id, n.args))
    return count


def rewritten(
    roots: Iterable[Node],
    change: Callable[[Node, tuple[Node, ...]], Node],
    replace: Callable[[Node], Node | None] = lambda _: None,
) -> list[Node]:
    """Graphs whose parts are what `change` makes of them on their rewritten arguments; what is replaced stays whole."""
    roots = list(roots)  # kept, for the ids of parts to stay their own
    done: dict[int, Node] = {}

    def visit(n: Node) -> Node:
        if id(n) not in done:
            other = replace(n)
            done[id(n)] = change(n, tuple([visit(a) for a in n.args])) if other is None else other
        return done[id(n)]

    return [visit(root) for root in roots]


def all_merged(nodes: Iterable[Node]) -> list[Node]:
    """Several graphs with equal parts made one in all of them."""
    known: dict[Any, Node] = {}

    def same(n: Node, args: tuple[Node, ...]) -> Node:
        key = (n.op, n.kind, n.data, n.algebra, tuple(map(id, args)))
        if key not in known:
            known[key] = n.on(args)
        return known[key]

    return rewritten(nodes, same)


def merged(node: Node) -> Node:
    """The graph with equal sub-graphs merged."""
    return all_merged([node])[0]


def fields_of(nodes: Iterable[Node]) -> list[str]:
    """Names of the fields that graphs read."""
    return list(dict.fromkeys(n.field for n in parts(nodes) if n.op == "load"))
