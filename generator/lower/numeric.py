"""Formulas of links evaluated on a small lattice of random fields: what a statement promises is proved by numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ExpressionError
from ..language.graph import Node

EXTENT = (3, 3, 3, 3)
"""Extents of the lattice for numerical checks: steps over one and two sites end at different sites."""
TOLERANCE = 1e-9
COLOURS = 3
Array = np.ndarray[Any, Any]


def dagger(m: Array) -> Array:
    """Hermitian conjugates."""
    return np.asarray(np.swapaxes(m, -1, -2).conj())


def random_su(rng: np.random.Generator, colours: int, *shape: int) -> Array:
    """SU(N) matrices by the decomposition of Gaussian ones."""
    size = (*shape, colours, colours)
    q, _ = np.linalg.qr(rng.normal(size=size) + 1j * rng.normal(size=size))
    return np.asarray(q / np.linalg.det(q)[..., None, None] ** (1 / colours))


def random_field(kind: str, seed: int, colours: int = COLOURS) -> Array:
    """A field of a kind, sites first; directions after them where it has four of what it holds."""
    rng = np.random.default_rng(seed)
    if kind == "links":
        return random_su(rng, colours, *EXTENT, 4)
    if kind == "phases":
        return np.exp(1j * rng.uniform(0, 2 * np.pi, size=(*EXTENT, 4)))
    own = {"scalars": (), "spinor": (4, colours)}
    size = (*EXTENT, *own.get(kind, (4, colours, colours)))
    return rng.normal(size=size) + 1j * rng.normal(size=size)


def random_values(names: Sequence[str], seed: int) -> dict[str, float]:
    """Values of parameters near 1: roots and quotients of them exist."""
    rng = np.random.default_rng(seed)
    return {name: float(rng.uniform(0.5, 1.5)) for name in names}


def of_hermitian(m: Array, function: Callable[[Array], Array]) -> Array:
    """A function of the eigenvalues of Hermitian matrices."""
    w, v = np.linalg.eigh(m)
    return np.asarray((v * function(w)[..., None, :]) @ dagger(v))


def _nearest_unitary(m: Array) -> Array:
    left, _, right = np.linalg.svd(m)
    return np.asarray(left @ right)


def _traceless(m: Array) -> Array:
    half = (m - dagger(m)) / 2
    n = m.shape[-1]
    return np.asarray(half - np.trace(half, axis1=-2, axis2=-1)[..., None, None] * np.eye(n) / n)


def _special(m: Array) -> Array:
    """An element of SU(N) in place of the nearest one: what is proved holds for any."""
    w = _nearest_unitary(m)
    return np.asarray(w / np.linalg.det(w)[..., None, None] ** (1 / m.shape[-1]))


@dataclass
class Numbers:
    """Values of matrices and numbers at every site, parts that are shared once.

    Attributes:
        fields: by name, sites first.
        parameters: by name.
    """

    fields: Mapping[str, Array]
    parameters: Mapping[str, complex]
    colours: int = COLOURS
    _known: dict[int, tuple[Node, Array]] = field(default_factory=dict)

    def __call__(self, node: Node) -> Array:
        """The value of a node."""
        if id(node) not in self._known:
            self._known[id(node)] = node, self._value(node)
        return self._known[id(node)][1]

    def _value(self, node: Node) -> Array:
        if node.op == "load":
            name, mu = node.data if isinstance(node.data, tuple) else (node.data, None)
            return self.fields[name] if mu is None else self.fields[name][:, :, :, :, mu]
        if node.op == "constant":
            return np.asarray(node.data)
        if node.op == "parameter":
            return np.asarray(self.parameters[node.data])
        if node.op == "identity":
            return np.eye(self.colours, dtype=complex)
        if node.op == "sign":
            return np.asarray((-1.0) ** sum(np.indices(EXTENT)[mu] for mu in node.data) * np.ones(EXTENT))
        args = [self(a) for a in node.args]
        if node.op == "shift":
            steps = node.data.vector[:4]
            return np.asarray(np.roll(args[0], [-n for n in steps], axis=(0, 1, 2, 3)))
        if node.op in ("mul", "div"):
            return self._product(node, *args)
        if node.op not in _FUNCTIONS:
            raise ExpressionError(f"{node.place}: {node}: {node.op} has no value at a site of a lattice of links")
        return np.asarray(_FUNCTIONS[node.op](*args))

    @staticmethod
    def _product(node: Node, a: Array, b: Array) -> Array:
        kinds = [x.kind for x in node.args]
        if node.op == "div":
            return np.asarray(a / b)
        if kinds == ["matrix", "matrix"]:
            return np.asarray(a @ b)
        if "matrix" in kinds:
            number, matrix = (a, b) if kinds[1] == "matrix" else (b, a)
            return np.asarray(number[..., None, None] * matrix)
        return np.asarray(a * b)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "neg": lambda a: -a,
    "adj": lambda a: dagger(a) if a.ndim > 4 else np.conj(a),
    "re": np.real,
    "im": np.imag,
    "promote": lambda a: a,
    "stored": lambda a: a,
    "dot": lambda f, g: (f.conj() * g).sum((-2, -1)),
    "outer": lambda f, g: np.einsum("...sa,...sb->...ab", f, g.conj()),
    "trace": lambda a: np.trace(a, axis1=-2, axis2=-1),
    "ta": _traceless,
    "exp": lambda a: of_hermitian(-1j * a, lambda x: np.exp(1j * x)) if a.ndim > 4 else np.exp(a),
    "project": _special,
    "project_u3": _nearest_unitary,
}


def value_of(node: Node, values: Mapping[str, complex]) -> complex:
    """A number that is the same at all sites, for values of the parameters."""
    return complex(Numbers({}, values)(node))


def parameters_in(node: Node) -> list[str]:
    """Names of the parameters on which a number depends."""
    if node.op == "parameter":
        return [node.data]
    return list(dict.fromkeys(name for a in node.args for name in parameters_in(a)))


def group_of(matrices: Array) -> str:
    """The group of matrices: `SU(3)`, `U(3)` times one real number for all, or `any`."""
    square = matrices @ dagger(matrices)
    size = float(np.real(square[..., 0, 0]).mean())
    if np.abs(square - size * np.eye(matrices.shape[-1])).max() > TOLERANCE * max(size, 1.0):
        return "any"
    special = abs(size - 1) < TOLERANCE and np.abs(np.linalg.det(matrices) - 1).max() < TOLERANCE
    return "SU(3)" if special else "U(3)"
