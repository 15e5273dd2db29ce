"""Reads printed formulas: what stands side by side is multiplied, on whole fields of a small lattice in NumPy.

Two notations: that of hops, `(1 - gamma_mu) U_mu(x) psi(x+mu)`, and that of the language, `gamma[x]*shift(psi, +x)`.
Fields have axes x, y, z, t, s, flavour, spin, colour.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

AXES = "xyzt"


class Op:
    """A linear operator on fields, or a number."""

    def __init__(self, act: Callable[[np.ndarray], np.ndarray], number: complex | None = None) -> None:
        self.act, self.number = act, number

    @staticmethod
    def of(value: Op | complex) -> Op:
        return value if isinstance(value, Op) else Op(lambda f: value * f, value)

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return self.act(other)
        b = Op.of(other)
        both = None if None in (self.number, b.number) else self.number * b.number
        return Op(lambda f: self.act(b.act(f)), both)

    def __rmul__(self, other):
        return Op.of(other) * self

    def __add__(self, other):
        b = Op.of(other)
        both = None if None in (self.number, b.number) else self.number + b.number
        return Op(lambda f: self.act(f) + b.act(f), both)

    __radd__ = __add__

    def __pos__(self):
        return self

    def __neg__(self):
        return Op.of(-1) * self

    def __sub__(self, other):
        return self + -Op.of(other)

    def __rsub__(self, other):
        return Op.of(other) + -self

    def __truediv__(self, other):
        return Op.of(1 / Op.of(other).number) * self


def on_spin(matrix: np.ndarray) -> Op:
    return Op(lambda f: np.einsum("ab,...bc->...ac", matrix, f))


@dataclass
class Field:
    """The lattice on which a formula is read."""

    psi: np.ndarray
    links: dict[str, np.ndarray]
    gamma: list[np.ndarray]
    parameters: dict[str, float]
    phases: tuple[complex, ...]

    def moved(self, f: np.ndarray, mu: int, steps: int) -> np.ndarray:
        """f(x + steps mu) with boundary phases."""
        for _ in range(abs(steps)):
            f = np.roll(f, -1 if steps > 0 else 1, axis=mu)
            edge = (slice(None),) * mu + (-1 if steps > 0 else 0,)
            f[edge] *= self.phases[mu] if steps > 0 else np.conj(self.phases[mu])
        return f

    def link(self, letter: str, mu: int, steps: int, conjugate: bool) -> Op:
        """U_mu(x + steps mu); fields are found by their first letter."""
        u = next(v for name, v in self.links.items() if name[0].upper() == letter)[:, :, :, :, mu]
        u = np.roll(u, -steps, axis=mu)
        u = u.conj().swapaxes(-1, -2) if conjugate else u
        return Op(lambda f: np.einsum("xyztab,xyzt...b->xyzt...a", u, f))

    def names(self) -> dict[str, object]:
        """Matrices and parameters."""
        x, y, z, t = self.gamma

        def tau(matrix):
            return Op(lambda f: np.einsum("fg,...gsc->...fsc", np.array(matrix), f))

        return {
            **{f"gamma_{a}": on_spin(g) for a, g in zip(AXES, self.gamma, strict=True)},
            "gamma_5": on_spin(x @ y @ z @ t),
            "i": Op.of(1j),
            "exp": lambda v: Op.of(np.exp(v.number)),
            **{name: Op.of(v) for name, v in self.parameters.items()},
            "tau_1": tau([[0, 1], [1, 0]]),
            "tau_2": tau([[0, -1j], [1j, 0]]),
            "tau_3": tau([[1, 0], [0, -1]]),
        }


_TOKEN = re.compile(r"[A-Z]_\w\(x[^)]*\)(?:\^\+)?|psi(?:\([^)]*\))?|eta_\w\(x\)|\w+\.?\w*|[-+*/()\[\]]")
_HOP = re.compile(r"([A-Z])_(\w)\(x(?:-(\d?)e?\w)?\)(\^\+)?")
_PSI = re.compile(r"psi\(x([+-])(\d?)e?(\w)\)")


def read(text: str, field: Field, eta: dict[str, tuple[int, ...]] | None = None, more: dict | None = None, weight=None):
    """The value of an expression in the notation of hops.

    Args:
        text: with directions filled in.
        field: where.
        eta: coordinates whose sum's parity is the sign of each direction.
        more: further names.
        weight: factor of a hop, by axis and sign.
    """
    names = field.names() | (more or {})
    parts: list[str] = []
    for token in _TOKEN.findall(text):
        code = token.replace("[", "(").replace("]", ")")
        key = f"v{len(names)}"
        if hop := _HOP.fullmatch(token):
            letter, axis, steps, conjugate = hop.groups()
            back = -int(steps or 1) if "-" in token else 0
            names[key] = field.link(letter, AXES.index(axis), back, bool(conjugate))
            code = key
        elif there := _PSI.fullmatch(token):
            sign, steps, axis = there.groups()
            way = 1 if sign == "+" else -1
            factor = weight(axis, way) if weight else 1
            names[key] = factor * field.moved(field.psi, AXES.index(axis), way * int(steps or 1))
            code = key
        elif token.startswith("eta_"):
            total = sum((np.indices(field.psi.shape[:4])[nu] for nu in eta[token[4]]), np.zeros(field.psi.shape[:4]))
            names[key] = Op(lambda f, s=(-1.0) ** total: s.reshape(*s.shape, 1, 1, 1, 1) * f)
            code = key
        elif re.fullmatch(r"[\d.]+", token):
            code = f"Op.of({token})"
        if parts and re.search(r"[\w)]$", parts[-1]) and re.match(r"[\w(]", code) and parts[-1] != "exp":
            parts.append("*")
        parts.append(code)
    return eval(" ".join(parts), {"Op": Op, "psi": field.psi, **names})


def hops(text: str, field: Field, eta=None, weight=None) -> np.ndarray:
    """D psi of `sum_mu ...` or `sum_{i=x,y,z} ...`."""
    found = re.match(r"sum_(?:mu|\{i=([xyzt,]+)\}) (.*)", text)
    name, axes = ("i", found[1].split(",")) if found[1] else ("mu", list(AXES))
    row = found[2]
    if same := re.search(r" \+ the same of (\w) with (\d)mu", row):
        row = row.replace(same[0], "")
        first = re.search(r"\[(.*)\]", row)[1]
        longer = re.sub(r"[A-Z]_mu", f"{same[1]}_mu", first).replace("+mu", f"+{same[2]}mu").replace(
            "(x-mu)", f"(x-{same[2]}mu)"
        )  # fmt: skip
        row = row.replace(first, f"{first} + {longer}")
    rows = [re.sub(rf"(?<=[_+\-\d]){name}\b|(?<=_){name}(?=\()", a, row) for a in axes]
    return sum(read(r, field, eta, weight=weight) for r in rows)


class Step:
    """A displacement of the language, which names links and gamma matrices too."""

    def __init__(self, *vector: int) -> None:
        self.vector = vector

    def __pos__(self):
        return self

    def __neg__(self):
        return Step(*(-n for n in self.vector))

    def __add__(self, other):
        return Step(*(a + b for a, b in zip(self.vector, other.vector, strict=True)))

    def __rmul__(self, n):
        return Step(*(n * a for a in self.vector))

    @property
    def axis(self) -> int:
        return self.vector.index(1)


class By:
    """What has a direction in brackets."""

    def __init__(self, of: Callable[[int], object]) -> None:
        self.of = of

    def __getitem__(self, step: Step) -> object:
        return self.of(step.axis)


def in_the_language(text: str, field: Field, numbers: dict[str, complex]) -> np.ndarray:
    """`out` of the statements of a formula in the notation of the language, for numbers by their names."""

    def shift(f, step):
        for mu, n in enumerate(step.vector):
            f = field.moved(f, mu, n)
        return f

    def adj(op):
        return Op.of(np.conj(op.number)) if op.number is not None else op.adjoint

    def colour(m):
        return Op(lambda f: np.einsum("xyztab,xyzt...b->xyzt...a", m, f))

    def number(z):
        return Op(lambda f: z[..., None, None, None, None] * f)

    def with_adjoint(op, adjoint):
        op.adjoint = adjoint
        return op

    def matrices(u):
        return By(
            lambda mu: with_adjoint(colour(u[..., mu, :, :]), colour(np.swapaxes(u[..., mu, :, :], -1, -2).conj()))
        )

    def sign(*directions):
        sites = np.indices(field.psi.shape[:4])
        return number((-1.0) ** sum(sites[step.vector.index(1)] for step in directions))

    def dot(f, g):
        return number(np.einsum("xyzt...,xyzt...->xyzt...", f.conj(), g).sum(axis=(4, 5, 6, 7)))

    def outer(f, g):
        m = np.einsum("xyztfgsa,xyztfgsb->xyztab", f, g.conj())
        return with_adjoint(colour(m), colour(np.swapaxes(m, -1, -2).conj()))

    def turned(m):
        return Op(lambda f: np.einsum("fg,...gsc->...fsc", np.array(m), f))

    steps = {a: Step(*(int(k == mu) for k in range(4))) for mu, a in enumerate(AXES)}
    names = field.names() | steps | {n: Op.of(v) for n, v in numbers.items()}
    for name, values in field.links.items():
        if values.ndim == 8:  # slices, flavours, spins, colours
            names[name] = values
        else:
            names[name] = matrices(values) if values.ndim > 4 else with_adjoint(number(values), number(values.conj()))
    pauli = {1: [[0, 1], [1, 0]], 2: [[0, -1j], [1j, 0]], 3: [[1, 0], [0, -1]]}
    names["tau"] = {k: turned(m) for k, m in pauli.items()}
    names |= {"gamma": By(lambda mu: on_spin(field.gamma[mu])), "gamma5": names["gamma_5"]}
    names |= {"shift": shift, "adj": adj, "psi": field.psi, "sign": sign, "dot": dot, "outer": outer}
    names["re"] = lambda op: Op.of(0.5) * (op + op.adjoint)
    for statement in text.split("; "):
        name, _, value = statement.partition(" = ")
        names[name] = eval(value, names)
    return names["out"]
