"""How demanding values are for compilers and registers."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.walks import parts
from .values import Value

MOST_INLINED = {"matrix": 18, "spinor": 64}
"""Products of a matrix and such a factor in a body that are inlined at most. Inlined matrices are faster on processors,
slower to compile; of the Brillouin operator, with 216 products of spinors, both are slower, by 1.7 and 3.5."""
MOST_SPINORS = 4
"""Spinors with spin that are read for one link at most, if all stay in registers."""


def are_inlined(roots: Sequence[Value], right: str = "matrix") -> bool:
    """Whether a body that computes these has so few products of a matrix and such a factor that they are inlined."""
    products = [v for v in parts(roots) if v.op == "mul" and [a.kind for a in v.args] == ["matrix", right]]
    return len(products) <= MOST_INLINED[right]


def many_spinors(roots: Sequence[Value]) -> bool:
    """Whether these read more spinors than registers hold."""
    values = parts(roots)
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
