"""What a file of expressions is written in: directions, kinds of fields, functions, and the decorator `expression`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .graph import FIFTH, UNDECIDED, Direction, Node, Step, is_uniform, make, number, wrong

x, y, z, t = (Direction(i) for i in range(4))
s = Direction(FIFTH)
directions = (x, y, z, t)
space = (x, y, z)
time = t


if TYPE_CHECKING:  # annotations say which symbol a function is given, not a type of Python
    Spinor: TypeAlias = Any
    Fermion: TypeAlias = Any
    StaggeredFermion: TypeAlias = Any
    Links: TypeAlias = Any
    Matrices: TypeAlias = Any
    Algebra: TypeAlias = Any
    Propagator: TypeAlias = Any
    StaggeredPropagator: TypeAlias = Any
    Gamma: TypeAlias = Any
    Scalars: TypeAlias = Any
    Phases: TypeAlias = Any
    Real: TypeAlias = Any
    Complex: TypeAlias = Any
    Sum: TypeAlias = Any
else:

    class Spinor:
        """Annotation: a site field of colour vectors, four (Dirac) or one (`spins` of the profile row)."""

    class Fermion:
        """Annotation: Dirac spinors whose hops across the boundary of the lattice take up phases."""

    class StaggeredFermion:
        """Annotation: one colour vector a site, with boundary phases."""

    class Links:
        """Annotation: four SU(3) matrices a site, u[mu], in the link storage of the profile row."""

    class Matrices:
        """Annotation: four 3x3 matrices a site, m[mu], with all 18 reals."""

    class Algebra:
        """Annotation: four anti-Hermitian traceless matrices a site, z[mu], with all 18 reals."""

    class Propagator:
        """Annotation: a 12x12 matrix in spin and colour a site, S(x; source), in double: twelve right-hand sides."""

    class StaggeredPropagator:
        """Annotation: the 3x3 matrix in colour of a staggered quark: three right-hand sides."""

    class Gamma:
        """Annotation: a product of gamma matrices that comes with the call, by its bits x, y, z, t."""

    class Scalars:
        """Annotation: a complex number a site; `re(f)` where it is known to be real."""

    class Phases:
        """Annotation: four complex numbers of modulus 1 a site, a[mu]: links of U(1)."""

    class Real:
        """Annotation: a real number that comes with the call."""

    class Complex:
        """Annotation: a complex number that comes with the call."""

    class Sum:
        """Annotation: a number of the whole lattice, as `total` makes it."""


MOST_SITES = 1000
"""Sites of the longest step; a longer one is taken for a mistake."""
SPINORS = ("spinor", "fermion")
"""Kinds of fields of colour vectors; fermions take up boundary phases."""
PROPAGATORS = {"propagator": 4, "staggered_propagator": 1}
"""Kinds of fields whose right-hand sides are the columns of a matrix, and their spins."""
FIELDS: dict[Any, str] = {
    Spinor: "spinor",
    Fermion: "fermion",
    Links: "links",
    Matrices: "matrices",
    Algebra: "algebra",
    Propagator: "propagator",
    StaggeredPropagator: "staggered_propagator",
    Scalars: "scalars",
    Phases: "phases",
}
NUMBERS: dict[Any, str] = {Real: "real", Complex: "complex"}
PARAMETERS = {**FIELDS, **NUMBERS, Direction: "direction", Gamma: "gamma"}
"""Annotations that parameters of a function may have."""


class Undecided:
    """A symbol that no condition can ask: formulas are made once, for whatever fields there are."""

    def __eq__(self, other: object) -> bool:
        raise wrong(f"{self} == {other}", UNDECIDED)

    def __hash__(self) -> int:
        raise wrong(f"{self}", UNDECIDED)

    def __bool__(self) -> bool:
        raise wrong(f"{self}", UNDECIDED)


@dataclass(frozen=True, eq=False, repr=False)
class Four(Undecided):
    """A field with a matrix, or a number, for each direction."""

    name: str
    algebra: bool = False
    kind: str = "matrix"

    def __repr__(self) -> str:
        return self.name

    def __getitem__(self, mu: Direction) -> Node:
        if not isinstance(mu, Direction):
            raise wrong(f"{self.name}[{mu}]", "the index is no direction; use x, y, z, t or a loop over directions")
        return make("load", self.kind, (), (self.name, mu.index), algebra=self.algebra)


def symbol(name: str, kind: str) -> Any:
    """The symbol that a formula gets in place of a field or number."""
    if kind in ("links", "matrices", "algebra"):
        return Four(name, algebra=kind == "algebra")
    if kind == "phases":
        return Four(name, kind="complex")
    if kind in NUMBERS.values():
        return make("parameter", kind, (), name)
    if kind == "gamma":
        return make("parameter", "spin", (), name)
    of_site = {"scalars": "complex", "propagator": "block", "staggered_propagator": "matrix"}
    return make("load", of_site.get(kind, "spinor"), (), name)


def shift(value: Node, step: Step, *, wall: Any = None) -> Node:
    """The value at another site: f at x + mu for `+mu`, at x - mu for `-mu`, `+x + y` round a corner, `3*x` further on.

    Fermions take up the boundary phases of what they cross. Along the fifth dimension, `+s` and `-s`, what leaves at
    one end comes in at the other times `wall`.
    """
    if not isinstance(step, Step):
        raise wrong(f"shift({value}, {step})", "the second argument is no step; write +mu or -mu")
    if max(map(abs, step.vector)) > MOST_SITES:
        raise wrong(f"shift({value}, ...)", f"a step is at most {MOST_SITES} sites long")
    _need(value, ("real", "complex", "matrix", "spinor"), "shift")
    if (wall is None) != (step.vector[s.index] == 0):
        raise wrong(f"shift({value}, {step})", "steps along s, and they alone, need wall=: the factor at the ends")
    factor = () if wall is None else (number(wall, value),)
    if any(not is_uniform(f) for f in factor):
        raise wrong(f"shift({value}, {step}, wall={wall})", "wall is a number that is the same at all sites")
    return make("shift", value.kind, (value, *factor), step, algebra=value.algebra)


def adj(value: Node) -> Node:
    """The Hermitian conjugate of a matrix; the complex conjugate of a number."""
    _need(value, ("matrix", "block", "spin", "flavour", "complex", "real"), "adj", "use dot(f, g) for sum conj(f) g")
    if value.op == "adj":
        return value.args[0]
    if value.kind == "real":
        return value
    if value.op == "constant":
        return make("constant", "complex", (), complex(value.data).conjugate())
    return make("adj", value.kind, (value,), algebra=value.algebra)


def trace(value: Node, other: Node | None = None) -> Node:
    """The sum of the diagonal elements of a matrix, in spin and colour of a propagator; of the product of two."""
    _need(value, ("matrix", "block"), "trace")
    if other is None:
        return make("trace", "complex", (value,))
    _need(other, (value.kind,), "trace", "both are matrices in colour, or both in spin and colour")
    return trace(value * other) if value.kind == "block" else make("trace", "complex", (value, other))


def epsilon(a: Node, b: Node, c: Node | None = None) -> Node:
    """The sum of eps_ijk eps_lmn a_il b_jm c_kn over colours; without c the matrix whose trace with c that is."""
    for m in (a, b) if c is None else (a, b, c):
        _need(m, ("matrix",), "epsilon", "an element of a propagator is one, s[0, 1] of sink spin 0, source spin 1")
    pair = make("epsilon", "matrix", (a, b))
    return pair if c is None else trace(pair, c)


def re(value: Node) -> Node:
    """The real part of a number."""
    _need(value, ("complex",), "re")
    return make("re", "real", (value,))


def im(value: Node) -> Node:
    """The imaginary part of a number."""
    _need(value, ("complex",), "im")
    return make("im", "real", (value,))


def dot(f: Node, g: Node) -> Node:
    """The sum of conj(f) g over colours and spins of a site."""
    _need(f, ("spinor",), "dot")
    _need(g, ("spinor",), "dot")
    return make("dot", "complex", (f, g))


def ta(value: Node) -> Node:
    """The anti-Hermitian traceless part (m - m^+)/2 - tr(m - m^+)/6: an element of the Lie algebra."""
    _need(value, ("matrix",), "ta")
    return make("ta", "matrix", (value,), algebra=True)


def exp(value: Any) -> Node:
    """The exponential of an element of the Lie algebra (C. Morningstar and M. Peardon, hep-lat/0311018).

    In statements of actions also of a number that is the same at all sites, and of a Hermitian matrix in spin and
    colour of a site: the exponential clover term of arXiv:1911.04533.
    """
    if isinstance(value, int | float | complex):
        value = number(value, identity)
    _need(value, ("matrix", "real", "complex", "block"), "exp")
    if value.kind in NUMBERS.values():
        if not is_uniform(value):
            raise wrong(f"exp({value})", "exp takes a number that is the same at all sites, or a matrix", value)
        return make("exp", value.kind, (value,))
    if value.kind == "matrix" and not value.algebra:
        raise wrong(
            f"exp({value})", "the matrix is not known to be anti-Hermitian and traceless; write exp(ta(...))", value
        )
    return make("exp", value.kind, (value,))


def project(value: Node) -> Node:
    """The element U of SU(3) that maximises Re tr(U^+ m)."""
    _need(value, ("matrix",), "project")
    return make("project", "matrix", (value,))


def relaxed(value: Node, boost: Node) -> Node:
    """Hits of the SU(2) subgroups (1,2), (2,3), (1,3), one after the other: each brings Re tr(U m) to its maximum.

    With a boost a hit (a_0, a) goes beyond: a becomes (boost a_0^2 + a^2)/(a_0^2 + a^2) a.
    """
    _need(value, ("matrix",), "relaxed")
    _need(boost, ("real",), "relaxed")
    return make("relaxed", "matrix", (value, boost))


def project_u3(value: Node) -> Node:
    """The element W of U(3) nearest to m: m (m^+ m)^(-1/2). In statements of actions, of fields that are `stored`."""
    _need(value, ("matrix",), "project_u3")
    return make("project_u3", "matrix", (value,))


class Stored(Undecided):
    """Matrices that a statement keeps in a field: its value is theirs, and what is made of them reads the field."""

    def __init__(self, matrices: dict[Direction, Node]) -> None:
        for m in matrices.values():
            _need(m, ("matrix",), "stored")
        self.matrices = {
            mu: make("stored", "matrix", (m,), (self, mu.index), algebra=m.algebra) for mu, m in matrices.items()
        }

    __hash__ = object.__hash__  # equal parts of a graph are found by it

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return "stored(...)"

    def __getitem__(self, mu: Direction) -> Node:
        if mu not in self.matrices:
            raise wrong(f"stored(...)[{mu}]", "nothing was stored for this direction")
        return self.matrices[mu]


def stored(matrices: dict[Direction, Node]) -> Stored:
    """Matrices of some directions, kept in a field: made once, read from several sites. In statements of actions."""
    return Stored(matrices)


def outer(f: Node, g: Node) -> Node:
    """The colour matrix f g^+, summed over spins: element (a, b) is the sum of f_a conj(g_b)."""
    _need(f, ("spinor",), "outer")
    _need(g, ("spinor",), "outer")
    return make("outer", "matrix", (f, g))


def summed(value: Node) -> Node:
    """The sum over all right-hand sides of what the spinors of one give: `summed(outer(f, g))`."""
    _need(value, ("matrix",), "summed")
    return make("summed", "matrix", (value,))


def sign(*axes: Direction) -> Node:
    """(-1) to the sum of these coordinates of the site: staggered phases, and with all four the parity."""
    if not all(isinstance(mu, Direction) and mu.index < 4 for mu in axes):
        raise wrong(f"sign{axes}", "give directions of the lattice, sign(x, y)")
    return make("sign", "real", (), tuple(sorted({mu.index for mu in axes})))


class SpinMatrices:
    """The matrices gamma[mu] of the basis in which a kernel works."""

    def __getitem__(self, mu: Direction) -> Node:
        if not isinstance(mu, Direction) or mu.index > 3:
            raise wrong(f"gamma[{mu}]", "the index is no direction of the lattice; use x, y, z, t")
        return make("gamma", "spin", (), mu.index)


class SigmaMatrices:
    """sigma[mu, nu] = (i/2) [gamma_mu, gamma_nu]."""

    def __getitem__(self, plane: tuple[Direction, Direction]) -> Node:
        if not isinstance(plane, tuple) or len(plane) != 2:
            raise wrong(f"sigma[{plane}]", "the index is a pair of directions, sigma[mu, nu]")
        mu, nu = plane
        return 0.5j * (gamma[mu] * gamma[nu] - gamma[nu] * gamma[mu])


class FlavourMatrices:
    """Pauli matrices of two flavours: tau[1], tau[2], tau[3]."""

    def __getitem__(self, k: int) -> Node:
        if k not in (1, 2, 3):
            raise wrong(f"tau[{k}]", "the index is 1, 2 or 3")
        return make("tau", "flavour", (), k)


gamma, sigma, tau = SpinMatrices(), SigmaMatrices(), FlavourMatrices()
gamma5 = Node("gamma5", "spin")
"""gamma_x gamma_y gamma_z gamma_t."""


def spin_matrix(rows: Any) -> Node:
    """A constant 4x4 matrix in spin, given in the DeGrand-Rossi basis."""
    try:
        matrix = np.asarray(rows, dtype=complex)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise wrong(f"spin_matrix({rows})", "it takes four rows of four finite numbers")
    return make("spin", "spin", (), tuple(tuple(complex(c) for c in row) for row in matrix))


def total(value: Any) -> Node:
    """A result: the sum over all sites, in double, of a real number; of a complex one its two parts."""
    _need(value, ("real", "complex"), "total")
    return make("total" if value.kind == "real" else "totals", "sum", (value,))


identity = Node("identity", "matrix")
"""The 3x3 matrix 1."""


def _need(value: object, kinds: tuple[str, ...], function: str, remedy: str = "") -> None:
    if not isinstance(value, Node):
        raise wrong(f"{function}({value})", "the argument is no expression; fields of links need an index, u[mu]")
    if value.kind not in kinds:
        allowed = " or a ".join(kinds)
        raise wrong(f"{function}({value})", f"{function} takes a {allowed}" + (f"; {remedy}" if remedy else ""), value)
