"""Instruction sets: the one that a run takes, and what the compiled kernels make of its registers."""

import os
import re
import shutil
import subprocess
from collections import Counter

import pytest
from conftest import BUILD, ROOT

from generator.emit.build import read_build
from generator.targets import HOST

INSTRUCTION_SETS = tuple(HOST.tables)
BUILT = read_build(BUILD).host_tables


def on(name):
    return {**os.environ, "QUARKSMITH_CPU": name}


def test_a_run_takes_the_widest_set_or_the_one_that_is_named(quarksmith):
    chosen = re.search(r"kernels for ([\w-]+)", quarksmith("devices").stdout)[1]
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
    assert f"QUARKSMITH_CPU={name}: this library has kernels for {' and '.join(BUILT)}; use one of these" in message
    elsewhere = name in INSTRUCTION_SETS and name.startswith("x86-64") != BUILT[0].startswith("x86-64")
    assert ("is for other processors" in message) == elsewhere
    assert ("make library CPU=all" in message) != elsewhere


def test_host_generator_and_build_know_the_same_sets():
    table = (ROOT / "runtime/targets/cpu/processor.hpp").read_text()
    assert tuple(re.findall(r'^    \{"(\S+)", "\w+", \d+, Architecture', table, flags=re.M)) == INSTRUCTION_SETS
    build = (ROOT / "runtime/targets/cpu/target.cmake").read_text()
    known = zip(re.findall(r"set\(known_sets ([^)]*)\)", build), re.findall(r'name_prefix "(.*)"', build), strict=True)
    assert tuple(prefix + name for names, prefix in known for name in names.split()) == INSTRUCTION_SETS


@pytest.mark.parametrize("name", ["v5", "v3" if BUILT[0] == "neon" else "neon"])
def test_a_build_refuses_a_set_of_another_architecture(tmp_path, name):
    command = ["cmake", "-S", ROOT, "-B", tmp_path, f"-DQUARKSMITH_CPU={name}", "-DQUARKSMITH_CUDA=OFF"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode != 0
    assert f"QUARKSMITH_CPU={name}: {name} is unknown on" in " ".join(run.stderr.split())


# In the assembly of a set: a prefetch, and a store of registers (their names are its group) to the stack. SVE finds the
# stack by other registers than its pointer, too, and is not counted.
X86 = (r"^\s+prefetch", r"^\s+vmov\w+\s+(%[xyz]mm\d+),.*\(%r[sb]p")
ASSEMBLY = {"v3": X86, "v4": X86, "neon": (r"^\s+prfm", r"^\s+st[rp]\s+((?:q\d+, )+)\[sp")}

# Registers put on the stack in a block: sums of four spins do not stay in registers, and each hop adds to them. Limits
# are 1.2 to 1.5 times what g++ 12 puts there. The last rows are for kernels that the default profile lacks.
LIMITS = {  # beginning and storage of a hopping term -> by instruction set
    r"OfColours": {"v4": 1100, "v3": 2200, "neon": 2000},
    r"wilson.* Ieee.* R18,": {"v4": 140, "v3": 400, "neon": 240},
    r"wilson.* Ieee.* R12,": {"v4": 140, "v3": 560, "neon": 230},
    r"wilson.* Fixed<short.* R12,": {"v4": 400, "v3": 800, "neon": 490},
    r"improved_staggered Ieee.*, 4$": {"v4": 100, "v3": 360, "neon": 350},  # four right-hand sides
    r"improved_staggered Ieee.*, 2$": {"v4": 165, "v3": 360, "neon": 350},
    r"improved_staggered Fixed<short.*, [24]$": {"v4": 1000, "v3": 1700, "neon": 1500},
    r"staggered Ieee.*, 2$": {"v4": 75, "v3": 220, "neon": 220},
    r"staggered Ieee.* R18,": {"v4": 15, "v3": 40, "neon": 100},
    r"staggered Ieee.* R1[23],": {"v4": 75, "v3": 160, "neon": 145},
    r"improved_staggered Fixed<short": {"v4": 460, "v3": 710, "neon": 580},
    r"staggered Fixed<short": {"v4": 230, "v3": 350, "neon": 290},
    r"laplace3 Ieee.* R1[28],": {"v4": 580, "v3": 1030, "neon": 1000},
    r"(naive|laplace).* Ieee.* R1[28],": {"v4": 600, "v3": 1200, "neon": 1000},
    r"Fixed|Bits": {"v4": 1000, "v3": 2000, "neon": 1500},
    r"": {"v4": 600, "v3": 1200, "neon": 1500},
}


@pytest.fixture(scope="module")
def hops():
    """Of each hopping term that the command holds: (set, name) -> prefetches, registers put on the stack."""
    if shutil.which("objdump") is None:
        pytest.skip("wants objdump, of binutils, to look into the assembly")
    command = ["objdump", "-d", "--demangle", "--no-show-raw-insn", "--no-addresses", BUILD / "bin" / "quarksmith"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = {}
    for function in re.split(r"\n(?=<)", text):
        name = re.match(r"<void quarksmith::cpu_(\w+)::hop_at<\S*?(\w+)_body<(.*)>, \d+>\(.*\)>:", function)
        if name is None or name[1] not in ASSEMBLY:
            continue
        prefetch, store = ASSEMBLY[name[1]]
        arguments = re.sub(r"quarksmith::cpu_\w+::|, Keep", "", name[3])
        count = counts[name[1], f"{name[2]} {arguments}"] = Counter()
        count["prefetch"] = len(re.findall(prefetch, function, flags=re.M))
        stores = re.findall(store, function, flags=re.M)
        count["stack"] = sum(len(re.findall(r"\w+", registers)) for registers in stores)
    if not counts and not {s.removeprefix("x86-64-") for s in BUILT} & set(ASSEMBLY):
        pytest.skip(f"what is put on the stack is not counted for {' and '.join(BUILT)}")
    assert counts
    return counts


def test_hops_spill_no_more_than_they_must_and_ask_for_what_comes(hops):
    assert any("wilson" in name and "R18" in name for _, name in hops)
    for (instructions, name), count in hops.items():
        assert count["prefetch"] > 0, f"{name}: nothing is asked for ahead: did the compiler leave it out?"
        limit = next(limits for family, limits in LIMITS.items() if re.search(family, name))[instructions]
        assert count["stack"] <= limit, f"{instructions} {name}: {count['stack']} registers put on the stack"
