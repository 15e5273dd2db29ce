"""What carries a spinor over a hop: a link, or a matrix that a statement makes of fields, kept as links of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ..errors import ShapeError
from ..language.graph import FIFTH, NAMES, NUMBERS, Node, Step
from ..language.symbols import adj, identity, shift
from .terms import HERE, Factor, Place, Term


def colour_matrix(factors: Sequence[Factor], moved: Place = HERE, *, adjoint: bool = False) -> Node:
    """The product of factors, all moved by some steps, or its conjugate; numbers come first."""
    ordered = list(reversed(factors)) if adjoint else list(factors)
    nodes = [_at(f, moved, f.adjoint != adjoint) for f in ordered]
    numbers = sorted((n for n in nodes if n.kind in NUMBERS), key=str)
    matrices = [n for n in nodes if n.kind not in NUMBERS] or [identity]
    return reduce(lambda a, b: b * a, reversed(numbers), reduce(lambda a, b: a * b, matrices))


def _at(factor: Factor, moved: Place, adjoint: bool) -> Node:
    at = tuple(a + b for a, b in zip(factor.at, moved, strict=True))
    node = shift(factor.node, Step(at)) if any(at) else factor.node
    return adj(node) if adjoint else node


def transporter(term: Term, mu: int, steps: int) -> Node:
    """The V(x) of V(x) psi(x + n mu), or for steps backward of V(x - n mu)^+ psi(x - n mu).

    Raises:
        ShapeError: something in it is of another slice.
    """
    if any(f.at[FIFTH] for f in term.colour):
        raise ShapeError(f"links along {NAMES[FIFTH]} are no hops")
    if steps > 0:
        return colour_matrix(term.colour)
    back = tuple(-steps if nu == mu else 0 for nu in range(len(HERE)))
    return colour_matrix(term.colour, back, adjoint=True)


def plain_field(transporters: dict[int, Node]) -> str:
    """The field whose links these are, one for each direction; empty if they are made of something."""
    names = {v.data[0] for v in transporters.values() if v.op == "load" and isinstance(v.data, tuple)}
    plain = all(v.op == "load" and v.data[1] == mu for mu, v in transporters.items())
    return names.pop() if plain and len(names) == 1 else ""
