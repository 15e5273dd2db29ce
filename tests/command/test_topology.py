"""`quarksmith devices`: what is here, where ranks run, what communication between them takes."""

import re

import pytest
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)


def test_one_process_tells_of_its_host(quarksmith):
    out = quarksmith("devices", "--json", "d.json").stdout
    data = quarksmith.json("d.json")
    assert data["devices"][0]["name"] == "cpu"
    assert data["devices"][0]["kernels"] > 0
    assert data["host"]["processors"]
    assert re.search(r"^host \S+: processors [0-9,-]+, NUMA node\(s\) ", out, flags=re.M)
    assert "mpirun -n N quarksmith devices --measure" in out
    assert ("built without" in out) == (data["mpi"] == "")


def test_ranks_tell_where_they_run_and_why_policies_cannot_be_used(mpirun):  # noqa: F811
    out = mpirun(2, "devices", "--device", "cpu", "--json", "d.json").stdout
    data = mpirun.json("d.json")
    assert len(data["ranks"]) == 2
    assert all(r["device"] == "cpu" and r["gpu_numa_node"] == -1 for r in data["ranks"])
    assert data["policies"]["peer"] == "used"
    assert data["policies"]["overlap"] == "possible"
    assert "needs a GPU" in data["policies"]["fused"]
    assert out.count("policy fused: ") == 1
    assert "needs a GPU" in mpirun.error(2, "devices", "--device", "cpu", "--policy", "fused")


def test_ranks_that_share_processors_are_named(mpirun):  # noqa: F811
    line = mpirun.line(3, "devices", "--device", "cpu", "--json", "d.json")
    mpirun.run(["taskset", "-c", "0", *line])
    (warning,) = mpirun.json("d.json")["warnings"]
    assert warning.startswith("ranks 0, 1, 2 share 1 processor(s), 0 of ")


@pytest.mark.alone
def test_times_between_ranks_are_what_the_model_wants(mpirun, quarksmith):  # noqa: F811
    mpirun(2, "devices", "--device", "cpu", "--measure", "--json", "d.json")
    data = mpirun.json("d.json")
    assert [t["ranks"] for t in data["times"]] == ["0 and 1", "all, next on the host"]
    for t in data["times"]:
        assert min(t["stores_gbytes_per_second"], t["message_gbytes_per_second"]) > 0.01
        assert 0 < t["message_us"] < 1e5
    mpirun(1, "scaling", "--device", "cpu", "--lattice", "4,4,4,4", "--precision", "double", "--json", "s.json")
    program, command, *link = data["model"].split()
    assert program == "quarksmith"
    assert link[0] == "--link"
    where = ("--lattice", "8,8,8,8", "--grid", "1,1,1,2", "--target", "cpu", "--launch", 0)
    assert "8x8x8x4" in quarksmith(command, *where, "--measured", "s.json", *link).stdout
