"""Overlap quarks in Python: a Dirac operator that the library lacks, made of those that it has.

    make library SHARED=ON BUILD=build-shared
    .venv/bin/python examples/overlap.py --library build-shared/libquarksmith.so --lattice 8,8,8,16 --gauge FILE

D = rho (1 + gamma_5 sign(H)), H = gamma_5 D_W(-rho) with D_W(m) the Wilson operator (H. Neuberger, hep-lat/9707022).
The sign is Zolotarev's best rational function on the interval that the eigenvalues of H fill, and all of its poles are
solved for in one Krylov space (J. van den Eshof et al., hep-lat/0202025). Arrays are [t, z, y, x, spin, colour].
"""

from __future__ import annotations

import argparse
import ctypes
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

GAMMA_5 = np.array([1, 1, -1, -1])[:, None]
"""Of the basis of spinor arrays, degrand_rossi; beside [spin, colour]."""


class OverlapError(Exception):
    """What a user can mend."""


def structure(name: str, /, **members: object) -> type[ctypes.Structure]:
    """A struct of quarksmith.h; each begins with its size."""
    fields = [("size", ctypes.c_size_t), *members.items()]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


TEXT, WHOLE, FOUR, BYTES = ctypes.c_char_p, ctypes.c_int, ctypes.c_int * 4, ctypes.c_size_t
LinkFormat = structure(
    "link_format", precision=WHOLE, sites=WHOLE, axes=FOUR, order=WHOLE, directions=FOUR, colour=WHOLE, stride=BYTES,
    reals=WHOLE, eta=FOUR, boundary=ctypes.c_double * 4, spread=WHOLE,
)  # fmt: skip
SpinorFormat = structure(
    "spinor_format",
    precision=WHOLE,
    sites=WHOLE,
    axes=FOUR,
    order=WHOLE,
    half=WHOLE,
    basis=TEXT,
    stride=BYTES,
    spread=ctypes.c_double * 4,
)


