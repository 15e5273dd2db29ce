"""Pieces of C++ text: operands, walks, names of sites."""

from __future__ import annotations

from ..language.graph import NAMES
from ..lower.values import Displacement
from .names import cpp_direction


def operand(code: str) -> str:
    """A C++ expression as an operand of * or unary minus, in parentheses if it needs them."""
    depth = 0
    for c in code:
        depth += (c in "([{<") - (c in ")]}>")
        if depth == 0 and c in " -":
            return f"({code})"
    return code


def walked(at: Displacement) -> tuple[str, str]:
    """Template arguments of `walk`, and its further arguments: directions that come with the call of a kernel."""
    steps = [(n, mu) for mu, n in enumerate(at) for _ in range(abs(n))]
    if not any(at[4:]):
        return ", ".join(f"{'+' if n > 0 else '-'}{mu + 1}" for n, mu in steps), ""
    signs = ", ".join("+1" if n > 0 else "-1" for n, _ in steps)
    return signs, "".join(f", {cpp_direction(mu)}" for _, mu in steps)


def is_chain(code: str) -> bool:
    """Whether C++ text is a product without sums or signs, to which `* factor` can be appended without parentheses."""
    depth, gaps = 0, ""
    for c in code.replace(" * ", "*"):
        depth += (c in "([{") - (c in ")]}")
        gaps += c if depth == 0 and c in " -" else ""
    return not gaps


def suffix(at: Displacement) -> str:
    """A displacement as a part of names: px for +x, mtt for -t-t, px100 for 100 sites along x."""
    most = 8  # longer names do not fit into a line
    along = [NAMES[mu] * abs(n) if abs(n) <= most else f"{NAMES[mu]}{abs(n)}" for mu, n in enumerate(at)]
    return "_".join(("p" if n > 0 else "m") + steps for n, steps in zip(at, along, strict=True) if n)
