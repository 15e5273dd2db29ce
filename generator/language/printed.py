"""Formulas as they are printed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from .graph import Node, text
from .walks import parts, uses


def literal(value: float) -> str:
    """Shortest decimal that reads back as the same double."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") and "e" not in text else text


def digest_of(*texts: str) -> str:
    """What tells formulas of one name apart."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def printed(roots: Sequence[tuple[str, Node]]) -> str:
    """Nodes, each after what stands to its left, as statements; parts that are needed twice come first, with names."""
    nodes = [root for _, root in roots]
    counts = uses(nodes)
    names: dict[int, str] = {}
    lines = []
    for node in parts(nodes):
        if counts[id(node)] > 1 and node.args:
            name = f"part{len(names) + 1}"
            lines.append(f"{name} = {text(node, names)}")
            names[id(node)] = name
    return "; ".join([*lines, *(left + text(node, names) for left, node in roots)])
