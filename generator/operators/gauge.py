"""Average plaquettes, and quenched updates of links given the sum of their staples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..cost import Cost, multiply_flops
from ..cpp.text import Statements
from ..language import Links, Sum, adj, directions, expression, re, total, trace
from ..language.gauge import SPACE_PLANES, TIME_PLANES, moved_down, moved_up, plaquette, staples
from ..language.symbols import Four
from ..language.walks import parts
from ..lower.program import CALLED
from ..lower.values import Lowering, flops
from ..spec import KernelSpec, Operator

_LINKS, (_MU, _NU) = Four("u"), CALLED[:2]
_PATHS = tuple(moved(_LINKS[_NU], _LINKS[_MU], _MU, _NU) for moved in (moved_up, moved_down))
"""The open paths from x to x + mu of a plane."""
_ROTATION_FLOPS = 4 * 14
"""Flops to rotate one colour of two rows of U and of U A in an SU(2) subgroup, without choosing the rotation."""


@expression("plaquette", group="gauge")
def plaquettes(u: Links) -> tuple[Sum, Sum, Sum]:
    """Sums over the lattice of Re tr of plaquettes in space, of those in time, and of links."""
    space, time = (sum(re(trace(plaquette(u, *plane))) for plane in planes) for planes in (SPACE_PLANES, TIME_PLANES))
    return total(space), total(time), total(sum(re(trace(u[mu])) for mu in directions))


@dataclass(frozen=True, eq=False)
class GaugeUpdate(Operator):
    """Replaces links U of one parity and direction, whose weight is exp(beta/N Re tr(U A)) with the sum A of staples.

    Attributes:
        name: as in kernel names.
        text: what it does, with its source.
        update: how runtime/kernels/gauge_update.hpp chooses an element of SU(2).
    """

    name: str
    text: str
    update: str

    family = "gauge"
    group = "gauge"
    template = "gauge_update.hpp.j2"
    shared_body = "gauge_update"
    headers = ("expression_site", "part_update")
    axes = ("precision", "links")

    @property
    def formula(self) -> str:
        """Formula of the update, with the paths that close a plaquette with the link."""
        return f"{self.text}; A^+ = sum_nu {' + '.join(map(str, _PATHS))}"

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.link_codec, spec.links.upper(), self.update]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data for the template."""
        lowering = Lowering()
        values = [lowering.lower(path) for path in _PATHS]
        statements = Statements({"u": "links"}, {"u": "links"}, values, inlined=True)
        for value in values:
            statements.lines.append(f"staples += {statements.value(value)};")
        return {"lines": statements.lines}

    def cost(self, spec: KernelSpec) -> Cost:
        """Staples and rotations; each link read once for each parity needed, one written."""
        values = parts([Lowering().lower(adj(staples(_LINKS, directions[0])))])
        count = sum(flops(v, 0, colours=spec.colours) for v in values) + _update_flops(spec.colours)
        loads = [(v.data[1], sum(v.data[2]) % 2) for v in values if v.op == "load"]
        link = spec.storage.reals
        return Cost(count, count, spec.format.link_bytes((len(set(loads)) + 2) * link), (len(loads) + 2) * link)


def _update_flops(n: int) -> int:
    """U A, and the rotations in each SU(2) subgroup."""
    return n * multiply_flops(n) + n * (n - 1) // 2 * n * _ROTATION_FLOPS


GAUGE_KERNELS = (
    GaugeUpdate(
        name="heatbath",
        text="Cabibbo-Marinari update (Phys. Lett. B 119 (1982) 387) of the links of one parity and direction",
        update="Heatbath",
    ),
    GaugeUpdate(
        name="overrelax",
        text="microcanonical update (M. Creutz, Phys. Rev. D 36 (1987) 515), links of one parity and direction",
        update="Overrelax",
    ),
)
"""Updates of quenched configurations."""
