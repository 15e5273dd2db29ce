"""Expressions over lattice fields as graphs: nodes with a kind, checked when made, printed as they were written.

A node is what a user's Python built, shifts where they stood. Nothing here knows sites, memory or C++.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.spec import SpecError

FOLDER = str(Path(__file__).parent)
KINDS = ("real", "complex", "matrix", "spinor")
"""Numbers at a site, 3x3 matrices, colour vectors (one or four)."""
NAMES = ("x", "y", "z", "t", "mu", "nu")
"""Directions of the lattice, then those that come with a call."""


class ExpressionError(SpecError):
    """An expression that means nothing; the message names the user's file and line and prints the expression."""


@dataclass(frozen=True)
class Place:
    """A line of the user's file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def here() -> Place:
    """The line of the user that called, through whatever functions of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((FOLDER, "<string>", "<frozen")):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


@dataclass(frozen=True)
class Direction:
    """A direction of the lattice, or one that comes with a call; `+mu` and `-mu` are steps."""

    index: int

    @property
    def name(self) -> str:
        """x, y, z or t, or the name of the parameter."""
        return NAMES[self.index]

    @property
    def comes_with_call(self) -> bool:
        """Whether it is any of the four, different from others of its kind."""
        return self.index >= 4

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Direction) and self.comes_with_call != other.comes_with_call:
            why = "whether they are the same is not known before the call; write it for directions of calls alone"
            raise wrong(f"{self.name} == {other.name}", why)
        return isinstance(other, Direction) and self.index == other.index

    def __pos__(self) -> Step:
        return Step(self.index, 1)

    def __neg__(self) -> Step:
        return Step(self.index, -1)


@dataclass(frozen=True)
class Step:
    """One step along a direction, forward (+1) or backward (-1)."""

    index: int
    sign: int

    def __str__(self) -> str:
        return ("+" if self.sign > 0 else "-") + NAMES[self.index]


@dataclass(frozen=True, eq=False)
class Node:
    """A value at every site.

    Attributes:
        op: what makes it: load, parameter, constant, identity, add, sub, neg, mul, shift, adj, trace, re, im, dot, ta,
            exp, project, total.
        kind: one of KINDS, or `sum` for a number of the whole lattice.
        args: nodes it is made of.
        data: what else `op` needs: (field, direction) of a load, a name, a number, a Step.
        algebra: True if a matrix is known to be anti-Hermitian and traceless.
        place: the user's line that made it.
    """

    op: str
    kind: str
    args: tuple[Node, ...] = ()
    data: Any = None
    algebra: bool = False
    place: Place = Place("", 0)

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
        if isinstance(other, int | float) and other != 0:
            return _product(constant(1 / other), self)
        raise wrong(f"{self} / {other}", "divide by a number of Python other than 0", self)

    def __getitem__(self, index: object) -> Node:
        raise wrong(str(self), "only fields with four matrices a site have directions, u[mu]", self)

    def __str__(self) -> str:
        return text(self)


def make(op: str, kind: str, args: tuple[Node, ...] = (), data: Any = None, *, algebra: bool = False) -> Node:
    """A node of the user's present line."""
    return Node(op, kind, args, data, algebra, here())


def wrong(expression: str, why: str, *nodes: Node) -> ExpressionError:
    """An error at the user's present line."""
    kinds = ", ".join(f"{_short(n)} is a {n.kind}" for n in nodes)
    return ExpressionError(f"{here()}: {expression[:300]}: {why}" + (f" ({kinds})" if kinds else ""))


def _short(node: Node) -> str:
    printed = str(node)
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
    if isinstance(value, int | float | complex) and not isinstance(value, bool):
        return constant(value if isinstance(value, complex) else float(value))
    raise wrong(f"{value!r} with {beside}", "an operand is neither part of an expression nor a number", beside)


def _sum(op: str, a: Node, b: object) -> Node:
    other = number(b, a)
    sign = "+" if op == "add" else "-"
    if a.kind != other.kind or a.kind == "sum":
        remedy = "write c*identity for a matrix" if "matrix" in (a.kind, other.kind) else "terms must be of one kind"
        raise wrong(f"{a} {sign} {other}", f"cannot add a {a.kind} and a {other.kind}; {remedy}", a, other)
    return make(op, a.kind, (a, other), algebra=a.algebra and other.algebra)


def _product(a: Node, b: Node) -> Node:
    scalars = ("real", "complex")
    if a.kind not in scalars and b.kind in scalars:
        a, b = b, a
    if a.kind in scalars and b.kind in scalars:
        return make("mul", "complex" if "complex" in (a.kind, b.kind) else "real", (a, b))
    if a.kind in scalars and b.kind in ("matrix", "spinor"):
        return make("mul", b.kind, (a, b), algebra=b.algebra and a.kind == "real")
    if a.kind == "matrix" and b.kind in ("matrix", "spinor"):
        return make("mul", b.kind, (a, b))
    remedy = "write the matrix before the spinor" if b.kind == "matrix" else "use dot(f, g) for sum conj(f) g"
    if "sum" in (a.kind, b.kind):
        remedy = "numbers of the whole lattice are results; combine them outside"
    raise wrong(f"{a} * {b}", f"cannot multiply a {a.kind} by a {b.kind}; {remedy}", a, b)


_LEVEL = {"add": 1, "sub": 1, "neg": 2, "mul": 2}


def text(node: Node, names: dict[int, str] | None = None, *, level: int = 0) -> str:
    """The expression as a user would write it; nodes that have a name (by id) are printed as that."""
    if names and id(node) in names:
        return names[id(node)]
    parts = [text(a, names, level=_LEVEL.get(node.op, 0) + (i > 0)) for i, a in enumerate(node.args)]
    if node.op in ("load", "parameter"):
        return node.data if isinstance(node.data, str) else f"{node.data[0]}[{NAMES[node.data[1]]}]"
    if node.op == "constant":
        return _number_text(node.data)
    if node.op == "identity":
        return "identity"
    if node.op in _LEVEL:
        signs = {"add": " + ", "sub": " - ", "mul": "*"}
        written = f"-{parts[0]}" if node.op == "neg" else signs[node.op].join(parts)
        return f"({written})" if _LEVEL[node.op] < level else written
    arguments = [text(a, names) for a in node.args] + ([str(node.data)] if node.op == "shift" else [])
    return f"{node.op}({', '.join(arguments)})"


def _number_text(value: complex) -> str:
    if isinstance(value, complex):
        return f"({value.real!r} + {value.imag!r}*i)"
    return f"({value!r})" if value < 0 else repr(value)
