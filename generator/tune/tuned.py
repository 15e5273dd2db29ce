"""Tuning evidence: one JSON file a device in generated/tuned, and what is rendered from it.

git keeps the candidates that decide. All that a sweep keeps (samples) stand compressed beside, where it was made.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..emit.write import write_if_changed
from ..errors import SpecError
from ..folders import ROOT
from ..plan import slug
from ..profile import Profile
from ..spec import KernelSpec
from ..targets import TARGETS, Target
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
    read_samples,
    row_text,
    samples_file,
)
from .sweep import collect
from .winners import deciding, is_default, kernel_of, winners

FOLDER = ROOT / "generated" / "tuned"
KEPT = 20
"""Candidates of a kernel and class that samples keep, beside one of each kind of rejection."""


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
            kept = good[:KEPT] + [r for r in good[KEPT:] if is_default(r, profile.find(name))]
            spills = [{k: r[k] for k in ("shape", "block", "min_blocks", "registers", "spills")} for r in spilled]
            entry["classes"][size] = kept + list(bad.values()) + [r | {"status": "spills"} for r in spills]
        kernels[name] = entry
    return _add_to(out, facts, kernels, profile.kernels, kernels)


def contribute(folder: Path, out: Path, specs: Iterable[KernelSpec]) -> list[Path]:
    """Adds the evidence of a folder to that of another one, in place of what was known of the same kernels.

    Args:
        folder: with the evidence, and its samples where they are at hand.
        out: to which it is added.
        specs: all kernels that it may be of, read last; of others every candidate is kept.

    Raises:
        SpecError: there is none, it is damaged, or is of another device under the same name.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise SpecError(f"{folder} holds no results; `make tune` measures this machine")
    found = []
    for path in files:
        data = read_field(path)
        names = [key for key in data.value if key not in ("sizes", "columns", "kernels")]
        facts: dict[str, Any] = {key: data[key].text(FACT) for key in names}
        facts |= {"device": check_device(data), "sizes": check_sizes(data["sizes"])}
        check_target(data)
        kernels = dict(check_kernels(data["kernels"]))
        samples = read_samples(path, kernels)
        found.append((facts, kernels | samples, samples))
    every = list(specs)
    return [_add_to(out, facts, kernels, every, samples) for facts, kernels, samples in found]


def _add_to(
    out: Path, facts: dict[str, Any], kernels: dict[str, Any], specs: Iterable[KernelSpec], sampled: Collection[str]
) -> Path:
    """Adds kernels, of which those `sampled` come with all candidates, to the evidence of their device."""
    path, target = out / f"{slug(facts['device'])}.json", TARGETS[facts["target"]]
    known = {spec.name: spec for spec in specs}
    samples = {name: kernels[name] for name in sampled}
    for name in kernels.keys() & known.keys():
        kernels[name] = kernels[name] | {"classes": deciding(known[name], kernels[name]["classes"], target)}
    if path.is_file():
        old = read_field(path)
        if check_device(old) != facts["device"]:
            raise SpecError(f"evidence {path} is of {check_device(old)}, not of {facts['device']}; rename it")
        if old.has("sizes"):  # kernels that stay have classes that new results may lack
            facts = facts | {"sizes": check_sizes(old["sizes"]) | facts["sizes"]}
        before = dict(check_kernels(old["kernels"]))
        samples = {n: e for n, e in read_samples(path, before).items() if n not in kernels} | samples
        kernels = before | kernels
    write_if_changed(path, _text(facts, kernels))
    if samples or samples_file(path).is_file():
        write_if_changed(samples_file(path), gzip.compress(_text(facts, samples).encode(), mtime=0))
    return path


def read_facts(folder: Path) -> dict[str, Any]:
    """Reads the facts about its device that a packed folder holds, with the lattices of its launches."""
    facts = read_field(folder / "device.json")
    check_device(facts)
    facts["toolkit"].text(FACT)
    check_target(facts)
    sizes = check_sizes(read_field(folder / "candidates.json")["sizes"])
    return {key: value.text(FACT) for key, value in facts.items()} | {"sizes": sizes}


def _text(facts: dict[str, Any], kernels: dict[str, Any]) -> str:
    """JSON with as many candidates in a line as fit; `columns` names their members."""
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in facts.items()]
    lines.append(f' "columns": {json.dumps(COLUMNS)},')
    blocks = []
    for name, entry in sorted(kernels.items()):
        classes = []
        for size, rows in sorted(entry["classes"].items()):
            texts = [row_text(row) for row in rows]
            line = f"   {json.dumps(size)}: [{', '.join(texts)}]"
            classes.append(line if len(line) < 118 else f"   {json.dumps(size)}: [\n{_wrapped(texts)}]")
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
            for size, variant in sorted(winners(spec, entry["classes"], target).items()):
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
            default = next((r for r in good if is_default(r, spec)), None)
            if not good:
                lines.append(f"{name:<40} {size:<6} no candidate passed")
                continue
            before = default["microseconds"] if default else float("nan")
            best = good[0]["microseconds"]
            variant = kernel_of(spec, good[0]).name.removeprefix(name).lstrip("_") or "default"
            lines.append(f"{name:<40} {size:<6} {before:>10.2f} {best:>9.2f} {before / best:>6.2f}  {variant}")
    return "\n".join(lines)
