"""How spinors best cross the boundaries of parts on a device: evidence from `quarksmith scaling`, and its choice."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..emit.write import write_if_changed
from ..errors import SpecError
from ..plan import Tuning, slug
from ..spec import KernelSpec
from .evidence import CASE, DEVICE, WORD, Field, check_device, read_field
from .tuned import FOLDER, architectures, choices

MESSAGES = ("first", "overlap", "staged")
LINKS = {"mpi": MESSAGES, "peer": (*MESSAGES, "peer", "fused"), "mixed": (*MESSAGES, "mixed")}
"""What can be used, by the ranks that can store into each other's memory: none, all, those of each of several hosts."""
HOSTS = " over hosts"
"""What the grid of a case says of several hosts with several ranks each."""
TINY_SITES, SMALL_SITES = 1 << 13, 1 << 17
"""Sites of one parity of a rank's part up to which a launch is tiny or small (runtime/tuning.hpp)."""


@dataclass(frozen=True)
class PolicyChoice:
    """The policy for parts of a size and spinors of a precision; `link` is of LINKS; a batch: of several columns."""

    link: str
    size: str
    precision: str
    batch: bool
    policy: str


def size_of(half_sites: int) -> str:
    """Class of launches on so many sites."""
    return "tiny" if half_sites <= TINY_SITES else "small" if half_sites <= SMALL_SITES else "large"


def add_evidence(results: Sequence[Path], out: Path) -> Path:
    """Adds what `quarksmith scaling --json` wrote to out/tuned/policies/<device>.json and returns that file.

    Raises:
        SpecError: a file is no such result, or they are of several devices.
    """
    cases: dict[str, dict[str, float]] = {}
    devices = set()
    for path in results:
        try:
            devices.add(_read_result(read_field(path), cases))
        except SpecError as error:
            raise SpecError(f"{path} is no result of `quarksmith scaling --json`: {error}") from error
    if len(devices) != 1:
        raise SpecError(f"results of one device are needed, these are of {', '.join(sorted(devices)) or 'none'}")
    device = devices.pop()
    file = out / "tuned" / "policies" / f"{slug(device)}.json"
    old = _read(file)["cases"] if file.exists() else {}
    lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted((old | cases).items())]
    text = f'{{"device": {json.dumps(device)},\n"cases": {{\n' + ",\n".join(lines) + "}}\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_if_changed(file, text)
    return file


def _read_result(data: Field, cases: dict[str, dict[str, float]]) -> str:
    """Adds the times of one file to `cases`; returns its device."""
    grid = "x".join(str(n.integer(1)) for n in data["grid"].each())
    if data.has("operator") and data["operator"].text(WORD) != "wilson":
        raise data["operator"].refuse("wilson: policies are chosen by its hops")
    link = data["link"].text() if data.has("link") else "peer"
    case = f"{size_of(data['half_sites'].integer(1))}, grid {grid}{HOSTS if link == 'mixed' else ''}"
    for row in data["rows"].each():
        if row["policy"].text() in (*LINKS["peer"], *LINKS["mixed"]):
            rhs = row["rhs"].integer(1)
            times = cases.setdefault(f"{case}, {row['precision'].text()}" + (f", {rhs}" if rhs > 1 else ""), {})
            times[row["policy"].text()] = round(row["microseconds"].number(), 3)
    return data["device_name"].text(DEVICE)


def policy_choices(folders: Sequence[Path]) -> dict[str, list[PolicyChoice]]:
    """Policies by device: for each link and class of work the one with the least geometric mean of times over grids."""
    table: dict[str, list[PolicyChoice]] = {}
    for folder in folders:
        for file in sorted((folder / "policies").glob("*.json")):
            data = _read(file)
            groups: dict[tuple[bool, str, str, bool], list[dict[str, float]]] = defaultdict(list)
            for case, times in data["cases"].items():
                size, grid, precision, *rhs = case.split(", ")
                groups[grid.endswith(HOSTS), size, precision, bool(rhs)].append(times)
            table[data["device"]] = [
                PolicyChoice(link, size, precision, batch, _best(rows, allowed))
                for (hosts, size, precision, batch), rows in sorted(groups.items())
                for link, allowed in LINKS.items()
                if hosts == (link == "mixed") and _common(rows, allowed)
            ]
    return table


def tuning_of(
    kernels: Iterable[KernelSpec], folders: tuple[Path, ...] = (FOLDER,), devices: Sequence[str] | None = None
) -> Tuning:
    """All that is rendered from evidence in `folders`; of GPUs only `devices`, None for all."""
    return Tuning(*choices(kernels, folders, devices), policy_choices(folders), architectures(folders))


def _read(file: Path) -> dict[str, Any]:
    data = read_field(file)
    cases = {
        case: {policy: time.number() for policy, time in times.items()} for case, times in data["cases"].items(CASE)
    }
    return {"device": check_device(data), "cases": cases}


def _common(rows: Sequence[dict[str, float]], allowed: Sequence[str]) -> list[str]:
    """Policies that were measured in all cases."""
    return [p for p in allowed if all(p in times for times in rows)]


def _best(rows: Sequence[dict[str, float]], allowed: Sequence[str]) -> str:
    return min(_common(rows, allowed), key=lambda p: sum(math.log(times[p]) for times in rows))
