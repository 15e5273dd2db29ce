"""Kernels that a program asks for while it runs: all that it lacks at once (runtime/on_demand.cpp)."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from ..include import support
from ..spec import KernelSpec
from .build import Build
from .ondemand import (
    PROCESSORS,
    CompileError,
    compile_planned,
    discard,
    plan_module,
    run_tests,
)


def _print(line: str) -> None:
    print(line, flush=True)


def compile_asked(specs: Sequence[KernelSpec], build: Build, tell: Callable[[str], None] = _print) -> list[Path]:
    """A module of each kernel, compiled and tested side by side where the cache lacks it.

    Lines tell which before, how far it is meanwhile and how it went after; the program passes them on.

    Raises:
        CompileError: a compiler failed, or a kernel its tests; the others are kept.
    """
    start = time.monotonic()
    planned = [plan_module([spec, *_for_tests(spec, build)], build) for spec in specs]
    new = [p for p in planned if not p.module.is_file()]
    if new:
        tell(f"compiling {', '.join(s.name for s, p in zip(specs, planned, strict=True) if p in new)}")
        if each := _usual_seconds(build):
            tell(f"progress: it takes about {max(1.0, len(new) / PROCESSORS) * each:.0f} s")
    with ThreadPoolExecutor(len(planned)) as pool:
        compiled = [pool.submit(compile_planned, p, build) for p in planned]
        _show_progress([c for c, p in zip(compiled, planned, strict=True) if p in new], tell)
        modules = [c.result()[0] for c in compiled]
    if new:
        how = f"compiled for {' and '.join(build.devices)} in {time.monotonic() - start:.1f} s"
        tested = _test([(p.module, s) for s, p in zip(specs, planned, strict=True) if p in new], build)
        tell(f"done: {len(new)} kernel{'s'[: len(new) > 1]} {how}; {tested}")
    return modules


def _usual_seconds(build: Build) -> float:
    """What compiling a module of a kernel has taken so far in this cache, from its sources on; 0 if it holds none."""
    times = []
    for source in build.cache.glob("*/generated/module.cpp"):  # modules of actions have none
        with contextlib.suppress(FileNotFoundError):  # still being compiled, or removed meanwhile
            times.append((source.parent.parent / "module.so").stat().st_mtime - source.stat().st_mtime)
    return statistics.median(times) if times else 0


def _show_progress(compiled: Sequence[Future[tuple[Path, bool]]], tell: Callable[[str], None]) -> None:
    """At most every two seconds a line, with the time that is left as modules so far have it."""
    start = shown = time.monotonic()
    for n, _ in enumerate(as_completed(compiled), 1):
        now = time.monotonic()
        if n < len(compiled) and now - shown >= 2:
            left = (now - start) / n * (len(compiled) - n)
            tell(f"progress: {n} of {len(compiled)} kernels are compiled, about {left:.0f} s are left")
            shown = now


def _for_tests(spec: KernelSpec, build: Build) -> list[KernelSpec]:
    """Kernels that bring fields to the device and back; the program has or requests them, tests use the module's."""
    if build.tests is None:
        return []
    return [s for s in support(spec) if s.name not in build.kernels and s != spec]


def why_untested(spec: KernelSpec, build: Build) -> str:
    """Why a kernel that was compiled is not tested; empty if it is."""
    if build.tests is None:
        return "this build has no tests"
    return "" if spec.colours == 3 else "references of single kernels have three colours"


def _test(made: Sequence[tuple[Path, KernelSpec]], build: Build) -> str:
    """Tests new kernels; says how many tests passed, and why others were not made. Those that fail are not kept."""
    tested = [(module, spec) for module, spec in made if not why_untested(spec, build)]
    with ThreadPoolExecutor(PROCESSORS) as pool:
        results = list(pool.map(lambda of: run_tests(of[0], of[1], build), tested))
    failures = []
    for (module, spec), (_, failure) in zip(tested, results, strict=True):
        if failure:
            discard(module)
            none_ran = failure == "no test ran" or ("[  PASSED  ] 0 tests" in failure and "FAILED" not in failure)
            what = "is untested, as no test of it ran" if none_ran else "fails its tests"
            failures.append(f"{failure}\nkernel {spec.name} ({module}) {what}")
    if failures:
        raise CompileError("\n".join(failures))
    said = [f"{sum(passed for passed, _ in results)} tests passed"] if tested else []
    untested = {why for _, spec in made if (why := why_untested(spec, build))}
    return "; ".join([*said, *(f"not tested: {why}" for why in sorted(untested))])
