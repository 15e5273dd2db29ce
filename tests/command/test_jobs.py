"""What users do with the command."""

import csv
import os
import platform
import re
import time

import pytest
from conftest import ROOT

SMALL = ("--lattice", "4,4,4,4")


def test_a_time_limit_ends_in_time_and_the_same_line_goes_on(quarksmith, tmp_path):
    """With configuration and JSON, which hold all that was done, of both runs."""
    text = (ROOT / "examples" / "hmc_gauge.toml").read_text().replace("count = 20", "count = 100000")
    (tmp_path / "run.toml").write_text(text)
    long = {
        "hmc": ("run.toml", "--out", "u"),
        "heatbath": (*SMALL, "--sweeps", "1000000", "--out", "v"),
    }
    done = []
    for command, line in long.items():
        for _ in range(2):
            begun = time.monotonic()
            run = quarksmith(command, *line, "--json", f"{command}.json", "--time-limit", "1")
            assert time.monotonic() - begun < 2  # beside other tests
            assert "the same command line goes on from there" in run.stderr
        result = quarksmith.json(f"{command}.json")
        done.append(len(result["trajectories" if command == "hmc" else "plaquettes"]))
        assert result["first"] == 0
    for prefix, count in zip("uv", done, strict=True):
        first, last = sorted(tmp_path.glob(f"{prefix}_*.ildg"))
        assert int(first.stem[2:]) < int(last.stem[2:]) == count


