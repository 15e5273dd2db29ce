"""An interpreter of formulas on a small lattice in NumPy: whole fields moved, dense spins, nothing of lowering."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from generator.algebra.gamma import DEGRAND_ROSSI
from generator.language.graph import FIFTH, Node

TAU = {1: np.array([[0, 1], [1, 0]]), 2: np.array([[0, -1j], [1j, 0]]), 3: np.diag([1, -1])}


def gaussian(rng, shape: tuple[int, ...]) -> np.ndarray:
    """Complex numbers."""
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def random_links(extent: tuple[int, ...], seed: int) -> np.ndarray:
    """SU(3) matrices, axes x, y, z, t, mu, row, column."""
    q, _ = np.linalg.qr(gaussian(np.random.default_rng(seed), (*extent, 4, 3, 3)))
    return q / np.linalg.det(q)[..., None, None] ** (1 / 3)


def random_field(kind: str, extent: tuple[int, ...], seed: int) -> np.ndarray:
    """A field that statements read, by its kind."""
    rng = np.random.default_rng(seed)
    if kind == "links":
        return random_links(extent, seed)
    if kind == "phases":
        return np.exp(1j * rng.uniform(0, 2 * np.pi, size=(*extent, 4)))
    return gaussian(rng, {"matrices": (*extent, 4, 3, 3), "scalars": extent, "spinor": (*extent, 1, 1, 4, 3)}[kind])


def exponential(m: np.ndarray) -> np.ndarray:
    """Exp of matrices by its series, scaled and squared."""
    term = total = np.broadcast_to(np.eye(m.shape[-1], dtype=complex), m.shape)
    for n in range(1, 25):
        term = term @ (m / 256) / n
        total = total + term
    for _ in range(8):
        total = total @ total
    return total


def algebra_part(m: np.ndarray) -> np.ndarray:
    """(m - m^+)/2 without its trace."""
    half = (m - np.swapaxes(m, -1, -2).conj()) / 2
    return half - np.trace(half, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3


def _basis_of_algebra() -> np.ndarray:
    """Anti-Hermitian traceless matrices with tr(t_k t_l) = -delta_kl / 2."""
    found = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        for z in (1, 1j):
            t = np.zeros((3, 3), complex)
            t[a, b], t[b, a] = z / 2, -np.conj(z) / 2
            found.append(t)
    return np.array([*found, np.diag([0.5j, -0.5j, 0]), np.diag([1j, 1j, -2j]) / np.sqrt(12)])


ALGEBRA = _basis_of_algebra()


def closest_su3(m: np.ndarray) -> np.ndarray:
    """The U in SU(3) with the largest Re tr U^+ m: exp(-i theta_k) in its singular vectors, sum theta = arg det."""
    left, s, right = np.linalg.svd(m)
    phase = np.angle(np.linalg.det(left @ right))
    low, high = (np.full(phase.shape, x) for x in (-1.0, 1.0))  # s_k sin(theta_k) = r for all k
    for _ in range(60):
        r = (low + high) / 2
        above = np.arcsin(np.clip(r[..., None] * s[..., -1:] / s, -1, 1)).sum(axis=-1) > phase
        low, high = np.where(above, low, r), np.where(above, r, high)
    theta = np.arcsin(np.clip(r[..., None] * s[..., -1:] / s, -1, 1))
    return (left * np.exp(-1j * theta)[..., None, :]) @ right


@dataclass
class Interpreter:
    """Values of nodes; spinors have axes x, y, z, t, s, flavour, spin, colour.

    Attributes:
        fields: links by name, and the spinor.
        parameters: by name.
        phases: of hops across the last slice of each direction.
        kept: what is stored, by node.
    """

    extent: tuple[int, int, int, int]
    fields: dict[str, np.ndarray]
    parameters: dict[str, float] = field(default_factory=dict)
    phases: tuple[complex, ...] = (1, 1, 1, -1)
    _known: dict[int, tuple[Node, np.ndarray]] = field(default_factory=dict)
    """What shared parts gave; the nodes too, so that no other has their place in memory."""

    def __call__(self, node: Node) -> np.ndarray:
        if id(node) not in self._known:
            self._known[id(node)] = node, getattr(self, f"_{node.op}")(node)
        return self._known[id(node)][1]

    def _args(self, node: Node) -> list[np.ndarray]:
        return [self(a) for a in node.args]

    def _load(self, node):
        if isinstance(node.data, str):
            return self.fields[node.data]
        name, mu = node.data
        return self.fields[name][:, :, :, :, mu]

    def _parameter(self, node):
        return np.array(self.parameters[node.data])

    def _constant(self, node):
        return np.array(node.data)

    def _identity(self, node):
        return np.eye(3)

    def _gamma(self, node):
        return DEGRAND_ROSSI.gamma[node.data]

    def _gamma5(self, node):
        x, y, z, t = DEGRAND_ROSSI.gamma
        return x @ y @ z @ t

    def _tau(self, node):
        return TAU[node.data]

    def _spin(self, node):
        return np.array(node.data)

    def _sign(self, node):
        total = sum((np.indices(self.extent)[mu] for mu in node.data), np.zeros(self.extent, int))
        return (-1.0) ** total

    def _promote(self, node):
        (inner,) = node.args
        value = self(inner)
        if node.kind == "block":
            return self._block(inner.kind, value)
        if inner.kind in ("real", "complex") and node.kind in ("spin", "flavour"):
            return value * np.eye(4 if node.kind == "spin" else 2)
        return value

    def _block(self, kind, value):
        """Flavour x spin x colour, 24 x 24, at every site."""
        one = np.broadcast_to(np.eye(24), (*self.extent, 24, 24))
        if kind in ("real", "complex"):
            return np.reshape(value, (*np.shape(value), *(1,) * (6 - np.ndim(value)))) * one
        if kind == "spin":
            return np.kron(np.eye(2), np.kron(value, np.eye(3))) * np.ones((*self.extent, 1, 1))
        if kind == "flavour":
            return np.kron(value, np.eye(12)) * np.ones((*self.extent, 1, 1))
        full = np.einsum("ab,...cd->...acbd", np.eye(8), np.broadcast_to(value, (*self.extent, 3, 3)))
        return full.reshape(*self.extent, 24, 24) if kind == "matrix" else value

    def _add(self, node):
        a, b = self._args(node)
        return a + b

    def _sub(self, node):
        a, b = self._args(node)
        return a - b

    def _neg(self, node):
        return -self(node.args[0])

    def _div(self, node):
        a, b = self._args(node)
        return a / b

    def _exp(self, node):
        value = self(node.args[0])
        return np.exp(value) if node.kind in ("real", "complex") else exponential(value)

    def _exp_adjoint(self, node):
        """TA of integral of exp((1 - s) Q) C exp(s Q): a corner of an exponential (C. Van Loan, IEEE TAC 23, 395)."""
        q, c = (np.broadcast_to(self(a), (*self.extent, 3, 3)) for a in node.args)
        return algebra_part(exponential(np.block([[q, c], [np.zeros_like(q), q]]))[..., :3, 3:])

    def _project(self, node):
        return closest_su3(np.broadcast_to(self(node.args[0]), (*self.extent, 3, 3)))

    def _relaxed(self, node):
        """Rotations of two rows and columns that bring Re tr(g m) to its maximum, then beyond."""
        m, boost = (self(a) for a in node.args)
        m = np.broadcast_to(m, (*self.extent, 3, 3))
        u = np.broadcast_to(np.eye(3, dtype=complex), m.shape)
        for p, q in ((0, 1), (1, 2), (0, 2)):
            d = u @ m
            a, b = (d[..., p, p] + d[..., q, q].conj()) / 2, (d[..., p, q] - d[..., q, p].conj()) / 2
            first, square = a.real**2, a.imag**2 + abs(b) ** 2
            beyond = (np.reshape(boost, np.shape(boost)[:4]) * first + square) / (first + square)
            a, b = (a.real - 1j * beyond * a.imag), -beyond * b  # the adjoint
            size = np.sqrt(abs(a) ** 2 + abs(b) ** 2)
            hit = np.stack([a, b, -b.conj(), a.conj()], axis=-1) / size[..., None]
            g = np.zeros_like(u)
            g[..., range(3), range(3)] = 1
            g[..., [[p], [q]], [p, q]] = hit.reshape(*hit.shape[:-1], 2, 2)
            u = g @ u
        return u

    def _project_adjoint(self, node):
        """C^+ of tr(C dU) = tr(C' dm): U stays where TA(U^+ m) = 0, so that TA(w U^+ m) = TA(U^+ dm) with dU = U w."""
        m, c = (np.broadcast_to(self(a), (*self.extent, 3, 3)) for a in node.args)
        u = closest_su3(m)
        s = np.swapaxes(u, -1, -2).conj() @ m
        part = lambda of, with_: -2 * np.einsum("...ab,kba->...k", of, with_).real  # noqa: E731
        to_ta = np.stack([part(algebra_part(t @ s), ALGEBRA) for t in ALGEBRA], axis=-1)
        by_w = np.einsum("...ab,kba->...k", c @ u, ALGEBRA).real
        by_ta = np.linalg.solve(np.swapaxes(to_ta, -1, -2), by_w[..., None])[..., 0]
        return -2 * np.einsum("...k,kab->...ab", by_ta, ALGEBRA) @ np.swapaxes(u, -1, -2).conj()

    def _project_u3(self, node):
        left, _, right = np.linalg.svd(np.broadcast_to(self(node.args[0]), (*self.extent, 3, 3)))
        return left @ right

    def _project_u3_adjoint(self, node):
        """2 Y W^+ with Y H + H Y = (C W - W^+ C^+)/2, V = W H: in the basis of the singular vectors of V."""
        v, c = (np.broadcast_to(self(a), (*self.extent, 3, 3)) for a in node.args)
        left, h, right = np.linalg.svd(v)
        cw = right @ c @ left
        y = (cw - np.swapaxes(cw, -1, -2).conj()) / 2 / (h[..., :, None] + h[..., None, :])
        return np.swapaxes(right, -1, -2).conj() @ (2 * y) @ np.swapaxes(left, -1, -2).conj()

    def _damped_adjoint(self, node):
        """1 where the sum of the inverse eigenvalues of V^+ V is more than 1/(5e-5)."""
        h = np.linalg.svd(np.broadcast_to(self(node.args[0]), (*self.extent, 3, 3)), compute_uv=False)
        return ((h**-2.0).sum(axis=-1) > 1 / 5e-5).astype(float)

    def _stored(self, node):
        return self(node.args[0])

    def _ta(self, node):
        return algebra_part(self(node.args[0]))

    def _trace(self, node):
        return np.broadcast_to(np.trace(self(node.args[0]), axis1=-2, axis2=-1), self.extent)

    def _re(self, node):
        return self(node.args[0]).real

    def _im(self, node):
        return self(node.args[0]).imag

    def _dot(self, node):
        f, g = self._args(node)
        return np.einsum("xyztmfsa,xyztmfsa->xyzt", f.conj(), g)

    def _outer(self, node):
        f, g = self._args(node)
        return np.einsum("xyztmfsa,xyztmfsb->xyztab", f, g.conj())

    def _summed(self, node):
        return self(node.args[0])  # slices, flavours and right-hand sides are axes of a spinor here

    def _total(self, node):
        return np.broadcast_to(self(node.args[0]), self.extent).sum()

    def _adj(self, node):
        value = self(node.args[0])
        return value.conj() if node.kind in ("real", "complex") else np.swapaxes(value, -1, -2).conj()

    def _mul(self, node):
        kinds = [a.kind for a in node.args]
        a, b = self._args(node)
        if kinds[0] in ("real", "complex") and kinds[1] == "matrix" and np.ndim(a):
            return a[..., None, None] * b
        if kinds[0] in ("real", "complex"):
            return np.reshape(a, (*np.shape(a), *(1,) * (np.ndim(b) - np.ndim(a)))) * b if np.ndim(a) else a * b
        if kinds[1] != "spinor":
            return a @ b if kinds[0] == kinds[1] else self._block(kinds[0], a) @ self._block(kinds[1], b)
        return self._on_spinor(kinds[0], a, b)

    def _on_spinor(self, kind, a, psi):
        if kind == "spin":
            return np.einsum("ab,...bc->...ac", a, psi)
        if kind == "flavour":
            return np.einsum("ab,...bsc->...asc", a, psi)
        if kind == "matrix":
            return np.einsum("xyztab,xyztmfsb->xyztmfsa", np.broadcast_to(a, (*self.extent, 3, 3)), psi)
        size = 12 * psi.shape[5]
        flat = psi.reshape(*psi.shape[:5], size)
        return np.einsum("xyztab,xyztmb->xyztma", a[..., :size, :size], flat).reshape(psi.shape)

    def _shift(self, node):
        value = self(node.args[0])
        if np.ndim(value) < 4:
            return value  # the same at all sites
        for mu, steps in enumerate((*node.data.vector[:4], node.data.vector[FIFTH])):
            wall = self(node.args[1]) if mu == 4 and steps else 1
            value = self.moved(value, mu, steps, wall, fermion=node.kind == "spinor")
        return value

    def moved(self, value, mu, steps, wall=1, *, fermion=True):
        """The field at x + steps mu; what crosses the boundary takes up its phase, along s `wall`."""
        phase = wall if mu == 4 else self.phases[mu] if fermion else 1
        for _ in range(abs(steps)):
            value = np.roll(value, -int(np.sign(steps)), axis=mu)
            if fermion:
                edge = (slice(None),) * mu + (-1 if steps > 0 else 0,)
                value[edge] *= phase if steps > 0 or mu == 4 else np.conj(phase)
        return value
