"""AMD's GPUs without one: a sample of kernels is compiled for them, and their source runs on the host's processors.

tests/hip_on_host/hip/hip_runtime.h stands for HIP there: no packaged emulation was found (HIP-CPU is in no
distribution).
"""

import importlib.util
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT

from generator.__main__ import main
from generator.emit.render import render_files, render_group
from generator.plan import exists_on
from generator.profile import load_profile
from generator.targets import TARGETS

HIP = TARGETS["hip"]
COMPILER = next((c for c in ("/opt/rocm/llvm/bin/clang++", "clang++-19") if shutil.which(c)), None)
BITCODE = [*Path("/usr/lib").glob("*/amdgcn/bitcode"), *Path("/opt/rocm").glob("amdgcn/bitcode")]
ON_HOST = ["g++", "-std=c++20", "-O1", "-w", f"-I{ROOT}", f"-I{ROOT / 'tests/hip_on_host'}"]
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="HIP's source runs on x86-64 hosts alone")
SAMPLE = 4

spec = importlib.util.spec_from_file_location("code_objects", ROOT / "runtime/targets/hip/code_objects.py")
code_objects = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = code_objects
spec.loader.exec_module(code_objects)


def compiled(folder, architecture, specs):
    """A file of these kernels, compiled for an architecture; what it leaves to say."""
    source = folder / f"{architecture}.hip"
    source.write_text(render_group(specs, HIP, "a test"))
    libraries = folder / architecture  # those of gfx940 do for gfx942, as runtime/targets/hip/target.cmake says
    shutil.copytree(BITCODE[0], libraries)
    if not (libraries / "oclc_isa_version_942.bc").exists():
        shutil.copy(libraries / "oclc_isa_version_940.bc", libraries / "oclc_isa_version_942.bc")
    options = ["-x", "hip", "-std=c++20", "-O3", "--cuda-device-only", f"--rocm-device-lib-path={libraries}"]
    options += ["-include", "hip/hip_runtime.h", f"--offload-arch={architecture}", f"-I{folder}", f"-I{ROOT}"]
    options += ["--rocm-path=/usr"] if Path("/usr/include/hip").exists() else []
    command = [COMPILER, *options, "-c", source, "-o", source.with_suffix(".o")]
    return subprocess.run(command, capture_output=True, text=True).stderr


@pytest.mark.skipif(
    COMPILER is None or not BITCODE,
    reason=f"{SAMPLE} HIP kernels: needs ROCm, or on Debian clang-19 clang-tools-19 llvm-19 lld-19 libamdhip64-dev "
    "rocm-device-libs",
)
def test_a_sample_of_kernels_compiles_for_each_architecture(tmp_path):
    """Some of the default profile, half of them for each; `make check-hip` compiles all for both."""
    kernels = [s for s in load_profile("default").kernels if exists_on(s, HIP)]
    sample = kernels[:: len(kernels) // SAMPLE][:SAMPLE]
    assert len(sample) == SAMPLE and len({s.operator.family for s in sample}) > 2
    for path, text in render_files(sample, "a test").items():
        (tmp_path / "generated" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "generated" / path).write_text(text)
    parts = {"gfx90a": sample[::2], "gfx942": sample[1::2]}
    with ThreadPoolExecutor() as pool:
        said = list(pool.map(lambda item: compiled(tmp_path, *item), parts.items()))
    assert said == ["", ""]
    readelf = next(name for name in code_objects.READELF if shutil.which(name))
    for name, specs in parts.items():
        objects = dict(code_objects.bundled((tmp_path / f"{name}.o").read_bytes()))
        functions = list(code_objects.functions(objects[name], readelf))
        assert {f.kernel for f in functions} == {s.name for s in specs}
        assert all(f.fits and f.vectors > 0 for f in functions)


def test_a_missing_kernel_is_reported(capsys):
    one = code_objects.Function("_Z6kernelINS0_5a_rowE", vectors=100, scalars=40, spilled=2, scratch=8, shared=0)
    assert one.kernel == "a" and one.waves == 4 and one.fits
    assert code_objects.report("gfx90a", [one], {"a"}, 1)
    assert not code_objects.report("gfx90a", [one], {"a", "b"}, 1)
    assert "1 of 2 kernels" in capsys.readouterr().out
    large = code_objects.Function("large", vectors=600, scalars=40, spilled=0, scratch=0, shared=0)
    assert not code_objects.report("gfx90a", [one, large], {"a"}, 1)


@on_x86
@pytest.mark.parametrize("wave", [32, 64])
def test_functions_of_the_target_agree_with_plain_arithmetic(wave, tmp_path):
    source = ROOT / "tests/hip_on_host/functions_test.cpp"
    names = ["-DQUARKSMITH_TARGET=hip_on_host", f"-D__AMDGCN_WAVEFRONT_SIZE__={wave}"]
    subprocess.run([*ON_HOST, *names, source, "-lgtest", "-lgtest_main", "-o", tmp_path / "functions"], check=True)
    done = subprocess.run([tmp_path / "functions", "--gtest_brief=1"], capture_output=True, text=True)
    assert done.returncode == 0 and "11 tests" in done.stdout, done.stdout


@on_x86
@pytest.mark.parametrize(
    ("name", "wave"),
    [
        ("wilson_half_r12_nr_n1", 64),
        ("wilson_quarter_r12_nr_n1__kept_b128m3", 64),  # links of a batch in LDS
        ("twisted_clover_tinv_double_r12_nr_n1", 32),
        ("cdot_half", 64),  # sums over wavefronts, blocks
    ],
)
def test_an_exported_kernel_runs_on_the_host_and_agrees_with_its_reference(name, wave, tmp_path):
    path = tmp_path / "kernel.hip"
    assert main(["export", name, "--target", "hip", "--out", str(path)]) == 0
    options = ["-x", "c++", f"-D__AMDGCN_WAVEFRONT_SIZE__={wave}"]
    subprocess.run([*ON_HOST, *options, path, "-o", tmp_path / "kernel"], check=True)
    for lattice in ("4,4,4,4", "4,8,4,12"):
        done = subprocess.run([tmp_path / "kernel", lattice], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.endswith("PASSED\n"), done.stdout + done.stderr
