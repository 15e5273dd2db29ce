"""What tools/setup.sh decides, on machines made of programs that stand for package managers and compilers."""

import importlib.util
import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from tree import ROOT, program

BASICS = ("bash", "env", "dirname", "grep", "sed", "awk", "cat", "mktemp", "rm", "tr", "paste", "touch")
RELEASES = {
    "apt-get": "ID=debian\n",
    "dnf": 'ID="rocky"\nID_LIKE="rhel centos fedora"\n',
    "fedora": "ID=fedora\n",
    "zypper": 'ID="sles"\nID_LIKE="suse"\n',
    "": "ID=unknown\n",
}


class Machine:
    """A copy of the script and a PATH that holds only what is put there."""

    def __init__(self, folder: Path, release: str) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in BASICS:
            (self.bin / name).symlink_to(shutil.which(name))
        (folder / "tree/tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/setup.sh", folder / "tree/tools/setup.sh")
        shutil.copytree(ROOT / "cmake/requirements", folder / "tree/cmake/requirements")
        shutil.copy(ROOT / "pyproject.toml", folder / "tree")
        (folder / "os-release").write_text(RELEASES[release])
        self.program("id", "echo 1000")
        if release:
            self.program({"apt-get": "dpkg-query", "fedora": "rpm"}.get(release, "rpm"), "exit 1")
            self.program({"fedora": "dnf"}.get(release, release), self.recorded("fetched"))

    def recorded(self, name: str) -> str:
        """A body that writes its call into a file."""
        return f'echo "${{0##*/}} $*" >> {self.folder}/{name}'

    def program(self, name: str, body: str) -> None:
        program(self.bin / name, f"#!/bin/bash\n{body}\n")

    def everything(self, found: str = "") -> None:
        """Compilers, tools and libraries, but for what cmake is made to report; a Python that makes environments."""
        self.program("c++", "cat >/dev/null; exit 0")
        for name in ("ninja", "git"):
            self.program(name, "exit 0")
        self.program("cmake", f'[ "$1" = --version ] && echo "cmake version 3.28.1" || printf "%s" "{found}"')
        venv = 'if [ "$2" = venv ]; then d=${@: -1}; mkdir -p $d/bin; cp "$0" $d/bin/python; fi; exit 0'
        (self.bin / "mkdir").symlink_to(shutil.which("mkdir"))
        (self.bin / "cp").symlink_to(shutil.which("cp"))
        self.program("python3", venv)

    def root(self) -> None:
        self.program("id", "echo 0")

    def setup(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin), "OS_RELEASE": str(self.folder / "os-release"), "TMPDIR": str(self.folder)}
        script = self.folder / "tree/tools/setup.sh"
        command = [shutil.which("bash"), script, *arguments]
        return subprocess.run(command, env=environment | more, capture_output=True, text=True, check=False)

    @property
    def fetched(self) -> str:
        path = self.folder / "fetched"
        return path.read_text() if path.exists() else ""


@pytest.mark.parametrize(
    ("release", "manager", "some"),
    [
        ("apt-get", "apt-get", "libmpfr-dev libgtest-dev libopenmpi-dev openmpi-bin libtomlplusplus-dev libeigen3-dev"),
        ("dnf", "dnf", "gcc-toolset-13 python3.11"),
        ("fedora", "dnf", "gcc-c++ cmake ninja-build"),
        ("zypper", "zypper", "gcc13-c++ cmake ninja"),
    ],
)
def test_root_installs_with_the_manager_of_the_system(tmp_path, release, manager, some):
    machine = Machine(tmp_path, release)
    machine.root()
    run = machine.setup()
    assert run.returncode == 1 and "cmake 3.25 or later" in run.stderr  # the manager of this test installs nothing
    assert any(manager in line and "install" in line and some in line for line in machine.fetched.splitlines())
    assert ("epel-release" in machine.fetched) == (release == "dnf")


def test_a_user_without_rights_gets_the_list_and_the_command(tmp_path):
    machine = Machine(tmp_path, "apt-get")
    run = machine.setup()
    assert run.returncode == 1 and machine.fetched == ""
    assert "C++ compiler, g++ 12 or later (looked for $CXX, c++, g++)" in run.stderr
    assert "sudo apt-get install -y --no-install-recommends g++ cmake" in run.stderr


def test_a_cluster_without_packages_is_told_exactly_what_is_missing(tmp_path):
    machine = Machine(tmp_path, "")
    machine.everything("-- needs: HDF5\n-- wants: MPI_C\n")
    run = machine.setup()
    assert run.returncode == 1
    needs = [line.strip() for line in run.stderr.splitlines() if line.startswith("  ")]
    assert needs == ["library HDF5"]
    assert "load modules, or packaging/environment.yml with conda" in run.stderr


@pytest.mark.parametrize("release", ["", "apt-get", "dnf"])
def test_what_is_found_without_packages_is_enough(tmp_path, release):
    machine = Machine(tmp_path, release)
    machine.everything("-- wants: MPI_C\n")
    run = machine.setup()
    assert run.returncode == 0, run.stderr
    assert "goes on without: library MPI_C" in run.stderr and machine.fetched == ""
    assert machine.setup().stderr == ""  # what was found is remembered


