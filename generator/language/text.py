"""The text of expressions, as a user would write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Node = Any
"""A node of generator/language/graph.py, whose nodes print themselves with this module."""

NAMES = ("x", "y", "z", "t", "mu", "nu", "rho", "sigma", "s")
"""Names of directions by index: those of the lattice, those that a call supplies, and the fifth dimension."""

_LEVEL = {"add": 1, "sub": 1, "neg": 2, "mul": 2, "div": 2}
_SIGNS = {"add": " + ", "sub": " - ", "mul": "*", "div": "/"}
_LEAVES: dict[str, Callable[[Node], str]] = {
    "load": lambda n: n.data if isinstance(n.data, str) else f"{n.field}[{NAMES[n.data[1]]}]",
    "parameter": lambda n: n.data,
    **dict.fromkeys(("identity", "gamma5"), lambda n: n.op),
    "constant": lambda n: _number_text(n.data),
    "gamma": lambda n: f"gamma[{NAMES[n.data]}]",
    "tau": lambda n: f"tau[{n.data}]",
    "sign": lambda n: f"sign({', '.join(NAMES[mu] for mu in n.data)})",
    "spin": lambda n: f"spin({', '.join(_number_text(c if c.imag else c.real) for row in n.data for c in row)})",
}


def text(node: Node, names: dict[int, str] | None = None, *, level: int = 0, depth: int = -1) -> str:
    """The expression as a user would write it; a node in `names` (by id) is its name, one below `depth` is `...`."""
    if names and id(node) in names:
        return names[id(node)]
    if node.op in _LEAVES:
        return _LEAVES[node.op](node)
    if depth == 0:
        return "..."
    own, inside = _LEVEL.get(node.op, 0), {"promote": level, "element": 3}.get(node.op, 0)
    args = [text(a, names, level=own + (i > 0) if own else inside, depth=depth - 1) for i, a in enumerate(node.args)]
    if own:
        written = f"-{args[0]}" if node.op == "neg" else _SIGNS[node.op].join(args)
        return f"({written})" if own < level else written
    if node.op in ("promote", "element"):
        return args[0] + (f"[{node.data[0]}, {node.data[1]}]" if node.op == "element" else "")
    if node.op == "shift":
        args = [args[0], str(node.data), *(f"wall={wall}" for wall in args[1:])]
    return f"{node.op}({', '.join(args)})"


def _number_text(value: complex) -> str:
    if isinstance(value, complex):
        return f"({value.real!r} + {value.imag!r}*i)"
    return f"({value!r})" if value < 0 else repr(value)
