"""Instruction sets: the one that a run takes, and what the compiled kernels make of its registers."""

import os
import re
import subprocess
from collections import Counter

import pytest
from conftest import BUILD

from generator.emit.ondemand import INSTRUCTION_SETS, read_build

BUILT = read_build(BUILD).cpu


def on(name):
    return {**os.environ, "QUARKSMITH_CPU": name}


def test_a_run_takes_the_widest_set_or_the_one_that_is_named(quarksmith):
    chosen = re.search(r"kernels for (x86-64-v\d)", quarksmith("devices").stdout)[1]
    assert chosen in BUILT
    assert f"kernels for {chosen}" in quarksmith("devices", env=on(chosen)).stdout
    line = ("heatbath", "--lattice", "4,4,4,8", "--start", "hot", "--sweeps", "1", "--out")
    for name in BUILT[: BUILT.index(chosen) + 1]:  # those that this processor has: the same physics
        quarksmith(*line, name, env=on(name))
        plaquettes = quarksmith("info", f"{name}_00001.ildg").stdout
        assert "plaquette" in plaquettes


@pytest.mark.parametrize("name", ["v4", "x86-64-v5", *(s for s in INSTRUCTION_SETS if s not in BUILT)])
def test_a_set_that_was_not_built_is_refused_by_name(quarksmith, name):
    line = ("heatbath", "--lattice", "4,4,4,4", "--start", "hot", "--sweeps", "1", "--out", "u")
    message = quarksmith.refuses(*line, env=on(name))
    assert f"QUARKSMITH_CPU={name}: this library has kernels for {' and '.join(BUILT)}" in message
    assert "make library CPU=all" in message


@pytest.fixture(scope="module")
def hops():
    """Of each hopping term that the command holds: name -> counts of prefetches and of registers put on the stack."""
    command = ["objdump", "-d", "--demangle", "--no-show-raw-insn", "--no-addresses", BUILD / "bin" / "quarksmith"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = {}
    for function in re.split(r"\n(?=<)", text):
        name = re.match(r"<void quarksmith::(cpu_v\d)::hop_at<\S*?(\w+)_body<(.*)>, \d+>\(.*\)>:", function)
        if name is None:
            continue
        arguments = re.sub(r"quarksmith::cpu_v\d::|, Keep", "", name[3])
        count = counts[f"{name[1]} {name[2]} {arguments}"] = Counter()
        count["prefetch"] = len(re.findall(r"^\s+prefetch", function, flags=re.M))
        count["stack"] = len(re.findall(r"^\s+vmov\w+\s+%[xyz]mm\d+,.*\(%r[sb]p", function, flags=re.M))
    assert counts
    return counts


def limit(name):
    """Registers put on the stack in a block: sums of four spins do not stay in registers, and each hop adds to them.

    Kernels of several right-hand sides, of four vectors a hop or of numbers that are decoded spill more.
    """
    half = 2 if "cpu_v3" in name else 1
    if "Fixed" in name or "Bits" in name:
        return 1000 * half
    if re.search("wilson.* R(18|12)", name) and name.endswith((" false, 1", " true, 1")):
        return {"R18": 100, "R12": 140}[re.search(r"R1\d", name)[0]] * (4 if half == 2 else 1)
    if re.search("staggered", name):
        return 80 * half
    return 600 * half


def test_hops_spill_no_more_than_they_must_and_ask_for_what_comes(hops):
    assert any("wilson" in name and "R18" in name for name in hops)
    for name, count in hops.items():
        assert count["prefetch"] > 0, f"{name}: nothing is asked for ahead: did the compiler leave it out?"
        assert count["stack"] <= limit(name), f"{name}: {count['stack']} registers put on the stack"
