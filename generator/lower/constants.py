"""Constant matrices in spin and flavour: their values in any basis, and conjugates of factors of a spinor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.gamma import Basis, Matrix, snap
from ..errors import ExpressionError
from ..language.graph import NUMBERS, Node, make
from ..language.symbols import adj, spin_matrix

_PAULI = {
    1: np.array([[0, 1], [1, 0]], dtype=complex),
    2: np.array([[0, -1j], [1j, 0]]),
    3: np.array([[1, 0], [0, -1]], dtype=complex),
}
_LEAVES: dict[str, Callable[[Any, Any, int], Any]] = {
    "constant": lambda number, _, size: complex(number) * np.eye(size),
    "tau": lambda k, *_: _PAULI[k],
    "gamma": lambda mu, basis, _: basis.gamma[mu],
    "gamma5": lambda _, basis, size: basis.gamma5,
    "spin": lambda rows, basis, _: basis.rotation @ np.array(rows) @ basis.rotation.conj().T,
}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "promote": lambda a: a,
    "neg": lambda a: -a,
    "adj": lambda a: a.conj().T,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a @ b,
}


def spin_value(node: Node, basis: Basis | None) -> Matrix:
    """A constant 4x4 matrix in a basis; 2x2 for flavours.

    Raises:
        ExpressionError: the matrix depends on a parameter.
    """
    return snap(_value(node, basis, 2 if node.kind == "flavour" else 4))


def _value(node: Node, basis: Basis | None, size: int) -> Matrix:
    """The same with the rounding of products; a number is that number times 1."""
    if node.op in _LEAVES:
        return np.asarray(_LEAVES[node.op](node.data, basis, size))
    args = [_value(a, basis, size) for a in node.args]
    if node.op in _OPERATIONS:
        return np.asarray(_OPERATIONS[node.op](*args))
    raise ExpressionError(f"{node.place}: {node}: matrices in spin and flavour are constant; multiply psi by numbers")


def is_constant(node: Node) -> bool:
    """Whether a matrix holds no parameter and nothing of the site."""
    return (node.op in _LEAVES or node.op in _OPERATIONS) and all(map(is_constant, node.args))


def conjugate(matrix: Node) -> Node:
    """The Hermitian conjugate of a factor of a spinor: number, link, or matrix in spin or flavour."""
    if matrix.kind == "real" or matrix.op in ("gamma", "gamma5", "tau"):
        return matrix
    if matrix.op == "spin":
        return spin_matrix([[complex(row[k]).conjugate() for row in matrix.data] for k in range(4)])
    if matrix.op == "constant":
        value = matrix.data
        return make("constant", matrix.kind, (), value.conjugate() if isinstance(value, complex) else value)
    if matrix.kind == "matrix" or (matrix.kind in NUMBERS and not matrix.args):
        return adj(matrix)
    args = [conjugate(a) for a in matrix.args]
    if matrix.op == "mul" and matrix.args[0].kind not in NUMBERS:
        args.reverse()
    return make(matrix.op, matrix.kind, tuple(args), matrix.data)
