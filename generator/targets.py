"""Targets: what kernels are compiled for. All that the generator knows of one is its row here.

What the C++ side knows of it lies in runtime/targets/NAME, pieces of exported programs in templates/targets/NAME.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import SpecError


@dataclass(frozen=True)
class Size:
    """A class of launches (runtime/tuning.hpp) and the launch that stands for it.

    Attributes:
        lattice: its extents.
        rhs: right-hand sides.
        gain: fraction by which a further variant must be faster here, since each costs text and compilation.
    """

    lattice: tuple[int, int, int, int]
    rhs: int = 1
    gain: float = 0.03


@dataclass(frozen=True)
class Threads:
    """Limits of a target where a thread works on a site, for one multiprocessor."""

    registers: int  # of 32 bits
    most: int
    shared: int  # bytes of shared memory that a block may have
    step: int = 32  # threads that work in step
    own: int = 255  # registers that a thread may have

    def left(self, threads: int) -> int:
        """Registers of each of so many threads, which four units share in steps."""
        shared = 4 * self.step
        return min(self.registers // (-(-threads // shared) * shared), self.own)


@dataclass(frozen=True)
class Compiler:
    """A compiler: commands for candidates of a sweep without a build, and patterns of its report on registers."""

    program: str
    architecture: str  # unless the sweep is told another
    flags: tuple[str, ...]  # `{}` stands for the architecture
    entry: str  # the length of a kernel's name, and what begins with it
    spills: str  # bytes of registers stored to memory
    registers: str  # a thread


@dataclass(frozen=True)
class Target:
    """One target.

    Attributes:
        name: of its folders, in --target and --device.
        suffix: ending of its translation units.
        tables: of its kernels, one for each instruction set: name -> namespace, which is QUARKSMITH_TARGET there;
            quarksmith_NAMESPACE is the object library.
        headers: that units include after runtime/kernels/kernel.hpp; see include.
        shapes: names of generator.shapes that differ from the plain shape here.
        export: command that compiles an exported file, without its name.
        export_lattice: X,Y,Z,T that it runs on.
        kernel_seconds: to compile a kernel on one core, measured on the default profile.
        compile_seconds: the same for a candidate of a sweep, in all widths.
        measure_seconds: of a candidate in one class of launches: comparisons, then samples.
        sizes: classes of launches that are measured.
        sums: C++ template around kernels with sums, declared in sums.hpp of its folder; empty if `apply` adds up.
        threads: limits of launches, of which the numbers are tuned; None where a launch has none.
        batches: whether each tile of right-hand sides is a kernel; else tiles share links in fast memory.
        widest_tile: right-hand sides of a hopping term whose sums its registers hold.
        code_flags: for code of shared libraries.
        libraries: that modules are linked with, beside those of the host.
        compiler: of sweeps; None: they take the commands of a build.
        export_headers: that an exported file includes.
    """

    name: str
    suffix: str
    tables: Mapping[str, str] = field(hash=False)
    headers: tuple[str, ...]
    shapes: tuple[str, ...]
    export: str
    export_lattice: str
    kernel_seconds: float
    compile_seconds: float
    measure_seconds: float
    sizes: Mapping[str, Size] = field(hash=False)
    sums: str = ""
    threads: Threads | None = None
    batches: bool = False
    widest_tile: int = 8
    code_flags: tuple[str, ...] = ("-fPIC", "-fvisibility=hidden")
    libraries: tuple[str, ...] = ()
    compiler: Compiler | None = None
    export_headers: tuple[str, ...] = ()

    def include(self, header: str) -> str:
        """Path of a header of its folder, or of `folder/header`."""
        return f"runtime/targets/{header if '/' in header else f'{self.name}/{header}'}.hpp"

    def link(self, compiler: str) -> list[str]:
        """Options that link a module with its libraries, which lie with a compiler."""
        root = Path(shutil.which(compiler) or compiler).resolve().parents[1]
        return [f"-L{root / 'lib64'}", f"-L{root / 'lib'}", *self.libraries] if self.libraries else []


OF_GPUS = ("gpu/products", "gpu/batch", "gpu/halo")
"""Headers of every target where a thread works on a site."""
GPU_SHAPES = ("box", "kept", "pairs", "quads", "stream", "tfirst")
GPU_SIZES = {
    "large": Size((32, 32, 32, 64)),
    "batch": Size((32, 32, 32, 64), 12),
    "small": Size((16, 16, 16, 16)),
    "tiny": Size((8, 8, 8, 8), gain=0.2),  # launches of 2 to 5 us: starting them takes as long
}

TARGETS = {
    t.name: t
    for t in (
        Target(
            name="cpu",
            suffix="cpp",
            tables={
                "x86-64-v3": "cpu_v3",  # in the order of runtime/targets/cpu/processor.hpp
                "x86-64-v4": "cpu_v4",
                "neon": "cpu_neon",
                "sve256": "cpu_sve256",
                "sve512": "cpu_sve512",
            },
            headers=("hops",),
            shapes=("rows", "noprefetch"),
            sums="ExactSums",
            batches=True,
            widest_tile=4,
            export="g++ -std=c++20 -O3 -march=native -Wno-psabi -fopenmp",
            export_lattice="16,16,16,16",
            kernel_seconds=0.55,
            compile_seconds=5.0,
            measure_seconds=0.6,
            sizes={"large": Size((32, 32, 32, 16)), "small": Size((16, 16, 16, 16))},
        ),
        Target(
            name="cuda",
            suffix="cu",
            tables={"cuda": "cuda"},
            headers=OF_GPUS,
            shapes=GPU_SHAPES,
            threads=Threads(registers=65536, most=2048, shared=232448),  # compute capability 9.0
            code_flags=("-Xcompiler=-fPIC,-fvisibility=hidden",),
            libraries=("-lcudart_static", "-lrt", "-ldl", "-lpthread"),
            compiler=Compiler(
                program="nvcc",
                architecture="90",
                flags=("-O3", "-std=c++17", "-arch=sm_{}", "-Xptxas=-v"),
                entry=r"Compiling entry function '\w*?kernelINS0_(\d+)(\w+)'",
                spills=r"(\d+) bytes spill stores",
                registers=r"Used (\d+) registers",
            ),
            export="nvcc -std=c++20 -O3 -arch=sm_90",
            export_headers=("cuda_runtime.h",),
            export_lattice="32,32,32,32",
            kernel_seconds=0.35,
            compile_seconds=3.0,
            measure_seconds=0.05,
            sizes=GPU_SIZES,
        ),
        Target(
            name="hip",
            suffix="hip",
            tables={"hip": "hip"},
            headers=OF_GPUS,
            shapes=GPU_SHAPES,
            threads=Threads(
                registers=131072, most=2048, shared=65536, step=64, own=512
            ),  # a compute unit of gfx90a and gfx942
            libraries=("-lamdhip64",),
            compiler=Compiler(
                program="hipcc",
                architecture="gfx90a",
                flags=(
                    "-O3",
                    "-std=c++17",
                    "--offload-arch={}",
                    "-include",
                    "hip/hip_runtime.h",
                    "-Rpass-analysis=kernel-resource-usage",
                ),
                entry=r"Function Name: _Z\w*?kernelINS0_(\d+)(\w+)",
                spills=r"ScratchSize \[bytes/lane\]: (\d+)",
                registers=r" VGPRs: (\d+)",
            ),
            export="hipcc -std=c++20 -O3 --offload-arch=gfx90a",
            export_headers=("hip/hip_runtime.h",),
            export_lattice="32,32,32,32",
            kernel_seconds=7.0,  # for two architectures
            compile_seconds=6.0,
            measure_seconds=0.15,
            sizes=GPU_SIZES,
        ),
    )
}
"""All targets by name, the host's processors first."""

HOST = next(iter(TARGETS.values()))
GPU, LIMITS = next((t, t.threads) for t in TARGETS.values() if t.threads)
"""The target that commands take unless told otherwise, and what launch numbers start from."""
TABLES = {table: target for target in TARGETS.values() for table in target.tables}
"""The target of each table."""


def target_of_device(device: str) -> Target:
    """The target of a device such as `cpu` or NAME:N.

    Raises:
        SpecError: there is none of that name.
    """
    name = device.partition(":")[0]
    if name not in TARGETS:
        raise SpecError(f"device '{device}' is unknown; use {', '.join(TARGETS)}, or NAME:N for one of several")
    return TARGETS[name]
