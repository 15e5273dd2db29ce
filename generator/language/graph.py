"""Expressions over lattice fields as graphs: nodes with a kind, checked when made, printed as they were written.

A node is what a user's Python built, shifts where they stood. Nothing here knows sites, memory or C++.
"""

from __future__ import annotations

import cmath
import contextlib
import numbers
import sys
from dataclasses import dataclass
from typing import Any

from ..errors import ExpressionError
from .place import Place, here
from .text import NAMES, text

KINDS = ("real", "complex", "spin", "flavour", "matrix", "block", "spinor")
"""Numbers at a site, constant matrices in spin or flavour, 3x3 matrices in colour, sums of products of these (block),
colour vectors (one or four)."""
NUMBERS = ("real", "complex")
LINEAR = ("spin", "flavour", "matrix", "block")
"""Kinds of nodes, other than numbers, that multiply a spinor from the left."""
FIFTH = NAMES.index("s")
MOST_LEVELS, MOST_TERMS = 400, 1_000_000
"""How deep a formula nests, and how many operations it has if each is written out wherever it is used."""
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20 * MOST_LEVELS))  # walks along a formula take some calls a level


UNKNOWN = "whether they are the same is not known before the call; write it for directions of calls alone"


@dataclass(frozen=True, repr=False)
class Direction:
    """A direction of the lattice, one that comes with a call, or the fifth; sums and multiples are displacements."""

    index: int

    @property
    def name(self) -> str:
        """Name of the direction, one of NAMES."""
        return NAMES[self.index]

    @property
    def comes_with_call(self) -> bool:
        """Whether it is any of the four, different from others of its kind."""
        return 4 <= self.index < FIFTH

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Direction):
            raise wrong(
                f"{self} == {other}", f"{type(other).__name__} is no direction; compare with x, y, z, t, mu, nu"
            )
        if self.comes_with_call != other.comes_with_call:
            raise wrong(f"{self} == {other}", UNKNOWN)
        return self.index == other.index

    def __hash__(self) -> int:
        return 0  # sets and dictionaries then ask ==, which knows what is not known

    def __bool__(self) -> bool:
        raise wrong(self.name, "a direction is neither true nor false; compare it with another")

    def __repr__(self) -> str:
        return self.name

    def __pos__(self) -> Step:
        return Step(tuple(int(i == self.index) for i in range(len(NAMES))))

    def __neg__(self) -> Step:
        return -(+self)

    def __add__(self, other: Direction | Step) -> Step:
        return +self + other

    def __sub__(self, other: Direction | Step) -> Step:
        return +self - other

    def __mul__(self, times: int) -> Step:
        return +self * times

    __rmul__ = __mul__