class Library:
    """The C interface: calls by name, without `quarksmith_`, whose errors become exceptions."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path.resolve()))
            self._library.quarksmith_message.restype = ctypes.c_char_p
            self._library.quarksmith_free.argtypes = [ctypes.c_void_p]
        except (OSError, AttributeError) as error:
            raise OverlapError(f"{error}; make one: `make library SHARED=ON BUILD=build-shared`") from error

    def __call__(self, function: str, *arguments: object) -> None:
        """Calls a function that returns a status."""
        if getattr(self._library, f"quarksmith_{function}")(*arguments):
            raise OverlapError(self._library.quarksmith_message().decode())

    def make(self, function: str, *arguments: object) -> ctypes.c_void_p:
        """A new handle."""
        handle = ctypes.c_void_p()
        self(function, *arguments, ctypes.byref(handle))
        return handle

    def struct(self, kind: type[ctypes.Structure]) -> object:
        """A struct with defaults."""
        made = kind()
        self(f"{kind.__name__}_init", ctypes.byref(made))
        return ctypes.byref(made)

    def free(self, *handles: ctypes.c_void_p) -> None:
        """Releases handles."""
        for handle in handles:
            self._library.quarksmith_free(handle)


class Wilson:
    """D_W(mass), antiperiodic in time unless the links say otherwise. On unit links, or those of a file."""

    def __init__(self, library: Library, extent: tuple[int, ...], gauge: Path | None, mass: float) -> None:
        self._library, self.shape = library, (*extent[::-1], 4, 3)
        self._context = library.make("open", b"auto", FOUR(*extent))
        if gauge:
            self._gauge = library.make("gauge_read", self._context, str(gauge).encode())
        else:
            unit = np.broadcast_to(np.eye(3, dtype=complex), (*extent[::-1], 4, 3, 3)).copy()
            links = (ctypes.c_void_p * 1)(unit.ctypes.data)
            self._gauge = library.make("gauge_load", self._context, links, library.struct(LinkFormat))
        self._action = f"action=wilson mass={mass:.17g}"
        self._operator = library.make("operator_create", self._gauge, self._action.encode())
        self._format = library.struct(SpinorFormat)

    def __call__(self, psi: np.ndarray) -> np.ndarray:
        """D_W psi."""
        psi, out = np.ascontiguousarray(psi, complex), np.empty(self.shape, complex)
        pair = [(ctypes.c_void_p * 1)(a.ctypes.data) for a in (out, psi)]
        self._library("matrix_host", self._operator, 0, 1, *pair, self._format)
        return out

    def shifted(self, shifts: np.ndarray, tolerance: float) -> Callable[[np.ndarray], np.ndarray]:
        """The function b -> (D_W^+ D_W + shift)^-1 b for all shifts, stacked."""
        options = f"{self._action} even-odd=none tol={tolerance:.17g}"
        solver = self._library.make("shifted_create", self._gauge, options.encode(), len(shifts))
        numbers = (ctypes.c_double * len(shifts))(*shifts)

        def solve(b: np.ndarray) -> np.ndarray:
            b, x = np.ascontiguousarray(b, complex), np.empty((len(shifts), *self.shape), complex)
            pointers = (ctypes.c_void_p * len(shifts))(*(one.ctypes.data for one in x))
            self._library(
                "shifted_solve", solver, len(shifts), numbers, pointers, b.ctypes.data_as(ctypes.c_void_p),
                self._format, None,
            )  # fmt: skip
            return x

        return solve


def largest_eigenvalue(apply: Callable[[np.ndarray], np.ndarray], start: np.ndarray, accuracy: float = 1e-3) -> float:
    """A bound of the largest eigenvalue of a positive operator: Lanczos' value and its residual.

    And `accuracy` of it, for a second one so close that Lanczos has not told them apart.
    """
    basis = [start / np.linalg.norm(start)]
    alpha: list[float] = []
    beta: list[float] = []
    for _ in range(300):
        v = apply(basis[-1])
        alpha.append(np.vdot(basis[-1], v).real)
        for u in basis * 2:  # orthogonal to all, twice for rounding
            v = v - np.vdot(u, v) * u
        beta.append(float(np.linalg.norm(v)))
        values, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1))
        residual = beta[-1] * abs(vectors[-1, -1])
        if residual <= accuracy * values[-1]:
            return float((1 + accuracy) * values[-1] + residual)
        basis.append(v / beta[-1])
    raise OverlapError(f"the largest eigenvalue is not known to {accuracy} after 300 steps of Lanczos")


@dataclass(frozen=True)
class Zolotarev:
    """sign(x) = x sum_k weight_k / (x^2 + shift_k) within `error`, for low <= |x| <= high."""

    shifts: np.ndarray
    weights: np.ndarray
    error: float

    @classmethod
    def of(cls, low: float, high: float, poles: int) -> Zolotarev:
        """The best function of so many poles (hep-lat/0202025, theorem 1)."""
        c = squared_sc(np.arange(1, 2 * poles) / (2 * poles), low / high)
        odd, even = c[0::2], c[1::2]
        grid = np.geomspace(1, high / low, 200 * poles) ** 2
        product = np.sqrt(grid) / (grid + odd[-1])
        for n, d in zip(even, odd, strict=False):
            product = product * (grid + n) / (grid + d)
        top, bottom = product.max(), product.min()
        residues = [np.prod((even - c_k) / (np.delete(odd, k) - c_k)) * 2 / (top + bottom) for k, c_k in enumerate(odd)]
        return cls(low**2 * odd, low * np.array(residues), (top - bottom) / (top + bottom))

    @classmethod
    def within(cls, low: float, high: float, error: float) -> Zolotarev:
        """That of the least number of poles whose error is small enough."""
        for poles in range(1, 65):
            found = cls.of(low, high, poles)
            if found.error <= error:
                return found
        raise OverlapError(
            f"{error:.1e} between {low:.1e} and {high:.1e} needs more than 64 poles; ask for less, or change rho"
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Its values."""
        return x * np.sum(self.weights / (np.square(x)[..., None] + self.shifts), axis=-1)


def squared_sc(fractions: np.ndarray, k1: float) -> np.ndarray:
    """sn^2/cn^2 at these fractions of K, for the complementary modulus k1 (Abramowitz and Stegun 16.4 and 16.8.3)."""
    mirrored = fractions > 0.5  # sc(K - u) = 1 / (k1 sc(u)) keeps all digits near K
    means = [(1.0, math.sqrt((1 - k1) * (1 + k1)))]
    a, b = 1.0, k1
    while a - b > 1e-15 * a:
        a, b, c = (a + b) / 2, math.sqrt(a * b), (a - b) / 2
        means.append((a, c))
    phi = 2.0 ** (len(means) - 1) * np.where(mirrored, 1 - fractions, fractions) * math.pi / 2
    for a, c in means[:0:-1]:
        phi = (phi + np.arcsin(c / a * np.sin(phi))) / 2
    return np.where(mirrored, 1 / (k1 * np.tan(phi)) ** 2, np.tan(phi) ** 2)


