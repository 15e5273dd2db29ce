#!/usr/bin/env python3
"""What AMD's code objects say of their kernels: registers, spills, memory, against the limits of a compute unit.

    python runtime/targets/hip/code_objects.py FOLDER [--profile NAME] [--for gfx90a,...] [--worst N]

Reads the objects FOLDER/*.o. Status 1 if a kernel of the profile is missing for an architecture or exceeds a limit.
"""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from generator.emit.render import exists_on  # noqa: E402
from generator.errors import SpecError  # noqa: E402
from generator.profile import load_profile  # noqa: E402
from generator.targets import TARGETS  # noqa: E402

TARGET = TARGETS[Path(__file__).parent.name]
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
READELF = ("llvm-readelf-19", "llvm-readelf-18", "llvm-readelf-17", "/opt/rocm/llvm/bin/llvm-readelf", "llvm-readelf")
REGISTERS, SCALARS, SHARED, WAVES = 512, 106, 65536, 8
"""Of CDNA 2 and 3: vector registers of a thread where a wavefront has a SIMD unit to itself, of which some accumulate;
scalar registers; bytes of LDS; wavefronts of a unit (https://llvm.org/docs/AMDGPUUsage.html)."""


@dataclass(frozen=True)
class Function:
    """A kernel of a code object, and its numbers there."""

    name: str
    vectors: int
    scalars: int
    spilled: int
    scratch: int
    shared: int

    @property
    def kernel(self) -> str:
        """The kernel of the profile that it is made for; empty if it is for any field."""
        found = re.search(r"kernelINS0_(\d+)(\w+)", self.name)
        return found[2][: int(found[1])].removesuffix("_row") if found else ""

    @property
    def kind(self) -> str:
        """What it does of a kernel: kernel, batch_kernel, halo_kernel, halo_batch_kernel; empty as above."""
        found = re.search(r"\d((?:[a-z]+_)*kernel)I", self.name)
        return found[1] if found and self.kernel else ""

    @property
    def waves(self) -> int:
        """Wavefronts of a SIMD unit that have registers; they are given out eight at a time."""
        return min(REGISTERS // max((self.vectors + 7) // 8 * 8, 8), WAVES)

    @property
    def fits(self) -> bool:
        """Whether a compute unit can run it at all."""
        return self.vectors <= REGISTERS and self.scalars <= SCALARS and self.shared <= SHARED


def bundled(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Architectures and code objects in an object of the host."""
    start = data.find(MAGIC)
    while start >= 0:
        at = start + len(MAGIC)
        (count,) = struct.unpack_from("<Q", data, at)
        at += 8
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, at)
            name = data[at + 24 : at + 24 + length].decode()
            at += 24 + length
            if name.startswith("hip") and size:
                yield name.rsplit("-", 1)[-1], data[start + offset : start + offset + size]
        start = data.find(MAGIC, at)


def functions(code: bytes, readelf: str) -> Iterator[Function]:
    """The kernels of a code object."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        notes = subprocess.run([readelf, "--notes", file.name], capture_output=True, text=True, check=True).stdout
    for part in re.split(r"^  - ", notes, flags=re.M)[1:]:
        found = dict(re.findall(r"^(?:    )?\.(\w+): +'?([\w.]+)'?$", part, flags=re.M))
        if "vgpr_count" in found:
            yield Function(
                name=found["name"],
                vectors=int(found["vgpr_count"]),
                scalars=int(found["sgpr_count"]),
                spilled=int(found["vgpr_spill_count"]),
                scratch=int(found["private_segment_fixed_size"]),
                shared=int(found["group_segment_fixed_size"]),
            )


def report(architecture: str, found: list[Function], wanted: set[str], worst: int) -> bool:
    """Prints the numbers of an architecture; whether it has all kernels and each can run."""
    missing = sorted(wanted - {f.kernel for f in found})
    unfit = [f for f in found if not f.fits]
    spilling = [f for f in found if f.spilled]
    kinds, some = (Counter(f.kind or "for any field" for f in group) for group in (found, spilling))
    print(f"{architecture}: {len(wanted) - len(missing)} of {len(wanted)} kernels, {len(found)} functions")
    print(f"  spill vector registers: {', '.join(f'{some[k]} of {n} ({k})' for k, n in sorted(kinds.items()))}")
    for waves in range(1, WAVES + 1):
        if count := sum(f.waves == waves for f in found):
            print(f"  registers for {waves} wavefronts of a SIMD unit: {count}")
    print(f"  most LDS: {max((f.shared for f in found), default=0)} of {SHARED} bytes, without what launches add")
    for f in sorted(spilling, key=lambda f: -f.scratch)[:worst]:
        numbers = f"{f.vectors:>4} registers, {f.scratch:>5} bytes of scratch, {f.spilled:>4} spills"
        print(f"  {numbers}: {f.kind} of {f.kernel}")
    for f in unfit:
        print(f"  DOES NOT FIT: {f.vectors} and {f.scalars} registers, {f.shared} bytes of LDS  {f.name}")
    if missing:
        print(f"  MISSING: {', '.join(missing)}")
    return not missing and not unfit


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--profile", default="default")
    parser.add_argument("--for", dest="architectures", default="gfx90a,gfx942", help="(default: gfx90a,gfx942)")
    parser.add_argument("--worst", type=int, default=5, help="kernels with most spills to print (default: 5)")
    options = parser.parse_args(arguments)
    readelf = next((name for name in READELF if shutil.which(name)), None)
    objects = sorted(options.folder.glob("*.o"))
    if readelf is None or not objects:
        what = f"{options.folder} holds no objects" if readelf else f"none of {', '.join(READELF)} was found"
        print(f"code_objects: {what}; `make check-hip` makes them and installs what reads them", file=sys.stderr)
        return 2
    try:
        wanted = {s.name for s in load_profile(options.profile).kernels if exists_on(s, TARGET)}
    except SpecError as error:
        print(f"code_objects: {error}", file=sys.stderr)
        return 2
    found: dict[str, list[Function]] = defaultdict(list)
    for path in objects:
        for architecture, code in bundled(path.read_bytes()):
            found[architecture] += functions(code, readelf)
    good = [report(name, found[name], wanted, options.worst) for name in options.architectures.split(",")]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
