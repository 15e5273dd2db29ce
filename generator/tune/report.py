"""Results of sweeps, from their evidence alone: the best candidate of every kernel, and the gain of each axis."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from ..errors import SpecError
from ..plan import slug
from ..spec import KernelSpec
from ..targets import LIMITS
from .evidence import check_device, check_kernels, check_sizes, read_field, read_samples, samples_file
from .sweep import collect
from .tuned import FOLDER, read_facts
from .winners import is_default, kernel_of, usable

Row = Mapping[str, Any]
"""A candidate of the evidence: shape, launch numbers, registers, status, microseconds."""


@dataclass(frozen=True)
class Measured:
    """The candidates of one kernel and class of launches that computed the right thing.

    Attributes:
        spec: the kernel.
        size: class of launches.
        sites: those that a launch works on.
        rhs: right-hand sides of a launch.
        rows: candidates, the fastest first.
        sampled: whether they are all that were measured; else those alone from which the winner follows.
    """

    spec: KernelSpec
    size: str
    sites: int
    rhs: int
    rows: tuple[Row, ...]
    sampled: bool = True

    @property
    def best(self) -> Row:
        """The fastest candidate."""
        return self.rows[0]

    @property
    def default(self) -> Row | None:
        """The candidate with the declared default, None if it is not among those kept."""
        return next((r for r in self.rows if is_default(dict(r), self.spec)), None)

    @property
    def variant(self) -> str:
        """Name of the best candidate's shape and launch numbers, `default` for the kernel itself."""
        return kernel_of(self.spec, dict(self.best)).name.removeprefix(self.spec.name).lstrip("_") or "default"

    @property
    def gain(self) -> float | None:
        """Time of the default over that of the best."""
        return self.default["microseconds"] / self.best["microseconds"] if self.default else None

    def gflops(self) -> float:
        """GFLOP/s of the best candidate."""
        return self._rate(self.spec.operator.cost(self.spec).reported)

    def gbytes(self) -> float:
        """Least traffic over time of the best candidate, GB/s."""
        cost = self.spec.operator.cost
        moved = cost(self.spec).bytes
        if self.spec.tile == 1:  # links are read once for all right-hand sides
            links = 2 * (moved - cost(replace(self.spec, tile=2)).bytes)
            moved -= links * (1 - 1 / self.rhs)
        return self._rate(moved)

    def _rate(self, amount: float) -> float:
        return amount * self.sites * self.rhs / self.best["microseconds"] * 1e-3


@dataclass(frozen=True)
class Evidence:
    """One file of generated/tuned, with its samples where they are at hand, or a packed folder."""

    device: str
    facts: Mapping[str, Any]
    kernels: tuple[Measured, ...]
    samples: Path
    left_out: int = 0  # kernels that the profile does not hold

    @property
    def sampled(self) -> list[Measured]:
        """Kernels of which all samples are at hand."""
        return [m for m in self.kernels if m.sampled]

    @property
    def without_samples(self) -> str:
        """Source of missing samples, in a line; empty if none are missing."""
        missing = len({m.spec.name for m in self.kernels if not m.sampled})
        where = f"{self.samples}, of the release or of the machine that swept (docs/howto-tune.md)"
        return f"What an axis is worth needs samples, which {missing} kernels are without: {where}." if missing else ""

    @property
    def sizes(self) -> list[str]:
        """Classes of launches, the largest first."""
        return sorted({m.size for m in self.kernels}, key=lambda s: (-prod(self.lattice(s)), self.rhs(s)))

    def lattice(self, size: str) -> list[int]:
        """Extents of the lattice that stands for a class of launches."""
        return list(self.facts["sizes"][size]["lattice"])

    def rhs(self, size: str) -> int:
        """Right-hand sides of a class of launches, 1 for those of a kernel's own tile."""
        return int(self.facts["sizes"][size]["rhs"])

    def title(self, size: str) -> str:
        """A class of launches in words."""
        batch = f", {self.rhs(size)} right-hand sides" if self.rhs(size) > 1 else ""
        return f"{size} launches, {'x'.join(map(str, self.lattice(size)))}{batch}"