class Overlap:
    """D(m) = (1 - m / (2 rho)) D + m.

    Attributes:
        low, high: bounds of the eigenvalues of |H|, measured.
        sign_function: with half of `accuracy` for its error; solves have the other half.
    """

    def __init__(
        self, library: Library, extent: tuple[int, ...], gauge: Path | None = None, rho: float = 1.4,
        accuracy: float = 1e-8,
    ) -> None:  # fmt: skip
        if not 0 < rho < 2:
            raise OverlapError(f"rho {rho}: one quark has 0 < rho < 2 (1.4 serves most configurations)")
        if not 1e-11 <= accuracy <= 0.1:
            raise OverlapError(f"accuracy {accuracy}: use a number from 1e-11 to 0.1")
        self.rho, self.accuracy = rho, accuracy
        self.wilson = Wilson(library, extent, gauge, -rho)
        start = self.random(1)
        inverse = self.wilson.shifted(np.zeros(1), 1e-10)
        self.low = 1 / math.sqrt(largest_eigenvalue(lambda v: inverse(v)[0], start))
        self.high = math.sqrt(largest_eigenvalue(lambda v: self.h(self.h(v)), start))
        self.sign_function = s = Zolotarev.within(self.low, self.high, accuracy / 2)
        # |H (H^2 + c)^-1| <= 1 / (2 sqrt(c)) times the residual of a solve.
        growth = np.sum(np.abs(s.weights) / (2 * np.sqrt(s.shifts)))
        self._solve = self.wilson.shifted(s.shifts, accuracy / 2 / max(1.0, growth))

    def random(self, seed: int) -> np.ndarray:
        """Gaussian noise, of norm 1."""
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=self.wilson.shape) + 1j * rng.normal(size=self.wilson.shape)
        return noise / np.linalg.norm(noise)

    def h(self, psi: np.ndarray) -> np.ndarray:
        """The Hermitian Wilson operator, H psi."""
        return GAMMA_5 * self.wilson(psi)

    def sign(self, psi: np.ndarray) -> np.ndarray:
        """The sign of H, on psi."""
        return self.h(np.tensordot(self.sign_function.weights, self._solve(psi), 1))

    def __call__(self, psi: np.ndarray, mass: float = 0, *, dagger: bool = False) -> np.ndarray:
        """D(mass) psi, or D(mass)^+ psi."""
        turned = self.sign(GAMMA_5 * psi) if dagger else GAMMA_5 * self.sign(psi)
        return (self.rho - mass / 2) * (psi + turned) + mass * psi

    def solve(self, b: np.ndarray, mass: float, tolerance: float = 1e-7) -> np.ndarray:
        """D(mass)^-1 b, by conjugate gradients for D^+ D."""
        x, r = np.zeros_like(b), b
        p = z = self(r, mass, dagger=True)
        for _ in range(1000):
            q = self(p, mass)
            norm = np.vdot(z, z).real
            alpha = norm / np.vdot(q, q).real
            x, r = x + alpha * p, r - alpha * q
            if np.linalg.norm(r) <= tolerance * np.linalg.norm(b):
                return x
            z = self(r, mass, dagger=True)
            p = z + np.vdot(z, z).real / norm * p
        raise OverlapError(f"no solution to {tolerance} in 1000 iterations; use a larger mass or tolerance")

    def free(self, p: np.ndarray) -> np.ndarray:
        """D(p) of the free quark, [..., spin, spin], for momenta [..., 4] (hep-lat/9707022)."""
        sigma = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
        off = np.array([1j * sigma[0], -1j * sigma[1], 1j * sigma[2], np.eye(2)])  # of degrand_rossi, upper right
        gamma = np.zeros((4, 4, 4), complex)
        gamma[:, :2, 2:], gamma[:, 2:, :2] = off, off.conj().swapaxes(1, 2)
        b = np.sum(1 - np.cos(p), -1) - self.rho
        size = np.sqrt(np.sum(np.sin(p) ** 2, -1) + b**2)
        wilson = 1j * np.tensordot(np.sin(p), gamma, 1) + b[..., None, None] * np.eye(4)
        return self.rho * (np.eye(4) + wilson / size[..., None, None])

    def in_momentum_space(self) -> tuple[np.ndarray, np.ndarray]:
        """Momenta, and D(p) of what D makes of a point: of meaning on unit links, antiperiodic in time."""
        extent = self.wilson.shape[:4]
        columns = []
        for spin in range(4):
            point = np.zeros(self.wilson.shape, complex)
            point[0, 0, 0, 0, spin, 0] = 1
            twist = np.exp(-1j * np.pi * np.arange(extent[0]) / extent[0])[:, None, None, None, None]
            columns.append(np.fft.fftn(twist * self(point)[..., 0], axes=(0, 1, 2, 3)))
        momenta = np.moveaxis(np.indices(extent), 0, -1)[..., ::-1] * 2 * np.pi / np.array(extent[::-1])
        return momenta + np.array([0, 0, 0, np.pi / extent[0]]), np.stack(columns, -1)