@dataclass(frozen=True, repr=False)
class Step:
    """A displacement: sites or slices along each of NAMES."""

    vector: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Step):
            raise wrong(f"{self} == {other}", f"{type(other).__name__} is no step; compare with +x, -y, 2*mu, ...")
        same = self.vector == other.vector
        if not same and any(self.vector[4:FIFTH]) != any(other.vector[4:FIFTH]):
            raise wrong(f"{self} == {other}", UNKNOWN)
        return same

    def __hash__(self) -> int:
        return hash(self.vector)

    def __pos__(self) -> Step:
        return self

    def __neg__(self) -> Step:
        return self * -1

    def __add__(self, other: Direction | Step) -> Step:
        if not isinstance(other, Direction | Step):
            raise wrong(f"{self} + {other}", "a displacement is a sum of directions and their multiples")
        return Step(tuple(a + b for a, b in zip(self.vector, (+other).vector, strict=True)))

    def __sub__(self, other: Direction | Step) -> Step:
        return self + -other

    def __mul__(self, times: int) -> Step:
        if not isinstance(times, int) or isinstance(times, bool):
            raise wrong(f"{times}*({self})", "a displacement is a sum of directions and whole multiples of them")
        return Step(tuple(n * times for n in self.vector))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        parts = [
            ("+" if n > 0 else "-") + (f"{abs(n)}*" if abs(n) > 1 else "") + a
            for n, a in zip(self.vector, NAMES, strict=True)
            if n
        ]
        return "".join(parts) or "+0*x"


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """A value at every site.

    Attributes:
        op: what makes it: load, parameter, constant, identity, gamma, gamma5, tau, spin, sign, add, sub, neg, mul, div,
            shift, adj, trace, element, epsilon, re, im, dot, outer, summed, ta, exp, exp_adjoint, project,
            project_adjoint, project_u3, project_u3_adjoint, damped_adjoint, total, totals; or promote: the argument as
            another kind; stored: the argument, kept in a field.
        kind: one of KINDS, or `sum` for a number of the whole lattice.
        args: nodes it is made of; of a shift along the fifth dimension the second is the factor at its walls.
        data: what else `op` needs: the field of a load, (field, direction) where it has several, likewise of what is
            stored; sink and source spin of an element; a name, a number, a Step, directions, a matrix.
        algebra: True if a matrix is known to be anti-Hermitian and traceless.
        place: the user's line that made it.
    """

    op: str
    kind: str
    args: tuple[Node, ...] = ()
    data: Any = None
    algebra: bool = False
    place: Place = Place("", 0)

    @property
    def field(self) -> str:
        """Name of the field of a load."""
        return self.data[0] if isinstance(self.data, tuple) else self.data

    def on(self, args: tuple[Node, ...], data: Any = None) -> Node:
        """The same of other arguments, and other data if given; the node itself if nothing differs."""
        if data is None and all(a is b for a, b in zip(args, self.args, strict=True)):
            return self
        return Node(self.op, self.kind, args, self.data if data is None else data, self.algebra, self.place)

    def __add__(self, other: object) -> Node:
        return _sum("add", self, other)

    def __radd__(self, other: object) -> Node:
        return self if isinstance(other, int) and other == 0 else _sum("add", number(other, self), self)

    def __sub__(self, other: object) -> Node:
        return _sum("sub", self, other)

    def __rsub__(self, other: object) -> Node:
        return _sum("sub", number(other, self), self)

    def __neg__(self) -> Node:
        return make("neg", self.kind, (self,), algebra=self.algebra)

    def __mul__(self, other: object) -> Node:
        return _product(self, number(other, self))

    def __rmul__(self, other: object) -> Node:
        return _product(number(other, self), self)

    def __truediv__(self, other: object) -> Node:
        if isinstance(other, numbers.Complex) and other != 0:
            return _product(number(1 / number(other, self).data, self), self)
        if isinstance(other, Node) and other.kind in NUMBERS and is_uniform(other):
            if self.kind in NUMBERS and is_uniform(self):
                return make("div", "complex" if "complex" in (self.kind, other.kind) else "real", (self, other))
            return _product(make("div", other.kind, (constant(1.0), other)), self)
        raise wrong(f"{self} / {other}", "divide by a number that is the same at all sites, and not 0", self)

    def __rtruediv__(self, other: object) -> Node:
        return number(other, self) / self

    def __getitem__(self, index: object) -> Node:
        if self.kind != "block":
            raise wrong(str(self), "only fields with four matrices a site have directions, u[mu]", self)
        if not (isinstance(index, tuple) and len(index) == 2 and all(n in range(4) for n in index)):
            raise wrong(f"{self}[{index}]", "an element of a propagator is s[sink, source], spins from 0 to 3", self)
        return make("element", "matrix", (self,), index)

    def __eq__(self, other: object) -> bool:
        raise wrong(f"{self} == {other}", UNDECIDED)

    def __hash__(self) -> int:
        raise wrong(f"{self}", UNDECIDED)  # a set or dictionary would look for equal ones

    def __bool__(self) -> bool:
        raise wrong(f"{self}", UNDECIDED)

    def __lt__(self, other: object) -> bool:
        raise wrong(f"comparison of {self} and {other}", UNDECIDED)

    __le__ = __gt__ = __ge__ = __lt__

    def __pow__(self, other: object) -> Node:
        raise wrong(f"{self} ** {other}", "write a product", self)

    __array_ufunc__ = None  # products with numbers of numpy are those above

    def __repr__(self) -> str:
        return text(self)

    def __format__(self, spec: str) -> str:
        """The formula in an error message, shortened if it is long."""
        return text(self, depth=SHOWN_LEVELS)


UNDECIDED = "a formula is made once, for all values: no condition can depend on one; write a formula for each case"
SHOWN_LEVELS = 12
"""Levels of a formula that an error message shows."""


def make(op: str, kind: str, args: tuple[Node, ...] = (), data: Any = None, *, algebra: bool = False) -> Node:
    """A node of the user's present line."""
    return Node(op, kind, args, data, algebra, here())


def wrong(expression: str, why: str, *nodes: Node) -> ExpressionError:
    """An error at the user's present line."""
    kinds = ", ".join(f"{_short(n)} is a {n.kind}" for n in nodes)
    return ExpressionError(f"{here()}: {expression[:300]}: {why}" + (f" ({kinds})" if kinds else ""))


def _short(node: Node) -> str:
    printed = f"{node}"
    return printed if len(printed) <= 60 else printed[:57] + "..."


