"""Damaged JSON that the command itself reads: times for `model`, and the state that `heatbath` keeps in its files."""

import datetime
import json
import os
import random
import re
import subprocess

from conftest import BUILD

SEED = int(os.environ.get("QUARKSMITH_FUZZ_SEED", datetime.date.today().strftime("%Y%m%d")))
ODD = (b"-1", b"0", b"1e999", b"null", b"[]", b"{}", b'"x"', b"9" * 400, b"true", b"-0.0", b"[[[[", b"\xff", b"1e-320")


def damaged(data, dice):
    """Numbers or texts replaced, bytes changed, or the end cut off."""
    values = list(re.finditer(rb'-?\d[\d.e+-]*|"[^"]*"', data))
    kind = dice.randrange(6)
    if kind < 3:
        value = dice.choice(values)
        return data[: value.start()] + dice.choice(ODD) + data[value.end() :]
    at = dice.randrange(len(data))
    if kind == 3:
        return data[:at]
    if kind == 4:
        return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
    return data[:at] + data[dice.randrange(len(data)) :]


def require_sense(folder, line, name, seed):
    """It works, or one error names the file; whatever the numbers say, at once."""
    run = subprocess.run([BUILD / "bin" / "quarksmith", *line], cwd=folder, capture_output=True, timeout=60)
    assert run.returncode in (0, 1, 2), f"seed {seed}: status {run.returncode}: {run.stderr!r}"
    if run.returncode != 0:
        errors = [e for e in run.stderr.decode().splitlines() if e.startswith("quarksmith: error: ")]
        assert len(errors) == 1 and errors[0].isprintable() and len(errors[0]) < 1000, f"seed {seed}: {run.stderr!r}"
        assert name in errors[0] or "--" in errors[0], f"seed {seed}: {errors[0]}"


def test_times_of_model(quarksmith, tmp_path):
    quarksmith("bench", "--lattice", "4,4,4,4", "--seconds", "0.001", "--only", "wilson", "--json", "good.json")
    good = (tmp_path / "good.json").read_bytes()
    assert json.loads(good)["kernels"]
    line = (
        "model",
        "--lattice",
        "8,8,8,8",
        "--ranks",
        "2,4",
        "--launch",
        "0.001",
        "--link",
        "390,1.7",
        "--measured",
        "bad.json",
    )
    for n in range(80):
        seed = f"{SEED} model {n}"
        (tmp_path / "bad.json").write_bytes(damaged(good, random.Random(seed)))
        require_sense(tmp_path, line, "bad.json", seed)


def test_state_of_heatbath(quarksmith, tmp_path):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "hot", "--out", "u")
    whole = (tmp_path / "u_00001.ildg").read_bytes()
    state = re.search(rb'\{"beta".*?\}', whole)
    assert state
    for n in range(40):
        seed = f"{SEED} heatbath {n}"
        bad = damaged(state[0], random.Random(seed))[: len(state[0])].ljust(
            len(state[0])
        )  # the record keeps its length
        (tmp_path / "bad.ildg").write_bytes(whole[: state.start()] + bad + whole[state.end() :])
        line = ("heatbath", "--resume", "bad.ildg", "--sweeps", "1", "--out", "v", "--overwrite")
        require_sense(tmp_path, line, "bad.ildg", seed)
