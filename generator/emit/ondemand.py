"""One kernel compiled on demand: a shared library that any program of the build loads (QUARKSMITH_KERNELS)."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import FrameType

from ..folders import ROOT
from ..include import support
from ..spec import KernelSpec
from ..targets import HOST, TABLES, Target
from .build import Build
from .registry import registry_data
from .render import render, render_calls, render_files, render_group
from .tables import tables
from .write import write_if_changed

PROCESSORS = len(os.sched_getaffinity(0))
_compilers = threading.BoundedSemaphore(PROCESSORS)
"""Limits the compilers that run at the same time to the number of processors, over all modules."""


_running: set[subprocess.Popen[str]] = set()
_ended = threading.Event()
_guarded = threading.Event()
"""Programs that are started here are ended here, and are groups of their own."""


class CompileError(RuntimeError):
    """A compiler refused a rendered file; the message is its own."""


@contextlib.contextmanager
def exclusive(build: Build) -> Iterator[None]:
    """No other process compiles or tests kernels of the cache meanwhile: all ranks of a job ask for the same one."""
    open_cache(build.cache)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(build.cache / "lock", flags, 0o600), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _ends_in_order():
            yield


@contextlib.contextmanager
def _ends_in_order() -> Iterator[None]:
    """SIGINT and SIGTERM, where they would end the program, act when all that was started has ended."""
    all_before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {n: handler for n, handler in all_before.items() if handler != signal.SIG_IGN}  # as in the background
    of_others = set(before.values()) - {signal.default_int_handler, signal.SIG_DFL}
    if of_others or threading.current_thread() is not threading.main_thread():
        yield
        return

    come: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        # No exception here, which could end a pool between the start of a thread and its note of it: _go_on throws.
        # A second signal may come, as a program that ends passes it on to its compilation.
        come.append(number)
        _ended.set()
        for started in list(_running):
            _end(started)

    for number in before:
        signal.signal(number, end)
    _guarded.set()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _guarded.clear()
        _ended.clear()
        if come:
            signal.raise_signal(come[0])


def _end(started: subprocess.Popen[str]) -> None:
    """Ends a program and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGTERM)