def read_evidence(path: Path, kernels: Iterable[KernelSpec]) -> Evidence:
    """Evidence of a file, or of a folder that a sweep packed and measured.

    Raises:
        SpecError: neither, or damaged.
    """
    if path.is_dir():
        table: Mapping[str, Any] = collect(path)
        facts = read_facts(path)
        sampled: Collection[str] = table
    else:
        data = read_field(path)
        check_device(data)
        entries = check_kernels(data["kernels"])
        sampled = read_samples(path, entries)
        table = {name: entry["classes"] for name, entry in {**entries, **sampled}.items()}
        facts = {key: value for key, value in data.value.items() if key != "kernels"}
        check_sizes(data["sizes"])
    sizes = facts["sizes"]
    specs = {s.name: s for s in kernels}
    found = []
    for name in sorted(set(table) & set(specs)):
        for size, rows in table[name].items():
            good = sorted((r for r in rows if usable(r)), key=lambda r: r["microseconds"])
            if good and size in sizes:
                found.append(replace(_measured(specs[name], size, sizes[size], good), sampled=name in sampled))
    return Evidence(str(facts["device"]), facts, tuple(found), samples_file(path), len(set(table) - set(specs)))


def _measured(spec: KernelSpec, size: str, launch: Mapping[str, Any], good: list[Row]) -> Measured:
    rhs = launch["rhs"] if launch["rhs"] > 1 else max(spec.tile, 1)
    sites = prod(launch["lattice"]) // 2 * spec.operator.parities
    return Measured(spec, size, sites, rhs, tuple(good))


def evidence_files(device: str = "", folder: Path = FOLDER) -> list[Path]:
    """Files of one device, given by its name or that of its file, or of all.

    Raises:
        SpecError: there is none.
    """
    found = [p for p in sorted(folder.glob("*.json")) if not device or p.stem == slug(device)]
    if not found:
        known = ", ".join(p.stem for p in sorted(folder.glob("*.json"))) or "none"
        raise SpecError(f"--device {device}: {folder} keeps no evidence of it; known are {known}")
    return found


# --- axes -------------------------------------------------------------------------------------------------------------


def knobs(row: Row, names: Iterable[str]) -> dict[str, str]:
    """The choices that a candidate stands for: threads of a block, registers that its bounds leave, each shape."""
    left = LIMITS.registers // max(row["block"] * row["min_blocks"], 1)
    cap = next((c for c in (64, 80, 96, 128, 168) if left <= c), 255)
    launch = {"block": str(row["block"]), "registers": f"<= {cap}"} if row["block"] else {}
    return launch | {name: "with" if name in row["shape"] else "without" for name in names}


def shape_names(kernels: Iterable[Measured]) -> list[str]:
    """Shapes that occur, in alphabetical order."""
    return sorted({name for m in kernels for row in m.rows for name in row["shape"]})


