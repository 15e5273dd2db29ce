"""Storages of links with any number of colours, each written once and evaluated on numbers or on C++ text.

`encode` and `decode` are written once against an `Ops` object. With `Numeric` they run on NumPy arrays (tests); the
emitter passes an object that prints C++ instead (`generator.cpp.expressions.Tracer`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

Row = Sequence[Any]
"""A row of a link: complex numbers, one for each colour."""
Rows = Sequence[Row]
"""A link, row by row."""
MOST_COLOURS = 16


class Ops(Protocol):
    """Operations for which Python has no operator."""

    def complex(self, re: Any, im: Any) -> Any: ...
    def real(self, z: Any) -> Any: ...
    def imag(self, z: Any) -> Any: ...
    def conj(self, z: Any) -> Any: ...
    def norm2(self, z: Any) -> Any: ...
    def reciprocal(self, x: Any) -> Any: ...
    def root(self, x: Any) -> Any: ...  # square root, negative arguments clamped to zero
    def chart(self, z: Any) -> Any: ...  # phase of z as a number in [-1, 1), see Numeric.chart
    def unit(self, v: Any) -> Any: ...  # inverse of chart: exp(i phase)
    def let(self, name: str, value: Any) -> Any: ...  # names an intermediate result
    def where_less(self, x: Any, bound: Any, value: Any) -> Any: ...  # value where x < bound, else 0

    zero: Any
    smallest: Any  # modulus below which the storage format keeps too few digits


class Numeric:
    """Ops on NumPy numbers."""

    zero = 0
    smallest = 2.0**-52
    where_less = staticmethod(lambda x, bound, value: np.where(x < bound, value, 0))
    complex = staticmethod(lambda re, im: re + 1j * im)
    real = staticmethod(np.real)
    imag = staticmethod(np.imag)
    conj = staticmethod(np.conj)
    norm2 = staticmethod(lambda z: np.abs(z) ** 2)
    reciprocal = staticmethod(lambda x: 1 / x)
    root = staticmethod(lambda x: np.sqrt(np.maximum(x, 0)))
    let = staticmethod(lambda name, value: value)

    @staticmethod
    def chart(z: Any) -> Any:
        """Half-angle coordinate of the phase of z, without trigonometry and without a singular point.

        On the right half circle tan(phase/2)/2 in [-1/2, 1/2]; on the left half the same of -z, moved by one into
        [1/2, 1] or [-1, -1/2]. A zero z has coordinate 0.
        """
        re, im = np.real(z), np.imag(z)
        left = re < 0
        size = np.abs(z)
        half = np.where(size > 0, np.where(left, -im, im) / np.where(size > 0, np.abs(re) + size, 1), 0) / 2
        return np.where(left, half + np.where(half > 0, -1, 1), half)

    @staticmethod
    def unit(v: Any) -> Any:
        """Point of the unit circle with half-angle coordinate v."""
        left = np.abs(v) > 0.5
        u = 2 * np.where(left, v - np.where(v > 0, 1, -1), v)
        sign = np.where(left, -1, 1)
        return sign * ((1 - u * u) + 2j * u) / (1 + u * u)


@dataclass(frozen=True)
class Storage:
    """How many reals hold a link, and how.

    Attributes:
        name: as in kernel names, `r12`; for other than three colours their number comes first, `c2r4`.
        reals: real numbers stored per link.
        encode: (rows of a link, ops) -> reals in [-1, 1].
        decode: (reals, ops) -> rows.
        formula: one line for the generated file.
        exact: False when encoding loses accuracy beyond rounding (kernel tests then allow more).
        temporal: True if links in time are known to be 1 except across the last slice (temporal gauge).
        group: which matrices it holds: `any`, `SU(N)`, `U(N)` or the algebra `su(N)`, where N is the number of colours.
        colours: rows of a link.
    """

    name: str
    reals: int
    encode: Callable[[Rows, Ops], list[Any]]
    decode: Callable[[Sequence[Any], Ops], Rows]
    formula: str
    exact: bool = True
    temporal: bool = False
    group: str = "SU(3)"
    colours: int = 3


def cross_conj(a: Row, b: Row, ops: Ops) -> list[Any]:
    """conj(a x b): the third row of an SU(3) matrix with rows a, b."""
    return [ops.conj(a[i] * b[j] - a[j] * b[i]) for i, j in ((1, 2), (2, 0), (0, 1))]


def _parts(rows: Sequence[Any], ops: Ops) -> list[Any]:
    return [part for z in rows for part in (ops.real(z), ops.imag(z))]


def _complexes(p: Sequence[Any], ops: Ops) -> list[Any]:
    return [ops.complex(p[i], p[i + 1]) for i in range(0, len(p), 2)]


def all_elements(colours: int) -> Storage:
    """The storage of all elements of a matrix; for one colour, of a complex number."""

    def encode(u: Rows, ops: Ops) -> list[Any]:
        return _parts([z for row in u for z in row], ops)

    def decode(p: Sequence[Any], ops: Ops) -> Rows:
        z = _complexes(p, ops)
        return [z[n : n + colours] for n in range(0, len(z), colours)]

    reals = 2 * colours**2
    name = f"r{reals}" if colours == 3 else f"c{colours}r{reals}"
    formula = "all nine complex elements" if colours == 3 else f"all {colours**2} complex elements"
    return Storage(name, reals, encode, decode, formula, group="any", colours=colours)


def algebra_of(colours: int) -> Storage:
    """The storage of traceless anti-Hermitian matrices."""
    pairs = [(i, j) for i in range(colours) for j in range(i + 1, colours)]

    def encode(p: Rows, ops: Ops) -> list[Any]:
        return [*(ops.imag(p[i][i]) for i in range(colours - 1)), *_parts([p[i][j] for i, j in pairs], ops)]

    def decode(p: Sequence[Any], ops: Ops) -> Rows:
        diagonal = list(p[: colours - 1])
        last = diagonal[0]
        for d in diagonal[1:]:
            last = last + d
        above = dict(zip(pairs, _complexes(p[colours - 1 :], ops), strict=True))
        return [
            [
                above[i, j] if i < j else -ops.conj(above[j, i]) if j < i else ops.complex(ops.zero, d)
                for j in range(colours)
            ]
            for i, d in enumerate([*diagonal, -last])
        ]

    reals = colours**2 - 1
    name = f"a{reals}" if colours == 3 else f"c{colours}a{reals}"
    formula = "imaginary parts of the diagonal but its last, then the elements above it, row by row"
    return Storage(name, reals, encode, decode, formula, group=f"su({colours})", colours=colours)


def _encode_su2(u: Rows, ops: Ops) -> list[Any]:
    return _parts(u[0], ops)


def _decode_su2(p: Sequence[Any], ops: Ops) -> Rows:
    a, b = (ops.let(name, z) for name, z in zip(("a", "b"), _complexes(p, ops), strict=True))
    return (a, b), (-ops.conj(b), ops.conj(a))


def _encode_12(u: Rows, ops: Ops) -> list[Any]:
    return _parts([*u[0], *u[1]], ops)


def _decode_12(p: Sequence[Any], ops: Ops) -> Rows:
    z = [
        ops.let(name, value)
        for name, value in zip(("a0", "a1", "a2", "b0", "b1", "b2"), _complexes(p, ops), strict=True)
    ]
    a, b = z[0:3], z[3:6]
    return a, b, cross_conj(a, b, ops)


def _encode_8(u: Rows, ops: Ops) -> list[Any]:
    # Clark et al., arXiv:0911.3191, section 5: a_2, a_3, b_1 and the phases of a_1 and c_1 of rows (a, b, c). Applied
    # to (b, a, -c), which also has determinant 1, so that the unit matrix is a regular point: |b_2|^2 + |b_3|^2 = 1.
    # The singular points b_2 = b_3 = 0 are moved by a rotation of the first two columns by the smallest useful angle.
    a, b, c = u
    d = ops.let("d", ops.norm2(b[1]) + ops.norm2(b[2]))
    angle = ops.let("angle", ops.where_less(d, ops.smallest * ops.smallest, ops.smallest))
    first = [row[0] - angle * row[1] for row in (a, b, c)]
    return [*_parts([b[1] + angle * b[0], b[2], first[0]], ops), ops.chart(first[1]), ops.chart(-first[2])]


def _decode_8(p: Sequence[Any], ops: Ops) -> Rows:
    # Rows r, s, q = b, a, -c. With D = |r_2|^2 + |r_3|^2: unitarity of the first row and column gives |r_1|, |q_1|;
    # s and q follow from s.r^* = q.r^* = 0 and q = (r x s)^*, s = (q x r)^*.
    r2, r3, s1 = (ops.let(n, z) for n, z in zip(("r2", "r3", "s1"), _complexes(p[:6], ops), strict=True))
    d = ops.let("d", ops.norm2(r2) + ops.norm2(r3))
    r1_squared = ops.let("r1_squared", 1 - d)
    r1 = ops.let("r1", ops.root(r1_squared) * ops.unit(p[6]))
    q1 = ops.let("q1", ops.root(d - ops.norm2(s1)) * ops.unit(p[7]))
    inverse = ops.let("inverse", ops.reciprocal(d))
    along_s = ops.let("along_s", inverse * (ops.conj(r1) * s1))
    along_q = ops.let("along_q", inverse * (ops.conj(r1) * q1))
    across_s = ops.let("across_s", inverse * ops.conj(q1))
    across_q = ops.let("across_q", inverse * ops.conj(s1))
    s2 = -(along_s * r2) - across_s * ops.conj(r3)
    s3 = across_s * ops.conj(r2) - along_s * r3
    c2 = along_q * r2 - across_q * ops.conj(r3)
    c3 = along_q * r3 + across_q * ops.conj(r2)
    return (s1, s2, s3), (r1, r2, r3), (-q1, c2, c3)


# A unitary matrix becomes one of SU(3) when its last row is divided by its determinant, a phase, which is stored too.
# Long links of improved staggered quarks are products of three links times one real number for the whole field: the
# product is stored like this, and the number multiplies hops.


def _determinant(u: Rows, ops: Ops) -> Any:
    a, b, c = u
    x0, x1, x2 = (ops.let(n, z) for n, z in zip(("x0", "x1", "x2"), cross_conj(a, b, ops), strict=True))
    return ops.let("det", ops.conj(x0) * c[0] + ops.conj(x1) * c[1] + ops.conj(x2) * c[2])


def _encode_13(u: Rows, ops: Ops) -> list[Any]:
    return [*_encode_12(u, ops), ops.chart(_determinant(u, ops))]


def _decode_13(p: Sequence[Any], ops: Ops) -> Rows:
    a, b, c = _decode_12(p[:12], ops)
    phase = ops.let("phase", ops.unit(p[12]))
    return a, b, [phase * z for z in c]


def _encode_9(u: Rows, ops: Ops) -> list[Any]:
    det = _determinant(u, ops)
    first, second = (ops.let(n, ops.conj(det) * z) for n, z in zip(("c0", "c1"), u[2][:2], strict=True))
    return [*_encode_8((*u[:2], (first, second, None)), ops), ops.chart(det)]


def _decode_9(p: Sequence[Any], ops: Ops) -> Rows:
    a, b, c = _decode_8(p[:8], ops)
    phase = ops.let("phase", ops.unit(p[8]))
    return a, b, [phase * z for z in c]


def temporal_gauge(storage: Storage) -> Storage:
    """A storage for links in temporal gauge, made from another: time links are read on the last slice only."""
    formula = storage.formula + "; time links 1 but on one slice"
    return replace(storage, name=storage.name + "t", formula=formula, temporal=True, group="SU(3)")


_STORED = {
    s.name: s
    for s in (
        all_elements(3),
        Storage("r12", 12, _encode_12, _decode_12, "rows a, b; c = conj(a x b)"),
        Storage(
            "r8",
            8,
            _encode_8,
            _decode_8,
            "b_2, b_3, a_1 and half-angle phases of b_1, -c_1 (arXiv:0911.3191 on rows b, a, -c)",
            exact=False,
        ),
        Storage(
            "r13",
            13,
            _encode_13,
            _decode_13,
            "rows a, b; half-angle phase of the determinant det; c = det conj(a x b)",
            group="U(3)",
        ),
        Storage(
            "r9",
            9,
            _encode_9,
            _decode_9,
            "r8 of rows a, b, c / det; half-angle phase of the determinant det",
            exact=False,
            group="U(3)",
        ),
        algebra_of(3),
        *(all_elements(n) for n in range(1, MOST_COLOURS + 1) if n != 3),
        *(algebra_of(n) for n in range(2, MOST_COLOURS + 1) if n != 3),
        Storage("c2r4", 4, _encode_su2, _decode_su2, "row a, b; then -conj b, conj a", group="SU(2)", colours=2),
    )
}

STORAGES = _STORED | {s.name: s for s in map(temporal_gauge, (_STORED["r18"], _STORED["r12"]))}
"""All link storages by name."""


def full_storage(colours: int) -> Storage:
    """The storage of arbitrary matrices of N colours."""
    return next(s for s in STORAGES.values() if s.group == "any" and s.colours == colours)


def algebra_storage(colours: int) -> Storage:
    """The storage of momenta of N colours."""
    return next(s for s in STORAGES.values() if s.group == f"su({colours})")


def like(storage: Storage, colours: int) -> Storage:
    """The storage of N colours for the same matrices as one of three colours: momenta, else all elements."""
    return (algebra_storage if storage.group.startswith("su(") else full_storage)(colours)


def numbers_of(name: str) -> str:
    """The name of a storage in rows of profiles: for three colours the number of reals alone, `12` of `r12`."""
    return name.removeprefix("r")
