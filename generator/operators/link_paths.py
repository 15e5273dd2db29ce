"""Paths from one end of a link to the other, of which fat and long links are sums.

A path that leaves the line of the link by a step and comes back by the reverse step is a bracket around a shorter
path. Paths with 3, 5 and 7 links whose steps aside go in different directions (fat7: K. Orginos, D. Toussaint and
R. L. Sugar, hep-lat/9903032) are brackets in one, two and three directions, so the one kernel `staple`, applied to
links, to staples and to staples of staples, makes them all: `fat_paths` lists what it reaches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from generator.operators.gauge_paths import DIRECTIONS, GaugeKernel, Path

MU, NU = 1, 2
"""Steps along the link and along the other direction, which the template takes for any two of the four."""

_SYMBOLS = {MU: "Mu", NU: "Nu"}
_FIELDS = {MU: "a.in", NU: "a.links"}


def bracket(path: Path, step: int) -> Path:
    """A path between the ends of the link, moved aside by a step: there, along the path, and back."""
    return (step, *path, -step)


def staple(path: Path, nu: int) -> list[Path]:
    """A path moved aside to both sides."""
    return [bracket(path, nu), bracket(path, -nu)]


def lepage(mu: int, nu: int) -> list[Path]:
    """The two paths that go two steps aside (G. P. Lepage, hep-lat/9809157)."""
    return [bracket(bracket((mu,), step), step) for step in (nu, -nu)]


def fat_paths(mu: int, length: int) -> list[Path]:
    """All paths of 1, 3, 5 or 7 links between the ends of a link whose steps aside go in different directions."""
    others = [nu for nu in DIRECTIONS if nu != mu]
    aside = length // 2
    signed = itertools.product(itertools.permutations(others, aside), itertools.product((1, -1), repeat=aside))
    paths = []
    for directions, signs in signed:
        path: Path = (mu,)
        for nu, sign in zip(directions, signs, strict=True):
            path = bracket(path, sign * nu)
        paths.append(path)
    return paths


def straight(mu: int, length: int) -> list[Path]:
    """Links in a row; with three the term of S. Naik, Nucl. Phys. B 316 (1989) 238."""
    return [(mu,) * length]


def _step(step: int) -> dict[str, str]:
    function = "forward" if step > 0 else "backward"
    return {"function": f"{function}<{_SYMBOLS[abs(step)]}, Links>", "field": _FIELDS[abs(step)]}


def _title(path: Path) -> str:
    return " ".join(("+" if s > 0 else "-") + _SYMBOLS[abs(s)].lower() for s in path)


def _data(paths: list[Path]) -> dict[str, Any]:
    aside = any(abs(s) == NU for p in paths for s in p)
    planes = [(mu, nu) for nu in range(4) for mu in range(4) if mu != nu] if aside else [(mu, 0) for mu in range(4)]
    return {
        "paths": [{"title": _title(p), "length": len(p), "steps": [_step(s) for s in p]} for p in paths],
        "cases": [{"number": mu + 4 * nu, "mu": mu, "nu": nu} for mu, nu in planes],
    }


def _kernel(name: str, formula: str, paths: Callable[[], list[Path]], moved: int) -> GaugeKernel:
    return GaugeKernel(
        name=name,
        formula=f"p = {formula}; out = a p, z = z + b p",
        template="link_paths.hpp.j2",
        data=lambda: _data(paths()),
        products=sum(len(p) - 1 for p in paths()),
        moved=moved,
        group="fat",
    )


LINK_KERNELS = (
    _kernel(
        "staple",
        "U_nu(x) V_mu(x+nu) U_nu(x+mu)^+ + U_nu(x-nu)^+ V_mu(x-nu) U_nu(x-nu+mu)",
        lambda: staple((MU,), NU),
        moved=3,
    ),
    _kernel(
        "lepage",
        "both paths from x to x+mu that go two steps along +-nu and back",
        lambda: lepage(MU, NU),
        moved=3,
    ),
    _kernel("one_link", "V_mu(x)", lambda: straight(MU, 1), moved=2),
    _kernel("naik", "V_mu(x) V_mu(x+mu) V_mu(x+2mu)", lambda: straight(MU, 3), moved=2),
)
"""Kernels that sum paths between the ends of links of one direction and parity."""
