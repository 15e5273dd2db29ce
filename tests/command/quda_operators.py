"""The Dirac operators of QUDA in NumPy, in its normalisation, and the orders of its callers' arrays.

Fields are [t, z, y, x, slice, spin, colour], links [direction, t, z, y, x, row, column] with all their signs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

SIGMA = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
ONE, ZERO = np.eye(2), np.zeros((2, 2))
GAMMA = [np.block([[ZERO, s * 1j * SIGMA[k]], [-s * 1j * SIGMA[k], ZERO]]) for k, s in enumerate((1, -1, 1))]
GAMMA.append(np.block([[ZERO, ONE], [ONE, ZERO]]))
GAMMA5 = np.diag([1, 1, -1, -1])
S2 = SIGMA[1]
TO_DEGRAND_ROSSI = {
    "DEGRAND_ROSSI": np.eye(4),
    "UKQCD": 1j / np.sqrt(2) * np.block([[-S2, -S2], [-S2, S2]]),
    "CHIRAL": 1j * np.block([[ZERO, -S2], [S2, ZERO]]),
    "DIRAC_PAULI": 1j / np.sqrt(2) * np.block([[S2, -S2], [S2, S2]]),
}
"""As enum_quda.h of QUDA states them."""


def axis(mu: int) -> int:
    return 3 - mu


def forward(f: np.ndarray, mu: int, steps: int = 1) -> np.ndarray:
    """The field f(x + steps mu)."""
    return np.roll(f, -steps, axis(mu))


def dagger(u: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(u, -1, -2))


def random_links(extent: tuple[int, ...], width: float, rng: np.random.Generator) -> np.ndarray:
    """SU(3) matrices in the neighbourhood of 1."""
    shape = (4, *extent[::-1], 3, 3)
    u, _, v = np.linalg.svd(np.eye(3) + width * (rng.normal(size=shape) + 1j * rng.normal(size=shape)))
    q = u @ v
    return q / np.linalg.det(q)[..., None, None] ** (1 / 3)


def coordinates(extent: tuple[int, ...]) -> np.ndarray:
    """x, y, z, t of the sites."""
    return np.stack(np.meshgrid(*(np.arange(n) for n in extent[::-1]), indexing="ij"))[::-1]


def plaquette_sum(u: np.ndarray, mu: int, nu: int) -> np.ndarray:
    """The four leaves of the clover."""

    def step(path: list[int]) -> np.ndarray:
        at = np.zeros(4, int)
        product = np.broadcast_to(np.eye(3, dtype=complex), u.shape[1:])
        for d in path:
            k = abs(d) - 1
            here = at.copy()
            if d < 0:
                here[k] -= 1
            link = u[k]
            for direction in range(4):
                link = forward(link, direction, here[direction])
            product = product @ (link if d > 0 else dagger(link))
            at[k] += 1 if d > 0 else -1
        return product

    m, n = mu + 1, nu + 1
    return sum(step(path) for path in ([m, n, -m, -n], [n, -m, -n, m], [-m, -n, m, n], [-n, m, n, -m]))  # type: ignore


def clover_term(u: np.ndarray) -> np.ndarray:
    """i/2 sum sigma_mu,nu F_mu,nu on spin and colour."""
    total = np.zeros((*u.shape[1:5], 12, 12), complex)
    for mu in range(4):
        for nu in range(4):
            if mu == nu:
                continue
            q = plaquette_sum(u, mu, nu)
            sigma = 0.5j * (GAMMA[mu] @ GAMMA[nu] - GAMMA[nu] @ GAMMA[mu])
            total += 0.5j * np.einsum("st,...ab->...satb", sigma, (q - dagger(q)) / 8).reshape(total.shape)
    return total


def around(slices: int, mass: float) -> np.ndarray:
    """P_- to the next slice and P_+ from the one before, -mass at the ends."""
    up, down = np.eye(slices, k=1), np.eye(slices, k=-1)
    up[-1, 0], down[0, -1] = -mass, -mass
    return np.kron(up, (np.eye(4) - GAMMA5) / 2) + np.kron(down, (np.eye(4) + GAMMA5) / 2)


class Operator:
    """M = T - k D B of a QudaInvertParam, and its even-odd forms."""

    def __init__(self, s: Mapping[str, Any], u: np.ndarray, antiperiodic: bool) -> None:
        self.kind = s["dslash_type"].removeprefix("QUDA_").removesuffix("_DSLASH")
        self.extent = u.shape[4:0:-1]
        self.staggered = self.kind in ("STAGGERED", "ASQTAD")
        x = coordinates(self.extent)
        self.parity = x.sum(axis=0) % 2
        u = u.copy()
        if antiperiodic:
            u[3, -1] *= -1
        if self.staggered:
            eta = np.stack([x[3], x[3] + x[0], x[3] + x[0] + x[1], 0 * x[0]])
            u *= ((-1.0) ** eta)[..., None, None]
        self.u, self.long = u, None
        self.links = {"QUDA_WILSON_LINKS": u}
        self.walls = self.kind in ("DOMAIN_WALL", "DOMAIN_WALL_4D", "MOBIUS_DWF")
        doublet = self.kind.startswith("TWISTED") and s["twist_flavor"] == "QUDA_TWIST_NONDEG_DOUBLET"
        slices = s["Ls"] if self.walls else 2 if doublet else 1
        self.shape = (*self.extent[::-1], slices, 1 if self.staggered else 4, 3)
        self.mass, kappa = s["mass"], s["kappa"]
        rho = s.get("tm_rho", 0) if self.kind == "TWISTED_CLOVER" else 0
        self.rho = 2j * kappa * rho * np.kron(GAMMA5, np.eye(3))
        self.rescaling = 1 / (5 + s["m5"]) if self.walls else 2 * kappa
        if self.kind == "ASQTAD":
            self.u = 0.9 * u + 0.1 * np.roll(u, 1, axis=1)
            self.long = np.stack([-u[m] @ forward(u[m], m) @ forward(u[m], m, 2) / 24 for m in range(4)])
            self.links = {"QUDA_ASQTAD_FAT_LINKS": self.u, "QUDA_ASQTAD_LONG_LINKS": self.long}
        self.before = np.eye(4 * slices)
        term = np.eye(12 * slices, dtype=complex)
        if "CLOVER" in self.kind and slices <= 2:
            of_all = np.tile(s["clover_coeff"] * clover_term(u), (slices, slices))
            term = term + np.kron(np.eye(slices), np.ones((12, 12))) * of_all
        if self.kind.startswith("TWISTED"):
            tau3, tau1 = (np.diag([1, -1]), SIGMA[0]) if doublet else (np.eye(1), np.zeros((1, 1)))
            term = term + 2j * kappa * s["mu"] * np.kron(np.kron(tau3, GAMMA5), np.eye(3))
            term = term - 2 * kappa * s["epsilon"] * np.kron(tau1, np.eye(12))
        self.k = kappa
        if self.walls:
            b, c = (s["b_5"][0].real, s["c_5"][0].real) if self.kind == "MOBIUS_DWF" else (1, 0)
            normal = b * (4 + s["m5"]) + 1
            walls = around(slices, s["mass"])
            self.k = 0.5 / normal
            self.before = b * self.before + c * walls
            term = np.kron(np.eye(4 * slices) + (c * (4 + s["m5"]) - 1) / normal * walls, np.eye(3))
        self.term = np.broadcast_to(term, (*self.shape[:4], 12 * slices, 12 * slices))
        self.inverse = np.linalg.inv(self.term)

    def hop(self, psi: np.ndarray, conjugate: bool) -> np.ndarray:
        """D psi or D^+ psi."""
        out = np.zeros_like(psi)
        for links, length in ((self.u, 1), (self.long, 3)):
            for mu in range(4) if links is not None else ():
                u = links[mu]
                ahead = np.einsum("...ab,...fsb->...fsa", u, forward(psi, mu, length))
                behind = forward(np.einsum("...ba,...fsb->...fsa", np.conj(u), psi), mu, -length)
                if self.staggered:
                    out += (ahead - behind) * (-1 if conjugate else 1)
                    continue
                gamma = -GAMMA[mu] if conjugate else GAMMA[mu]
                out += np.einsum("st,...fta->...fsa", np.eye(4) - gamma, ahead)
                out += np.einsum("st,...fta->...fsa", np.eye(4) + gamma, behind)
        return out

    def site(self, matrix: np.ndarray, psi: np.ndarray, conjugate: bool) -> np.ndarray:
        flat = psi.reshape(*psi.shape[:4], -1)
        of = dagger(matrix) if conjugate else matrix
        return np.einsum("...ij,...j->...i", of, flat).reshape(psi.shape)

    def along(self, matrix: np.ndarray, psi: np.ndarray) -> np.ndarray:
        flat = psi.reshape(*psi.shape[:4], -1, 3)
        return np.einsum("ij,...ja->...ia", matrix, flat).reshape(psi.shape)

    def hops(self, psi: np.ndarray, conjugate: bool) -> np.ndarray:
        if conjugate:
            return self.k * self.along(dagger(self.before), self.hop(psi, True))
        return self.k * self.hop(self.along(self.before, psi), False)

    def matrix(self, psi: np.ndarray, conjugate: bool) -> np.ndarray:
        if self.staggered:
            return 2 * self.mass * psi - self.hop(psi, conjugate)
        return self.site(self.term, psi, conjugate) - self.hops(psi, conjugate)

    def even_odd(self, psi: np.ndarray, symmetric: bool, conjugate: bool) -> np.ndarray:
        if self.staggered:
            return 4 * self.mass**2 * psi - self.hop(self.hop(psi, False), False)

        def twice(f: np.ndarray) -> np.ndarray:
            return self.hops(self.site(self.inverse, self.hops(f, conjugate), conjugate), conjugate)

        if not symmetric:
            asymmetric = self.site(self.term, psi, conjugate) - twice(psi)
            return asymmetric + self.site(self.rho, psi, conjugate) if self.rho.any() else asymmetric
        if conjugate:
            return psi - twice(self.site(self.inverse, psi, True))
        return psi - self.site(self.inverse, twice(psi), False)

    def product(self, psi: np.ndarray, s: Mapping[str, Any], conjugate: bool) -> np.ndarray:
        if self.half_of(s) is None:
            return self.matrix(psi, conjugate)
        return self.even_odd(psi, "ASYMMETRIC" not in s["matpc_type"], conjugate)

    def system(self, psi: np.ndarray, s: Mapping[str, Any]) -> np.ndarray:
        """What solution_type and dagger ask for."""
        conjugate = s["dagger"] == "QUDA_DAG_YES"
        out = self.product(psi, s, conjugate)
        return self.product(out, s, not conjugate) if "DAG_" in s["solution_type"] else out

    @staticmethod
    def half_of(s: Mapping[str, Any]) -> int | None:
        """The parity of an even-odd form."""
        return int("ODD" in s["matpc_type"]) if "MATPC" in s["solution_type"] else None

    def on(self, psi: np.ndarray, half: int | None) -> np.ndarray:
        return psi if half is None else np.where((self.parity == half)[..., None, None, None], psi, 0)

    def source_factor(self, s: Mapping[str, Any]) -> float:
        """By what a mass normalisation multiplies the source."""
        kind, squared = s["mass_normalization"], "DAG_" in s["solution_type"]
        if self.staggered:
            factor = 2 * self.mass if kind == "QUDA_KAPPA_NORMALIZATION" else 1.0
            return float(factor**2 if squared else factor)
        if kind == "QUDA_KAPPA_NORMALIZATION":
            return 1.0
        pc_mass = kind == "QUDA_MASS_NORMALIZATION" and self.half_of(s) is not None
        return float(self.rescaling ** ((2 if pc_mass else 1) * (2 if squared else 1)))


def _order(shape: tuple[int, ...], s: Mapping[str, Any], half: int | None) -> np.ndarray:
    """Site and slice of each place of a caller's array."""
    parity = (coordinates(shape[3::-1]).sum(axis=0) % 2).ravel()
    slices = shape[4]
    if "LEX" in s["dirac_order"]:
        return np.array([site * slices + f for f in range(slices) for site in range(parity.size)])
    five = s["dslash_type"] == "QUDA_DOMAIN_WALL_DSLASH" and half is None
    return np.array(
        [
            site * slices + f
            for p in ((0, 1) if half is None else (half,))
            for f in range(slices)
            for site in np.flatnonzero(parity == ((p + f) % 2 if five else p))
        ]
    )


