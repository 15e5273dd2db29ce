"""Tuning evidence: one JSON file a device in generated/tuned, and what is rendered from it."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..emit.render import slug
from ..emit.write import write_if_changed
from ..errors import SpecError
from ..folders import ROOT
from ..profile import Profile
from ..shapes import MOST_GROUPS, SHAPES, groups
from ..spec import KernelSpec
from ..targets import Size, Target
from .candidates import digest
from .evidence import (
    COLUMNS,
    FACT,
    WORD,
    check_candidate,
    check_device,
    check_kernels,
    check_sizes,
    check_target,
    read_field,
    row_text,
)
from .sweep import collect

FOLDER = ROOT / "generated" / "tuned"
KEPT = 20
"""Candidates of a kernel and class that evidence keeps, beside one of each kind of rejection."""
FEW = "few"
"""Class of the batches of fewer tiles than groups of threads; what is best there follows from larger batches."""


@dataclass(frozen=True)
class Choice:
    """The winner for a kernel and class of launches on one device."""

    kernel: str
    size: str
    variant: str
    stale: bool


def write_evidence(folder: Path, profile: Profile, out: Path) -> Path:
    """Merges the results of a packed folder into the evidence of their device.

    Raises:
        SpecError: no results, or evidence of another device under the same name.
    """
    table = collect(folder)
    facts = read_facts(folder)
    digests = read_field(folder / "candidates.json")["digests"]
    rejected = read_field(folder / "rejected.json")
    for candidate in rejected.each():
        check_candidate(candidate)
    kernels: dict[str, Any] = {}
    known = {spec.name for spec in profile.kernels}
    for name, sizes in table.items():
        if name not in known:
            raise SpecError(f"evidence {folder}: {name} is no kernel of the profile; give the --profile of the sweep")
        spilled = [r for r in rejected.value if r["base"] == name][:1]
        entry: dict[str, Any] = {
            "digest": digests[name].text(WORD),
            "toolkit": facts["toolkit"],
            "classes": {},
        }
        for size, rows in sizes.items():
            good = [r for r in rows if r["status"] == "ok"]
            bad = {r["status"]: r for r in reversed(rows) if r["status"] != "ok"}
            kept = good[:KEPT] + [r for r in good[KEPT:] if _is_default(r, profile.find(name))]
            spills = [{k: r[k] for k in ("shape", "block", "min_blocks", "registers", "spills")} for r in spilled]
            entry["classes"][size] = kept + list(bad.values()) + [r | {"status": "spills"} for r in spills]
        kernels[name] = entry
    return _add_to(out, facts, kernels)


def contribute(folder: Path, out: Path) -> list[Path]:
    """Adds the evidence of a folder to that of another one, in place of what was known of the same kernels.

    Raises:
        SpecError: there is none, it is damaged, or is of another device under the same name.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise SpecError(f"{folder} holds no results; `make tune` measures this machine")
    written = []
    for path in files:
        data = read_field(path)
        names = [key for key in data.value if key not in ("sizes", "columns", "kernels")]
        facts: dict[str, Any] = {key: data[key].text(FACT) for key in names}
        facts |= {"device": check_device(data), "sizes": check_sizes(data["sizes"])}
        check_target(data)
        written.append(_add_to(out, facts, dict(check_kernels(data["kernels"]))))
    return written


def _add_to(out: Path, facts: dict[str, Any], kernels: dict[str, Any]) -> Path:
    path = out / f"{slug(facts['device'])}.json"
    if path.is_file():
        old = read_field(path)
        if check_device(old) != facts["device"]:
            raise SpecError(f"evidence {path} is of {check_device(old)}, not of {facts['device']}; rename it")
        if old.has("sizes"):  # kernels that stay have classes that new results may lack
            facts = facts | {"sizes": check_sizes(old["sizes"]) | facts["sizes"]}
        kernels = dict(check_kernels(old["kernels"])) | kernels
    out.mkdir(parents=True, exist_ok=True)
    write_if_changed(path, _text(facts, kernels))
    return path


def read_facts(folder: Path) -> dict[str, Any]:
    """Reads the facts about its device that a packed folder holds, with the lattices of its launches."""
    facts = read_field(folder / "device.json")
    check_device(facts)
    facts["toolkit"].text(FACT)
    check_target(facts)
    sizes = check_sizes(read_field(folder / "candidates.json")["sizes"])
    return {key: value.text(FACT) for key, value in facts.items()} | {"sizes": sizes}


