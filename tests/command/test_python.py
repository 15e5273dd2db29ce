"""Calls are those of the command: names, defaults, results, errors."""

import inspect
import json
import logging
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import BUILD, ROOT

WEAK = "weak:0.3:4,4,4,8:11"
SHELL = {"completion", "man", "sweep"}
"""Commands that stay with the shell."""
IN_MEMORY = {"read", "solve"}
"""Calls that are no commands."""
CLOVER = {"action": "clover", "kappa": 0.12, "csw": 1.2}


def printed(*words: str) -> str:
    return subprocess.run([BUILD / "bin/quarksmith", *words], capture_output=True, text=True, check=True).stdout


def options_of(text: str) -> dict[str, str]:
    """The options that a help lists, and their defaults."""
    options = {}
    for line in re.findall(r"^ +(?:-\w,)?--(\S.*)$", text, flags=re.M):
        words = re.split(r"\s{2,}", line)[0].replace("NAME=FILE", "TEXT")
        options[re.match(r"[\w-]+", words)[0]] = words.partition("=")[2].split(" ")[0]
    return options


def test_every_command_and_every_option_is_a_call_and_an_argument(qs):
    commands = re.findall(r"^  ([a-z-]+) ", printed("--help").partition("Subcommands:")[2], flags=re.M)
    assert len(commands) > 15
    named = {c.replace("-", "_") for c in commands if c not in SHELL}
    assert named | IN_MEMORY == set(qs.commands.__all__)
    defaults = 0
    for command in set(commands) - SHELL:
        parameters = inspect.signature(getattr(qs, command.replace("-", "_"))).parameters
        given = options_of(printed(command, "--help"))
        assert given.pop("help") == ""
        for option, default in given.items():
            p = parameters[option.replace("-", "_")]
            if default:
                defaults += 1
                assert str(p.default) == default or float(p.default) == float(default), (command, option)
    assert defaults > 50


@pytest.mark.parametrize(
    "action",
    [
        CLOVER,
        {"action": "hisq", "mass": 0.4},  # hops of three sites
        {"action": "moebius", "ls": 4, "m5": 1.8, "b5": 1.5, "c5": 0.5, "mass": 0.5},
        {"action": "twisted-mass", "kappa": 0.13, "mu": 0.3},
    ],
    ids=lambda a: a["action"],
)
def test_solves_give_the_propagator_of_the_command(qs, tmp_path, action):
    words = [f"--{k}={v}" for k, v in action.items()]
    printed("propagator", f"--gauge={WEAK}", *words, f"--json={tmp_path}/r.json", "--quiet")
    expected = json.loads((tmp_path / "r.json").read_text())
    u = qs.read(WEAK)
    s = qs.propagator(u, **action)
    for group in expected.keys() & {"correlators", "mesons", "goldstone"}:
        for name, values in expected[group].items():
            assert np.allclose(s.report[group][name], values, rtol=1e-7, atol=1e-12)
    x = qs.solve(u, qs.source(u, spins=s.spins), **action)
    assert len(x.report["solves"]) == x.rhs == 3 * s.spins
    assert np.allclose(x.lexicographic(), s.lexicographic(), rtol=0, atol=1e-8)


def test_a_heatbath_is_that_of_the_command(qs, tmp_path):
    options = {"beta": 5.8, "sweeps": 3, "seed": 7}
    u = qs.heatbath(lattice=(4, 4, 4, 4), **options)
    printed("heatbath", "--lattice=4,4,4,4", *(f"--{k}={v}" for k, v in options.items()), f"--out={tmp_path}/run")
    same = qs.read(tmp_path / "run_00003.ildg")
    assert np.array_equal(u.lexicographic(), same.lexicographic())
    assert u.plaquette() == pytest.approx(u.report["plaquette"], abs=1e-14)
    qs.convert(u, tmp_path / "u.nersc", format="nersc")
    assert np.allclose(qs.read(tmp_path / "u.nersc").lexicographic(), u.lexicographic(), atol=1e-14)
    assert qs.info(tmp_path / "u.nersc")["plaquette"] == pytest.approx(u.plaquette(), abs=1e-13)


def test_links_in_memory_go_through_smearing_flow_and_eigenvalues(qs):
    u = qs.read(WEAK)
    smooth = qs.smear("stout", u, rho=0.1, steps=2)
    assert (
        smooth.plaquette() == pytest.approx(smooth.report["plaquette"], abs=1e-13)
        and smooth.plaquette() > u.plaquette()
    )
    flowed = qs.flow(smooth, time=0.1, every=0.1)
    assert flowed.plaquette() > smooth.plaquette()
    assert flowed.report["flow"][0]["t"] == 0 and "E (clover)" in flowed.report.text
    values = qs.eigen(u, operator="staggered", action="staggered", mass=0.1, count=2)["eigenvalues"]
    assert len(values) == 2


