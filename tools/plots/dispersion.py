"""Energies of free quarks.

S(p, t) is a sum of powers z^t, one for each zero of det M(p, p_4) with e^(i p_4) = z: those that decay slowest, forward
and backward in time, have the energies -log|z| and log|z|.
"""

import argparse
import struct
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import COLOURS, Drawn, Part, plot

Attributes = dict[str, str | float]


def naive(p: list, a: Attributes) -> tuple:
    """Scalar part and vector part of m + i sum gamma_nu sin(p_nu - i mu delta_nu4) (PLB 125 (1983) 308)."""
    k = [q - 1j * a["mu"] * (nu == 3) for nu, q in enumerate(p)]
    return a["mass"], [np.sin(q) for q in k]


def wilson(p: list, a: Attributes) -> tuple:
    """Those of m + sum (1 - cos p_nu + i gamma_nu sin p_nu) (PRD 10 (1974) 2445)."""
    return a["mass"] + sum(1 - np.cos(q) for q in p), [np.sin(q) for q in p]


def d234(p: list, a: Attributes) -> tuple:
    """Those of m + sum i gamma_nu sin p_nu (1 + 4 b s_nu) + 16 c s_nu^2, s = sin^2(p/2) (hep-lat/9611010)."""
    s = [np.sin(q / 2) ** 2 for q in p]
    scalar = a["mass"] + sum(16 * a["c"] * h**2 for h in s)
    return scalar, [np.sin(q) * (1 + 4 * a["b"] * h) for q, h in zip(p, s, strict=True)]


def brillouin(p: list, a: Attributes) -> tuple:
    """Those of m + sum i gamma_nu nabla_nu - Delta/2 (arXiv:1012.3615, eqs. 10 and 14)."""
    cos = [np.cos(q) for q in p]
    delta = 4 * np.prod([(1 + c) / 2 for c in cos], axis=0) - 4
    vector = [np.sin(q) * np.prod([cos[k] + 2 for k in range(4) if k != nu], axis=0) / 27 for nu, q in enumerate(p)]
    return a["mass"] - delta / 2, vector


SYMBOLS = {"naive": naive, "wilson": wilson, "d234": d234, "brillouin": brillouin}