def _is_default(row: dict[str, Any], spec: KernelSpec) -> bool:
    plain = row["shape"] in ([], ["kept"])  # what the kernel itself does with one and with several right-hand sides
    return plain and (row["block"], row["min_blocks"]) in ((spec.block, spec.min_blocks), (0, 0))


def _text(facts: dict[str, Any], kernels: dict[str, Any]) -> str:
    """JSON with as many candidates in a line as fit; `columns` names their members."""
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in facts.items()]
    lines.append(f' "columns": {json.dumps(COLUMNS)},')
    blocks = []
    for name, entry in sorted(kernels.items()):
        classes = []
        for size, rows in sorted(entry["classes"].items()):
            classes.append(f"   {json.dumps(size)}: [\n{_wrapped(map(row_text, rows))}]")
        head = f'"digest": {json.dumps(entry["digest"])}, "toolkit": {json.dumps(entry["toolkit"])}'
        blocks.append(f'  {json.dumps(name)}: {{{head}, "classes": {{\n' + ",\n".join(classes) + "}}")
    return "{\n" + "\n".join(lines) + '\n "kernels": {\n' + ",\n".join(blocks) + "}}\n"


def _wrapped(texts: Iterable[str]) -> str:
    """Texts with commas between them, in lines of at most 120 columns as far as that goes."""
    lines = [""]
    for text in texts:
        if lines[-1] and len(lines[-1]) + len(text) > 110:
            lines.append("")
        lines[-1] += f", {text}" if lines[-1] else text
    return ",\n".join(f"    {line}" for line in lines)


@cache
def _read(folder: Path) -> tuple[tuple[str, str, Target, dict[str, Any]], ...]:
    """(device, its architecture, its target, evidence by kernel) of each file."""
    found = []
    for path in sorted(folder.glob("*.json")):
        data = read_field(path)
        keys = [key for key in ("compute_capability", "architecture") if data.has(key)]
        architecture = data[keys[0]].text(FACT) if keys else ""
        found.append((check_device(data), architecture, check_target(data), dict(check_kernels(data["kernels"]))))
    return tuple(found)


def digests(target: Target, folders: tuple[Path, ...] = (FOLDER,)) -> frozenset[str]:
    """Digests of the kernels that were measured on some device of a target."""
    found = itertools.chain.from_iterable(map(_read, folders))
    return frozenset(str(e.get("digest")) for _, _, t, kernels in found if t is target for e in kernels.values())


def architectures(folders: tuple[Path, ...] = (FOLDER,)) -> dict[str, str]:
    """Architecture that kernels were compiled for, by measured device; empty for CPUs."""
    return {device: architecture for folder in folders for device, architecture, _, _ in _read(folder)}


def select_devices(names: str, folders: tuple[Path, ...] = (FOLDER,)) -> tuple[str, ...]:
    """Devices of a list such as `some_gpu,Other GPU` or `none`.

    Raises:
        SpecError: there is no evidence of one of them.
    """
    known = {d: d for folder in folders for d, _, target, _ in _read(folder) if target.threads}
    known |= {slug(d): d for d in known}
    wanted = [n.strip() for n in names.split(",") if n.strip() not in ("", "none")]
    for name in wanted:
        if name not in known:
            all_names = ", ".join(sorted({slug(d) for d in known})) or "none"
            raise SpecError(f"--devices: no sweep of a GPU named '{name}' is kept; known are {all_names} (or: none)")
    return tuple(known[n] for n in wanted)


def choices(
    kernels: Iterable[KernelSpec], folders: tuple[Path, ...] = (FOLDER,), devices: Sequence[str] | None = None
) -> tuple[dict[str, list[Choice]], dict[str, list[KernelSpec]]]:
    """Winners by device, and the variants that they need by target; of GPUs only `devices`, None for all.

    What a later folder knows of a kernel on a device stands for what an earlier one does.
    Evidence of a kernel that names a shape that no longer exists is left out; kernels of a dagger take that of their
    partner.
    """
    table: dict[str, list[Choice]] = {}
    variants: dict[str, set[KernelSpec]] = defaultdict(set)
    kernels = list(kernels)
    known: dict[str, tuple[Target, dict[str, Any]]] = {}
    for device, _, target, evidence in itertools.chain.from_iterable(map(_read, folders)):
        known[device] = target, known.get(device, (target, {}))[1] | evidence
    for device, (target, evidence) in known.items():
        if target.threads and devices is not None and device not in devices:
            continue
        table.setdefault(device, [])
        for spec in kernels:
            partner = replace(spec, dagger=False)
            entry = evidence.get(partner.name)
            if entry is None:
                continue
            stale = entry.get("digest") != digest(partner, target)
            for size, variant in sorted(_winners(spec, entry["classes"], target).items()):
                table[device].append(Choice(spec.name, size, variant.name, stale))
                if variant.variant:
                    variants[target.name].add(variant)
    return table, {name: sorted(found) for name, found in variants.items()}


