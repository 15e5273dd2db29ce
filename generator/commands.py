"""The commands of `python -m generator`: each takes its options and returns the exit status."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .algebra.gamma import find_basis
from .emit.actions_module import compile_action
from .emit.asked import compile_asked, why_untested
from .emit.build import Build, read_build
from .emit.export import export_kernel, find_exported
from .emit.ondemand import (
    CompileError,
    compile_expressions,
    compile_kernel,
    discard,
    exclusive,
    run_apply,
    run_tests,
)
from .emit.render import TemplateError, render_profile
from .emit.write import write_files, write_if_changed
from .errors import SpecError
from .explain import explain_kernel, explain_profile, explain_record
from .folders import ROOT
from .operators import RECORDS, REFUSED, UNPRINTED, action_of_file, add_action, add_expressions
from .profile import Profile, load_profile, one_of_row
from .schema import actions_table, shown_in
from .spec import KernelSpec
from .targets import GPU, HOST, TABLES, TARGETS, target_of_device
from .tune.candidates import Chosen
from .tune.policies import add_evidence, policy_choices, tuning_of
from .tune.report import evidence_files, read_evidence, report
from .tune.sweep import Candidate, measure, pack, pack_for_build, part_of, seconds_of
from .tune.tuned import FOLDER, contribute, digests, gains, select_devices, write_evidence

ACTIONS_PAGE = ROOT / "docs" / "actions.md"
"""The page that shows the tables of actions and options."""


def run(options: argparse.Namespace) -> int:
    """Runs one command; returns the exit status (0 done, 1 failed, 2 wrong use)."""
    try:
        return _COMMANDS[options.command](options)
    except SpecError as error:
        print(f"generator: error: {error}", file=sys.stderr)
        return 2
    except (TemplateError, CompileError, OSError) as error:
        print(f"generator: error: {error}", file=sys.stderr)
        return 1


def _list(options: argparse.Namespace) -> int:
    for spec in load_profile(options.profile).kernels:
        print(spec.name)
    return 0


def _explain(options: argparse.Namespace) -> int:
    name = (options.name or "").replace("-", "_")
    if name == "actions":
        print(actions_table())
    elif name in RECORDS:
        print(explain_record(RECORDS[name]))
    elif name in REFUSED:
        raise SpecError(f"{name}: {REFUSED[name]}")
    else:
        profile = load_profile(options.profile, options.name or "")
        kernel = explain_kernel(profile.find(options.name)) if name else ""
        print(kernel or explain_profile(profile, tuning_of(profile.kernels)))
    return 0


def _cost(options: argparse.Namespace) -> int:
    spec = load_profile(options.profile, options.name).find(options.name)
    cost = spec.operator.cost(spec)
    print(f"{spec.name}")
    print(f"  flop    {cost.flops} emitted, {cost.reported} reported, a site and right-hand side")
    print(f"  traffic {cost.bytes:g} bytes with perfect reuse, {cost.reals} reals without any")
    print(f"  floor   {cost.floor_gflops(options.bandwidth):.0f} GFLOP/s at {options.bandwidth * 1e-12:g} TB/s")
    return 0


def _generate(options: argparse.Namespace) -> int:
    profile = load_profile(options.profile)
    more = [options.tuned.resolve()] if options.tuned else []
    folders = tuple(dict.fromkeys((FOLDER, options.out.resolve() / "tuned", *more)))
    devices = None if options.devices is None else select_devices(options.devices, folders)
    tuning = tuning_of(profile.kernels, folders, devices)
    files = render_profile(profile, tuning, options.sample)
    written = write_files(files, options.out)
    if profile.name == "default" and options.out.resolve() == ROOT / "generated" and ACTIONS_PAGE.is_file():
        write_if_changed(ACTIONS_PAGE, shown_in(ACTIONS_PAGE.read_text()))
    for name, why in (REFUSED | UNPRINTED).items():
        print(f"generator: warning: {name} is left out: {why}", file=sys.stderr)
    families = Counter(s.operator.family for s in profile.kernels)
    kinds = ", ".join(f"{n} {family}" for family, n in sorted(families.items()))
    print(f"profile {profile.name}: {len(profile.kernels)} kernels ({kinds})")
    changes = f"{written.changed} changed, {written.removed} removed"
    print(f"{written.files} files, {written.lines} lines in {options.out}: {changes}")
    return 0


def _policies(options: argparse.Namespace) -> int:
    file = add_evidence(options.results, options.out)
    print(f"wrote {file}; `generate` renders its choice:")
    for device, rows in policy_choices([options.out / "tuned"]).items():
        for row in rows:
            print(
                f"  {device}, link {row.link}, {row.size} parts, {row.precision}{', batches' * row.batch}: {row.policy}"
            )
    return 0


def _contribute(options: argparse.Namespace) -> int:
    for path in contribute(options.results, options.out / "tuned", _all_kernels(options.profile)):
        print(f"wrote {path}; commit it with what `make generate` changes")
    return 0


def _kernel(options: argparse.Namespace) -> int:
    if (options.name is None) == (options.row is None):
        raise SpecError("name a kernel, or give its --row; one of the two")
    specs = list(dict.fromkeys(map(one_of_row, options.row or [])))
    specs = specs or [load_profile(options.profile, options.name).find(options.name)]
    build = read_build(options.build)
    if options.cpu:
        if options.cpu not in build.commands:
            raise SpecError(f"--cpu {options.cpu}: {options.build} has no kernels for it; leave it out")
        others = tuple(table for table in TABLES if table not in HOST.tables)
        build = replace(build, tables=(options.cpu, *others))
    with exclusive(build):
        if not options.row:
            return _tested_kernel(specs[0], build)
        for module in compile_asked(specs, build):
            print(f"use it with QUARKSMITH_KERNELS={module}")
    return 0


def _action(options: argparse.Namespace) -> int:
    build = read_build(options.build)
    action = add_action(action_of_file(options.file), with_digest=True)
    with exclusive(build):
        print(f"action {action.called} {compile_action(action.name, action.called, build)}")
    return 0


def _tested_kernel(spec: KernelSpec, build: Build) -> int:
    """Compiles a kernel or takes it from the cache, tests it, and discards it if a test fails; the exit status."""
    start = time.monotonic()
    module, new = compile_kernel(spec, build)
    compiled = time.monotonic()
    how = f"compiled for {' and '.join(build.devices)} in {compiled - start:.1f} s" if new else "found in the cache"
    if untested := why_untested(spec, build):
        print(f"kernel {spec.name}: {how}; not tested: {untested}")
        print(f"use it with QUARKSMITH_KERNELS={module}")
        return 0
    passed, failure = run_tests(module, spec, build)
    if failure:
        discard(module)
        print(failure, file=sys.stderr)
        print(f"generator: error: kernel {spec.name} ({module}) fails its tests", file=sys.stderr)
        return 1
    print(f"kernel {spec.name}: {how}; {passed} tests passed in {time.monotonic() - compiled:.1f} s")
    print(f"use it with QUARKSMITH_KERNELS={module}")
    return 0


def _expression(options: argparse.Namespace) -> int:
    start = time.monotonic()
    found = add_expressions(options.file)
    unknown = set(options.only) - {e.name for e in found}
    if unknown:
        known = ", ".join(e.name for e in found)
        raise SpecError(f"{options.file} holds no {', '.join(sorted(unknown))}; it has {known}")
    axes: dict[str, Any] = {"precision": options.precision, "links": f"r{options.links}", "spins": options.spins}
    axes["basis"] = find_basis(options.basis)
    specs = [
        KernelSpec(e, **{a: v for a, v in axes.items() if a in e.axes})
        for e in found
        if not options.only or e.name in options.only
    ]
    chosen = TARGETS.values() if options.target == "all" else [TARGETS[options.target]]
    tables = tuple(table for target in chosen for table in target.tables)
    build = replace(read_build(options.build), tables=tables)
    module, new = compile_expressions(specs, build)
    how = f"compiled in {time.monotonic() - start:.1f} s" if new else "found in the cache"
    print(f"{', '.join(s.name for s in specs)}: {how}")
    for spec in specs if options.test else []:
        passed, failure = run_tests(module, spec, build)
        if failure:
            print(failure, file=sys.stderr)
            print(f"generator: error: {spec.name} ({module}) fails its tests", file=sys.stderr)
            return 1
        print(f"{spec.name}: {passed} tests passed")
    if options.apply is None:
        print(f"typed calls in {module.parent}/generated/expressions; use them with QUARKSMITH_KERNELS={module}")
        return 0
    return run_apply(module, options.apply, build)


def _export(options: argparse.Namespace) -> int:
    ending = options.out.suffix if options.out else ""
    by_ending = next((t for t in TARGETS.values() if ending == f".{t.suffix}"), GPU)
    target = TARGETS[options.target] if options.target else by_ending
    spec = find_exported(load_profile(options.profile, options.name), options.name, target)
    path = options.out or Path(f"{spec.name}.{target.suffix}")
    write_if_changed(path, export_kernel(spec, target, options.lattice, path.name))
    print(f"wrote {path}; its first lines say how to compile and run it")
    return 0


def _all_kernels(profile: str) -> Iterator[KernelSpec]:
    """Kernels of a profile; without a name, those of `full` and `wide`, which together have all kernels."""
    for name in [profile] if profile else ["full", "wide"]:
        yield from load_profile(name).kernels


def _report(options: argparse.Namespace) -> int:
    kernels = list(_all_kernels(options.profile))
    for path in [options.samples] if options.samples else evidence_files(options.device):
        print(report(read_evidence(path, kernels), 1e9 * options.copy))
    return 0


def _sweep(options: argparse.Namespace) -> int:
    profile = load_profile(options.profile)
    budget, within = seconds_of(options.budget), seconds_of(options.within, "--within")
    start = time.monotonic()
    if options.collect or options.pack:
        idle = ("only", "stale", "part", "quick", "within", "lattice", "pack", "device", "arch") * bool(options.collect)
        for name in ("budget", *idle):
            if vars(options)[name] != options.default_of(name):
                raise SpecError(
                    f"--{name} means nothing for --{'collect' if options.collect else 'pack'}; leave it out"
                )
    folder = options.collect or options.pack or options.build / "sweep"
    if not options.collect:
        compiled = _pack(profile, folder, options, within)
        if not compiled:
            print("nothing to sweep: all these kernels were measured as they are")
            return 0
        rejected = sum(bool(c.rejected) for c in compiled)
        spent = time.monotonic() - start
        print(f"{len(compiled)} candidates compiled in {spent:.0f} s, {rejected} rejected for spills")
    if options.pack:
        print(f"next: quarksmith sweep --measure {folder}, on the machine that will run")
        return 0
    if not options.collect:
        left = max(within - (time.monotonic() - start), 0.1 * within)
        measure(folder, options.build / "bin" / "quarksmith", options.device, min(budget or left, left or budget))
    path = write_evidence(folder, profile, (options.out or options.build) / "tuned")
    print(gains(folder, profile))
    print(f"wrote {path}; `make library` renders its winners")
    return 0


def _pack(profile: Profile, folder: Path, options: argparse.Namespace, within: float) -> list[Candidate]:
    """Compiles the candidates for the device of the sweep."""
    target = target_of_device(options.device)
    measured = (FOLDER, (options.out or options.build) / "tuned")
    chosen = Chosen(options.only, digests(target, measured) if options.stale else frozenset(), part_of(options.part))
    common = {"quick": options.quick, "lattice": options.lattice, "within": within}
    if target.compiler is None:
        return pack_for_build(target, profile, folder, chosen, read_build(options.build), **common)
    architecture = options.arch or target.compiler.architecture
    return pack(target, target.compiler, profile, folder, chosen, architecture=architecture, **common)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    f.__name__.removeprefix("_"): f
    for f in (
        *(_list, _explain, _cost, _generate, _kernel, _action, _expression, _export),
        *(_report, _policies, _contribute, _sweep),
    )
}
