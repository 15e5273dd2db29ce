"""Gamma bases: four dense 4x4 matrices each; everything else about a basis is derived from them."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

Matrix = np.ndarray
"""A dense complex matrix."""

TOLERANCE = 1e-12
"""Largest deviation from an algebraic identity that is still rounding."""

_PAULI = (
    np.array([[0, 1], [1, 0]], dtype=complex),
    np.array([[0, -1j], [1j, 0]]),
    np.array([[1, 0], [0, -1]], dtype=complex),
)
_ZERO, _ONE = np.zeros((2, 2)), np.eye(2)


class BasisError(ValueError):
    """The matrices given are no Euclidean gamma basis."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Hermitian matrices gamma_x, gamma_y, gamma_z, gamma_t with {gamma_mu, gamma_nu} = 2 delta_{mu nu}.

    Attributes:
        name: as written in profiles and options, e.g. `non_relativistic`.
        short: as written in kernel names, e.g. `nr`.
        gamma: the four matrices, order x, y, z, t.
        source: what a profile writes to ask for it, if that is not the name: the path of its file.
    """

    name: str
    short: str
    gamma: tuple[Matrix, ...]
    source: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and (self.name, self._bytes) == (other.name, other._bytes)

    def __hash__(self) -> int:
        return hash((self.name, self._bytes))

    @cached_property
    def _bytes(self) -> bytes:
        return b"".join(np.ascontiguousarray(g).tobytes() for g in self.gamma)

    def __post_init__(self) -> None:
        for (mu, a), (nu, b) in itertools.combinations_with_replacement(enumerate(self.gamma), 2):
            expected = 2 * np.eye(4) if mu == nu else np.zeros((4, 4))
            if a.shape != (4, 4) or np.abs(a @ b + b @ a - expected).max() > TOLERANCE:
                raise BasisError(
                    f"basis {self.name}: gamma[{mu}] and gamma[{nu}] do not satisfy "
                    "{gamma_mu, gamma_nu} = 2 delta_{mu nu}; correct the matrices"
                )
            if np.abs(a - a.conj().T).max() > TOLERANCE:
                raise BasisError(f"basis {self.name}: gamma[{mu}] is not Hermitian; correct the matrix")

    @cached_property
    def gamma5(self) -> Matrix:
        """gamma_x gamma_y gamma_z gamma_t."""
        x, y, z, t = self.gamma
        return x @ y @ z @ t

    @cached_property
    def rotation(self) -> Matrix:
        """Unitary V with gamma = V gamma_DR V^+; first non-zero entry real and positive.

        V intertwines two irreducible representations of the same group, so by Schur's lemma the group average
        sum_A gamma_A X gamma_DR,A^+ is a multiple of V for every X (A runs over the 16 products of gammas).
        """
        for unit in np.eye(16).reshape(16, 4, 4):
            average = sum(
                a @ unit @ b.conj().T for a, b in zip(products(self.gamma), products(DEGRAND_ROSSI.gamma), strict=True)
            )
            size = np.sqrt(np.trace(average @ average.conj().T).real / 4)
            if size > 1e-3:
                break
        first = average.flat[np.flatnonzero(np.abs(average) > TOLERANCE)[0]]
        v = snap(average / size * (abs(first) / first))
        for mine, theirs in zip(self.gamma, DEGRAND_ROSSI.gamma, strict=True):
            if np.abs(mine @ v - v @ theirs).max() > TOLERANCE:
                raise BasisError(f"basis {self.name}: no rotation to DeGrand-Rossi exists; correct the matrices")
        return v


def products(gamma: tuple[Matrix, ...]) -> list[Matrix]:
    """The 16 ordered products of the four matrices, index bits x, y, z, t from the lowest."""
    result = []
    for bits in range(16):
        product = np.eye(4, dtype=complex)
        for mu in range(4):
            if bits >> mu & 1:
                product = product @ gamma[mu]
        result.append(product)
    return result


def snap(matrix: Matrix) -> Matrix:
    """Removes rounding from entries whose parts are 0, +-1/2, +-1/sqrt 2, +-1 or +-2."""
    nice = np.array([0, 0.5, np.sqrt(0.5), 1, 2])
    nice = np.concatenate([nice, -nice])

    def part(x: np.ndarray) -> np.ndarray:
        nearest = nice[np.abs(x[..., None] - nice).argmin(-1)]
        return np.where(np.abs(x - nearest) < TOLERANCE, nearest, x)

    return part(matrix.real) + 1j * part(matrix.imag)


def read_basis(path: Path) -> Basis:
    """Reads a basis from a JSON file {"gamma": [[[[re, im] x 4] x 4] x 4]}; its name is the stem of the file.

    Raises:
        BasisError: the file cannot be read, has another shape, or its matrices are no gamma basis.
    """
    try:
        numbers = np.array(json.loads(path.read_text())["gamma"], dtype=float)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BasisError(f"basis file {path}: {error}; expected JSON with key 'gamma', shape [4][4][4][2]") from error
    if numbers.shape != (4, 4, 4, 2):
        raise BasisError(f"basis file {path}: shape {numbers.shape}; expected (4, 4, 4, 2)")
    matrices = numbers[..., 0] + 1j * numbers[..., 1]
    return Basis(path.stem, path.stem, tuple(snap(m) for m in matrices), str(path.resolve()))


DEGRAND_ROSSI = Basis(
    "degrand_rossi",
    "dr",
    (
        np.block([[_ZERO, 1j * _PAULI[0]], [-1j * _PAULI[0], _ZERO]]),
        np.block([[_ZERO, -1j * _PAULI[1]], [1j * _PAULI[1], _ZERO]]),
        np.block([[_ZERO, 1j * _PAULI[2]], [-1j * _PAULI[2], _ZERO]]),
        np.block([[_ZERO, _ONE], [_ONE, _ZERO]]).astype(complex),
    ),
)
"""Basis of files and interfaces; gamma_5 = diag(1, 1, -1, -1)."""

NON_RELATIVISTIC = Basis(
    "non_relativistic",
    "nr",
    (
        *(np.block([[_ZERO, -1j * s], [1j * s, _ZERO]]) for s in _PAULI),
        np.diag([1, 1, -1, -1]).astype(complex),
    ),
)
"""Diagonal gamma_t: hops in time carry two spin components without projection."""

BASES = {b.name: b for b in (DEGRAND_ROSSI, NON_RELATIVISTIC)}


def find_basis(name: str, folder: Path = Path()) -> Basis:
    """The basis of that name, or read from the file of that name relative to `folder`.

    Raises:
        BasisError: neither a known name nor a readable file.
    """
    if name in BASES:
        return BASES[name]
    if name.endswith(".json"):
        return read_basis(folder / name)
    raise BasisError(f"basis '{name}' is unknown; use {', '.join(BASES)} or the path of a .json file")


def clifford(matrix: Matrix) -> dict[tuple[int, ...], complex]:
    """Coefficients of a matrix of the DeGrand-Rossi basis in products of gammas in ascending order."""
    found = {}
    for count in range(5):
        for indices in itertools.combinations(range(4), count):
            product = np.eye(4, dtype=complex)
            for mu in indices:
                product = product @ DEGRAND_ROSSI.gamma[mu]
            c = complex(np.vdot(product, matrix)) / 4
            if abs(c) > TOLERANCE:
                found[indices] = c
    return found
