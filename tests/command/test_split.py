"""Groups of ranks that solve for columns of their own: bits, records and files are those of all ranks together."""

import pytest
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)

WEAK = ("--gauge", "weak:0.3:4,4,4,8:5", "--device", "cpu", "--tol", "1e-8")
QUARKS = {
    "clover": ("--action", "clover", "--mass", "0.2", "--csw", "1.1", "--solver", "bicgstab"),
    "staggered": ("--action", "staggered", "--mass", "0.3"),
    "moebius": ("--action", "moebius", "--ls", "4", "--m5", "1.8", "--b5", "1.5", "--c5", "0.5", "--mass", "0.5"),
    "smeared links": ("--mass", "0.3", "--solver", "cg", "--smear-links", "stout:0.1,2"),
}
TIMES = ("seconds", "gflops")
RUN = """
[configurations]
files = ["weak:0.3:4,4,4,8:5"]
numbers = [1]

[gauge_fixing]
condition = "coulomb"
tol = 1e-6

[[source]]
name = "point"
at = [0, 0, 0, 0]

[[quark]]
name = "light"
action = "wilson"
mass = 0.3
solver = "bicgstab"
KEYS
tol = 1e-8

[[propagator]]
name = "p"
quark = "light"
source = "point"

[[correlator]]
name = "pion"
kind = "meson"
quarks = ["p", "p"]
gammas = ["g5"]

[[correlator]]
name = "loop"
kind = "loop"
quark = "light"
count = 2
seed = 4
gammas = ["1"]
"""


def groups(stderr: str) -> bool:
    return "groups of ranks" in stderr


def without_times(report: dict) -> dict:
    solves = [{key: value for key, value in s.items() if key not in TIMES} for s in report["solves"]]
    return report | {"solves": solves}


@pytest.mark.parametrize("quark", QUARKS)
@pytest.mark.parametrize(("ranks", "split"), [(2, "1,1,1,2"), (4, "1,1,1,2")])
def test_propagators_have_the_same_bits(mpirun, quark, ranks, split):  # noqa: F811
    line = ("propagator", *WEAK, *QUARKS[quark], "--grid", f"1,1,1,{ranks}")
    seen = {}
    for name, how in {"together": ("--split", "1,1,1,1"), "apart": ("--split", split), "chosen": ()}.items():
        run = mpirun(ranks, *line, *how, "--correlators", f"{name}.json")
        assert groups(run.stderr) == (name != "together")
        seen[name] = without_times(mpirun.json(f"{name}.json"))
    assert seen["apart"] == seen["chosen"] == seen["together"]


def test_what_cannot_be_split_is_refused_or_done_by_all(mpirun):  # noqa: F811
    line = ("propagator", *WEAK, "--correlators", "x.json", "--grid", "1,1,1,2")
    masses = ("--action", "staggered", "--mass", "0.2,0.3")
    assert "several masses" in mpirun.error(2, *line, *masses, "--split", "1,1,1,2")
    assert "divisors" in mpirun.error(2, *line, "--mass", "0.3", "--split", "1,1,2,1")
    assert "four" in mpirun.error(2, *line, "--mass", "0.3", "--split", "2")
    # What multigrid may take over, or projected spinors in half precision round, has other bits then.
    for how in ((), ("--solver", "cg", "--precision", "double-half"), ("--solver", "cg", "--deflate", "4")):
        run = mpirun(2, *line, "--mass", "0.3", *how, "--overwrite")
        assert not groups(run.stderr)


@pytest.mark.parametrize(("ranks", "split"), [(2, "1,1,1,2"), (4, "1,1,1,4")])
def test_measurements_have_the_same_records(mpirun, ranks, split):  # noqa: F811
    (mpirun.folder / "run.toml").write_text(RUN.replace("KEYS", ""))
    records = {}
    for name, how in {"together": ("--split", "1,1,1,1"), "apart": ("--split", split), "chosen": ()}.items():
        grid = ("--grid", f"1,1,1,{ranks}")
        run = mpirun(ranks, "measure", "run.toml", "--out", f"{name}.h5", "--json", f"{name}.json", *grid, *how)
        assert groups(run.stderr) == (name != "together")
        records[name] = mpirun.json(f"{name}.json")
    assert records["together"]["configurations"][0]["results"]["pion"]["values"]
    assert records["apart"] == records["chosen"] == records["together"]
    line = ("measure", "run.toml", "--out", "late.h5", *grid, *how, "--time-limit", "0.01")
    assert "no configuration was measured" in mpirun.error(ranks, *line, status=1)


def test_quarks_that_need_all_ranks_are_not_split(mpirun):  # noqa: F811
    (mpirun.folder / "run.toml").write_text(RUN.replace("KEYS", "deflation = 4"))
    line = ("measure", "run.toml", "--out", "x.h5", "--grid", "1,1,1,2")
    assert "no quark" in mpirun.error(2, *line, "--split", "1,1,1,2")
    assert not groups(mpirun(2, *line).stderr)
