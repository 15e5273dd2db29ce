"""The sweep: candidates of every kernel compiled side by side, filtered, packed, measured elsewhere, collected."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..emit.build import Build
from ..emit.ondemand import CompileError, compile_module, record_module, run_compiler
from ..emit.registry import registry_data
from ..emit.render import render, render_files, render_group
from ..emit.write import write_if_changed
from ..errors import SpecError
from ..folders import ROOT
from ..profile import Profile
from ..spec import KernelSpec
from ..targets import Compiler, Size, Target
from .candidates import Chosen, candidates, digest, tunable
from .evidence import check_candidate, read_field, read_lines
from .plan import COMPILE_SHARE, plan, processors

SPILL_LIMIT = 64
"""Bytes of spilled registers, more than the least of all candidates of a kernel, beyond which one is not measured."""


@dataclass(frozen=True)
class Candidate:
    """A compiled candidate.

    Attributes:
        spec: a variant.
        base: name of the kernel it would replace.
        registers: a thread.
        spills: bytes stored to local memory.
        module: file that holds it, relative to the packed folder.
        least_spills: those of the candidate for this kernel that has fewest.
    """

    spec: KernelSpec
    base: str
    registers: int
    spills: int
    module: str = "module.so"
    least_spills: int = 0

    @property
    def rejected(self) -> str:
        """Why it is not measured; empty if it is."""
        return f"spills {self.spills} bytes" if self.spills > self.least_spills + SPILL_LIMIT else ""


def pack_for_build(
    target: Target,
    profile: Profile,
    folder: Path,
    chosen: Chosen,
    build: Build,
    *,
    quick: bool,
    lattice: str = "",
    within: float = 0,
) -> list[Candidate]:
    """Compiles the candidates of a target with the commands of a build into `folder`; lists them in candidates.json.

    With `within` seconds for the whole sweep, the most important kernels alone; compiling ends when its share is spent.

    Raises:
        CompileError: the compiler failed.
        OSError: the folder cannot be written.
    """
    sizes = on_lattice(target.sizes, lattice)
    host = replace(build, folder=folder, tables=tuple(target.tables))
    bases = {spec.name: spec for spec in tunable(profile, target, chosen)}
    groups = {name: candidates(spec, target, quick=quick) for name, spec in bases.items()}
    groups = {name: variants for name, variants in groups.items() if len(variants) > 1}
    if not bases or (chosen.known and not groups):
        return []
    if not groups:
        raise SpecError(f"none of these kernels has more than one shape on target {target.name}")
    planned = plan(groups, bases, target, 1 if quick else len(sizes), within)
    print(planned.text, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    bar, start = Bar("compile", len(planned.groups)), time.monotonic()
    compiled: list[Candidate] = []
    for name, variants in planned.groups.items():
        if within and compiled and time.monotonic() - start > COMPILE_SHARE * within:
            print(f"compiling takes longer than estimated: the sweep goes on with {bar.done} kernels", flush=True)
            break
        module, _ = compile_module(variants, host)
        compiled += [Candidate(v, name, 0, 0, str(module.relative_to(folder))) for v in variants]
        bar.step(name)
    sizes = {k: v for k, v in sizes.items() if not quick or k == "small"}
    _list(folder, sizes, {name: digest(bases[name], target) for name in planned.groups}, compiled, [])
    return compiled


def pack(
    target: Target,
    compiler: Compiler,
    profile: Profile,
    folder: Path,
    chosen: Chosen,
    *,
    quick: bool,
    architecture: str,
    lattice: str = "",
    within: float = 0,
) -> list[Candidate]:
    """Compiles all candidates of a target into `folder`/module.so and lists them in candidates.json.

    Raises:
        CompileError: its compiler is missing, or failed.
        OSError: the folder cannot be written.
    """
    sizes = on_lattice(target.sizes, lattice)
    if not (bases := {spec.name: spec for spec in tunable(profile, target, chosen)}):
        return []
    groups = {name: candidates(spec, target, quick=quick) for name, spec in bases.items()}
    if shutil.which(compiler.program) is None or shutil.which("g++") is None:
        raise CompileError(f"a sweep for {target.name} compiles kernels: {compiler.program} and g++ must be on PATH")
    planned = plan(groups, bases, target, len(sizes), within)
    groups = dict(planned.groups)
    print(planned.text, flush=True)
    command = f"python -m generator sweep --profile {profile.name}"
    shutil.rmtree(folder, ignore_errors=True)
    everything = [c for group in groups.values() for c in group]
    for path, text in render_files(everything, command).items():
        write_if_changed(folder / "generated" / path, text)
    compiled: list[Candidate] = []
    bar = Bar("compile", len(groups))

    def build(item: tuple[str, list[KernelSpec]]) -> list[Candidate]:
        done = _compile_group(target, compiler, folder, *item, architecture, command)
        bar.step(item[0])
        return done

    with ThreadPoolExecutor(processors()) as pool:
        for part in pool.map(build, sorted(groups.items(), key=lambda g: -len(g[1]))):
            compiled += part
    kept = [c for c in _distinct(compiled) if not c.rejected]
    _link(target, compiler, folder, kept, list(groups), command)
    for left in [*folder.glob("*.o"), *folder.glob(f"*.{target.suffix}"), *folder.glob("*.cpp")]:
        left.unlink()
    shutil.rmtree(folder / "generated")
    _list(folder, sizes, {n: digest(bases[n], target) for n in groups}, kept, [c for c in compiled if c.rejected])
    return compiled


def _compile_group(
    target: Target,
    compiler: Compiler,
    folder: Path,
    name: str,
    specs: Sequence[KernelSpec],
    architecture: str,
    command: str,
) -> list[Candidate]:
    """Compiles the candidates of one kernel."""
    source = folder / f"{name}.{target.suffix}"
    write_if_changed(source, render_group(specs, target, command))
    flags = [f"-I{folder}", f"-I{ROOT}", *(f.format(architecture) for f in compiler.flags), *target.code_flags]
    log = run_compiler([compiler.program, *flags, "-c", str(source), "-o", str(source.with_suffix(".o"))])
    return _read_report(compiler, log, name, specs)


def _link(
    target: Target,
    compiler: Compiler,
    folder: Path,
    kept: Sequence[Candidate],
    kernels: Sequence[str],
    command: str,
) -> None:
    """Makes module.so of the compiled `kernels`; its registry lists the candidates `kept`."""
    data = registry_data([c.spec for c in kept], target)
    write_if_changed(folder / "registry.cpp", render("registry.cpp.j2", command, **data))
    ((table, space),) = target.tables.items()
    text = render("module.cpp.j2", command, kernels=[(table, space, "registry.cpp")], tables=False)
    write_if_changed(folder / "module.cpp", text)
    objects = [str(folder / f"{name}.o") for name in kernels]
    flags = ["-shared", "-fPIC", "-std=c++20", "-O0", f"-I{ROOT}"]
    libraries = target.link(compiler.program)
    run_compiler(["g++", *flags, str(folder / "module.cpp"), *objects, *libraries, "-o", str(folder / "module.so")])
    record_module(folder / "module.so")


def _list(
    folder: Path,
    sizes: Mapping[str, Size],
    digests: Mapping[str, str],
    kept: Sequence[Candidate],
    rejected: Sequence[Candidate],
) -> None:
    """Writes what `quarksmith sweep --measure` and `collect` read; `digests` of the kernels as they are compiled."""
    lattices = {name: {"lattice": size.lattice, "rhs": size.rhs} for name, size in sizes.items()}
    records = {"sizes": lattices, "digests": digests, "candidates": [_record(c) for c in kept]}
    write_if_changed(folder / "candidates.json", json.dumps(records))
    write_if_changed(folder / "rejected.json", json.dumps([_record(c) for c in rejected]))


def _record(c: Candidate) -> dict[str, Any]:
    return {
        "module": c.module,
        "kernel": c.spec.name,
        "base": c.base,
        "shape": list(c.spec.shape),
        "block": c.spec.block,
        "min_blocks": c.spec.min_blocks,
        "registers": c.registers,
        "spills": c.spills,
    }


def _read_report(compiler: Compiler, log: str, base: str, specs: Sequence[KernelSpec]) -> list[Candidate]:
    """Registers and spills of each candidate from what its compiler reports."""
    registers: dict[str, int] = {}
    spills: dict[str, int] = {}
    name = ""
    for line in log.splitlines():
        if entry := re.search(compiler.entry, line):
            name = entry[2][: int(entry[1])].removesuffix("_row")
        elif spilled := re.search(compiler.spills, line):
            spills[name] = int(spilled[1])
        elif used := re.search(compiler.registers, line):
            registers[name] = int(used[1])
    found = {name: (registers[name], spills[name]) for name in registers.keys() & spills.keys()}
    missing = [s.name for s in specs if s.name not in found]
    if missing:
        raise CompileError(f"the report of {compiler.program} does not name {missing[0]}; is it recent enough?")
    least = min(found[s.name][1] for s in specs)
    return [Candidate(s, base, *found[s.name], least_spills=least) for s in specs]


def _distinct(compiled: Sequence[Candidate]) -> list[Candidate]:
    """Candidates that differ in code or block: bounds that leave the registers as they are change nothing."""
    first: dict[tuple[object, ...], Candidate] = {}
    for c in compiled:
        first.setdefault((c.base, c.spec.shape, c.spec.block, c.registers, c.spills), c)
    return list(first.values())


def on_lattice(sizes: Mapping[str, Size], text: str) -> dict[str, Size]:
    """Classes of launches with another lattice, X,Y,Z,T, for those of large volumes; empty text leaves them.

    Raises:
        SpecError: it is not four even numbers.
    """
    if not text:
        return dict(sizes)
    numbers = [int(n) if n.isdigit() else 0 for n in text.split(",")]
    if len(numbers) != 4 or any(n < 2 or n % 2 for n in numbers):
        raise SpecError(f"--lattice {text}: use four even extents X,Y,Z,T, such as 32,32,32,64")
    x, y, z, t = numbers
    large = sizes["large"].lattice
    return {k: replace(s, lattice=(x, y, z, t)) if s.lattice == large else s for k, s in sizes.items()}


def seconds_of(text: str, option: str = "--budget") -> float:
    """`90`, `90s`, `10m` or `1h` in seconds; 0 for empty text.

    Raises:
        SpecError: any other text.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text or "0")
    if not found:
        raise SpecError(f"{option} {text}: use a number of seconds, or 10m, or 1h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def part_of(text: str) -> tuple[int, int]:
    """`2/4` as numbers.

    Raises:
        SpecError: it is no part of a whole.
    """
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not found or int(found[1]) > int(found[2]):
        raise SpecError(f"--part {text}: use 1/4 to 4/4 for a quarter of the kernels")
    return int(found[1]), int(found[2])


def measure(folder: Path, program: Path, device: str, budget: float = 0) -> None:
    """Runs `quarksmith sweep --measure`, for `budget` seconds (0: until all is measured).

    Raises:
        CompileError: it failed; its message stands above.
    """
    command = [str(program), "sweep", "--measure", str(folder), "--device", device, "--budget", f"{budget:g}"]
    done = subprocess.run(command)
    if done.returncode != 0:
        raise CompileError(f"{program} sweep --measure {folder} ended with status {done.returncode}")


def collect(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Results by kernel and volume class, the fastest first; those that were rejected come last.

    Raises:
        SpecError: the folder holds no results.
    """
    results = folder / "results.jsonl"
    if not results.is_file():
        raise SpecError(f"{folder} holds no results.jsonl; run `quarksmith sweep --measure {folder}` first")
    records = {}
    for candidate in read_field(folder / "candidates.json")["candidates"].each():
        check_candidate(candidate)
        records[candidate["kernel"].text()] = candidate.value
    ends: dict[tuple[str, str], dict[str, Any]] = {}
    for line in read_lines(results):
        name = line["kernel"].text()
        if name not in records:
            raise line["kernel"].refuse("a kernel of candidates.json")
        if line["status"].text() == "ok":
            line["microseconds"].number()
        for key in ("deviation", "spread", "microseconds"):
            if line.has(key):
                line[key].real()
        if line.value["status"] != "started":
            ends[line["class"].text(), name] = line.value
    table: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for (size, name), entry in ends.items():
        record = records[name]
        row = {key: record[key] for key in ("shape", "block", "min_blocks", "registers", "spills")}
        row["status"] = entry["status"]
        digits = {"deviation": "%.1e", "microseconds": "%.5g", "spread": "%.2g"}
        row |= {key: float(form % entry[key]) for key, form in digits.items() if key in entry}
        table[record["base"]][size].append(row)
    for sizes in table.values():
        for rows in sizes.values():
            rows.sort(key=lambda row: row.get("microseconds", 1e30))
    return table


class Bar:
    """Progress with the time left, on standard error."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done, self.start = what, total, 0, time.monotonic()

    def step(self, note: str) -> None:
        """One more is done."""
        self.done += 1
        spent = time.monotonic() - self.start
        left = spent / self.done * (self.total - self.done)
        text = f"{self.what} {self.done}/{self.total}  {left:.0f} s left  {note}"
        if sys.stderr.isatty():
            print(f"\r{text:<79}"[:80], end="\n" if self.done == self.total else "", file=sys.stderr)
        elif self.done == self.total or self.done % max(self.total // 10, 1) == 0:
            print(text, file=sys.stderr)
