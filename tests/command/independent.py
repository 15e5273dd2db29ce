"""Dirac operators by themselves, for residuals of what the command has written: NumPy alone, full 4x4 matrices.

Fields are arrays with axes t, z, y, x, then spin and colour; links have direction (x, y, z, t), row and column.
Definitions: docs/conventions.md.
"""

import ctypes
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

Array = np.ndarray
Operator = Callable[[Array], Array]
SIGMA = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
GAMMA = np.zeros((4, 4, 4), complex)
"""DeGrand-Rossi: what the conventions state of it is asserted below."""
GAMMA[0, 0, 3] = GAMMA[0, 1, 2] = 1j
GAMMA[1, 0, 3], GAMMA[1, 1, 2] = -1, 1
GAMMA[2, 0, 2], GAMMA[2, 1, 3] = 1j, -1j
GAMMA[3, 0, 2] = GAMMA[3, 1, 3] = 1
GAMMA += GAMMA.conj().transpose(0, 2, 1)
GAMMA5 = GAMMA[0] @ GAMMA[1] @ GAMMA[2] @ GAMMA[3]
assert np.allclose(GAMMA5, np.diag([1, 1, -1, -1]))


def milc_links(path: Path) -> Array:
    """Links of a MILC v5 file in 32 bits of this machine's order, antiperiodic in time."""
    data = path.read_bytes()
    assert int.from_bytes(data[:4], "little") == 20103
    x, y, z, t = np.frombuffer(data[4:20], "<i4")
    links = np.frombuffer(data[96:], "<c8").reshape(t, z, y, x, 4, 3, 3).astype(complex)
    links[-1, :, :, :, 3] *= -1
    return links


def ildg_links(path: Path) -> Array:
    """Links of an ILDG file in 64 bits, as they are stored."""
    data = path.read_bytes()
    extents = {n: int(re.search(rf"<l{n}>(\d+)</l{n}>".encode(), data)[1]) for n in "xyzt"}
    start = data.index(b"ildg-binary-data") + 128
    shape = [extents[n] for n in "tzyx"] + [4, 3, 3]
    return np.frombuffer(data[start : start + 16 * int(np.prod(shape))], ">c16").reshape(shape).astype(complex)


def ahead(field: Array, mu: int, steps: int = 1) -> Array:
    """The field at x + steps mu."""
    return np.roll(field, -steps, 3 - mu)


def adjoint(links: Array) -> Array:
    """U^+ of every link."""
    return links.conj().swapaxes(-1, -2)


def hop(u: Array, psi: Array, mu: int, sign: int) -> Array:
    """Links times the neighbours ahead, or behind; colour is the last axis."""
    link = u[..., mu, :, :]
    rows = psi.reshape(*psi.shape[:4], -1, 3)
    out = ahead(rows, mu) @ link.swapaxes(-1, -2) if sign > 0 else ahead(rows @ link.conj(), mu, -1)
    return out.reshape(psi.shape)


def on_spins(matrix: Array, psi: Array) -> Array:
    """A 4x4 matrix at every site."""
    turned = psi.swapaxes(-1, -2)
    return (turned.reshape(-1, 4) @ matrix.T).reshape(turned.shape).swapaxes(-1, -2)


def wilson(u: Array, psi: Array, mass: float) -> Array:
    """(4 + m - D/2) psi; slices, if there are any, stand before the spin."""
    out = (4 + mass) * psi
    for mu in range(4):
        for sign in (1, -1):
            out -= on_spins(np.eye(4) - sign * GAMMA[mu], hop(u, psi, mu, sign)) / 2
    return out


def clover_term(u: Array, psi: Array, csw: float) -> Array:
    """Csw (i/4) sum sigma F psi."""
    out = np.zeros_like(psi)
    for mu in range(4):
        for nu in range(mu):
            q = leaves(u, mu, nu)
            f = (q - adjoint(q)) / 8
            sigma = 0.5j * (GAMMA[mu] @ GAMMA[nu] - GAMMA[nu] @ GAMMA[mu])
            out += csw * 0.5j * np.einsum("st,zyxwab,zyxwtb->zyxwsa", sigma, f, psi)
    return out


def leaves(u: Array, mu: int, nu: int) -> Array:
    """The four leaves of the clover in a plane, by walks of steps +-(direction + 1)."""
    a, b = mu + 1, nu + 1
    return sum(walk(u, path) for path in ((a, b, -a, -b), (b, -a, -b, a), (-a, -b, a, b), (-b, a, b, -a)))


def walk(u: Array, path: tuple[int, ...]) -> Array:
    """Product of the links along a path that begins at x."""
    product = np.broadcast_to(np.eye(3, dtype=complex), u[..., 0, :, :].shape)
    place: list[tuple[int, int]] = []

    def here(field: Array) -> Array:
        for mu, steps in place:
            field = ahead(field, mu, steps)
        return field

    for step in path:
        mu = abs(step) - 1
        if step < 0:
            place.append((mu, -1))
        link = here(u[..., mu, :, :])
        product = product @ (link if step > 0 else adjoint(link))
        if step > 0:
            place.append((mu, 1))
    return product


def staggered(u: Array, psi: Array, mass: float) -> Array:
    """(2m + D) psi with eta_mu = (-1)^(x_0 + ... + x_{mu-1})."""
    _, z, y, x = np.indices(psi.shape[:4])
    out = 2 * mass * psi
    for mu, above in enumerate((0 * x, x, x + y, x + y + z)):
        eta = (1 - 2 * (above % 2))[..., None]
        out += eta * (hop(u, psi, mu, 1) - hop(u, psi, mu, -1))
    return out


P_MINUS, P_PLUS = (np.eye(4) - GAMMA5) / 2, (np.eye(4) + GAMMA5) / 2