def open_cache(folder: Path) -> None:
    """Makes a cache; refuses one in which, or in a folder above which, others could put what programs then load.

    Raises:
        CompileError: the reason, and the remedy.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = folder.resolve()
    for at in (folder, *folder.parents):
        facts = at.stat()
        open_to_all = facts.st_mode & stat.S_IWOTH
        if (at == folder or open_to_all) and facts.st_uid not in (os.geteuid(), 0):
            why = f"{at} belongs to user {facts.st_uid}, neither to you ({os.geteuid()}) nor to root"
        elif open_to_all and not facts.st_mode & stat.S_ISVTX:
            why = f"{at} can be written by others (chmod o-w)"
        else:
            continue
        raise CompileError(f"no kernels are kept in {folder}: {why}")


def discard(module: Path) -> None:
    """Takes a module out of the cache."""
    shutil.rmtree(module.parent, ignore_errors=True)


def tests_of(spec: KernelSpec) -> str:
    """GoogleTest filter of the tests that exercise a kernel."""
    family = spec.operator.family
    if family in ("gauge", "links"):
        return f"Devices/{family.capitalize()}.*"
    if spec.operator.name in ("clover_term", "invert_term", "invert_twisted_term", "source_log_det"):
        return "Devices/Clover.*"
    return f"Kernels/*_{spec.name}"


def compile_kernel(spec: KernelSpec, build: Build) -> tuple[Path, bool]:
    """The module of a kernel, from the cache in `build`/kernels or compiled now.

    Returns:
        the shared library, and whether it was compiled now.

    Raises:
        CompileError: a compiler failed.
        OSError: the cache cannot be written.
    """
    return compile_module([spec, *(s for s in support(spec) if s.name not in build.kernels and s != spec)], build)


def compile_expressions(specs: Sequence[KernelSpec], build: Build) -> tuple[Path, bool]:
    """The module of some expressions and of what brings their fields to the device and back; see compile_kernel."""
    needed = [s for spec in specs for s in support(spec) if s.name not in build.kernels]
    return compile_module(list(dict.fromkeys([*specs, *needed])), build)


def compile_module(specs: Sequence[KernelSpec], build: Build) -> tuple[Path, bool]:
    """The module that holds `specs`, named after the first; see compile_kernel."""
    return compile_planned(plan_module(specs, build), build)


@dataclass(frozen=True)
class Planned:
    """The files of a module, and the library that they become."""

    files: dict[PurePosixPath, str]
    module: Path


def plan_module(specs: Sequence[KernelSpec], build: Build) -> Planned:
    """Renders the module that holds `specs`, named after the first."""
    _go_on()
    files = _render(specs, build)
    digest = hashlib.sha256()
    for path, text in sorted(files.items()):
        digest.update(f"{path}\n{text}".encode())
    for header in sorted((ROOT / "runtime").rglob("*.hpp")):
        digest.update(header.read_bytes())
    digest.update(repr(sorted(build.commands.items())).encode())
    digest.update(repr(build.compiled).encode())
    return Planned(files, build.cache / f"{specs[0].name}-{digest.hexdigest()[:12]}" / "module.so")


def compile_planned(planned: Planned, build: Build) -> tuple[Path, bool]:
    """The module, from the cache or compiled now; see compile_kernel."""
    _go_on()
    module, folder = planned.module, planned.module.parent
    open_cache(folder.parent)
    if module.is_file():
        check_module(module)
        return module, False
    _remove_left(folder.parent)
    with tempfile.TemporaryDirectory(prefix=f"{_own_prefix()}{os.getpid()}-", dir=folder.parent) as temporary:
        work = Path(temporary)
        for path, text in planned.files.items():
            (work / "generated" / path).parent.mkdir(parents=True, exist_ok=True)
            (work / "generated" / path).write_text(text)
        _compile(work, build)
        if not module.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                work.rename(folder)
                work.mkdir()  # for the temporary directory to remove
    # Another process may have made it meanwhile: programs may run with that one already, so it stays.
    check_module(module)
    return module, True


def _own_prefix() -> str:
    """How names of folders begin in which processes of this host compile; their numbers follow."""
    return f"compiling-{socket.gethostname()}-"


def _remove_left(cache: Path) -> None:
    """Removes the folders of compilations on this host that were killed."""
    for folder in cache.glob(f"{_own_prefix()}*"):
        process = folder.name.removeprefix(_own_prefix()).split("-")[0]
        if process.isdigit() and not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _render(specs: Sequence[KernelSpec], build: Build) -> dict[PurePosixPath, str]:
    command = f"python -m generator kernel {specs[0].name}"
    specs = [replace(s, ranks=True) for s in specs]  # one table serves all targets
    files = render_files(specs, command) | render_calls(specs, command)
    for target in {TABLES[table].name: TABLES[table] for table in build.compiled}.values():
        files[PurePosixPath(_kernels(target))] = render_group(specs, target, command)
        text = render("registry.cpp.j2", command, **registry_data(specs, target))
        files[PurePosixPath(f"{target.name}/registry.cpp")] = text
    files[PurePosixPath("tables.cpp")] = render("tables.cpp.j2", command, **tables(specs))
    kernels = [(t, TABLES[t].tables[t], f"{TABLES[t].name}/registry.cpp") for t in build.compiled]
    files[PurePosixPath("module.cpp")] = render("module.cpp.j2", command, kernels=kernels, tables=True)
    return files


def _kernels(target: Target) -> str:
    return f"{target.name}/kernels.{target.suffix}"


def _compile(work: Path, build: Build) -> None:
    """Compiles all files of a rendered module side by side and links them into module.so."""
    plain = [w for w in build.host if not w.startswith(("-DQUARKSMITH_TARGET", "-O"))]
    jobs = []
    for name in build.compiled:
        target = TABLES[name]
        jobs.append(([*build.commands[name], *target.code_flags], _kernels(target), f"{name}.o"))
    jobs.append(([*plain, "-fPIC", "-O0"], "module.cpp", "module.o"))
    jobs.sort(key=lambda job: job[1] == _kernels(HOST), reverse=True)

    def run(job: tuple[list[str], str, str]) -> None:
        flags, source, output = job
        run_compiler(
            [flags[0], f"-I{work}", *flags[1:], "-c", str(work / "generated" / source), "-o", str(work / output)]
        )

    with ThreadPoolExecutor(len(jobs)) as pool:
        list(pool.map(run, jobs))
    objects = [str(work / output) for _, _, output in jobs]
    link = [build.host[0], "-shared", "-fopenmp", "-o", str(work / "module.so"), *objects]
    for name in build.compiled:
        link += TABLES[name].link(build.commands[name][0])
    run_compiler(link)
    for output in objects:
        Path(output).unlink()
    record_module(work / "module.so")


def record_module(module: Path) -> None:
    """Writes the digest of what was built beside it: programs load nothing else (runtime/registry.cpp)."""
    module.chmod(0o644)
    digest = hashlib.sha256(module.read_bytes()).hexdigest()
    write_if_changed(module.with_name(module.name + ".sha256"), f"{digest}  {module.name}\n")


def check_module(module: Path) -> None:
    """Refuses a module of the cache that is not what was built, or that somebody else could have written.

    Raises:
        CompileError: the reason, and what to delete.
    """
    facts, record = module.stat(), module.with_name(module.name + ".sha256")
    recorded = record.read_text().split()[:1] if record.is_file() else []
    if facts.st_uid not in (os.geteuid(), 0):
        why = f"it belongs to user {facts.st_uid}, neither to you ({os.geteuid()}) nor to root"
    elif facts.st_mode & 0o022:
        why = "it can be written by others"
    elif recorded != [hashlib.sha256(module.read_bytes()).hexdigest()]:
        why = f"it is not what was built: {record.name} has another digest or is missing"
    else:
        return
    raise CompileError(f"{module} is not used: {why}; delete {module.parent} and start again")


def _go_on() -> None:
    if _ended.is_set():
        raise CompileError("a signal has come: nothing more is compiled")


def _run(
    command: list[str], environment: dict[str, str] | None = None, output: int | None = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """Runs a program that ends when this one is to end.

    Raises:
        CompileError: that is so.
    """
    _go_on()
    with subprocess.Popen(
        command,
        stdout=output,
        stderr=output,
        text=True,
        env=environment,
        process_group=0 if _guarded.is_set() else None,
    ) as started:
        _running.add(started)
        if _ended.is_set():
            _end(started)
        texts = started.communicate()
        _running.discard(started)
    _go_on()
    return subprocess.CompletedProcess(command, started.returncode, *texts)


def run_compiler(command: list[str]) -> str:
    """Runs a compiler and returns its output.

    Raises:
        CompileError: it failed, or the program is to end.
    """
    try:
        with _compilers:
            done = _run(command)
    except FileNotFoundError as error:
        raise CompileError(
            f"{command[0]} is not on this machine: nothing can be compiled here; what the build holds works without"
        ) from error
    if done.returncode != 0:
        raise CompileError(f"{shlex.join(command)}\n{done.stderr.strip()}")
    return done.stderr + done.stdout


def make_tests(build: Build) -> Path:
    """Builds the tests of kernels into a build without tests.

    Raises:
        CompileError: it failed.
    """
    print("this build has no tests: those of kernels are built once, which takes some minutes", flush=True)
    command = ["make", "--no-print-directory", "-C", str(ROOT), "kernel-tests", f"BUILD={build.folder.resolve()}"]
    if _run(command, output=None).returncode != 0 or build.tests is None:
        raise CompileError(f"the tests of kernels cannot be built; {shlex.join(command)} says why")
    return build.tests


def run_tests(module: Path, spec: KernelSpec, build: Build) -> tuple[int, str]:
    """Runs the tests of a kernel against the reference on every device there is.

    Returns:
        how many passed, and the output of a failure (empty if all passed and there was at least one).
    """
    # What they lack is missing from the module: a request for it would wait for the lock of this one.
    environment = {**os.environ, "QUARKSMITH_KERNELS": str(module.resolve()), "QUARKSMITH_ON_DEMAND": "off"}
    command = [str(build.tests or make_tests(build)), f"--gtest_filter={tests_of(spec)}", "--gtest_brief=1"]
    done = _run(command, environment)
    passed = re.search(r"\[  PASSED  \] (\d+) test", done.stdout)
    count = int(passed[1]) if passed else 0
    return count, "" if done.returncode == 0 and count else (done.stdout + done.stderr).strip() or "no test ran"


def run_apply(module: Path, arguments: Sequence[str], build: Build) -> int:
    """Runs `quarksmith apply` with a module; returns its exit status."""
    environment = {**os.environ, "QUARKSMITH_KERNELS": str(module.resolve())}
    return subprocess.run([build.folder / "bin" / "quarksmith", "apply", *arguments], env=environment).returncode
