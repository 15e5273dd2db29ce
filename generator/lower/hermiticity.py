"""gamma_5 M^+ gamma_5 as M for other values of the parameters, found and proved by numbers on a small lattice."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI
from ..errors import ExpressionError
from ..language.graph import FIFTH, NUMBERS, Node
from .constants import is_constant, spin_value
from .made import Graphs, Values
from .numeric import COLOURS, EXTENT, TOLERANCE, Array

MOST_NEGATED, MOST_TERMS = 3, 60
"""Parameters that change sign together; terms of the series of an exponential."""


def negated_in_adjoint(graphs: Graphs, flavours: int) -> tuple[str, ...] | None:
    """The parameters that change sign in M' = gamma_5 M^+ gamma_5, complex ones being conjugated; None: none is known.

    Of a fifth dimension what stays in a slice is compared, of which transfer matrices are made.
    """
    action = graphs.action
    if graphs.matrix is None or action.spins != 4:
        return None
    rng = np.random.default_rng(7)
    size = (*EXTENT, flavours, 4, COLOURS)
    psi, phi = (rng.normal(size=size) + 1j * rng.normal(size=size) for _ in range(2))
    numbers = {
        p.name: rng.uniform(0.5, 1.5) * (1 + 0.7j if p.complex or p.each_slice else 1) for p in action.parameters
    }
    conjugated = {name: np.conj(value) for name, value in numbers.items()}
    try:
        left = complex(np.vdot(phi, _applied(graphs, numbers, psi)))
    except ExpressionError:  # a function that has no value here
        return None
    for count in range(MOST_NEGATED + 1):
        for names in combinations(numbers, count):
            other = conjugated | {name: -conjugated[name] for name in names}
            right = complex(np.vdot(_chiral(_applied(graphs, other, _chiral(phi))), psi))
            if abs(left - right) < TOLERANCE * np.linalg.norm(phi) * np.linalg.norm(psi):
                return names
    return None


def _chiral(psi: Array) -> Array:
    return np.asarray(np.diag(DEGRAND_ROSSI.gamma5)[:, None] * psi)


def _applied(graphs: Graphs, numbers: Mapping[str, complex], psi: Array) -> Array:
    """M psi for values of the parameters, on the fields of one seed."""
    assert graphs.matrix is not None
    return _Spinors(graphs.action.fermion, psi, graphs.values(3, numbers)).of(graphs.matrix)


class _Spinors:
    """Values of spinors, whose axes are sites, flavour, spin and colour."""

    def __init__(self, fermion: str, psi: Array, values: Values) -> None:
        self._fermion, self._psi, self._values = fermion, psi, values
        self._known: dict[int, Array] = {}

    def of(self, node: Node) -> Array:
        if id(node) not in self._known:
            self._known[id(node)] = self._value(node)
        return self._known[id(node)]

    def _value(self, node: Node) -> Array:
        if node.op == "load":
            return self._psi if node.data == self._fermion else self._values.of(node)[..., None, :, :]
        if node.op in ("add", "sub"):
            a, b = map(self.of, node.args)
            return a + b if node.op == "add" else a - b
        if node.op == "neg":
            return -self.of(node.args[0])
        if node.op == "shift":
            if node.data.vector[FIFTH]:
                return np.zeros_like(self._psi)
            return np.roll(self.of(node.args[0]), [-n for n in node.data.vector[:4]], axis=(0, 1, 2, 3))
        return self._times(node.args[0], self.of(node.args[1]))

    def _times(self, op: Node, psi: Array) -> Array:
        """A number or matrix that multiplies a spinor."""
        if op.kind in NUMBERS:
            value = self._values.of(op)
            return np.asarray(value[..., None, None, None] * psi if value.ndim else value * psi)
        if op.kind == "matrix":
            return np.asarray(np.einsum("...ab,...fsb->...fsa", self._values.of(op), psi))
        if op.kind in ("spin", "flavour") and is_constant(op):
            ways = "ab,...bc->...ac" if op.kind == "spin" else "ab,...bsc->...asc"
            return np.asarray(np.einsum(ways, spin_value(op, DEGRAND_ROSSI), psi))
        if op.op in ("add", "sub"):
            a, b = (self._times(part, psi) for part in op.args)
            return a + b if op.op == "add" else a - b
        if op.op == "exp":
            total = term = psi
            for n in range(1, MOST_TERMS):
                term = self._times(op.args[0], term) / n
                total = total + term
            return total
        inner = psi if len(op.args) == 1 else self._times(op.args[1], psi)
        return self._times(op.args[0], -inner if op.op == "neg" else inner)  # a product, neg, promote
