"""Gauge kernels from lists of paths: a path is a tuple of steps, +1..+4 for forward x..t and -1..-4 for backward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from generator.cost import Cost
from generator.lower.hopping import DIRECTION_NAMES
from generator.spec import KernelSpec

Path = tuple[int, ...]
"""Steps of a path; its matrix is the product of the links in the order of the steps."""

DIRECTIONS = (1, 2, 3, 4)
PRODUCT_FLOPS = 198
"""Flops of a product of two complex 3x3 matrices."""


def staple(mu: int) -> list[Path]:
    """The six paths from x+mu to x that close a plaquette with the link (x, mu)."""
    others = [nu for nu in DIRECTIONS if nu != mu]
    return [path for nu in others for path in ((nu, -mu, -nu), (-nu, -mu, nu))]


def plaquettes() -> list[Path]:
    """One orientation of each plane at x, planes xy, xz, yz, xt, yt, zt."""
    return [(mu, nu, -mu, -nu) for nu in DIRECTIONS for mu in DIRECTIONS if mu < nu]


def steps(path: Path) -> list[dict[str, Any]]:
    """Data of the template: function and direction of each step."""
    return [{"function": "forward" if s > 0 else "backward", "mu": abs(s) - 1} for s in path]


def path_title(path: Path) -> str:
    """A path as printed in comments, e.g. `+x +y -x -y`."""
    return " ".join(("+" if s > 0 else "-") + DIRECTION_NAMES[abs(s) - 1] for s in path)


def paths_data(paths: list[Path]) -> list[dict[str, Any]]:
    """Data of the template for several paths."""
    return [{"title": path_title(p), "steps": steps(p), "length": len(p)} for p in paths]


@dataclass(frozen=True)
class GaugeKernel:
    """A kernel that reads links along paths.

    Attributes:
        name: as in kernel names.
        formula: what it computes, with its source.
        template: file that lays it out.
        data: () -> data of the template.
        products: 3x3 products per site, for the cost.
        sums: numbers it adds up over the lattice.
        extra: C++ template arguments beside codec and storage.
        moved: links per site that are read or written once.
        family: which test and which host code use it.
        group: kernels of one group and precision share a translation unit.
    """

    name: str
    formula: str
    template: str
    data: Callable[[], dict[str, Any]]
    products: int
    sums: int = 0
    extra: tuple[str, ...] = ()
    moved: int = 2
    family: str = "gauge"
    group: str = "gauge"

    axes = ("precision", "links")

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.link_codec, spec.links.upper(), *self.extra]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data for the template."""
        return {"formula": self.formula, "sums": self.sums, **self.data()}

    def cost(self, spec: KernelSpec) -> Cost:
        """Matrix products only; traffic counts each link of a site once read and, if changed, once written."""
        flops = self.products * PRODUCT_FLOPS
        reals = self.moved * spec.storage.reals
        return Cost(flops, flops, spec.format.link_bytes(reals), reals)


def _plaquette_data() -> dict[str, Any]:
    paths = plaquettes()
    kinds = ["time" if 4 in p else "space" for p in paths]
    return {"paths": [{**d, "sum": int(k == "time")} for d, k in zip(paths_data(paths), kinds, strict=True)]}


def _staple_data() -> dict[str, Any]:
    return {"directions": [{"mu": mu - 1, "paths": paths_data(staple(mu))} for mu in DIRECTIONS]}


GAUGE_KERNELS = (
    GaugeKernel(
        name="plaquette",
        formula="sums of Re tr over space planes, over time planes, and of Re tr U over links; sites of one parity",
        template="plaquette.hpp.j2",
        data=_plaquette_data,
        products=18,
        sums=3,
        moved=4,
    ),
    GaugeKernel(
        name="heatbath",
        formula="Cabibbo-Marinari update (Phys. Lett. B 119 (1982) 387) of the links of one parity and direction",
        template="gauge_update.hpp.j2",
        data=_staple_data,
        products=12 + 6,
        extra=("Heatbath",),
    ),
    GaugeKernel(
        name="overrelax",
        formula="microcanonical update (M. Creutz, Phys. Rev. D 36 (1987) 515), links of one parity and direction",
        template="gauge_update.hpp.j2",
        data=_staple_data,
        products=12 + 6,
        extra=("Overrelax",),
    ),
)
"""All gauge kernels."""