def test_without_a_package_index_the_system_gives_the_python_packages(tmp_path):
    machine = Machine(tmp_path, "apt-get")
    machine.everything()
    python = (machine.bin / "python3").read_text().replace("exit 0", 'case "$*" in *"-m pip"*) exit 1 ;; esac; exit 0')
    lacks = "".join(
        f'case "$*" in *"import {name}"*) grep -qs python3-{package} {tmp_path}/fetched; exit ;; esac\n'
        for name, package in {
            "jinja2": "jinja2",
            "pytest": "pytest",
            "xdist": "pytest-xdist",
            "hypothesis": "hypothesis",
        }.items()
    )
    machine.program("python3", python.replace("#!/bin/bash", lacks))
    run = machine.setup()
    assert run.returncode == 1 and machine.fetched == ""
    assert "sudo apt-get install -y --no-install-recommends python3-jinja2 python3-numpy" in run.stderr
    machine.root()
    assert machine.setup().returncode == 0
    assert "python3-jinja2" in machine.fetched and "pytest" not in machine.fetched
    machine.program("id", "echo 1000")
    run = machine.setup("tests")
    assert run.returncode == 1 and "setup: tests run by pytest, which is missing for python3" in run.stderr
    machine.root()
    assert machine.setup("tests").returncode == 0
    alone = [line.split()[-1] for line in machine.fetched.splitlines()[-3:]]  # not every system has all
    assert alone == ["python3-pytest", "python3-pytest-xdist", "python3-hypothesis"]


def test_an_active_environment_is_used_where_there_is_no_package_index(tmp_path):
    """A venv, and a module of a cluster that sets PYTHONPATH: the interpreter below has none of their packages."""
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip("needs a Python that makes environments")
    machine = Machine(tmp_path, "")
    machine.everything()
    venv.create(tmp_path / "active", symlinks=True)
    (place,) = (tmp_path / "active/lib").glob("python*/site-packages")
    (tmp_path / "module").mkdir()
    for folder, name in ((place, "jinja2"), (place, "numpy"), (tmp_path / "module", "matplotlib")):
        (folder / f"{name}.py").write_text("place = __file__\n")
    machine.program("python3", f'exec {tmp_path}/active/bin/python "$@"')
    run = machine.setup(PIP_NO_INDEX="1", PYTHONPATH=str(tmp_path / "module"))
    assert run.returncode == 0, run.stderr
    code = "import jinja2, numpy, matplotlib; print(jinja2.place, numpy.place, matplotlib.place)"
    command = [tmp_path / "tree/.venv/bin/python", "-c", code]
    found = subprocess.run(command, env={}, capture_output=True, text=True, check=True).stdout
    assert found == f"{place}/jinja2.py {place}/numpy.py {tmp_path}/module/matplotlib.py\n"


def test_an_old_compiler_and_an_old_cmake_are_named(tmp_path):
    machine = Machine(tmp_path, "")
    machine.everything()
    machine.program("c++", '[ "$1" = -dumpfullversion ] && echo 8.5.0 && exit; cat >/dev/null; exit 1')
    machine.program("cmake", "echo cmake version 3.20.4")
    text = machine.setup().stderr
    assert f"g++ 12 or later ({machine.bin}/c++ is 8.5.0)" in text
    assert "cmake 3.25 or later (found 3.20.4)" in text


def test_this_machine_has_what_cmake_looks_for(tmp_path):
    """The real search, with the real libraries: those of the tests are all there."""
    if not (shutil.which("cmake") and shutil.which("ninja")):
        pytest.skip("needs cmake and ninja")
    command = ["cmake", "-S", ROOT / "cmake/requirements", "-B", tmp_path, "-G", "Ninja"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert "-- needs:" not in run.stdout
    hidden = [*command, "-DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON", "--fresh"]
    assert "-- needs: HDF5" in subprocess.run(hidden, capture_output=True, text=True, check=True).stdout


def test_what_compiles_for_gpus_of_amd_is_installed_or_named(tmp_path):
    """`make check-hip` needs it, tests go on without."""
    machine = Machine(tmp_path, "apt-get")
    machine.everything()
    run = machine.setup("hip", ROCM_PATH="/nowhere")
    assert run.returncode == 1 and machine.fetched == ""
    assert "sudo apt-get install -y --no-install-recommends clang-19" in run.stderr
    assert machine.setup("tests", ROCM_PATH="/nowhere").returncode == 0
    machine.root()
    assert machine.setup("tests", ROCM_PATH="/nowhere").returncode == 0
    assert "clang-19" in machine.fetched and "rocm-device-libs" in machine.fetched
    (tmp_path / "rocm/llvm").mkdir(parents=True)
    assert machine.setup("hip", ROCM_PATH=str(tmp_path / "rocm")).returncode == 0