def checks(d: Overlap, mass: float) -> dict[str, float]:
    """What must vanish, for vectors of norm 1; and for free quarks."""
    psi, phi = d.random(2), d.random(3)
    d_psi = d(psi)
    relation = GAMMA_5 * d_psi + d(GAMMA_5 * psi) - d(GAMMA_5 * d_psi) / d.rho
    x = d.solve(psi, mass)
    quark = x - d(x) / (2 * d.rho)
    found = {
        "sign(H)^2 = 1": np.linalg.norm(d.sign(d.sign(psi)) - psi),
        "{gamma_5, D} = D gamma_5 D / rho": np.linalg.norm(relation),
        "D^+ = gamma_5 D gamma_5": abs(np.vdot(phi, d_psi) - np.vdot(d(phi, dagger=True), psi)),
        f"Re S = {mass} S^+ S, S = (1 - D/(2 rho)) D({mass})^-1": abs(
            np.vdot(psi, quark).real / (mass * np.vdot(quark, quark).real) - 1
        ),
    }
    return {name: float(value) for name, value in found.items()}


def free_checks(d: Overlap) -> dict[str, float]:
    """The same for unit links, at all momenta."""
    p, matrices = d.in_momentum_space()
    circle = np.abs(np.linalg.eigvals(matrices) - d.rho) / d.rho - 1
    return {
        "D(p) of free quarks": float(np.abs(matrices - d.free(p)).max()),
        "eigenvalues on the circle": float(np.abs(circle).max()),
    }


def main(arguments: list[str] | None = None) -> int:
    """Makes the operator and shows that it is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--library", type=Path, default=Path("build-shared/libquarksmith.so"), help="the shared library"
    )
    parser.add_argument("--lattice", required=True, help="extents X,Y,Z,T")
    parser.add_argument("--gauge", type=Path, help="configuration (default: unit links)")
    parser.add_argument("--rho", type=float, default=1.4, help="minus the mass of the Wilson operator (%(default)s)")
    parser.add_argument("--mass", type=float, default=0.1, help="of the quark that is solved for (%(default)s)")
    parser.add_argument("--accuracy", type=float, default=1e-8, help="of sign(H) (%(default)s)")
    given = parser.parse_args(arguments)
    try:
        extent = tuple(map(int, given.lattice.split(",")))
        if len(extent) != 4:
            raise ValueError
    except ValueError:
        parser.error(f"--lattice {given.lattice}: use four whole numbers X,Y,Z,T")
    if not 0 < given.mass < 2 * given.rho:
        parser.error(f"--mass {given.mass}: use a number between 0 and 2 rho = {2 * given.rho}")
    try:
        d = Overlap(Library(given.library), extent, given.gauge, given.rho, given.accuracy)
        s = d.sign_function
        print(f"eigenvalues of |H| lie between {d.low:.6f} and {d.high:.6f}")
        print(f"{len(s.shifts)} poles: sign(H) within {s.error:.1e}, solves within {d.accuracy / 2:.1e}")
        for name, value in (checks(d, given.mass) | ({} if given.gauge else free_checks(d))).items():
            print(f"{name:60} {value:8.1e}")
    except OverlapError as error:
        print(f"overlap: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
