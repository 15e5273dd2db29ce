"""An installed library is found and used by other projects, in C++ and C."""

import json
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, ROOT
from test_ranks import ENVIRONMENT, LAUNCH


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where it is installed."""
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    return prefix


def built(prefix, folder, *targets):
    """The folder of these programs, those of the page about C++ among them."""
    pages = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs/howto-cpp.md").read_text(), re.S)
    for name, page in zip(("pion", "flow"), pages, strict=True):
        (folder / f"{name}.cpp").write_text(page)
    build = folder / "build"
    configure = ["cmake", "-S", ROOT / "tests/consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    configure.append(f"-DPAGES={folder}")
    for command in (configure, ["cmake", "--build", build, "--target", *targets]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
    return build


def test_a_consumer_finds_the_installed_package(prefix, tmp_path):
    assert (prefix / "bin" / "quarksmith").exists()
    assert (prefix / "include" / "quarksmith.h").exists()
    build = built(prefix, tmp_path, "consumer", "consumer_c", "consumer_kick")
    for program, solves in (("consumer", 1), ("consumer_c", 2)):
        run = subprocess.run([build / program], capture_output=True, text=True, check=True)
        assert run.stdout.count("iterations, |b - M x| / |b| =") == solves, program
    run = subprocess.run([build / "consumer_kick"], capture_output=True, text=True, check=True)
    assert re.match(r"action -\d+\.\d+, momenta \d", run.stdout)


def test_programs_of_the_pages_print_what_they_say(prefix, tmp_path):
    build = built(prefix, tmp_path, "all")
    check_ranks(build / "consumer_ranks", prefix / "bin" / "quarksmith", tmp_path)
    check_pion(build / "consumer_pion", prefix / "bin" / "quarksmith", tmp_path)
    check_flow(build / "consumer_flow", prefix / "bin" / "quarksmith", tmp_path)


def check_ranks(program, quarksmith, folder):
    """A program of MPI with orders of its own prints the same on any grid; an error is one of all its ranks."""
    if not program.exists() or shutil.which("mpirun") is None:
        return
    make = ["heatbath", "--lattice", "4,4,4,8", "--beta", "6", "--sweeps", "2", "--seed", "7", "--out", "ranks"]
    subprocess.run([quarksmith, *make], cwd=folder, check=True, capture_output=True)

    def run(ranks: int, grid: str, name: str = "ranks_00002.ildg", of=program) -> subprocess.CompletedProcess[str]:
        line = [*LAUNCH, "-n", str(ranks), of, name, "4,4,4,8", grid]
        return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, env=ENVIRONMENT)

    on_one = run(1, "1,1,1,1").stdout
    lines = on_one.splitlines()
    assert re.match(r"plaquette 0\.\d+$", lines[0]) and "below 1e-10" in lines[2] and len(lines) == 9, on_one
    for ranks, grid in ((2, "1,1,1,2"), (4, "2,1,2,1")):
        assert run(ranks, grid).stdout == on_one, grid
    side_by_side = run(4, "1,1,1,2").stdout.splitlines()
    assert sorted(side_by_side) == sorted(2 * lines)
    fortran = program.with_name("consumer_fortran")
    for ranks, grid in ((1, "1,1,1,1"), (2, "1,1,1,2")) if fortran.exists() else ():
        assert run(ranks, grid, of=fortran).stdout.splitlines() == lines[:2]
    wrong = run(2, "1,1,1,2", "nowhere.ildg")
    assert wrong.returncode != 0 and wrong.stderr.count("nowhere.ildg") == 2 and not wrong.stdout


def check_pion(program, quarksmith, folder):
    """The program of docs/howto-cpp.md prints what the commands give, and refuses what they refuse."""

    def pion(gauge: str) -> list[float]:
        action = ["--action", "clover", "--kappa", "0.12", "--csw", "1.0", "--tol", "1e-9"]
        subprocess.run([quarksmith, "propagator", "--gauge", gauge, *action, "--json", "p.json", "--overwrite"],
                       cwd=folder, check=True, capture_output=True)  # fmt: skip
        return json.loads((folder / "p.json").read_text())["correlators"]["pion"]

    make = ["heatbath", "--lattice", "4,4,4,6", "--beta", "6", "--sweeps", "2", "--out", "made"]
    smear = ["smear", "stout", "made_00002.ildg", "smeared.ildg", "--rho", "0.1", "--steps", "2"]
    for command in (make, smear):
        subprocess.run([quarksmith, *command], cwd=folder, check=True, capture_output=True)
    run = subprocess.run([program, "made_00002.ildg"], cwd=folder, capture_output=True, text=True, check=True)
    printed = [float(line.split()[1]) for line in run.stdout.splitlines() if not line.startswith("plaquette")]
    expected = pion("made_00002.ildg")[:-1] + pion("smeared.ildg")[:-1]
    assert printed == pytest.approx(expected, rel=1e-7)
    wrong = subprocess.run([program, "nowhere.ildg"], cwd=folder, capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "nowhere.ildg" in wrong.stderr and not wrong.stdout


def check_flow(program, quarksmith, folder):
    """The links that one run leaves are those that the next begins with: numbers of the commands."""
    make = ["heatbath", "--lattice", "4,4,4,8", "--beta", "6.2", "--sweeps", "10", "--out", "q", "--json", "q.json"]
    flow = ["flow", "q_00010.ildg", "--time", "0.2", "--json", "w.json"]
    for command in (make, flow):
        subprocess.run([quarksmith, *command], cwd=folder, check=True, capture_output=True)
    lines = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    points = json.loads((folder / "w.json").read_text())["flow"]
    assert len(points) == 3
    expected = [f"t {p['t']:.2f} t^2 E {p['t2e_clover']:.10f} charge {p['charge']:.6f}" for p in points]
    plaquettes = json.loads((folder / "q.json").read_text())["plaquettes"]
    assert lines == [f"sweep {n:2} plaquette {p:.10f}" for n, p in enumerate(plaquettes, 1)] + expected


@pytest.mark.parametrize(("name", "page"), [("solve.c", "howto-c.md"), ("kick.c", "howto-forces.md")])
def test_the_example_of_the_docs_is_what_is_compiled(name, page):
    source = (ROOT / "tests/consumer" / name).read_text()
    shown = re.search(rf"/\* --- docs/{page} shows what follows --- \*/\n(.*)/\* --- end --- \*/", source, re.S)
    example = re.search(r"```c\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
    assert example.group(1) == shown.group(1)