def gains(folder: Path, profile: Profile) -> str:
    """A line for each kernel and class of a packed folder: the fastest against the declared default."""
    lines = [f"{'kernel':<40} {'class':<6} {'default us':>10} {'best us':>9} {'gain':>6}  variant"]
    for name, sizes in sorted(collect(folder).items()):
        spec = profile.find(name)
        for size, rows in sorted(sizes.items()):
            good = [r for r in rows if r["status"] == "ok"]
            default = next((r for r in good if _is_default(r, spec)), None)
            if not good:
                lines.append(f"{name:<40} {size:<6} no candidate passed")
                continue
            before = default["microseconds"] if default else float("nan")
            best = good[0]["microseconds"]
            variant = _kernel(spec, good[0]).name.removeprefix(name).lstrip("_") or "default"
            lines.append(f"{name:<40} {size:<6} {before:>10.2f} {best:>9.2f} {before / best:>6.2f}  {variant}")
    return "\n".join(lines)


def _winners(spec: KernelSpec, classes: dict[str, list[dict[str, Any]]], target: Target) -> dict[str, KernelSpec]:
    """The kernel to use in each class: `spec` itself, one variant for all classes, or one for each.

    The first of these that loses less than a variant must gain. Rows of shapes that no longer exist are passed over.
    """
    times: dict[str, dict[KernelSpec, float]] = {}
    for size, rows in classes.items():
        good = [r for r in rows if r["status"] == "ok" and all(s in SHAPES for s in r["shape"])]
        if good and size in target.sizes:
            times[size] = {_kernel(spec, r): r["microseconds"] for r in good}
    alone = {size: t for size, t in times.items() if target.sizes[size].rhs == 1}
    batches = {size: t for size, t in times.items() if size not in alone}
    found = _compromise(spec, alone, target.sizes)
    for size, each in batches.items():
        found |= _of_batches(spec, size, each, target.sizes)
    return found


def _of_batches(
    spec: KernelSpec, size: str, times: dict[KernelSpec, float], sizes: Mapping[str, Size]
) -> dict[str, KernelSpec]:
    """The kernel for batches, and where it has four groups of threads, that for batches in which two would idle.

    Four groups must gain over fewer what a variant must gain.
    """
    fewer = {k: t for k, t in times.items() if groups(k.shape) < MOST_GROUPS}
    found = _compromise(spec, {size: times}, sizes)
    if not fewer:
        return found
    few = _compromise(spec, {size: fewer}, sizes)
    gains = min(times.values()) * (1 + sizes[size].gain) <= min(fewer.values())
    return found | {FEW: few[size]} if gains else few


def _compromise(
    spec: KernelSpec, times: dict[str, dict[KernelSpec, float]], sizes: Mapping[str, Size]
) -> dict[str, KernelSpec]:
    """Few kernels of which one is nearly the fastest in each class: first `spec`, then what serves most classes."""
    limit = {size: (1 + sizes[size].gain) * min(t.values()) for size, t in times.items()}
    found: dict[str, KernelSpec] = {}
    left = list(times)
    while left:
        served = {k: [s for s in left if times[s].get(k, 1e30) <= limit[s]] for s in left for k in times[s]}
        loss = {k: max((times[s][k] / limit[s] for s in some), default=1e30) for k, some in served.items()}
        best = spec if served.get(spec) else min(served, key=lambda k: (-len(served[k]), loss[k], k.name))
        found |= dict.fromkeys(served[best], best)
        left = [s for s in left if s not in found]
    return found


def _kernel(spec: KernelSpec, row: dict[str, Any]) -> KernelSpec:
    if _is_default(row, spec):
        return spec
    return spec.as_variant(tuple(row["shape"]), row["block"], row["min_blocks"])
