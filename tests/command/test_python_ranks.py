"""Programs of Python as several ranks: what one process gives, communicators, errors that leave no rank waiting."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from test_ranks import AT_ONCE, ENVIRONMENT, LAUNCH, several_ranks  # noqa: F401  (fixture)

WEAK = "weak:0.3:4,4,4,8:11"
ALL_CALLS = """
import json
import sys

import numpy as np
import quarksmith as qs

grid = json.loads(sys.argv[1])
rank, size = qs.ranks()
u = qs.read("weak:0.3:4,4,4,8:11", grid=grid)
b = qs.source(u)
x = qs.solve(u, b, action="clover", kappa=0.12, csw=1.2)
s = qs.propagator(u, action="clover", kappa=0.12, csw=1.2)
solver = qs.Solver(u, kappa=0.12)
p = qs.Momenta(u.lattice, seed=3)
smooth = qs.smear("stout", u, rho=0.1, steps=2)
flowed = qs.flow(smooth, time=0.1, every=0.1)
made = qs.heatbath(lattice=(4, 4, 4, 8), beta=5.8, sweeps=2, start="hot", seed=7, grid=grid)
run = '''
[lattice]
extents = [4, 4, 4, 8]
gauge = "weak:0.5"
[trajectory]
length = 0.2
count = 2
seed = 5
[[monomial]]
name = "gauge"
kind = "gauge"
action = "wilson"
beta = 5.6
[[integrator]]
kind = "leapfrog"
steps = 4
monomials = ["gauge"]
'''
measurements = '''
[configurations]
files = ["made.ildg"]
[[observable]]
name = "p"
kind = "plaquette"
'''
if rank == 0:
    open("run.toml", "w").write(run)
    open("measure.toml", "w").write(measurements)
