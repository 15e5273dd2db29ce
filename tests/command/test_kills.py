"""Long commands killed at random moments, and started again: the outcome has the bits of a run that nobody disturbed.

A few kills each; twenty each with `-m slow` (make fuzz). QUARKSMITH_FUZZ_SEED says which moments.
"""

import datetime
import fcntl
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import BUILD, ROOT

SEED = int(os.environ.get("QUARKSMITH_FUZZ_SEED", datetime.date.today().strftime("%Y%m%d")))
RESULTS = ("--out", "p.h5", "--correlators", "c.json")
LONG = ("--tol", "1e-11", "--solver", "cg", *RESULTS)
SWEEPS = 6


class Propagator:
    """Goes on with the columns in p.h5.part when the same line is given again."""

    def __init__(self, *line):
        self.line = ("propagator", *line)

    def again(self, folder):
        return self.line

    def outcome(self, quarksmith, folder):
        """Checksums of all columns as stored, which `info` has found right, and all that correlators hold but times."""
        quarksmith("info", "p.h5", "--json", "i.json", "--overwrite")
        columns = quarksmith.json("i.json")["columns"]
        assert all(c["state"] == "sound" for c in columns)
        correlators = quarksmith.json("c.json")
        for solve in correlators["solves"]:
            del solve["seconds"], solve["gflops"]
        return [c["checksum"] for c in columns], correlators


class Heatbath:
    """Goes on from the last configuration that it has saved."""

    out = ("--save-every", "2", "--out", "u", "--json", "o.json")
    line = ("heatbath", "--lattice", "8,8,8,8", "--start", "hot", "--seed", "5", "--sweeps", SWEEPS, *out)
    last, steps = f"u_{SWEEPS:05}.ildg", SWEEPS

    def again(self, folder):
        return ("info", self.last) if (folder / self.last).exists() else self.line

    def outcome(self, quarksmith, folder):
        """Configurations that a whole run has, and the JSON of all steps."""
        told = quarksmith.json("o.json")
        return [(folder / f"u_{n:05}.ildg").read_bytes() for n in range(2, self.steps + 1, 2)], self.told(told)

    def told(self, result):
        return result["plaquettes"], result["sweeps"]


class Hmc(Heatbath):
    """The same, with a description of 20 trajectories."""

    line = ("hmc", ROOT / "examples" / "hmc_gauge.toml", *Heatbath.out)
    last, steps = "u_00020.ildg", 20

    def told(self, result):
        return [(t["dH"], t["accepted"], t["plaquette"]) for t in result["trajectories"]]


class Whole:
    """Writes its files at the end: begins again."""

    def __init__(self, *line):
        self.line = line

    def again(self, folder):
        return (*self.line, "--overwrite")

    def outcome(self, quarksmith, folder):
        result = quarksmith.json("o.json")
        return (folder / "o.ildg").read_bytes(), {k: v for k, v in result.items() if "seconds" not in k}


WEAK = ("--gauge", "weak:0.3:4,8,8,8:1")
SMALL = ("--gauge", "weak:0.3:4,4,4,8:1")
COMMANDS = {
    "wilson": Propagator(*WEAK, "--mass", "0.1", *LONG),
    "clover": Propagator(
        *WEAK, "--action", "clover", "--csw", "1.2", "--mass", "0.1", "--precision", "double-half", *LONG
    ),
    "staggered": Propagator(*WEAK, "--action", "hisq", "--mass", "0.05,0.2", "--tol", "1e-11", *RESULTS),
    "domain-wall": Propagator(*SMALL, "--action", "domain-wall", "--ls", "4", "--mass", "0.1", *RESULTS),
    "heatbath": Heatbath(),
    "hmc": Hmc(),
    "smear": Whole("smear", "stout", "in.ildg", "o.ildg", "--steps", "30", "--json", "o.json"),
    "flow": Whole("flow", "in.ildg", "--step", "0.02", "--time", "0.1", "--out", "o.ildg", "--json", "o.json"),
    "links": Whole("links", "in.ildg", "--fat", "o.ildg", "--json", "o.json"),
}