def test_a_propagator_ends_in_time_with_its_columns(quarksmith, tmp_path, monkeypatch):
    """Kept or not, which it says; the JSON has the solves; a limit in which nothing is gained is an error."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    slow = ("--solver", "cg", "--even-odd", "none", "--tol", "1e-12")
    line = ("propagator", "--gauge", "weak:0.2:8,8,8,8:3", "--mass", "-0.1", *slow, "--json", "j.json")
    begun = time.monotonic()
    quarksmith(*line)
    half = (time.monotonic() - begun) / 2
    (tmp_path / "j.json").unlink()
    begun = time.monotonic()
    error = quarksmith.refuses(*line, "--time-limit", half, status=1)
    assert time.monotonic() - begun < half + 1  # beside other tests
    assert "no column is kept: that takes --out FILE.h5; give more time" in error
    run = quarksmith(*line, "--out", "p.h5", "--time-limit", half)
    kept = int(re.search(r"--time-limit: (\d+) of 12 columns are kept in p.h5.part: the same", run.stderr)[1])
    part = quarksmith.json("j.json")
    assert part["finished"] is False and len(part["solves"]) == kept and run.stdout.startswith(f"{kept} columns: ")
    error = quarksmith.refuses(*line, "--out", "p.h5", "--time-limit", "0.01", status=1)
    assert f"no column was solved in this time; {kept} of 12 columns are kept in p.h5.part" in error


def test_a_run_that_would_go_on_with_another_is_refused(quarksmith, tmp_path):
    quarksmith("heatbath", *SMALL, "--sweeps", "1", "--out", "u")
    line = ("heatbath", *SMALL, "--out", "u", "--sweeps")
    assert "u_00001.ildg: 1 of 1 sweeps are done; use more --sweeps" in quarksmith.refuses(*line, "1")
    assert "u_00001.ildg: was written by a run with --beta 6, not 5" in quarksmith.refuses(*line, "2", "--beta", "5")
    other = ("heatbath", "--lattice", "4,4,4,8", "--out", "u", "--sweeps", "2")
    assert "with --lattice 4x4x4x4, not 4x4x4x8" in quarksmith.refuses(*other)
    text = (ROOT / "examples" / "hmc_gauge.toml").read_text()
    (tmp_path / "run.toml").write_text(text)
    error = quarksmith.refuses("hmc", "run.toml", "--out", "u")
    assert "u_00001.ildg: exists; nothing goes on from it, since it has no record quarksmith-hmc" in error
    (tmp_path / "o.json").write_text('{"lattice": [4, 4, 4, 4], "plaquettes": [0.5], "first": 0}')
    assert "o.json: exists; " in quarksmith.refuses(*line, "2", "--json", "o.json")


def test_long_runs_report_how_it_went(quarksmith, tmp_path):
    """Configurations that are not kept; the solves of a propagator."""
    assert "--out PREFIX" in quarksmith("heatbath", *SMALL, "--sweeps", "1").stderr
    (tmp_path / "run.toml").write_text((ROOT / "examples" / "hmc_gauge.toml").read_text().replace("= 20 ", "= 1 "))
    assert "--out PREFIX" in quarksmith("hmc", "run.toml").stderr
    assert "--out PREFIX" not in quarksmith("hmc", "run.toml", "--out", "u").stderr
    run = quarksmith(*PROPAGATOR, "--correlators", "c.json")
    solves = quarksmith.json("c.json")["solves"]
    columns, most, residual, seconds = re.search(
        r"(\d+) columns: (?:\d+ to )?(\d+) iterations, residual (\S+) at most, (\S+) s", run.stdout
    ).groups()
    assert (int(columns), int(most)) == (12, max(s["iterations"] for s in solves))
    assert float(residual) == pytest.approx(max(s["residual"] for s in solves), rel=0.01)
    assert float(seconds) == pytest.approx(sum(s["seconds"] for s in solves), rel=0.01)


def test_threads_do_not_change_the_bits(quarksmith, tmp_path):
    for threads in ("1", "2"):
        line = ("heatbath", *SMALL, "--sweeps", "2", "--start", "hot", "--out", f"t{threads}")
        quarksmith(*line, env=os.environ | {"OMP_NUM_THREADS": threads})
    assert (tmp_path / "t1_00002.ildg").read_bytes() == (tmp_path / "t2_00002.ildg").read_bytes()


PROPAGATOR = ("propagator", "--gauge", "weak:0.2:4,4,4,8:3", "--mass", "0.3")


def test_propagator_writes_all_that_it_promises(quarksmith, tmp_path):
    quarksmith(*PROPAGATOR, "--out", "p.h5", "--correlators", "c.json")
    result = quarksmith.json("c.json")
    assert result["lattice"] == [4, 4, 4, 8]
    assert set(result["correlators"]) == {"pion", "rho", "proton"}
    assert len(result["mesons"]) == 16 and list(result["mesons"])[:4] == ["1", "gx", "gy", "gxgy"]
    assert result["mesons"]["g5"] == result["correlators"]["pion"]
    assert len(result["correlators"]["proton"][0]) == 2
    assert [(s["spin"], s["colour"]) for s in result["solves"]] == [(n // 3, n % 3) for n in range(12)]
    assert all(s["residual"] <= 1e-10 for s in result["solves"])
    assert (tmp_path / "p.h5").stat().st_size > 12 * 512 * 192
    quarksmith(*PROPAGATOR, "--correlators", "c.csv")
    rows = list(csv.DictReader((tmp_path / "c.csv").open()))
    assert len(rows) == 8
    assert float(rows[3]["pion"]) == pytest.approx(result["correlators"]["pion"][3], rel=1e-9)


WAYS = {
    "cg": ("--solver", "cg"),
    "all sites": ("--even-odd", "none"),
    "asymmetric": ("--even-odd", "asymmetric"),
    "single": ("--precision", "double-single"),
    "half": ("--precision", "double-half", "--solver", "cg"),
    "18 reals": ("--reconstruct", "18"),
    "8 reals": ("--reconstruct", "8"),
    "basis": ("--basis", "degrand_rossi"),
}


def test_every_way_to_solve_gives_the_same_correlators(quarksmith):
    quarksmith(*PROPAGATOR, "--correlators", "a.json")
    a = quarksmith.json("a.json")["correlators"]
    for name, choice in WAYS.items():
        quarksmith(*PROPAGATOR, "--correlators", f"{name}.json", *choice)
        b = quarksmith.json(f"{name}.json")["correlators"]
        assert b["pion"] == pytest.approx(a["pion"], rel=1e-8), name
        for (x, _), (y, _) in zip(a["proton"], b["proton"], strict=True):
            assert y == pytest.approx(x, rel=1e-6, abs=1e-16), name


def test_accuracy_orders_the_formats(quarksmith, tmp_path):
    run = quarksmith("accuracy", *SMALL, "--json", "a.json")
    rms = {k["name"]: k["rms"] for k in quarksmith.json("a.json")["kernels"]}
    formats = {f: f"wilson_{f}_r12_nr_n1" for f in ("half", "bits20", "bits24", "single", "bits30", "double")}
    found = {f: rms[name] for f, name in formats.items() if name in rms}  # bits of profile wide
    assert {"half", "single", "double"} <= set(found)
    assert list(found.values()) == sorted(found.values(), reverse=True), run.stdout
    if "bits20" in found:  # half a step of the largest of six numbers, a few of which add up
        assert 0.2 * 2.0**-20 < found["bits20"] < 4 * 2.0**-20
    for kernel in quarksmith.json("a.json")["kernels"]:
        deviations, fractions = zip(*kernel["distribution"], strict=True)
        assert list(deviations) == sorted(deviations) and fractions[-1] == 1
    assert "no kernel" in quarksmith.refuses("accuracy", *SMALL, "--only", "nothing")


def test_bench_measures_every_kernel(quarksmith, tmp_path):
    run = quarksmith("bench", *SMALL, "--seconds", "0.001", "--json", "b.json", "--csv", "b.csv")
    result = quarksmith.json("b.json")
    kernels = result["kernels"]
    assert kernels and all(k["gbytes_per_second"] > 0 for k in kernels)
    if platform.machine() == "x86_64":  # of others not all tell these
        assert result["cache_bytes"] > 1 << 20 and result["cache_bytes_per_second"] > 0
        assert result["peak_gflops"]["single"] > 1.5 * result["peak_gflops"]["double"] > 1
    assert kernels[0]["name"] in run.stdout and any("taxpby" in k["name"] for k in kernels)
    assert len((tmp_path / "b.csv").read_text().splitlines()) == len(kernels) + 1


def test_a_batch_of_columns_gives_what_single_columns_give(quarksmith, tmp_path):
    common = ("propagator", "--gauge", "hot:4,4,4,4:3", "--mass", "0.2", "--precision", "double-half", "--tol", "1e-11")
    quarksmith(*common, "--correlators", "one.json", "--batch", "1")
    quarksmith(*common, "--correlators", "five.json", "--batch", "5")
    one, five = quarksmith.json("one.json"), quarksmith.json("five.json")
    assert [(s["spin"], s["colour"]) for s in five["solves"]] == [(n // 3, n % 3) for n in range(12)]
    assert all(s["residual"] <= 1e-11 and s["seconds"] > 0 for s in five["solves"])
    assert five["correlators"]["pion"] == pytest.approx(one["correlators"]["pion"], rel=1e-9)


def test_a_failed_batch_keeps_the_columns_that_converged(quarksmith, tmp_path):
    common = ("propagator", "--gauge", "hot:4,4,4,4:3", "--mass", "0", "--solver", "cg", "--batch", "12")
    limit = ("--max-iterations", "20", "--json", "cut.json", "--overwrite")
    quarksmith(*common, *limit, "--tol", "1e-13", status=1)
    residuals = sorted(s["residual"] for s in quarksmith.json("cut.json")["solves"])
    middle = ("--tol", residuals[6] * (1 - 1e-6), "--out", "p.h5")
    refused = quarksmith(*common, *limit, *middle, status=1)
    assert "not converged" in refused.stderr
    failed = [s for s in quarksmith.json("cut.json")["solves"] if not s.get("converged", True)]
    assert 0 < len(failed) < 12
    assert all(residuals[0] < s["residual"] < 1e-6 for s in failed)
    resumed = quarksmith(*common, *middle, "--json", "rest.json")
    assert resumed.stderr.count("taken from p.h5.part") == 12 - len(failed)
    assert all(s["residual"] <= residuals[6] for s in quarksmith.json("rest.json")["solves"])


def test_solve_bench_writes_its_table(quarksmith, tmp_path):
    quarksmith(
        *(
            "solve-bench",
            "--gauge",
            "peer-random:4,4,4,4:1",
            "--mass",
            "-0.5",
            "--tol",
            "1e-8",
            "--criterion",
            "normal",
        ),
        *("--solver", "cg", "--precision", "double,double-half", "--batch", "1,3", "--repeat", "1"),
        *("--csv", "t.csv", "--json", "t.json", "--history", "h.csv"),
    )
    rows = quarksmith.json("t.json")["solves"]
    assert [(r["precision"], r["batch"]) for r in rows] == [(p, b) for p in ("double", "double-half") for b in (1, 3)]
    assert all(r["converged"] and r["measured"] <= 1e-8 and r["residual"] < 1e-6 for r in rows)
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 5
    history = list(csv.DictReader((tmp_path / "h.csv").open()))
    assert max(int(h["iteration"]) for h in history) == max(r["iterations"] for r in rows)
    assert float(history[0]["residual"]) > float(history[-1]["residual"])


def test_auto_is_the_lowest_precision_that_is_built(quarksmith, tmp_path):
    """The default profile has the doublet in double alone."""
    common = ("--gauge", "weak:0.3:4,4,4,4:1", "--mass", "-0.2", "--precision", "auto")
    common += ("--json", "p.json", "--overwrite")
    doublet = ("--action", "twisted-doublet", "--mu", "0.1", "--epsilon", "0.05")
    for action, solvers, used in (((), "cg,multishift", "double-half"), (doublet, "cg", "double")):
        bench = quarksmith("solve-bench", *common, *action, "--solver", solvers, "--repeat", "1")
        rows = quarksmith.json("p.json")["solves"]
        assert bench.stdout.count(f"  in {used}\n") == len(rows)
        assert {(r["precision"], r["precision_used"], r["converged"]) for r in rows} == {("auto", used, True)}
        quarksmith("propagator", *common, *action)
        solves = quarksmith.json("p.json")["solves"]
        assert {s["precision"] for s in solves} == {used} and all(s["residual"] <= 1e-10 for s in solves)


def test_solve_bench_of_shifts_and_blocks(quarksmith, tmp_path):
    common = ("solve-bench", "--gauge", "peer-random:4,4,4,4:1", "--mass", "-0.6", "--repeat", "1")
    common += ("--json", "t.json", "--overwrite")
    quarksmith(*common, "--solver", "multishift", "--shifts", "0.5,0.001", "--precision", "double,double-single")
    for row in quarksmith.json("t.json")["solves"]:
        assert row["converged"] and row["batch"] == 2
        assert [shift["shift"] for shift in row["shifts"]] == [0.5, 0.001]
        assert all(shift["residual"] <= 1e-10 for shift in row["shifts"])
        assert row["shifts"][0]["shared_iterations"] < row["shifts"][1]["shared_iterations"]
    quarksmith(*common, "--solver", "cg,block-cg", "--precision", "double", "--batch", "12")
    single, block = quarksmith.json("t.json")["solves"]
    assert block["converged"] and block["iterations"] < single["iterations"]


def test_the_links_of_the_peer_have_its_plaquette(quarksmith, tmp_path):
    quarksmith("propagator", "--gauge", "peer-random:8,8,8,8:1", "--mass", "1", "--tol", "1e-4", "--json", "p.json")
    assert quarksmith.json("p.json")["plaquette"] == pytest.approx(0.12, abs=0.01)