def sensitivity(kernels: Iterable[Measured]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Slowdown of each value of each knob against the best, one number for each kernel.

    Returns:
        (knob, value) -> {"free": time of the best candidate with that value over the best of all, "fixed": the same for
        the candidates that differ from the best in this knob alone}.
    """
    kernels = list(kernels)
    names = shape_names(kernels)
    result: dict[tuple[str, str], dict[str, list[float]]] = {}
    for m in kernels:
        least = m.best["microseconds"]
        best = knobs(m.best, names)
        free: dict[tuple[str, str], float] = {}
        fixed: dict[tuple[str, str], float] = {}
        for row in m.rows:
            own = knobs(row, names)
            for knob, value in own.items():
                free.setdefault((knob, value), row["microseconds"] / least)
                if all(own[k] == best[k] for k in own if k != knob):
                    fixed.setdefault((knob, value), row["microseconds"] / least)
        for kind, ratios in (("free", free), ("fixed", fixed)):
            for key, ratio in ratios.items():
                result.setdefault(key, {"free": [], "fixed": []})[kind].append(ratio)
    return dict(sorted(result.items(), key=lambda item: _order(*item[0])))


def _order(knob: str, value: str) -> tuple[bool, str, int, str]:
    digits = "".join(c for c in value if c.isdigit())
    return knob not in ("block", "registers"), knob, int(digits or 0), value


def axis_gains(kernels: Iterable[Measured]) -> Iterator[tuple[str, dict[str, float]]]:
    """For each axis, by kernel: time of the best candidate without it over the best of all.

    The axis `launch` is launch numbers: without it, those of the declared default, in any shape.
    """
    kernels = list(kernels)
    for name in ["launch", *shape_names(kernels)]:
        gains = {}
        for m in kernels:
            if name == "launch":
                numbers = (m.spec.block, m.spec.min_blocks)
                without = [r for r in m.rows if (r["block"], r["min_blocks"]) in (numbers, (0, 0))]
            else:
                without = [r for r in m.rows if name not in r["shape"]]
            if without and len(without) < len(m.rows):
                gains[m.spec.name] = without[0]["microseconds"] / m.best["microseconds"]
        if gains:
            yield name, gains


# --- text -------------------------------------------------------------------------------------------------------------


def report(evidence: Evidence, copy: float = 0) -> str:
    """Markdown: a table of kernels for each class of launches, and one of axes.

    Args:
        evidence: of one device.
        copy: its copy bandwidth in bytes/s, for fractions of the floor; 0: without them.
    """
    facts = [f"{k} {v}" for k, v in evidence.facts.items() if k in ("driver", "toolkit", "clock_mhz")]
    lines = [f"### {evidence.device}", "", f"Evidence: {', '.join(facts)}."]
    if copy:
        lines[-1] += f" Floor: least traffic at {copy * 1e-9:.0f} GB/s."
    if evidence.left_out:
        lines[-1] += f" {evidence.left_out} kernels of the evidence are not in the profile."
    for size in evidence.sizes:
        chosen = [m for m in evidence.kernels if m.size == size]
        lines += ["", f"#### {evidence.title(size)}", "", *_kernel_table(chosen, copy)]
        lines += ["", *_axis_table([m for m in chosen if m.sampled])]
    lines += ["", evidence.without_samples] if evidence.without_samples else []
    return "\n".join(lines)


def _kernel_table(kernels: list[Measured], copy: float) -> list[str]:
    header = ["kernel", "best candidate", "registers", "us", "GFLOP/s"]
    header += ["of the floor"] * bool(copy) + ["default/best time"]
    rows = []
    for m in kernels:
        row = [f"`{m.spec.name}`", m.variant, str(m.best.get("registers") or ""), f"{m.best['microseconds']:.4g}"]
        row += [f"{m.gflops():.0f}"]
        row += [f"{1e9 * m.gbytes() / copy:.0%}"] if copy else []
        rows.append([*row, f"{m.gain:.2f}" if m.gain else ""])
    return markdown(header, rows)


def _axis_table(kernels: list[Measured]) -> list[str]:
    """Empty if no samples of them are at hand."""
    rows = []
    for name, gains in axis_gains(kernels):
        where, most = max(gains.items(), key=lambda item: item[1])
        wins = sum(g > 1 for g in gains.values())
        median = statistics.median(gains.values())
        rows.append([name, str(len(gains)), str(wins), f"{median:.3f}", f"{most:.3f}", f"`{where}`"])
    return markdown(["axis", "kernels", "won by it", "median gain", "largest gain", "at"], rows) if kernels else []


def markdown(header: list[str], rows: list[list[str]]) -> list[str]:
    """A table, line by line."""
    return ["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *rows)]