def test_wrong_use_raises_the_text_of_the_command(qs):
    u = qs.read(WEAK)
    b = qs.source(u)
    with pytest.raises(qs.UsageError, match="csw belongs to action clover"):
        qs.solve(u, b, kappa=0.1, csw=1.0)
    with pytest.raises(ValueError, match=r"use a number between 0 and 1"):
        qs.solve(u, b, kappa=0.1, tol=2)
    with pytest.raises(qs.UsageError, match=r"sweeps: .*-1.*; help\(quarksmith.heatbath\) shows its use"):
        qs.heatbath(lattice=(4, 4, 4, 4), sweeps=-1)
    with pytest.raises(qs.UsageError, match="rhs has spins=4, quarks of action staggered have 1"):
        qs.solve(u, b, action="staggered", mass=0.1)
    with pytest.raises(qs.WrongLattice, match="rhs is of lattice 4x4x4x4"):
        qs.solve(u, qs.Spinors(qs.Lattice((4, 4, 4, 4))), kappa=0.1)
    with pytest.raises(qs.Error, match="nowhere.ildg"):
        qs.read("nowhere.ildg")
    with pytest.raises(TypeError, match=r"solve\(\): got an unexpected keyword argument 'kapa'"):
        qs.solve(u, b, kapa=0.1)
    with pytest.raises(TypeError, match="rhs is GaugeField, not Spinors"):
        qs.solve(u, u, kappa=0.1)


def test_a_solve_that_falls_short_keeps_what_it_has(qs):
    u = qs.read(WEAK)
    with pytest.raises(qs.NotConverged, match="right-hand side 0: not converged.*a larger max_iterations") as caught:
        qs.solve(u, qs.source(u), **CLOVER, max_iterations=2, solver="cg")
    solution = caught.value.solution
    assert solution.rhs == 12 and not solution.report["solves"][0]["converged"]
    assert 0 < solution.report["solves"][0]["residual"] < 1


def test_lines_go_to_the_log_and_results_to_text(qs, caplog, capfd):
    with caplog.at_level(logging.INFO, logger="quarksmith"):
        u = qs.heatbath(lattice=(4, 4, 4, 4), sweeps=1)
    assert any("heatbath 4x4x4x4" in r.message for r in caplog.records)
    assert "1 sweeps, plaquette" in u.report.text
    assert capfd.readouterr() == ("", "")


def test_a_function_that_is_called_back_cannot_call(qs):
    class Caller(logging.Handler):
        def emit(self, record):
            qs.Lattice((4, 4, 4, 4))

    handler = Caller()
    logger = logging.getLogger("quarksmith")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with pytest.raises(qs.UsageError, match="called from a function that it calls itself"):
            qs.heatbath(lattice=(4, 4, 4, 4), sweeps=1)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    qs.heatbath(lattice=(4, 4, 4, 4), sweeps=1)


ENDLESS = """
import quarksmith as qs
try:
    print("begin", flush=True)
    qs.heatbath(lattice=(4, 4, 4, 8), sweeps=10000000, out="run", save_every=10000000)
except KeyboardInterrupt as stop:
    print(*stop.__notes__)
print(qs.heatbath(lattice=(2, 2, 2, 2), sweeps=2).report["sweeps"])
"""


def test_control_c_stops_with_files_in_order_and_the_next_call_works(package, tmp_path):
    command = [sys.executable, "-c", ENDLESS]
    run = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": str(package)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )
    try:
        assert run.stdout.readline() == "begin\n"
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=30)
    finally:
        run.kill()  # one that took no notice would run on
    assert run.returncode == 0, errors
    note, sweeps = output.splitlines()
    assert note.startswith("ended by SIGINT; ") and sweeps == "2"
    assert list(tmp_path.glob("*.ildg")), "the configuration is kept"


ENDED = """
import quarksmith as qs
print("begin", flush=True)
qs.hmc("run.toml", out="run")
"""


def test_a_program_that_sigterm_ends_leaves_what_the_command_leaves(package, quarksmith, tmp_path):
    run_file = (ROOT / "examples" / "hmc_gauge.toml").read_text().replace("count = 20", "count = 100000")
    (tmp_path / "run.toml").write_text(run_file)
    command = [sys.executable, "-c", ENDED]
    run = subprocess.Popen(
        command, cwd=tmp_path, env={"PYTHONPATH": str(package)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert run.stdout.readline() == b"begin\n"
        time.sleep(2)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == -signal.SIGTERM, "ended as it would have been"
    (kept,) = tmp_path.glob("run_*.ildg")
    done = int(kept.stem.removeprefix("run_"))
    (tmp_path / "run.toml").write_text(run_file.replace("count = 100000", f"count = {done + 1}"))
    quarksmith("hmc", "run.toml", "--out", "run")
    quarksmith("hmc", "run.toml", "--out", "whole")
    last = f"_{done + 1:05}.ildg"
    assert (tmp_path / f"run{last}").read_bytes() == (tmp_path / f"whole{last}").read_bytes()


def test_the_lines_of_the_readme_run(package):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert len(code.splitlines()) <= 10
    command = [sys.executable, "-c", code]
    output = subprocess.run(
        command, env={"PYTHONPATH": str(package)}, capture_output=True, text=True, check=True
    ).stdout
    values = [float(line.split()[1]) for line in output.splitlines()]
    assert len(values) == 8 and values[0] == max(values) and all(v > 0 for v in values)
    assert values[1] == pytest.approx(values[-1], rel=0.5)  # there and back