def start(folder, line):
    return subprocess.Popen(
        [BUILD / "bin" / "quarksmith", *map(str, line)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_and_resume(quarksmith, folder, command, seconds, dice):
    """Kills a run once or twice, and lets it end. Returns in which states it was killed."""
    line, states = command.line, []
    for _ in range(dice.choice((1, 1, 2))):
        run = start(folder, line)
        time.sleep(dice.uniform(0, 1.05 * seconds))
        ended = run.poll() is not None
        run.send_signal(dice.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
        run.wait()
        part = any(folder.glob("*.part"))
        states.append("ended" if ended else "begun" if part or any(folder.glob("u_*.ildg")) else "early")
        line = command.again(folder)
    quarksmith(*line)
    if line[0] != "info":  # else there was nothing left to do, for a run that would clear away
        assert not list(folder.glob("*.part"))
        assert not list(folder.glob("*.lock"))
    return states


def clear(folder, keep):
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink()


def disturb(quarksmith, folder, name, times):
    command = COMMANDS[name]
    if isinstance(command, Whole):
        quarksmith("heatbath", "--lattice", "8,8,8,8", "--start", "hot", "--sweeps", "1", "--out", "u")
        (folder / "u_00001.ildg").rename(folder / "in.ildg")
    begin = time.monotonic()
    quarksmith(*command.line)
    seconds = time.monotonic() - begin
    expected = command.outcome(quarksmith, folder)
    dice = random.Random(f"{SEED} {name}")
    states = []
    for n in range(times):
        clear(folder, {"in.ildg"})
        states += kill_and_resume(quarksmith, folder, command, seconds, dice)
        assert command.outcome(quarksmith, folder) == expected, f"seed {SEED}, kill {n}: {states}"
    counts = ", ".join(f"{states.count(s)} {s}" for s in ("early", "begun", "ended"))
    print(f"kills: {name}: {times} runs, {len(states)} kills ({counts}), all resumed to the same bits")


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_runs_end_with_the_same_bits(quarksmith, tmp_path, name, times):
    disturb(quarksmith, tmp_path, name, times)


@pytest.mark.parametrize("name", ["heatbath", "hmc"])
def test_a_resumed_run_clears_the_lock_that_a_killed_one_left(quarksmith, tmp_path, name):
    """That of the file it continues from, which no run would write again; not that which another run has."""
    command = COMMANDS[name]
    quarksmith(*command.line)
    *_, before, end = sorted(tmp_path.glob("u_*.ildg"))
    lock = tmp_path / f"{before.name}.lock"
    lock.write_text("host gone, process 1\n")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end.unlink()
        quarksmith(*command.again(tmp_path))
        assert lock.exists()
    end.unlink()
    quarksmith(*command.again(tmp_path))
    assert not lock.exists()


def test_a_finished_propagator_loses_the_lock_of_a_run_killed_after_it(quarksmith, tmp_path):
    """One killed before its correlators, when the file had its name and not yet been given up."""
    line = COMMANDS["staggered"].line
    quarksmith(*line)
    (tmp_path / "c.json").unlink()
    lock = tmp_path / "p.h5.lock"
    lock.write_text("host gone, process 1\n")
    quarksmith(*line)
    assert (tmp_path / "c.json").exists() and not lock.exists()


def test_measurements_go_on_where_their_last_files_were_being_written(quarksmith, tmp_path):
    of_two = (ROOT / "examples" / "measure.toml").read_text()
    (tmp_path / "run.toml").write_text(of_two.replace(', "weak:0.3:4,4,4,8:2"', ""))
    line = ("measure", "run.toml", "--out", "m.h5", "--json", "m.json")
    (tmp_path / "m.h5.part").write_bytes(b"half of it")
    message = quarksmith.refuses(*line)  # nothing says that it is of this run
    assert "m.h5.part: left by a run that was killed" in message
    (tmp_path / "m.h5.part").unlink()
    quarksmith(*line)
    whole = {name: (tmp_path / name).read_bytes() for name in ("m.h5", "m.json")}
    (tmp_path / "m.json").rename(tmp_path / "m.json.part")
    quarksmith(*line)
    assert {name: (tmp_path / name).read_bytes() for name in whole} == whole
    (tmp_path / "m.h5.records").mkdir()
    (tmp_path / "m.h5").rename(tmp_path / "m.h5.records" / "000001.h5")
    (tmp_path / "m.h5.part").write_bytes(whole["m.h5"][:100])
    (tmp_path / "m.json").rename(tmp_path / "m.json.part")
    quarksmith(*line)
    assert {name: (tmp_path / name).read_bytes() for name in whole} == whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.h5", "m.json", "run.toml"]


def test_two_runs_go_on_with_one_unfinished_propagator(quarksmith, tmp_path):
    """One has it, the other is refused; what the two leave is that of one."""
    command = COMMANDS["wilson"]
    quarksmith(*command.line)
    expected = command.outcome(quarksmith, tmp_path)
    clear(tmp_path, {})
    run = start(tmp_path, command.line)
    while not (tmp_path / "p.h5.part").exists():
        time.sleep(0.01)
    run.kill()
    run.wait()
    runs = [start(tmp_path, command.line) for _ in range(3)]
    assert sorted(r.wait() for r in runs)[0] == 0
    quarksmith(*command.line)  # whatever was refused: nothing is left to do, or this does it
    assert command.outcome(quarksmith, tmp_path) == expected