seen = []
qs.ranks()
qs.convert(made, "made.ildg", overwrite=True)
evolved = qs.hmc("run.toml", grid=grid, on_trajectory=lambda t: seen.append(t["dH"]))
measured = qs.measure("measure.toml", out="results.h5", overwrite=True, grid=grid)
found = qs.eigen(u, operator="staggered", action="staggered", mass=0.1, count=2)
numbers = {
    "pion": s.report["correlators"]["pion"],
    "iterations": [r["iterations"] for r in x.report["solves"]],
    "again": [r["iterations"] for r in solver(b, guess=x).report["solves"]],
    "kinetic": p.kinetic(),
    "averages": [f.averages() for f in (u, smooth, flowed, made, evolved, u.moved(p, 0.1), u.copy())],
    "dH": seen,
    "measured": measured["configurations"][0]["results"],
    "eigenvalues": found.eigenvalues,
    "info": qs.info("made.ildg")["plaquette"],
}
lattice = u.lattice
assert lattice.extent == (4, 4, 4, 8) and np.prod(lattice.grid) == size
assert list(lattice.part) == [e // g for e, g in zip(lattice.extent, lattice.grid)]
places = b.sites()
for parity, block, lane in ((0, 0, 0), (1, places.shape[1] - 1, places.shape[2] - 1)):
    t, z, y, x_ = np.unravel_index(places[parity, block, lane], lattice.part[::-1])
    site = s.lexicographic()[:, t, z, y, x_]
    turned = np.asarray(s)[:, parity, block, :, :, :, lane]
    assert np.isclose((turned**2).sum(), (abs(site) ** 2).sum())
v = qs.Spinors(lattice, rhs=12)
v.assign(x.lexicographic())
assert np.allclose(v.lexicographic(), x.lexicographic(), atol=1e-14)
np.savez(f"{size}-{rank}.npz", offset=lattice.offset, part=lattice.part, u=made.lexicographic(), p=p.lexicographic(),
         s=s.lexicographic(), x=x.lexicographic())
json.dump(numbers, open(f"{size}-{rank}.json", "w"))
"""
AXES = {"u": 0, "p": 0, "s": 1, "x": 1}
"""Where t, z, y, x begin."""


class Programs:
    """Runs programs in the folder of a test."""

    def __init__(self, folder, package):
        self.folder, self.package = folder, package

    def __call__(self, ranks, text, *words, status=0, **environment):
        (self.folder / "program.py").write_text(text)
        line = [*LAUNCH, "-n", str(ranks), sys.executable, "program.py", *words]
        start = time.monotonic()
        path = os.pathsep.join(filter(None, (str(self.package), os.environ.get("PYTHONPATH", ""))))
        environment = {**ENVIRONMENT, "PYTHONPATH": path, **environment}
        run = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, timeout=300, env=environment)
        text = f"status {run.returncode}\n{run.stdout}\n{run.stderr}"
        assert (run.returncode == 0) == (status == 0), text
        if status != 0:
            assert time.monotonic() - start < AT_ONCE, text
        return run


@pytest.fixture
def program(tmp_path, package, several_ranks):  # noqa: F811
    return Programs(tmp_path, package)


def whole(folder, size):
    """The arrays of all ranks, put together."""
    arrays = {}
    for rank in range(size):
        part = np.load(folder / f"{size}-{rank}.npz")
        for name, axis in AXES.items():
            here = part[name]
            shape = list(here.shape)
            shape[axis : axis + 4] = 8, 4, 4, 4
            there = arrays.setdefault(name, np.full(shape, np.nan, dtype=here.dtype))
            box = [slice(o, o + e) for o, e in zip(part["offset"][::-1], part["part"][::-1], strict=True)]
            there[(*[slice(None)] * axis, *box)] = here
    return arrays


@pytest.mark.parametrize(("ranks", "grid"), [(2, "[1, 1, 1, 2]"), (4, "[1, 2, 1, 2]")])
def test_all_calls_give_the_bits_of_one_process(program, ranks, grid):
    program(1, ALL_CALLS, "[1, 1, 1, 1]")
    file = (program.folder / "made.ildg").read_bytes()
    program(ranks, ALL_CALLS, grid)
    assert (program.folder / "made.ildg").read_bytes() == file
    one, *others = (json.loads((program.folder / f).read_text()) for f in ["1-0.json", f"{ranks}-0.json"])
    assert others == [json.loads((program.folder / f"{ranks}-{r}.json").read_text()) for r in [ranks - 1]]
    averages, of_parts = one.pop("averages"), others[0].pop("averages")
    assert of_parts == [pytest.approx(a, abs=1e-14) for a in averages]
    assert others == [one] and all(v > 0 for v in one["pion"])
    alone, together = whole(program.folder, 1), whole(program.folder, ranks)
    assert all(np.array_equal(alone[name], together[name]) for name in AXES)


CELL = """
import quarksmith as qs
from quarksmith.language import Links, Spinor, Sum, dot, shift, t, total, x

@qs.expression
def carried(u: Links, psi: Spinor) -> Spinor:
    return u[t] * shift(psi, +t) + psi

@qs.expression
def overlap(u: Links, psi: Spinor) -> Sum:
    return total(dot(psi, u[x] * shift(psi, +x)))

u = qs.read("weak:0.3:4,4,4,8:11")
chi = carried(u, qs.source(u, "wall:3"))
if qs.ranks().rank == 0:
    print("part", chi.lattice.part)
print([value.real.hex() for value in overlap(u, chi).tolist()])
"""


def test_a_cell_gives_the_sums_of_one_process(program):
    environment = {"QUARKSMITH_ON_DEMAND": "on"}
    one, both = program(1, CELL, **environment).stdout, program(2, CELL, **environment).stdout
    assert one.startswith("part (4, 4, 4, 8)\n[") and "part (4, 4, 4, 4)" in both
    sums = one.splitlines()[1]
    assert sums.count("0x") == 12 and both.count(sums) == 2  # lines of ranks may run together


COMMUNICATORS = """
from mpi4py import MPI
import quarksmith as qs

world = MPI.COMM_WORLD
halves = world.Split(world.rank % 2, world.rank)
assert qs.use_ranks(halves) == (halves.rank, 2)
u = qs.read(f"weak:0.3:4,4,4,8:{world.rank % 2}")
assert u.lattice.grid == (1, 1, 1, 2)
mine = qs.propagator(u, kappa=0.12).report["correlators"]["pion"]
all_of_them = world.allgather(mine)
assert all_of_them[0] == all_of_them[2] and all_of_them[1] == all_of_them[3] != all_of_them[0]
assert qs.use_ranks("self") == (0, 1)
alone = qs.propagator(f"weak:0.3:4,4,4,8:{world.rank % 2}", kappa=0.12).report["correlators"]["pion"]
assert alone == mine
try:
    qs.smear("stout", u, rho=0.1)
except qs.UsageError as error:
    assert "use_ranks" in str(error), error
else:
    raise AssertionError("links of other ranks were taken")
assert qs.use_ranks(world) == (world.rank, 4) == qs.use_ranks(world.py2f()) == qs.use_ranks("all")
print(qs.Lattice((4, 4, 4, 8)).grid)
"""


def test_communicators_of_mpi4py_choose_the_ranks(program):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    assert program(4, COMMUNICATORS).stdout.count("(1, 1, 1, 4)") == 4
    script = "import quarksmith as qs\nfrom mpi4py import MPI\nassert not MPI.Is_initialized()"
    program(2, f"import mpi4py\nmpi4py.rc.initialize = False\n{script}")
    program(
        2, "import quarksmith as qs\nqs.ranks()\nfrom mpi4py import MPI\nassert qs.use_ranks(MPI.COMM_WORLD).size == 2"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("qs.Lattice((4, 4, 4, 8), grid=(1, 1, 1, 4))", "grid 1,1,1,4 has 4 parts, but 2 ranks were started"),
        ("qs.read('unit:6,6,6,6')", "cannot be cut into 2 parts of even extents"),
        (
            "qs.smear('stout', qs.read('unit:4,4,4,8'), rho=0.1, grid=(1, 1, 2, 1))",
            "links in memory are on grid 1,1,1,2",
        ),
        ("qs.bench(lattice=(4, 4, 4, 4))", "bench runs as one process, but 2 ranks were started"),
        (
            "qs.Spinors(qs.Lattice((4, 4, 4, 8))).assign(numpy.zeros((1, 8, 4, 4, 4, 4, 3), complex))",
            "the field (1, 4, 4",
        ),
        ("qs.ranks()\nqs.use_ranks(12345)", "communicator 12345: there is none of that number"),
    ],
)
def test_what_all_ranks_meet_is_told_once(program, call, message):
    stderr = program(2, f"import numpy\nimport quarksmith as qs\n{call}", status=1).stderr
    assert message in stderr and stderr.count("Traceback") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("if qs.ranks().rank == 1: raise KeyError('lost')\nqs.read('unit:4,4,4,8')", "KeyError: 'lost'"),
        (
            "qs.read(f'unit:4,4,4,{8 + 4 * qs.ranks().rank}')",
            "rank 1 has another call than rank 0: 'read file=unit:4,4,4,12'",
        ),
    ],
    ids=("alone", "another call"),
)
def test_a_rank_that_goes_another_way_ends_the_job(program, text, message):
    stderr = program(2, f"import quarksmith as qs\n{text}", status=1).stderr
    assert message in stderr


def test_ranks_that_go_on_after_an_error_stay_together(program):
    text = """
import quarksmith as qs
for _ in range(2):
    try:
        qs.read("nothing.ildg")
    except qs.Error as error:
        assert "nothing.ildg" in str(error)
assert qs.read("unit:4,4,4,8").plaquette() == 1
"""
    assert program(2, text).stderr == ""


def test_what_is_no_communicator_is_refused(qs):
    for wrong, message in (("some", "use 'all', 'self' or a communicator"), (3.0, "float is no communicator")):
        with pytest.raises(qs.UsageError, match=message):
            qs.use_ranks(wrong)
    with pytest.raises(qs.UsageError, match="MPI does not run"):
        qs.use_ranks(1)
    assert qs.use_ranks("self") == qs.use_ranks("all") == qs.ranks() == (0, 1)


SPLIT = """
import quarksmith as qs

u = qs.read("weak:0.3:4,4,4,8:11")
b = qs.source(u)
of = {"action": "clover", "mass": 0.2, "csw": 1.1, "tol": 1e-9}
together = qs.Solver(u, **of)(b)
for split in ("1,1,1,1", "1,1,1,2", "1,1,1,4"):
    apart = qs.Solver(u, split=split, **of)(b)
    assert (apart.lexicographic() == together.lexicographic()).all(), split
    solves, same = apart.report["solves"], together.report["solves"]
    assert [s["iterations"] for s in solves] == [s["iterations"] for s in same] and len(solves) == 12
try:
    qs.Solver(u, split="1,1,1,3", **of)
except qs.UsageError as error:
    assert "divisors" in str(error)
print("done")
"""


def test_groups_of_ranks_solve_for_columns_of_their_own(program):
    assert program(4, SPLIT).stdout.count("done") == 4
