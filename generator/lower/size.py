"""How demanding values are for compilers and registers."""

from __future__ import annotations

from collections.abc import Sequence

from .values import Value, topological

MOST_INLINED = 18
"""Products of matrices in a body that are inlined at most: processors are faster, compilers slower."""
MOST_TRANSPORTS_INLINED = 64
"""The same of products of a matrix and a spinor, and of loads of such matrices. Of the Brillouin operator, which has
216, inlining makes processors slower by a factor of 1.7 and compilers by 3.5."""
MOST_SPINORS = 4
"""Spinors with spin that are read for one link at most, if all stay in registers."""


def are_inlined(roots: Sequence[Value], most: int = MOST_INLINED) -> bool:
    """Whether a body that computes these has so few products of matrices that they are inlined."""
    products = [v for v in topological(roots) if v.op == "mul" and {a.kind for a in v.args} == {"matrix"}]
    return len(products) <= most


def are_transports_inlined(roots: Sequence[Value]) -> bool:
    """The same of products of a matrix and a spinor, with the loads of matrices away from the site."""
    products = [v for v in topological(roots) if v.op == "mul" and [a.kind for a in v.args] == ["matrix", "spinor"]]
    return len(products) <= MOST_TRANSPORTS_INLINED


def many_spinors(roots: Sequence[Value]) -> bool:
    """Whether these read more spinors than registers hold."""
    values = topological(roots)
    turned = any(v.op == "spin" for v in values)
    return turned and sum(v.op == "load" and v.kind == "spinor" for v in values) > MOST_SPINORS


def is_cheap(v: Value) -> bool:
    """Whether a value takes a step of a sum, or less."""
    cheap = ("add", "sub", "neg", "adj", "spin", "promote")
    return not v.args or v.op in cheap or (v.op == "mul" and v.args[0].kind != "matrix")


def first_sum(v: Value) -> Value:
    """The sum of several products that a value is made of, or the value."""
    products = [a for a in v.args if a.kind == "matrix" and a.op != "load"]
    return v if len(products) != 1 else first_sum(products[0])
