"""Hops as C++ text: what templates/hopping.hpp.j2 only orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..lower.hopping import DIRECTION_NAMES, HoppingForm
from ..lower.hops import Hop
from .expressions import accumulation, combination


def hop_list(hops: Sequence[Hop]) -> str:
    """C++ types of hops, eight a line."""
    types = [f"Hop<{hop.mu}, {hop.step:+d}>" for hop in hops]
    return (",\n" + " " * 23).join(", ".join(types[n : n + 8]) for n in range(0, len(types), 8))


def hop_rows(form: HoppingForm, hops: Sequence[Hop], terms: Sequence[str]) -> list[dict[str, Any]]:
    """Finished text rows of each hop, its spin matrix in words being given: the template only orders them."""
    started: set[int] = set()
    rows = []
    for hop, term in zip(hops, terms, strict=True):
        names = [f"psi[{s}]" for s in range(form.spins)]
        products = [f"h[{k}]" for k in range(hop.factors.rank)]
        weights = []
        if hop.sign < 0 and hop.mu in form.directed:
            weights = [f"const auto w{k} = weighted<{hop.mu}>(a, {h});" for k, h in enumerate(products)]
            products = [f"w{k}" for k in range(hop.factors.rank)]
        mask = sum(1 << nu for nu in hop.phase)
        results = [f"staggered_sign<{mask}>(x, {h})" if mask else h for h in products]
        accumulate = []
        for spin, row in enumerate(hop.factors.reconstruct):
            line = accumulation(f"sum[r][{spin}]", row, results, first=spin not in started)
            if line:
                started.add(spin)
                accumulate.append(line)
        axis, link = DIRECTION_NAMES[hop.mu], _hop_title(form, hop)
        title = f"{term}eta_{axis}(x)" if hop.phase else term
        rows.append(
            {
                "title": link if title in ("", "1") else f"{title} {link}",
                "mu": hop.mu,
                "step": f"{hop.step:+d}",
                "parts": _parts(hop.factors.project),
                "project": [f"value({combination(row, names)})" for row in hop.factors.project],
                "weights": weights,
                "accumulate": accumulate,
            }
        )
    return rows


def _hop_title(form: HoppingForm, hop: Hop) -> str:
    """Link and neighbour of a hop; F and L are the fat and long links of operators that have both."""
    axis, length = DIRECTION_NAMES[hop.mu], "" if hop.length == 1 else str(hop.length)
    name = form.field_letter(hop.length)
    there = f"x{'+' if hop.sign > 0 else '-'}{length}e{axis}"
    return f"{name}_{axis}(x) psi({there})" if hop.sign > 0 else f"{name}_{axis}({there})^+ psi({there})"


def _parts(project: np.ndarray) -> str:
    """C++ type that says how the colour vectors which cross a link follow from the spinor (kernels/view.hpp)."""
    if all(np.count_nonzero(row) == 1 and row.max() == 1 for row in project):
        return f"Selected<{', '.join(str(int(np.argmax(np.abs(row)))) for row in project)}>"
    return f"Combined<{len(project)}>"
