"""Scripts that measure and test on the GPUs of a host, with programs in place of these."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT
from tree import program

MPIRUN = """#!/bin/bash
[ "$1" = --version ] && exec echo 'mpirun (Open MPI) 4.1.4'
[ "$1 $2 $3" = "--allow-run-as-root --bind-to none" ] || exit 2
while [ $# != 0 ] && [ "$1" != -n ]; do shift; done
RANKS=$2 exec "${@:3}"
"""
PROGRAM = """#!{python}
import json, os, sys
words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1] if name in words else ""
print(*words)
open("calls", "a").write(words[0] + "\\n")
ranks = int(os.environ.get("RANKS", 1))
if words[0] == "heatbath":
    open("part_00001.ildg", "w").close()
speeds = dict(alone=100) if ranks == 1 else dict(alone=200, fused=180, peer=170)
rows = [
    dict(precision="double", rhs=rhs, policy=policy, gflops=rhs * speed, chosen=policy == used)
    for rhs, used in ((1, "fused"), (12, "peer"))
    for policy, speed in speeds.items()
]
solve = dict(solver=option("--solver"), batch=1, seconds=0.5 / ranks, iterations=9, host_share=0.25)
trajectory = dict(seconds=4 / ranks, shares=dict(solves=0.5, forces=0.25))
grid = [int(n) for n in (option("--grid") or "1").split(",")]
result = dict(rows=rows, grid=grid, solves=[solve], trajectories=[trajectory] * 2)
json.dump(result, open(option("--json") or os.devnull, "w"))
sys.exit(os.path.exists("broken"))
"""


@pytest.fixture
def host(tmp_path):
    """Programs that stand for a build and for a host with two GPUs."""
    program(tmp_path / "bin" / "nvidia-smi", "#!/bin/sh\necho 'GPU 0: A'\necho 'GPU 1: B'\n")
    program(tmp_path / "bin" / "mpirun", MPIRUN)
    program(tmp_path / "build" / "bin" / "quarksmith", PROGRAM.format(python=sys.executable))
    return tmp_path


def run(host, script, *words, path="", **variables):
    environment = {**os.environ, "PATH": path or f"{host}/bin:{os.environ['PATH']}", **variables}
    return subprocess.run(
        [ROOT / "tools" / script, *words], capture_output=True, text=True, env=environment, check=False
    )


def tables(folder):
    command = [sys.executable, ROOT / "tools" / "scaling_tables.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_host_is_measured_step_by_step(host):
    done = run(host, "measure_host.sh", host / "build", host / "out")
    assert done.returncode == 0, done.stderr
    calls = (host / "out" / "calls").read_text().split()
    assert calls.count("scaling") == 1 + 4 and calls.count("hmc") == 4 and calls.count("heatbath") == 2
    assert calls.count("solve-bench") == 2 * 3
    found = tables(host / "out").stdout
    assert re.search(r"^\| strong, 1,1,1,1 \| 100 \(1\.00\) / 1200 \(1\.00\) ", found, re.M)
    assert re.search(r"^\| strong, 1,1,1,2 \| 180 \(1\.80\) / 2040 \(1\.70\) ", found, re.M)
    assert "| bicgstab | 2 | 1 | 0.2500 | 9 | 25% |" in found and "| hisq | 2 | 2.00 | 2.00 | 1.00 | 0.50 |" in found


def test_steps_that_are_done_are_not_made_again_and_those_that_fail_are(host):
    out = host / "out"
    out.mkdir()
    (out / "broken").touch()
    done = run(host, "measure_host.sh", host / "build", out, "2", STEPS="solves")
    assert done.returncode == 1 and "--solver cg" in done.stderr
    for name in ("broken", "cg_2.json"):
        (out / name).unlink()
    before = (out / "calls").read_text()
    assert run(host, "measure_host.sh", host / "build", out, "2", STEPS="solves").returncode == 0
    assert (out / "calls").read_text() == before + "solve-bench\n"  # of two


def test_what_is_missing_is_said(host):
    for script in ("measure_host.sh", "test_gpu.sh"):
        bare = host / "bare"
        bare.mkdir(exist_ok=True)
        for tool in ("bash", "dirname", "realpath", "mkdir", "wc", "nproc", "env"):
            if not (bare / tool).exists():
                (bare / tool).symlink_to(shutil.which(tool))
        found = run(host, script, host / "build", host / "out", path=str(bare))
        assert found.returncode == 1 and "nvidia-smi lists no GPU" in found.stderr, found
    assert run(host, "measure_host.sh", host / "none", host / "out").returncode == 2
    assert "STEPS has hop" in run(host, "measure_host.sh", host / "build", host / "out", STEPS="hop").stderr
    (host / "empty").mkdir()
    assert tables(host / "empty").returncode == 1


def test_a_batch_is_what_the_kernels_of_its_tiles_take(tmp_path):
    times = {("_n1", 1): 50.0, ("_n1", 4): 180.0, ("_n4", 4): 100.0, ("_n4", 12): 290.0, ("_n8", 8): 160.0}
    rows = [("wilson_tinv_half_r12_nr" + tile, rhs, t) for (tile, rhs), t in times.items()]
    rows += [("wilson_dagger_tinv_half_r12_nr_n1", 1, 1.0), ("wilson_half_r18_nr_n1__complex", 1, 7.0)]
    data = {"kernels": [{"name": n, "rhs": r, "microseconds": t, "precision": "half"} for n, r, t in rows]}
    (tmp_path / "a.json").write_text(json.dumps(data))
    command = [sys.executable, ROOT / "tools" / "plots", "batches", tmp_path / "a.json"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert found[0].endswith(" half: 1 / 4 / 8 / 12 |") and len(found) == 4
    assert "| wilson_tinv r12_nr |  |  | 50 / 25 / 20 / 22 |" in found  # 12: 8 and 4
    assert "| wilson r18_nr complex |  |  | 7 / - / - / - |" in found
    for name, text in {
        "empty": "",
        "list": "[]",
        "else": '{"kernels": [1]}',
        "bare": '{"kernels": [{"rhs": 1}]}',
    }.items():
        (tmp_path / name).write_text(text)
        refused = subprocess.run([*command, tmp_path / name], capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and f"{tmp_path / name}: " in refused.stderr, refused
        assert refused.stderr.count("\n") == 1 and refused.stdout == ""
    (tmp_path / "a.json").write_text(json.dumps({"kernels": [{"name": "axpby_half", "rhs": 1}]}))
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "no file times a hopping term" in refused.stderr


def test_all_parts_of_the_tests_are_counted(host):
    xml = '<testsuites><testcase name="a" status="run"/></testsuites>'
    text = f"#!/bin/bash\nfor w; do case $w in --gtest_output=xml:*) echo '{xml}' > ${{w#*xml:}};; esac; done\n"
    for name in ("quarksmith_tests", "quarksmith_ranks_tests"):
        program(host / "build" / "bin" / name, text + "exit ${GTEST_SHARD_INDEX:-0}\n")
    done = run(host, "test_gpu.sh", host / "build", "1")
    assert done.returncode == 0 and "tests: 1 passed, 0 failed" in done.stdout, done.stdout + done.stderr
    done = run(host, "test_gpu.sh", host / "build", "3")  # the second and the third say that they failed
    assert done.returncode == 1 and "tests: 3 passed, 2 failed" in done.stdout, done.stdout
