"""Contractions of propagators S[sink spin, source spin] in the DeGrand-Rossi basis: hadrons, and sequential sources.

Each gives numbers of all sites, to be added up (solvers/measure/momenta.hpp); generator/include.py lists new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI, NON_RELATIVISTIC, Matrix
from ..language import (
    Complex,
    Gamma,
    Propagator,
    Scalars,
    Spinor,
    StaggeredPropagator,
    Sum,
    adj,
    directions,
    dot,
    epsilon,
    expression,
    gamma,
    gamma5,
    sign,
    space,
    spin_matrix,
    total,
    trace,
)
from ..language.formula import Definition, Formula, parameter_symbol
from ..language.graph import Node
from ..language.place import here
from ..language.symbols import symbol
from ..language.walks import all_merged
from ..lower.sequential import sequential_source
from .expression import Expression
from .hadrons import (
    Contractions,
    add,
    all_contractions,
    correlator,
    decuplet,
    in_dirac_components,
    octet,
    other_parity,
)

GROUP = "contractions"


def product_of_gammas(number: int) -> Node | float:
    """gamma_x^b0 gamma_y^b1 gamma_z^b2 gamma_t^b3 of a number with these bits."""
    chosen = [gamma[mu] for n, mu in enumerate(directions) if number >> n & 1]
    return reduce(lambda a, b: a * b, chosen) if chosen else 1.0


@expression(group=GROUP)
def mesons(s1: Propagator, s2: Propagator) -> Sum:
    """tr[(gamma_5 S2 gamma_5)^+ G S1 G], the same G of sixteen at sink and source."""
    back = adj(gamma5 * s2 * gamma5)
    products = map(product_of_gammas, range(16))
    return tuple(total(trace(back * (g * s1 * g))) for g in products)


@expression(group=GROUP)
def bilinears(s1: Propagator, s2: Propagator, source: Gamma) -> Sum:
    """tr[S2^+ G S1 G'] of all sixteen G, and G' of the call."""
    return tuple(total(trace(adj(s2) * (product_of_gammas(n) * (s1 * source)))) for n in range(16))


@expression(group=GROUP)
def loops(eta: Spinor, x: Spinor) -> Sum:
    """eta^+ G x of all sixteen G."""
    return tuple(total(dot(eta, product_of_gammas(n) * x)) for n in range(16))


@expression(group=GROUP)
def staggered_mesons(s1: StaggeredPropagator, s2: StaggeredPropagator) -> Sum:
    """sign(x) sum over colours of S1 conj(S2), of all sixteen signs (-1)^(sum of some coordinates)."""
    both = trace(s1, adj(s2))
    return tuple(total(sign(*(mu for k, mu in enumerate(directions) if n >> k & 1)) * both) for n in range(16))


@expression(group=GROUP)
def staggered_nucleon(s: StaggeredPropagator) -> Sum:
    """The determinant of S at sites whose x, y and z are even."""
    even = [0.5 + 0.5 * sign(mu) for mu in space]
    return total((even[0] * even[1] * even[2]) * (epsilon(s, s, s) / 6.0))


@expression(group=GROUP)
def turned_propagator(s: Propagator, factor: Complex, phase: Scalars, sink: Gamma, source: Gamma) -> Propagator:
    """A factor and a phase times G S G'."""
    return (factor * phase) * (sink * s * source)


@expression(group=GROUP)
def to_degrand_rossi(psi: Spinor) -> Spinor:
    """A spinor of the non-relativistic basis in that of propagators."""
    return spin_matrix(NON_RELATIVISTIC.rotation.conj().T) * psi


@expression(group=GROUP)
def from_degrand_rossi(psi: Spinor) -> Spinor:
    """The reverse."""
    return spin_matrix(NON_RELATIVISTIC.rotation) * psi


@dataclass(frozen=True)
class TwoPoint:
    """Two-point functions of baryons with the same quark lines.

    Attributes:
        text: what they are.
        lines: the names of the propagators.
        results: what they give, in order.
        both: whether lower components, of the other parity, may take the place of the upper ones: parity -1, not 1.
    """

    text: str
    lines: tuple[str, ...]
    results: tuple[Contractions, ...]
    both: bool = False

    @property
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """Names and kinds of the inputs."""
        return (*((q, "propagator") for q in self.lines), *([("parity", "real")] if self.both else []))

    @property
    def numbers(self) -> list[Node]:
        """Numbers that the contraction gives at a site."""
        lines = {q: symbol(q, "propagator") for q in self.lines}
        if self.both:
            lines = {q: other_parity(s, parameter_symbol("parity")) for q, s in lines.items()}
        return all_merged([correlator(r, lines) for r in self.results])


def _sums(name: str, baryons: TwoPoint) -> Formula:
    """Formula that sums all contractions over the lattice."""
    place = here()
    make = lambda: Definition(  # noqa: E731
        name, place, baryons.text, baryons.inputs, (), (), tuple(map(total, baryons.numbers))
    )
    return Formula(name, make, _group(name))


def _source(name: str, baryons: TwoPoint, line: str) -> Formula:
    """The sequential source of a quark line for a combination of them."""
    weights = [f"weight{n}" for n in range(len(baryons.results))]
    inputs = (*baryons.inputs, ("phase", "scalars"), *((w, "real") for w in weights))
    place = here()

    def make() -> Definition:
        parts = [parameter_symbol(w) * c for w, c in zip(weights, baryons.numbers, strict=True)]
        source = symbol("phase", "scalars") * sequential_source(reduce(lambda a, b: a + b, parts), line)
        return Definition(
            f"{name}_by_{line}", place, f"gamma_5 conj(dC/d{line})", inputs, (("out", "propagator"),), (source,)
        )

    return Formula(f"{name}_by_{line}", make, _group_of_source(name))


def _group(name: str) -> str:
    return "chroma" if name.startswith("chroma") else "baryons"


def _group_of_source(name: str) -> str:
    """Group of a source, small enough to compile in less than a minute."""
    return f"{name if name.startswith('chroma') else name.partition('_')[0]}_sources"


_I4 = np.eye(4)
_GX, _GY, _GZ, _GT = DEGRAND_ROSSI.gamma
_UPPER, _LOWER = (_I4 + _GT) / 2, (_I4 - _GT) / 2
_SPIN = -1j * _GX @ _GY
_C = _GY @ _GT
_MINUS = _C @ (_GY + 1j * _GX) / 2
_C5 = _GX @ _GZ
MATRICES: dict[str, Matrix] = {
    "unpolarised": _UPPER,
    "mixed": (_I4 + _SPIN) @ _UPPER,
    "mixed-negative": (_I4 + _SPIN) @ _LOWER,
    "Cg5": _C5,
    "Cg5g4": -_GX @ _GZ @ _GT,
    "Cg5N": _C5 @ _UPPER,
    "Cg5N-": _C5 @ _LOWER,
    "C-": _MINUS,
    "C4-": _C @ _GT @ (_GY + 1j * _GX) / 2,
    "C-N": _MINUS @ _UPPER,
}
"""Spin matrices of Chroma's baryons."""

DIQUARKS: dict[str, Sequence[tuple[float, str, str, str, bool]]] = {
    "sigma": ((1, "q2", "q1", "q2", True), (1, "q2", "q1", "q2", False)),
    "xi": ((1, "q1", "q1", "q2", True), (1, "q1", "q1", "q2", False)),
    "lambda_naive": ((1, "q1", "q2", "q2", True),),
    "lambda": ((1, "q1", "q2", "q2", True), (1, "q1", "q2", "q2", False), (1, "q2", "q2", "q1", False)),
    "sigma_star": (
        (2, "q2", "q1", "q2", True),
        (2, "q2", "q1", "q2", False),
        (2, "q2", "q2", "q1", False),
        (2, "q1", "q2", "q2", False),
        (1, "q1", "q2", "q2", True),
    ),
}
"""Sums of weight * tr[T X {A s, s B}]: weight, X, A, B, and whether the diquark is traced over spin before."""

CHROMA: dict[str, Sequence[tuple[str, str]]] = {
    "sigma": (
        *(("mixed", "Cg5"), ("mixed", "Cg5g4"), ("mixed", "Cg5N")),
        *(("unpolarised", "Cg5"), ("unpolarised", "Cg5g4"), ("unpolarised", "Cg5N"), ("mixed-negative", "Cg5N-")),
    ),
    "lambda": (("mixed", "Cg5"), ("mixed", "Cg5g4"), ("mixed", "Cg5N")),
    "sigma_star": (("mixed", "C-"), ("mixed", "C4-"), ("mixed", "C-N")),
    "lambda_naive": (("unpolarised", "Cg5"),),
    "xi": (("unpolarised", "Cg5"), ("mixed", "Cg5")),
}
"""T and s of the baryons of Chroma's hadron spectrum, in the order of the sums."""


def _chroma(kind: str, t: Matrix, s: Matrix) -> Contractions:
    """Contractions as in Chroma, with {A, B}_ij = sum_k A_ki B_kj over colours eps eps'."""
    found: Contractions = {}
    t, s = in_dirac_components(t), in_dirac_components(s)
    spins = [(i, j) for i in range(4) for j in range(4)]
    for weight, x, a, b, traced in DIQUARKS[kind]:
        for al, be in (p for p in spins if t[p]):
            for m, i in (p for p in spins if s[p]):
                for k, n in (p for p in spins if s[p]):
                    value = weight * t[al, be] * s[m, i] * s[k, n]
                    ends = ((x, be, al), (b, n, i)) if traced else ((x, be, i), (b, n, al))
                    add(found, complex(value), (ends[0], (a, k, m), ends[1]))
    return found


def _two_point_functions() -> dict[str, TwoPoint]:
    """Two-point functions by names of kernels."""
    found = {}
    for name, flavours in (("octet_112", ["112"]), ("octet_123", ["123"]), ("octet_sum", ["123", "213"])):
        results = tuple(all_contractions(octet(map(_lines, flavours), spin)) for spin in (0, 1))
        lines = tuple(sorted(set(_lines(flavours[0]))))
        found[name] = TwoPoint("octet baryons with spin up and down", lines, results, both=True)
    for one in ("111", "112", "123"):
        fields = [decuplet(_lines(one), down) for down in range(4)]
        results = tuple(all_contractions(f, norm=len(f)) for f in fields)
        lines = tuple(sorted(set(_lines(one))))
        found[f"decuplet_{one}"] = TwoPoint("decuplet baryons, spin 3/2 to -3/2", lines, results, both=True)
    for kind, chosen in CHROMA.items():
        results = tuple(_chroma(kind, MATRICES[t], MATRICES[s]) for t, s in chosen)
        found[f"chroma_{kind}"] = TwoPoint("baryons of Chroma's hadron spectrum", ("q1", "q2"), results)
    return found


def _lines(flavours: str) -> list[str]:
    return [f"q{f}" for f in flavours]


TWO_POINT = _two_point_functions()
PROTON = TwoPoint(
    "eps eps' (u^T C gamma_5 d) u with (1 + gamma_t)/2",
    ("q1", "q2"),
    (_chroma("sigma", MATRICES["unpolarised"], MATRICES["Cg5"]),),
)
proton = _sums("proton", PROTON)

BARYONS = {name: Expression(_sums(name, baryons)) for name, baryons in TWO_POINT.items()}
SEQUENTIAL = {
    f"{of}_by_{line}": Expression(_source(of, baryons, line))
    for of, baryons in TWO_POINT.items()
    for line in baryons.lines
}
CONTRACTIONS = [*BARYONS.values(), *SEQUENTIAL.values()]
"""What formulas above give, and their derivatives."""
