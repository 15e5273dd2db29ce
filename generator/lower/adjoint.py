"""The Hermitian conjugate of a formula that is linear in its fermion, as a formula.

Every part of the graph of M psi is linear in the parts below it. Going through them from M psi down to psi, each
receives the sum of what those above it pass on, conjugated: for c S L psi(x + d) that is [c^* S^+ L^+ chi](x - d).
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import ExpressionError
from ..language.graph import Node, make
from ..language.walks import parts
from .constants import conjugate
from .derivative import RULES, Passed


def check_linear(matrix: Node, fermion: str) -> None:
    """Checks that every term of M psi has the fermion once, as the spinor that everything else multiplies.

    Raises:
        ExpressionError: at the line of the term that has it not.
    """
    for part in _from_the_top(matrix):
        if part.op == "load" and part.data != fermion:
            raise ExpressionError(
                f"{part.place}: {part} stands where {fermion} should: every term is a multiple of that"
            )
        for a in part.args:
            if a.kind != "spinor" and any(n.op == "load" and n.data == fermion for n in parts([a])):
                raise ExpressionError(f"{part.place}: {part} is not linear in {fermion}, or has it within dot(...)")


def adjoint(matrix: Node, fermion: str) -> Node:
    """M^+ psi of a graph M psi.

    Raises:
        ExpressionError: the graph is not linear in the fermion.
    """
    received: dict[int, Node] = {id(matrix): make("load", "spinor", (), fermion)}
    result: Node | None = None
    for part in _from_the_top(matrix):
        value = received[id(part)]
        if part.op == "load" and part.data == fermion:
            result = value if result is None else result + value
            continue
        for below, passed in _passed_on(part, value):
            before = received.get(id(below))
            received[id(below)] = passed if before is None else before + passed
    if result is None:
        raise ExpressionError(f"{matrix.place}: {fermion} does not occur in the formula")
    return result


def _from_the_top(matrix: Node) -> list[Node]:
    """All spinors of a graph, each before those that it is made of."""
    return parts([matrix], lambda n: n.kind == "spinor")[::-1]


_RULES: dict[str, Callable[[Node, Node], Passed]] = {
    **{op: RULES[op] for op in ("add", "sub", "neg", "shift")},
    "mul": lambda part, value: [(part.args[1], conjugate(part.args[0]) * value)],
}


def _passed_on(part: Node, value: Node) -> Passed:
    """The spinors below a part, and the conjugate of how it depends on each, applied to `value`."""
    if part.op not in _RULES:
        raise ExpressionError(f"{part.place}: {part} is not linear in a spinor")
    return _RULES[part.op](part, value)