class Moebius:
    """D psi_s = (b D_W + 1) psi_s + (c D_W - 1) (R psi)_s; the fifth dimension is the axis before the spin."""

    def __init__(self, u: Array, mass: float, m5: float, b: float, c: float) -> None:
        self.u, self.mass, self.m5, self.b, self.c = u, mass, m5, b, c

    def wilson(self, psi: Array) -> Array:
        """D_W of every slice."""
        return wilson(self.u, psi, -self.m5)

    def shift(self, psi: Array, ahead_of: Array, behind: Array) -> Array:
        """One projector of psi_{s+1} and one of psi_{s-1}, -m times what comes from beyond the ends."""
        up, down = np.roll(psi, -1, 4), np.roll(psi, 1, 4)
        up[:, :, :, :, -1] *= -self.mass
        down[:, :, :, :, 0] *= -self.mass
        return on_spins(ahead_of, up) + on_spins(behind, down)

    def apply(self, psi: Array) -> Array:
        """D psi."""
        r = self.shift(psi, P_MINUS, P_PLUS)
        return self.wilson(self.b * psi + self.c * r) + psi - r

    def apply_adjoint(self, psi: Array) -> Array:
        """D^+ psi, by D_W^+ = gamma_5 D_W gamma_5."""
        w = on_spins(GAMMA5, self.wilson(on_spins(GAMMA5, psi)))
        return self.b * w + psi + self.shift(self.c * w - psi, P_PLUS, P_MINUS)

    def quark(self, source: Array, slices: int, tolerance: float) -> Array:
        """P_- psi_0 + P_+ psi_{Ls-1} of the solution for a source in four dimensions."""
        eta = np.zeros((*source.shape[:4], slices, 4, 3), complex)
        eta[:, :, :, :, 0] += on_spins(P_PLUS, source)
        eta[:, :, :, :, -1] += on_spins(P_MINUS, source)
        if self.c:
            eta -= self.c * self.wilson(eta)
        x = normal_cg(self.apply, self.apply_adjoint, eta, tolerance)
        return on_spins(P_MINUS, x[:, :, :, :, 0]) + on_spins(P_PLUS, x[:, :, :, :, -1])


def normal_cg(a: Operator, a_adjoint: Operator, b: Array, tolerance: float) -> Array:
    """X with |b - A x| <= tolerance |b|: conjugate gradients on A^+ A, begun anew from the true residual."""
    x = np.zeros_like(b)
    for _ in range(10):
        r = b - a(x)
        if relative(r, b) <= tolerance:
            return x
        s = a_adjoint(r)
        p, ss, first = s, np.vdot(s, s).real, np.vdot(s, s).real
        while ss > 1e-24 * first:
            ap = a(p)
            alpha = ss / np.vdot(ap, ap).real
            x = x + alpha * p
            r = r - alpha * ap
            s = a_adjoint(r)
            ss, before = np.vdot(s, s).real, ss
            p = s + ss / before * p
    raise AssertionError("no convergence")


def relative(r: Array, b: Array) -> float:
    """|r| / |b|."""
    return float(np.linalg.norm(r) / np.linalg.norm(b))


def point_source(like: Array, spin: int | None, colour: int) -> Array:
    """One at the origin; without spin of colour vectors."""
    b = np.zeros_like(like)
    b[(0, 0, 0, 0, colour) if spin is None else (0, 0, 0, 0, spin, colour)] = 1
    return b


REPORT = np.dtype(
    [("done", "<i4"), ("checksums", "<u4", 3), ("iterations", "<f8"), ("residual", "<f8"), ("seconds", "<f8")]
    + [("gflops", "<f8"), ("solver", "S24"), ("precision", "S32"), ("even_odd", "S16"), ("links", "S8")]
)
"""A record of /report (docs/files.md)."""


def hdf5_of(program: Path) -> ctypes.CDLL:
    """The HDF5 library that a program uses."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    library = ctypes.CDLL(re.findall(r"=> (\S*libhdf5[^_\s]*(?:_serial|_openmpi)?\.so\S*)", listed)[0])
    calls = ("Fopen", "Fcreate", "Gcreate2", "Dopen2", "Dcreate2", "Dget_type", "Dget_storage_size", "Screate_simple")
    for name in calls:
        getattr(library, f"H5{name}").restype = ctypes.c_int64
    return library


class Propagator:
    """Columns of a file and what their solver claims of them, read by the HDF5 library that a program uses."""

    def __init__(self, path: Path, program: Path, lattice: tuple[int, ...], spins: int = 4) -> None:
        self.library = hdf5_of(program)
        self.file = ctypes.c_int64(self.library.H5Fopen(str(path).encode(), 0, ctypes.c_int64(0)))
        report = self.read("report").view(REPORT)
        shape = (*reversed(lattice), spins, 3) if spins > 1 else (*reversed(lattice), 3)
        self.columns = [self.read(f"column/{n // 3}/{n % 3}").view(complex).reshape(shape) for n in range(len(report))]
        self.library.H5Fclose(self.file)
        self.claims = [float(r) for r in report["residual"]]
        self.links = {r.decode() for r in report["links"]}

    def read(self, name: str) -> Array:
        """The bytes of a dataset."""
        h5, none = self.library, ctypes.c_int64(0)
        data = ctypes.c_int64(h5.H5Dopen2(self.file, name.encode(), none))
        kind = ctypes.c_int64(h5.H5Dget_type(data))
        buffer = ctypes.create_string_buffer(h5.H5Dget_storage_size(data))
        assert h5.H5Dread(data, kind, none, none, none, buffer) >= 0, name
        h5.H5Tclose(kind)
        h5.H5Dclose(data)
        return np.frombuffer(buffer.raw, np.uint8)
