"""Sequential sources: the derivative of a contraction by the propagator of a quark line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import ExpressionError
from ..language.graph import NUMBERS, Node, constant
from ..language.symbols import adj, epsilon, gamma5, identity, spin_matrix
from ..language.walks import all_merged
from .derivative import depending


def sequential_source(contraction: Node, line: str) -> Node:
    """gamma_5 conj(F) with dC = sum of F_ab dS_ab over spins and colours of sink and source.

    G. Martinelli and C. T. Sachrajda, Nucl. Phys. B 316 (1989) 355.
    """
    return gamma5 * adj(derivative(contraction, line))


def derivative(contraction: Node, line: str) -> Node:
    """B in dC = tr(B dS), of a number that is made of traces, epsilon tensors and elements of S.

    Raises:
        ExpressionError: S occurs in another way, or not at all.
    """
    order = depending(all_merged([contraction]), line)
    depends = set(map(id, order))
    found = {id(n): constant(1.0) for n in order[-1:]}
    for node in reversed(order):
        if node.op == "load":
            return found[id(node)]  # all that is made of it comes before
        for argument, part in _pulled_back(node, found[id(node)]):
            if id(argument) in depends:
                known = found.get(id(argument))
                found[id(argument)] = part if known is None else known + part
    raise ExpressionError(f"{contraction.place}: {contraction}: it is not made of {line}")


def _pulled_back(node: Node, g: Node) -> list[tuple[Node, Node]]:
    """Derivatives with respect to the arguments of a node, given that with respect to the node."""
    if node.op not in _RULES or (node.op == "mul" and node.args[0].kind == node.args[1].kind == "matrix"):
        raise ExpressionError(f"{node.place}: {node}: its derivative by a propagator is not known")
    return _RULES[node.op](node, g)


def _of_product(node: Node, g: Node) -> list[tuple[Node, Node]]:
    a, b = node.args
    if a.kind in NUMBERS:
        return [(b, g * a)]
    return [(a, b * g), (b, g * a)]


def _of_trace(node: Node, g: Node) -> list[tuple[Node, Node]]:
    if len(node.args) == 2:
        return [(node.args[0], g * node.args[1]), (node.args[1], g * node.args[0])]
    (m,) = node.args
    return [(m, g * (identity if m.kind == "matrix" else spin_matrix(np.eye(4))))]


def _of_element(node: Node, g: Node) -> list[tuple[Node, Node]]:
    sink, source = node.data
    unit = np.zeros((4, 4))
    unit[source, sink] = 1
    return [(node.args[0], spin_matrix(unit) * g)]


_RULES: dict[str, Callable[[Node, Node], list[tuple[Node, Node]]]] = {
    "add": lambda n, g: [(a, g) for a in n.args],
    "sub": lambda n, g: [(n.args[0], g), (n.args[1], -g)],
    "neg": lambda n, g: [(n.args[0], -g)],
    "promote": lambda n, g: [(n.args[0], g)],
    "mul": _of_product,
    "trace": _of_trace,
    "epsilon": lambda n, g: [(n.args[0], epsilon(n.args[1], g)), (n.args[1], epsilon(n.args[0], g))],
    "element": _of_element,
}
