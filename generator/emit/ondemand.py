"""One kernel compiled on demand: a shared library that any program of the build loads (QUARKSMITH_KERNELS)."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from generator.emit.registry import registry_data
from generator.emit.render import render, render_files, render_group
from generator.emit.tables import tables
from generator.emit.write import write_if_changed
from generator.include import support
from generator.spec import KernelSpec, SpecError

ROOT = Path(__file__).parents[2]


INSTRUCTION_SETS = ("x86-64-v3", "x86-64-v4", "neon", "sve256", "sve512")  # in the order of runtime/processor.hpp
TARGETS = (*INSTRUCTION_SETS, "cuda")


class CompileError(RuntimeError):
    """A compiler refused a rendered file; the message is its own."""


@dataclass(frozen=True)
class Build:
    """The build whose programs will load the module.

    Attributes:
        folder: where it lies.
        commands: target (an instruction set of the CPU, or `cuda`) -> compiler and flags as the build uses them.
        kernels: names of those that it holds already.
        targets: those for which modules are compiled.
    """

    folder: Path
    commands: dict[str, list[str]]
    kernels: frozenset[str]
    targets: tuple[str, ...] = TARGETS

    @property
    def devices(self) -> list[str]:
        """Kinds of devices that the build computes on."""
        return ["cpu", *(["cuda"] if "cuda" in self.commands else [])]

    @property
    def has_tests(self) -> bool:
        """Whether its tests were built."""
        return (self.folder / "bin" / "quarksmith_tests").is_file()

    @property
    def cache(self) -> Path:
        """Where modules are kept: in its folder, or with the user where that cannot be written."""
        if not self.folder.exists() or os.access(self.folder, os.W_OK):
            return self.folder / "kernels"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quarksmith" / "kernels"

    def compiled(self, target: str) -> bool:
        """Whether modules hold kernels for a target."""
        return target in self.commands and target in self.targets

    @property
    def cpu(self) -> list[str]:
        """Its instruction sets."""
        return [s for s in INSTRUCTION_SETS if s in self.commands]

    @property
    def host(self) -> list[str]:
        """Compiler and flags of CPU kernels, those of its first instruction set."""
        return self.commands[self.cpu[0]]


def read_build(folder: Path) -> Build:
    """What the build system recorded of a build.

    Raises:
        SpecError: the folder holds no finished configuration.
    """
    record, suffix = folder / "compile_commands.json", ""
    if not record.is_file():  # a profile beside the one of a build lies in a folder of that build
        record, suffix = folder.parent / "compile_commands.json", f"-{folder.name}"
    if not record.is_file():
        raise SpecError(f"{folder} holds no build; run `make test` or `make library TESTS=ON` first")
    commands: dict[str, list[str]] = {}
    names: set[str] = set()
    for entry in json.loads(record.read_text()):
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        target = next((t for t in TARGETS if f"/{object_library(t)}{suffix}.dir/" in output), None)
        if target is not None:
            commands.setdefault(target, _flags(words))
        if entry["file"].endswith("cpu/registry.cpp") and target in INSTRUCTION_SETS:
            names |= set(re.findall(r'^    kernel\("(\w+)"', Path(entry["file"]).read_text(), flags=re.M))
    if not commands:
        raise SpecError(f"{folder} holds no build; run `make test` or `make library TESTS=ON` first")
    return Build(folder, commands, frozenset(names))


def object_library(target: str) -> str:
    """The build system's name of the kernels of a target."""
    return "quarksmith_cuda_kernels" if target == "cuda" else f"quarksmith_cpu_{target.removeprefix('x86-64-')}"


def _flags(words: Sequence[str]) -> list[str]:
    """A recorded command without its launcher and files."""
    kept = [w for w in words if not w.endswith("ccache")]
    for option in ("-o", "-c"):
        at = kept.index(option)
        del kept[at : at + 2]
    return kept


