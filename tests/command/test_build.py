"""One build: what a folder has compiled serves library, tests, installation and demo; its settings are remembered."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, built_for_cpus

from generator.__main__ import main
from generator.emit.build import read_build

HOST = ("runtime/", "solvers/", "interface/", "runs/", "apps/")


def configured(folder: Path, *settings: str) -> dict[str, str]:
    """Configures a folder, with what it remembers; returns the command that compiles each object."""
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *(f"-D{s}" for s in settings)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return commands_of(folder)


def commands_of(folder: Path) -> dict[str, str]:
    entries = json.loads((folder / "compile_commands.json").read_text())
    return {entry["command"].split(" -o ")[1].split()[0]: entry["command"] for entry in entries}


def sources_of(entry: dict[str, str]) -> list[str]:
    """What an entry compiles, from the folder of the tree: one source, or those of a group."""
    grouped = "/Unity/" in entry["file"]
    files = re.findall('#include "(.*)"', Path(entry["file"]).read_text()) if grouped else [entry["file"]]
    return [name.removeprefix(f"{ROOT}/") for name in files]


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Objects of both that ninja would compile anew: it compares their commands."""
    return {name for name in before.keys() & after.keys() if before[name] != after[name]}


@pytest.fixture
def folder(tmp_path):
    """A folder of the default profile without CUDA and tests, beside which the dev profile is rendered."""
    assert main(["generate", "--profile", "dev", "--out", str(tmp_path / "build/dev/generated")]) == 0
    return tmp_path / "build"


def test_host_code_is_compiled_once_and_knows_no_profile():
    files: dict[str, int] = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        for name in sources_of(entry):
            if name == "apps/main.cpp":  # one call, compiled for each program
                continue
            if name.startswith(HOST) and not name.startswith("runtime/targets/cuda"):
                files[name] = files.get(name, 0) + 1
                assert "generated" not in entry["command"] and "/cuda" not in entry["command"], entry["command"]
    assert len(files) > 130 and set(files.values()) == {1}


def test_tests_and_the_demo_add_objects_and_change_none(folder):
    library = configured(folder, "QUARKSMITH_CUDA=OFF", "QUARKSMITH_TESTS=OFF")
    tests = configured(folder, "QUARKSMITH_TESTS=ON", "QUARKSMITH_CUDA_FOR_TESTS=ON")
    demo = configured(folder, "QUARKSMITH_BESIDE=dev")
    again = configured(folder, "QUARKSMITH_CUDA_FOR_TESTS=OFF")
    assert library.keys() < tests.keys() < demo.keys() == again.keys()
    assert not changed(library, tests) and not changed(tests, demo) and not changed(demo, again)
    added = demo.keys() - tests.keys()
    assert all("-dev.dir" in name for name in added) and not any(
        "/apps/" in name and "main.cpp" not in name for name in added
    )
    build = read_build(folder / "dev")
    assert f"-I{folder}/dev" in build.host
    assert not any("ccache" in word.lower() for word in build.host)
    assert built_for_cpus("dev") == build.kernels < read_build(folder).kernels


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_kernels_for_tests_alone_change_objects_of_cuda_alone(folder):
    good = configured(folder, "QUARKSMITH_CUDA=ON", "QUARKSMITH_TESTS=ON")
    fast = configured(folder, "QUARKSMITH_CUDA_FOR_TESTS=ON")
    kernels = {name for name in fast if name.endswith(".cu.o") and "quarksmith_cuda.dir" in name}
    assert kernels
    assert all("/devices/" in fast[name] and "/devices/" not in good.get(name, "") for name in kernels)
    lost = {name for name in good.keys() - fast.keys() | changed(good, fast) if "quarksmith_cuda.dir" not in name}
    assert {Path(name).parent.name + "/" + Path(name).name for name in lost} <= {
        "generated/tuned.cpp.o",
        "cuda/registry.cpp.o",
        "cuda/sites.cu.o",
    }
    assert configured(folder, "QUARKSMITH_CUDA_FOR_TESTS=OFF") == good


def planned(folder: Path, *arguments: str) -> str:
    """What make would run."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-n", "-C", ROOT, f"BUILD={folder}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def test_a_folder_keeps_its_settings(tmp_path):
    (tmp_path / "CMakeCache.txt").write_text("QUARKSMITH_PROFILE:STRING=dev\nQUARKSMITH_TESTS:BOOL=ON\n")
    text = planned(tmp_path, "install")
    assert f"--profile dev --out {tmp_path}/generated" in text
    assert not any(f"-D{s}" in text for s in ("QUARKSMITH_CPU", "QUARKSMITH_CUDA=", "QUARKSMITH_TESTS", "CMAKE_CUDA"))
    assert '-DQUARKSMITH_CPU="v4"' in planned(tmp_path, "library", "CPU=v4")
    assert '-DQUARKSMITH_DEVICES="a;b"' in planned(tmp_path, "library", "DEVICES=a,b")
    assert "-DQUARKSMITH_TESTS=OFF" in planned(tmp_path / "new", "library")


def test_kernels_for_tests_alone_are_not_kept_for_use(tmp_path):
    cache = "QUARKSMITH_CUDA_FOR_TESTS:BOOL=ON\n"
    for more in ("", "CMAKE_CUDA_COMPILER:FILEPATH=NOTFOUND\n"):
        (tmp_path / "CMakeCache.txt").write_text(cache + more)
        assert "compiled anew for use" not in planned(tmp_path, "install")  # without nvcc it meant nothing
    (tmp_path / "CMakeCache.txt").write_text(cache + "CMAKE_CUDA_COMPILER:FILEPATH=nvcc\n")
    text = planned(tmp_path, "install")
    assert text.index("compiled anew for use") < text.index("-DQUARKSMITH_CUDA_FOR_TESTS=OFF")
    assert "compiled anew for use" not in planned(tmp_path, "install", "CUDA=OFF")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/quarksmith").touch()
    assert "QUARKSMITH_CUDA_FOR_TESTS" not in planned(tmp_path, "test")  # tests take the kernels that are there
