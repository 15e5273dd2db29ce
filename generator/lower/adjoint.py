"""The Hermitian conjugate of a formula that is linear in its fermion, as a formula.

M psi(x) = sum c s(x) S L(x) psi(x + d) has M^+ chi(x) = sum c^* [s S^+ L^+ chi](x - d): boundary phases are conjugated
because hops turn round.
"""

from __future__ import annotations

from generator.language.graph import NUMBERS, Node, Step, make
from generator.language.symbols import adj, shift, sign, spin_matrix
from generator.language.symbols import directions as all_directions
from generator.lower.terms import HERE, Link, Place, Term, expand


def adjoint(matrix: Node, fermion: str) -> Node:
    """M^+ psi of a graph M psi.

    Raises:
        ExpressionError: the graph is not linear in the fermion.
    """
    return sum(_conjugate(t, fermion) for t in expand(matrix, fermion))  # type: ignore[return-value]


def _conjugate(term: Term, fermion: str) -> Node:
    result: Node = make("load", "spinor", (), fermion)
    for link in term.links:
        result = adj(_link(link)) * result
    for block in term.blocks:
        result = adj(block) * result
    for matrix in (*term.spin, *term.flavour):
        result = _adjoint_of(matrix) * result
    if term.signs:
        result = sign(*(all_directions[mu] for mu in term.signs)) * result
    result = _at(result, term)
    for number in term.numbers:
        result = adj(number) * result
    factor = complex(term.factor).conjugate()
    if factor == -1:
        return -result
    return result if factor == 1 else (factor if factor.imag else factor.real) * result


def _at(value: Node, term: Term) -> Node:
    """Moved back by the displacement of a term; walls are real and the same at both ends."""
    back = tuple(-n for n in term.at)
    if back == HERE:
        return value
    if term.walls:
        return shift(value, Step(back), wall=term.walls[0][1])
    return shift(value, Step(back))


def _link(link: Link) -> Node:
    matrix = make("load", "matrix", (), (link.field, link.mu))
    matrix = _moved(matrix, link.at)
    return adj(matrix) if link.adjoint else matrix


def _moved(value: Node, at: Place) -> Node:
    return value if at == HERE else shift(value, Step(at))


def _adjoint_of(matrix: Node) -> Node:
    """The conjugate of a constant matrix, its gamma matrices as they are: they are Hermitian."""
    if matrix.op in ("gamma", "gamma5", "tau"):
        return matrix
    if matrix.op == "spin":
        return spin_matrix([[complex(row[k]).conjugate() for row in matrix.data] for k in range(4)])
    if matrix.op == "adj":
        return matrix.args[0]
    if matrix.kind in NUMBERS:
        return adj(matrix)
    args = [_adjoint_of(a) for a in matrix.args]
    if matrix.op == "mul":
        args.reverse()
    return make(matrix.op, matrix.kind, tuple(args), matrix.data)
