"""Constant matrices in spin and flavour: their values in any basis, and conjugates of what multiplies a spinor."""

from __future__ import annotations

import numpy as np

from ..algebra.gamma import Basis, Matrix, snap
from ..errors import ExpressionError
from ..language.graph import NUMBERS, Node, make
from ..language.symbols import adj, spin_matrix

_CONSTANT = ("constant", "gamma", "gamma5", "tau", "spin", "promote", "add", "sub", "neg", "mul", "adj")
_PAULI = {
    1: np.array([[0, 1], [1, 0]], dtype=complex),
    2: np.array([[0, -1j], [1j, 0]]),
    3: np.array([[1, 0], [0, -1]], dtype=complex),
}


def spin_value(node: Node, basis: Basis | None) -> Matrix:
    """A constant 4x4 matrix in a basis; 2x2 for flavours.

    Raises:
        ExpressionError: it holds a parameter.
    """
    return snap(_value(node, basis, 2 if node.kind == "flavour" else 4))


def _value(node: Node, basis: Basis | None, size: int) -> Matrix:
    """The same with the rounding of products; a number is that number times 1."""
    if node.op == "promote":
        return _value(node.args[0], basis, size)
    if node.op == "constant":
        return complex(node.data) * np.eye(size)
    if node.op == "tau":
        return _PAULI[node.data]
    if node.op in ("gamma", "gamma5", "spin"):
        assert basis is not None
        if node.op == "spin":
            v = basis.rotation
            return np.asarray(v @ np.array(node.data) @ v.conj().T)
        return basis.gamma5 if node.op == "gamma5" else basis.gamma[node.data]
    args = [_value(a, basis, size) for a in node.args] if node.op != "parameter" else []
    if node.op == "neg":
        return -args[0]
    if node.op == "adj":
        return np.asarray(args[0].conj().T)
    if node.op in ("add", "sub"):
        return args[0] + args[1] if node.op == "add" else args[0] - args[1]
    if node.op == "mul":
        return np.asarray(args[0] @ args[1])
    raise ExpressionError(f"{node.place}: {node}: matrices in spin and flavour are constant; multiply psi by numbers")


def is_constant(node: Node) -> bool:
    """Whether a matrix holds no parameter and nothing of the site."""
    return node.op in _CONSTANT and all(map(is_constant, node.args))


def conjugate(matrix: Node) -> Node:
    """The conjugate of what multiplies a spinor; gamma matrices are Hermitian."""
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