@contextlib.contextmanager
def exclusive(build: Build) -> Iterator[None]:
    """No other process compiles or tests kernels of the cache meanwhile: all ranks of a job ask for the same one."""
    build.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (build.cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
    files = _render(specs, build)
    digest = hashlib.sha256()
    for path, text in sorted(files.items()):
        digest.update(f"{path}\n{text}".encode())
    for header in sorted((ROOT / "runtime").rglob("*.hpp")):
        digest.update(header.read_bytes())
    digest.update(repr(sorted(build.commands.items())).encode())
    digest.update(repr([t for t in build.commands if build.compiled(t)]).encode())
    folder = build.cache / f"{specs[0].name}-{digest.hexdigest()[:12]}"
    module = folder / "module.so"
    if module.is_file():
        check_module(module)
        return module, False
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        work = Path(temporary)
        for path, text in files.items():
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


def _render(specs: Sequence[KernelSpec], build: Build) -> dict[PurePosixPath, str]:
    command = f"python -m generator kernel {specs[0].name}"
    specs = [replace(s, ranks=True) for s in specs]  # one table serves all targets
    files = render_files(specs, command)
    members = {"cuda": "cuda", **{s: f"cpu[{n}]" for n, s in enumerate(INSTRUCTION_SETS)}}
    spaces = {m: _namespace(build, t) for t, m in members.items() if build.compiled(t)}
    if build.compiled("cuda"):
        files[PurePosixPath("cuda/kernels.cu")] = render_group(specs, "cuda", command)
    if any(build.compiled(s) for s in INSTRUCTION_SETS):
        files[PurePosixPath("cpu/kernels.cpp")] = render_group(specs, "cpu", command)
    files[PurePosixPath("registry.cpp")] = render("registry.cpp.j2", command, **registry_data(specs, "cuda"))
    files[PurePosixPath("tables.cpp")] = render("tables.cpp.j2", command, **tables(specs))
    files[PurePosixPath("module.cpp")] = render(
        "module.cpp.j2", command, namespaces=list(spaces.values()), members=list(spaces.items()), tables=True
    )
    return files


def _namespace(build: Build, target: str) -> str:
    if target == "cuda":
        return target
    return next(w.split("=")[1] for w in build.commands[target] if w.startswith("-DQUARKSMITH_TARGET="))


def _compile(work: Path, build: Build) -> None:
    """Compiles all files of a rendered module side by side and links them into module.so."""
    plain = [w for w in build.host if not w.startswith(("-DQUARKSMITH_TARGET", "-O"))]
    jobs = []
    for target, flags in sorted(build.commands.items(), reverse=True):
        if not build.compiled(target):
            continue
        source = "cuda/kernels.cu" if target == "cuda" else "cpu/kernels.cpp"
        position = ["-Xcompiler=-fPIC,-fvisibility=hidden"] if target == "cuda" else ["-fPIC", "-fvisibility=hidden"]
        jobs.append(([*flags, *position], source, f"{target}.o"))
        space = f"-DQUARKSMITH_TARGET={_namespace(build, target)}"
        jobs.append(([*plain, "-fPIC", "-O0", space], "registry.cpp", f"{target}_registry.o"))
    jobs += [([*plain, "-fPIC", "-O0"], name, name.replace(".cpp", ".o")) for name in ("tables.cpp", "module.cpp")]
    jobs.sort(key=lambda job: job[1] == "cpu/kernels.cpp", reverse=True)

    def run(job: tuple[list[str], str, str]) -> None:
        flags, source, output = job
        run_compiler(
            [flags[0], f"-I{work}", *flags[1:], "-c", str(work / "generated" / source), "-o", str(work / output)]
        )

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(run, jobs))
    objects = [str(work / output) for _, _, output in jobs]
    link = [build.host[0], "-shared", "-fopenmp", "-o", str(work / "module.so"), *objects]
    if build.compiled("cuda"):
        link += cuda_libraries(build.commands["cuda"][0])
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


def run_compiler(command: list[str]) -> str:
    """What a compiler reported.

    Raises:
        CompileError: it failed.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise CompileError(
            f"{command[0]} is not on this machine: nothing can be compiled here; what the build holds works without"
        ) from error
    if done.returncode != 0:
        raise CompileError(f"{shlex.join(command)}\n{done.stderr.strip()}")
    return done.stderr + done.stdout


def cuda_libraries(nvcc: str) -> list[str]:
    """Options that link a module with the CUDA runtime of a toolkit."""
    toolkit = Path(shutil.which(nvcc) or nvcc).resolve().parents[1]
    return [f"-L{toolkit}/lib64", "-lcudart_static", "-lrt", "-ldl", "-lpthread"]


def run_tests(module: Path, spec: KernelSpec, build: Build) -> tuple[int, str]:
    """Runs the tests of a kernel against the reference on every device there is.

    Returns:
        how many passed, and the output of a failure (empty if all passed and there was at least one).
    """
    program = build.folder / "bin" / "quarksmith_tests"
    environment = {**os.environ, "QUARKSMITH_KERNELS": str(module.resolve())}
    command = [str(program), f"--gtest_filter={tests_of(spec)}", "--gtest_brief=1"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    passed = re.search(r"\[  PASSED  \] (\d+) test", done.stdout)
    count = int(passed[1]) if passed else 0
    return count, "" if done.returncode == 0 and count else (done.stdout + done.stderr).strip() or "no test ran"


def run_apply(module: Path, arguments: Sequence[str], build: Build) -> int:
    """Runs `quarksmith apply` with a module; returns its exit status."""
    environment = {**os.environ, "QUARKSMITH_KERNELS": str(module.resolve())}
    return subprocess.run([build.folder / "bin" / "quarksmith", "apply", *arguments], env=environment).returncode
