"""Formulas as they are printed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from .graph import Node, text


def literal(value: float) -> str:
    """Shortest decimal that reads back as the same double."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") and "e" not in text else text


def digest_of(*texts: str) -> str:
    """What tells formulas of one name apart."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def printed(roots: Sequence[tuple[str, Node]]) -> str:
    """Nodes, each after what stands to its left, as statements; parts that are needed twice come first, with names."""
    counts: Counter[int] = Counter()
    order: dict[int, Node] = {}

    def visit(node: Node) -> None:
        counts[id(node)] += 1
        if counts[id(node)] == 1:
            for a in node.args:
                visit(a)
            order[id(node)] = node

    for _, root in roots:
        visit(root)
    names: dict[int, str] = {}
    lines = []
    for node in order.values():
        if counts[id(node)] > 1 and node.args:
            name = f"part{len(names) + 1}"
            lines.append(f"{name} = {text(node, names)}")
            names[id(node)] = name
    return "; ".join([*lines, *(left + text(node, names) for left, node in roots)])