@dataclass
class Quark:
    """A propagator S[t, z, y, x, sink spin, source spin] of one colour, and what it is of."""

    attributes: Attributes
    values: np.ndarray

    @classmethod
    def read(cls, path: Path) -> "Quark":
        """From the places that the seal of the file tells (docs/files.md)."""
        data = path.read_bytes()
        mark = data.rfind(b"quarksmith seal 1")
        if mark < 0:
            raise ValueError(f"{path}: no propagator of quarksmith, or changed by another tool; make it anew")
        (length,) = struct.unpack_from("<Q", data, mark - 8)
        reader = Reader(data, mark - 8 - length)
        staggered, _, _ = reader("<BBi")
        extent = reader("<4i")
        places = reader(f"<{reader('<Q')[0]}Q")
        attributes = reader.attributes()
        if staggered or attributes["action"] not in SYMBOLS:
            raise ValueError(f"{path}: action {attributes['action']} has no formula here; use {', '.join(SYMBOLS)}")
        if not attributes["gauge"].startswith("unit:") or attributes["source"] != "point:0,0,0,0":
            raise ValueError(f"{path}: use --gauge unit:X,Y,Z,T --source point:0,0,0,0, which free quarks need")
        shape = (*extent[::-1], 4, 3)
        count = int(np.prod(shape))
        columns = [np.frombuffer(data, "<c16", count, place).reshape(shape)[..., 0] for place in places[0:12:3]]
        return cls(attributes, np.stack(columns, -1))

    def decays(self) -> tuple[np.ndarray, np.ndarray]:
        """Momenta along x from 0 to pi, and energies forward and backward: a matrix pencil of S(p, t), 0 < t < T."""
        in_space = np.fft.fft(self.values.sum((1, 2)), axis=1)
        p = 2 * np.pi * np.arange(in_space.shape[1] // 2 + 1) / in_space.shape[1]
        noise = max(1e-10, 100 * self.attributes["tolerance"])
        found = []
        for n in range(len(p)):
            s = in_space[1:, n].reshape(len(in_space) - 1, 16)
            half = len(s) // 2
            hankel = np.concatenate([s[k : k + len(s) - half] for k in range(half + 1)], 1).reshape(-1, half + 1, 16)
            rows = hankel.transpose(0, 2, 1).reshape(-1, half + 1)
            u, size, v = np.linalg.svd(rows, full_matrices=False)
            v = v[size > noise * size[0]].conj().T
            z = np.linalg.eigvals(np.linalg.pinv(v[:-1].conj()) @ v[1:].conj())
            found.append(slowest(z))
        return p, np.array(found)

    def energies(self, p: np.ndarray) -> np.ndarray:
        """The same from the zeros of A^2 + sum B_nu^2, where M(p) = A + i sum gamma_nu B_nu."""
        harmonics, found = 16, []
        for q in p:
            p4 = 2 * np.pi * np.arange(harmonics) / harmonics
            scalar, vector = SYMBOLS[self.attributes["action"]]([q + 0 * p4, 0 * p4, 0 * p4, p4], self.attributes)
            series = np.fft.fftshift(np.fft.fft(scalar**2 + sum(b**2 for b in vector)))[::-1] / harmonics
            z = np.roots(np.where(np.abs(series) > 1e-13, series, 0))
            found.append(slowest(z[np.abs(z) > 1e-9]))
        return np.array(found)

    @property
    def name(self) -> str:
        """The action and its parameters, for people."""
        numbers = (f"{n} = {self.attributes[n]:.3g}" for n in ("mass", "mu", "b", "c") if self.attributes.get(n))
        return f"{self.attributes['action']}, {', '.join(numbers)}"


def slowest(z: np.ndarray) -> tuple[float, float]:
    """Energies of the powers that decay slowest forward and backward."""
    size = np.abs(z)
    if not np.any(size < 1) or not np.any(size > 1):
        raise ValueError("all powers decay one way: use a chemical potential below the energy at rest")
    return -np.log(size[size < 1].max()), np.log(size[size > 1].min())


class Reader:
    """Numbers one after the other."""

    def __init__(self, data: bytes, place: int) -> None:
        self.data, self.place = data, place

    def __call__(self, form: str) -> tuple:
        values = struct.unpack_from(form, self.data, self.place)
        self.place += struct.calcsize(form)
        return values

    def text(self) -> str:
        """With its length before it."""
        (length,) = self("<Q")
        return self(f"<{length}s")[0].decode()

    def attributes(self) -> Attributes:
        """Texts and numbers; lists are passed over."""
        found: Attributes = {}
        for _ in range(self("<Q")[0]):
            key, (kind,) = self.text(), self("<B")
            if kind == 0:
                found[key] = self.text()
            elif kind in (1, 2):
                (found[key],) = self("<d" if kind == 1 else "<q")
            else:
                (length,) = self("<Q")
                self.place += length * {3: 8, 4: 8, 5: 16}[kind]
        return found


@plot("propagators on unit links (HDF5)", read=Quark.read, count="+")
def dispersion(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Energies of free quarks, from propagators on unit links, beside the zeros of det M(p); prints them as a table.

    quarksmith propagator --gauge unit:8,4,4,24 --action d234 --mass 0.2 --tol 1e-12 --out d234.h5
    """
    figure, axes = plt.subplots(1, len(parts), figsize=(4.2 * len(parts), 3.8), sharey=True, squeeze=False)
    lines = ["| action | p | forward: propagator | det M(p) = 0 | backward: propagator | det M(p) = 0 |"]
    lines.append("|---|---|---|---|---|---|")
    for (_, quark), axis in zip(parts, axes[0], strict=True):
        p, measured = quark.decays()
        exact = quark.energies(p)
        for q, m, e in zip(p, measured, exact, strict=True):
            lines.append(f"| {quark.name} | {q:.4f} | {m[0]:.9f} | {e[0]:.9f} | {m[1]:.9f} | {e[1]:.9f} |")
        fine = np.linspace(0, np.pi, 200)
        curves = quark.energies(fine)
        same = np.allclose(curves[:, 0], curves[:, 1])
        for n, label in enumerate(["both ways"] if same else ["forward", "backward"]):
            axis.plot(fine, curves[:, n], color=COLOURS[n], label=f"{label}: det M(p) = 0")
            axis.plot(p, measured[:, n], "o", color=COLOURS[n], mfc="white", label=f"{label}: propagator")
        mass = quark.attributes["mass"]
        axis.plot(fine, np.hypot(mass, fine), ":", color="#666666", label="continuum, $\\sqrt{m^2 + p^2}$")
        axis.set(title=quark.name, xlabel="p along x", xlim=(0, np.pi), ylim=(0, 3.4))
        axis.legend(fontsize=7)
    axes[0][0].set_ylabel("E")
    return figure, lines