def constant(value: complex) -> Node:
    """A number of Python."""
    return make("constant", "complex" if isinstance(value, complex) else "real", (), value)


def number(value: object, beside: Node) -> Node:
    """A node, or a number of Python as one.

    Raises:
        ExpressionError: anything else.
    """
    if isinstance(value, Node):
        return value
    if isinstance(value, numbers.Complex) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            given = float(value) if isinstance(value, numbers.Real) else complex(value)
            if cmath.isfinite(given):
                return constant(given)
        raise wrong(f"a number with {beside}", "it is not finite, or no double can hold it", beside)
    raise wrong(f"{value!r} with {beside}", "an operand is neither part of an expression nor a number", beside)


def is_uniform(node: Node) -> bool:
    """Whether a number is the same at all sites."""
    if node.op in ("parameter", "constant"):
        return node.kind in NUMBERS
    uniform = ("add", "sub", "neg", "mul", "div", "exp", "adj", "re", "im", "promote")
    return node.kind in NUMBERS and node.op in uniform and all(map(is_uniform, node.args))


def _common_kind(a: str, b: str) -> str:
    """Kind of a sum of two; empty if it means nothing. A number beside spin or flavour matrices multiplies 1."""
    if a == b:
        return a
    if {a, b} == set(NUMBERS):
        return "complex"
    constant_matrices, both = ("spin", "flavour"), {a, b}
    if both & set(NUMBERS):
        (other,) = both - set(NUMBERS)
        return other if other in (*constant_matrices, "block") else ""
    return "block" if both <= set(LINEAR) and (both & {*constant_matrices, "block"}) else ""


def _as_kind(node: Node, kind: str) -> Node:
    return node if node.kind == kind else make("promote", kind, (node,), algebra=False)


def _sum(op: str, a: Node, b: object) -> Node:
    other = number(b, a)
    sign = "+" if op == "add" else "-"
    kind = "" if "sum" in (a.kind, other.kind) else _common_kind(a.kind, other.kind)
    if not kind:
        remedy = "write c*identity for a matrix" if "matrix" in (a.kind, other.kind) else "terms must be of one kind"
        raise wrong(f"{a} {sign} {other}", f"cannot add a {a.kind} and a {other.kind}; {remedy}", a, other)
    a, other = _as_kind(a, kind), _as_kind(other, kind)
    return make(op, kind, (a, other), algebra=a.algebra and other.algebra)


def _product(a: Node, b: Node) -> Node:
    if a.kind not in NUMBERS and b.kind in NUMBERS:
        a, b = b, a
    if a.op == "constant" and a.data == 1 and not isinstance(a.data, complex):
        return b
    if a.kind in NUMBERS and b.kind in NUMBERS:
        return make("mul", "complex" if "complex" in (a.kind, b.kind) else "real", (a, b))
    if a.kind in NUMBERS and b.kind in (*LINEAR, "spinor"):
        return make("mul", b.kind, (a, b), algebra=b.algebra and a.kind == "real")
    if a.kind in LINEAR and b.kind == "spinor":
        return make("mul", "spinor", (a, b))
    if a.kind in LINEAR and b.kind in LINEAR:
        return make("mul", a.kind if a.kind == b.kind else "block", (a, b))
    remedy = "write the matrix before the spinor" if b.kind in LINEAR else "use dot(f, g) for sum conj(f) g"
    if "sum" in (a.kind, b.kind):
        remedy = "numbers of the whole lattice are results; combine them outside"
    raise wrong(f"{a} * {b}", f"cannot multiply a {a.kind} by a {b.kind}; {remedy}", a, b)


def check_size(root: Node) -> Node:
    """Refuses, at the line of the user that is one too many, what would keep a machine busy for good.

    Raises:
        ExpressionError: the formula nests too deep, or is too large.
    """
    found: dict[int, tuple[int, int]] = {}  # levels and terms
    stack = [root]
    while stack:
        node = stack[-1]
        todo = [a for a in node.args if id(a) not in found]
        stack += todo
        if todo:
            continue
        stack.pop()
        below = [found[id(a)] for a in node.args]
        levels, terms = 1 + max((n for n, _ in below), default=0), 1 + sum(n for _, n in below)
        large = f"more than {MOST_TERMS} operations, written out" if terms > MOST_TERMS else ""
        if large or levels > MOST_LEVELS:
            why = large or f"more than {MOST_LEVELS} operations inside of each other"
            raise ExpressionError(f"{node.place}: the formula has {why}; use several, or group long sums")
        found[id(node)] = levels, terms
    return root