def _basis(s: Mapping[str, Any], spins: int) -> np.ndarray:
    name = s["gamma_basis"].removeprefix("QUDA_").removesuffix("_GAMMA_BASIS")
    return TO_DEGRAND_ROSSI[name] if spins == 4 else np.eye(1)


def arrays_of(psi: np.ndarray, s: Mapping[str, Any], half: int | None) -> np.ndarray:
    """A field as a caller has it."""
    spins = psi.shape[5]
    rotated = np.einsum("ts,...tc->...sc", np.conj(_basis(s, spins)), psi)
    numbers = rotated.reshape(-1, spins, 3)[_order(psi.shape, s, half)]
    if "QDP" in s["dirac_order"] and spins == 4:
        numbers = numbers.swapaxes(1, 2)
    return np.ascontiguousarray(numbers, np.complex64 if "SINGLE" in s["cpu_prec"] else np.complex128)


def field_of(flat: np.ndarray, shape: tuple[int, ...], s: Mapping[str, Any], half: int | None) -> np.ndarray:
    """The field of a caller's array; zero on the other parity."""
    spins = shape[5]
    qdp = "QDP" in s["dirac_order"] and spins == 4
    numbers = flat.reshape(-1, 3, spins).swapaxes(1, 2) if qdp else flat.reshape(-1, spins, 3)
    all_of = np.zeros((int(np.prod(shape[:5])), spins, 3), complex)
    all_of[_order(shape, s, half)] = np.einsum("st,ntc->nsc", _basis(s, spins), numbers)
    return all_of.reshape(shape)


def links_of(u: np.ndarray, order: str) -> tuple[Any, Any]:
    """Arrays of links in an order of QUDA, and the pointer that it takes."""
    parity = (coordinates(u.shape[4:0:-1]).sum(axis=0) % 2).ravel()
    sites = np.concatenate([np.flatnonzero(parity == p) for p in (0, 1)])
    by_direction = u.reshape(4, -1, 3, 3)[:, sites]
    if order == "QUDA_QDP_GAUGE_ORDER":
        held = [np.ascontiguousarray(one) for one in by_direction]
        return held, (ctypes.c_void_p * 4)(*(a.ctypes.data for a in held))
    by_site = by_direction.swapaxes(0, 1)
    if order == "QUDA_CPS_WILSON_GAUGE_ORDER":
        by_site = by_site.swapaxes(-1, -2)
    array = np.ascontiguousarray(by_site)
    return array, ctypes.c_void_p(array.ctypes.data)
