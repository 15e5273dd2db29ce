"""Molecular dynamics: trajectories of other codes, order, reversibility, resumed runs."""

import json
import math
import os
import re
from pathlib import Path

import pytest
from conftest import ROOT
from descriptions import hmc_file

DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data")) / "hmc"
CASES = sorted(p.name for p in DATA.iterdir() if p.is_dir()) if DATA.is_dir() else []


def close(found: float, wanted: float, tolerance: float) -> bool:
    return abs(found - wanted) <= tolerance * max(abs(wanted), 1e-3)


WILSON = 'name = "gauge"\nkind = "gauge"\naction = "wilson"\nbeta = 5.6'
SECOND = 'name = "quark"\nkind = "two-flavour"\naction = "wilson"\nkappa = 0.12'


def pure_gauge(tmp_path: Path, name: str = "run.toml", **changes: object) -> str:
    values = {"gauge": "hot", "count": 1, "steps": 10, "length": 0.5, "seed": 7, **changes}
    (tmp_path / name).write_text(hmc_file(WILSON, **values))
    return name


def test_a_resumed_run_has_the_same_bits(quarksmith, tmp_path):
    def run(description: str, *options: str) -> None:
        quarksmith("hmc", description, *options, "--overwrite")

    six, three = pure_gauge(tmp_path, "six.toml", count=6), pure_gauge(tmp_path, "three.toml", count=3)
    run(six, "--out", "whole", "--save-every", "3", "--json", "whole.json")
    run(three, "--out", "part")
    run(six, "--out", "part", "--resume", "part_00003.ildg", "--json", "part.json")
    for n in ("00003", "00006"):
        assert (tmp_path / f"whole_{n}.ildg").read_bytes() == (tmp_path / f"part_{n}.ildg").read_bytes()
    whole, part = (quarksmith.json(f"{n}.json") for n in ("whole", "part"))
    assert part["first"] == 3
    for one, other in zip(whole["trajectories"][3:], part["trajectories"], strict=True):
        assert {k: one[k] for k in ("kinetic", "actions", "dH", "accepted")} == {
            k: other[k] for k in ("kinetic", "actions", "dH", "accepted")
        }
    assert "count" in quarksmith.refuses("hmc", three, "--resume", "part_00003.ildg")


@pytest.mark.parametrize("command", ["hmc", "heatbath"])
def test_one_bit_of_the_record_of_a_checkpoint_is_noticed(quarksmith, tmp_path, command):
    if command == "hmc":
        quarksmith("hmc", pure_gauge(tmp_path), "--out", "u")
        again, key = ("hmc", pure_gauge(tmp_path, count=3), "--resume"), b'"trajectories":1'
    else:
        quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
        again, key = ("heatbath", "--sweeps", "1", "--resume"), b'"sweeps":1'
    sound = (tmp_path / "u_00001.ildg").read_bytes()
    digit = sound.index(key) + len(key) - 1
    for place, bit in (
        (digit, 1),
        (digit, 2),
        (digit + 1, 16),
        (sound.index(b"\n", digit), 4),
        (sound.index(b"\n", digit) + 30, 1),
    ):
        damaged = bytearray(sound)
        damaged[place] ^= bit
        (tmp_path / "d.ildg").write_bytes(damaged)
        error = quarksmith.refuses(*again, "d.ildg", status=1)
        assert f"d.ildg: its record quarksmith-{command} " in error and error.count("error") == 1
    quarksmith(*again, "u_00001.ildg")


CHANGES = [
    ("steps = 10", "steps = 11", "integrator level 1: steps was 10, now 11"),
    ("beta = 5.6", "beta = 5.7", "monomial 'gauge': beta was 5.6, now 5.7"),
    ("beta = 5.6", "beta = 5.6\nanisotropy = 2.0", "monomial 'gauge': anisotropy was 1, now 2"),
    ("csw = 0.5", "csw = 0.6", "monomial 'quark': csw was 0.5, now 0.6"),
    ("csw = 0.5", "csw_r = 0.5\ncsw_t = 0.5", "monomial 'quark': csw was 0.5, now missing"),
    ("csw = 0.5", 'csw = 0.5\nprecision = "double"', "monomial 'quark': precision was by default, now double"),
    ("csw = 0.5", "csw = 0.5\ntol_force = 1e-7", "monomial 'quark': tol_force was 1e-10, now 1e-07"),
    ("rho = 0.1", "rho = 0.2", "monomial 'quark': stout: rho was 0.1, now 0.2"),
    (
        '["gauge", "quark"]',
        '["quark", "gauge"]',
        "integrator level 1: monomials was [gauge, quark], now [quark, gauge]",
    ),
]


def test_a_changed_key_is_not_resumed(quarksmith, tmp_path):
    """Whatever `--overwrite` says, which is about files; a default that is written down is no change."""
    clover = SECOND.replace('"wilson"', '"clover"') + "\ncsw = 0.5\nstout = {rho = 0.1, steps = 1}"
    text = hmc_file(WILSON, clover, gauge="weak:0.3", steps=10, length=0.5, count=1, seed=7)
    (tmp_path / "run.toml").write_text(text)
    quarksmith("hmc", "run.toml", "--out", "a")
    text = text.replace("count = 1", "count = 2")
    for old, new, message in CHANGES:
        assert old in text
        (tmp_path / "other.toml").write_text(text.replace(old, new))
        error = quarksmith.refuses("hmc", "other.toml", "--resume", "a_00001.ildg", "--out", "a", "--overwrite")
        assert message in error and "written by another run than other.toml" in error and error.count("\n") == 1
    (tmp_path / "other.toml").write_text(text.replace("csw = 0.5", "csw = 0.50\ntol_force = 1e-10"))
    quarksmith("hmc", "other.toml", "--resume", "a_00001.ildg", "--out", "a")


TOLERANCES = "tol_force = 1e-12\ntol_action = 1e-13\n"


def quark_file(keys: str, steps: int) -> str:
    monomial = f'name = "quark"\n{keys}\n{TOLERANCES}'
    return hmc_file(monomial, gauge="weak:0.4", steps=steps, length=0.1, count=1, seed=5)


WALL = "ls = 4; m5 = 1.6; mass = 0.1"
MOEBIUS = f"{WALL}; b5 = 1.5; c5 = 0.5"
STOUT = "stout = {rho = 0.1, steps = "
RATIONAL = "rational = {range = [0.1, 30.0], error = 1e-8, force_error = 1e-8}"
POLES = "rational = {range = [0.1, 30.0], poles = 7, force_poles = 6}"
WIDER = RATIONAL.replace("30.0", "90.0")
TWISTED = 'mass = 0.2; csw = 1.1; even_odd = "asymmetric"; twist = 0.3'
QUARKS = {
    "wilson": ("two-flavour", "wilson", 'mass = 0.2; even_odd = "symmetric"'),
    "anisotropic": ("two-flavour", "clover", "mass = 0.2; csw_r = 1.2; csw_t = 0.9; anisotropy = [1.5, 0.9]"),
    "stout": ("two-flavour", "clover", f'mass = 0.2; csw = 1.2; even_odd = "asymmetric"; {STOUT}2}}'),
    "stout in space": ("two-flavour", "wilson", f'mass = 0.2; {STOUT}1, directions = "xyz"}}'),
    "twisted clover": ("two-flavour", "twisted-clover", "mass = 0.2; mu = 0.3; csw = 1.1"),
    "doublet": ("two-flavour", "twisted-mass", "mass = 0.2; mu = 0.3; epsilon = 0.1"),
    "ratio": ("two-flavour-ratio", "clover", "mass = 0.1; csw = 1.1; denominator = {mass = 0.4}"),
    "one flavour": ("rational", "clover", f"{RATIONAL}; mass = 0.3; csw = 1.0; fields = 2"),
    "poles of a number": ("rational", "clover", f"{POLES}; mass = 0.3; csw = 1.0; fields = 2"),
    "log det": ("log-det", "clover", 'mass = 0.2; csw = 1.0; flavours = 1; sites = "odd"'),
    "bosons": ("rational", "clover", f"{RATIONAL}; mass = 0.3; csw = 1.0; flavours = -1"),
    "domain wall": ("two-flavour", "domain-wall", f'{WALL}; even_odd = "asymmetric"'),
    "moebius": ("two-flavour", "moebius", f'{MOEBIUS}; even_odd = "symmetric"'),
    "moebius on all sites": ("two-flavour", "moebius", f'{MOEBIUS}; even_odd = "none"'),
    "d234": ("two-flavour", "d234", 'mass = 0.4; even_odd = "none"'),
    "brillouin": ("two-flavour", "brillouin", 'mass = 0.4; even_odd = "none"'),
    "twist": ("two-flavour", "clover", f"{TWISTED}; {STOUT}1}}"),
    "ratio of twists": ("two-flavour-ratio", "twisted-clover", f"{TWISTED}; mu = 0.1; denominator = {{twist = 0.6}}"),
    "one flavour with a twist": ("rational", "wilson", f'{WIDER}; mass = 0.3; even_odd = "asymmetric"; twist = 0.2'),
    "symmetric twist": ("two-flavour", "clover", f"mass = 0.2; csw = 1.1; twist = 0.3; {STOUT}1}}"),
    "ratio of symmetric twists": (
        "two-flavour-ratio",
        "clover",
        "mass = 0.2; csw_r = 1.2; csw_t = 0.9; anisotropy = [1.5, 0.9]; denominator = {twist = 0.6}",
    ),
    "one flavour with a symmetric twist": ("rational", "clover", f"{WIDER}; mass = 0.3; csw = 1.0; twist = 0.2"),
    "naive": ("two-flavour", "naive", 'mass = 0.4; mu = 0.1; even_odd = "none"'),
    "staggered": ("rational", "staggered", f"{RATIONAL}; mass = 0.2; flavours = 2"),
    "asqtad": ("rational", "asqtad", f"{RATIONAL}; mass = 0.2; u0 = 0.9"),
    "hisq": ("rational", "hisq", f"{RATIONAL}; mass = 0.2; naik_epsilon = -0.05"),
}


def described(name: str, steps: int) -> str:
    kind, action, keys = QUARKS[name]
    lines = [f'kind = "{kind}"', f'action = "{action}"', *keys.split("; ")]
    text = quark_file("\n".join(lines), steps)
    if kind == "log-det":
        text = text.replace(TOLERANCES, "")
    if kind == "rational":  # dH of half the digits tells its order
        text = text.replace("= 1e-12\ntol_action = 1e-13", "= 1e-10\ntol_action = 1e-10")
    if action not in ("asqtad", "hisq"):
        return text
    # Three links in a row need six sites; rough links have fat ones whose projection has large derivatives.
    return text.replace("[4, 4, 4, 4]", "[6, 6, 6, 6]").replace("weak:0.4", "weak:0.2")


def quark(quarksmith, tmp_path, name: str, steps: int, *options: str) -> dict:
    (tmp_path / "run.toml").write_text(described(name, steps))
    quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite", *options)
    return quarksmith.json("o.json")["trajectories"][0]


@pytest.mark.parametrize("name", QUARKS)
def test_energy_is_kept_with_every_action(quarksmith, tmp_path, name):
    """With a wrong force dH would fall like the step, if at all."""
    coarse, fine = (quark(quarksmith, tmp_path, name, steps)["dH"] for steps in (2, 4))
    assert 1.8 < math.log2(abs(coarse / fine)) < 2.2


def test_a_twist_on_all_sites_is_a_twisted_mass(quarksmith, tmp_path):
    """The same numbers from two operators."""
    found = []
    for action, key in (("wilson", "twist"), ("twisted-mass", "mu")):
        keys = f'kind = "two-flavour"\naction = "{action}"\nmass = 0.2\n{key} = 0.3\neven_odd = "none"'
        (tmp_path / "run.toml").write_text(quark_file(keys, 3))
        quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite")
        found.append(quarksmith.json("o.json")["trajectories"][0])
    one, other = found
    assert one["actions"]["quark"] == pytest.approx(other["actions"]["quark"], rel=1e-11)
    assert one["dH"] == pytest.approx(other["dH"], abs=1e-9)
    norms = [[f["norm2"] for f in t["forces"]["quark"]] for t in found]
    assert norms[0] == pytest.approx(norms[1], rel=1e-10)


def test_quarks_go_back_where_they_began(quarksmith, tmp_path):
    found = quark(quarksmith, tmp_path, "anisotropic", 2, "--reversibility", "1")["reversibility"]
    assert 0 < found["links"] < 1e-12


def test_a_range_that_does_not_cover_is_one_clear_error(quarksmith, tmp_path):
    (tmp_path / "run.toml").write_text(described("one flavour", 1).replace("[0.1, 30.0]", "[3.0, 10.0]"))
    error = quarksmith.refuses("hmc", "run.toml", status=1)
    assert "monomial 'quark': M^+ M has eigenvalues from" in error and "widen it" in error


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
@pytest.mark.parametrize("case", CASES or ["none"])
@pytest.mark.parametrize("most", [1, 100])
def test_trajectories_are_those_of_other_codes(quarksmith, case, most):
    """Energies at the start as a program of its own computes them and as their logs have them; all the rest after."""
    folder, expected = DATA / case, json.loads((DATA / case / "expected.json").read_text())
    expected["recomputed"] = expected["recomputed"][:most]
    text = (folder / "run.toml").read_text().replace('"start.ildg"', f'"{folder / "start.ildg"}"')
    (quarksmith.folder / "run.toml").write_text(
        re.sub(r"^count = (\d+)", lambda n: f"count = {min(most, int(n[1]))}", text, flags=re.M)
    )
    quarksmith("hmc", "run.toml", "--replay", folder / "replay.h5", "--json", "out.json")
    found, limits = quarksmith.json("out.json")["trajectories"], expected["tolerance"]
    assert set(found[0]["actions"]) == set(expected["recomputed"][0]["actions"])
    for name, (action, *_) in expected.get("trajectories", expected["recomputed"])[0]["actions"].items():
        assert close(found[0]["actions"][name][0], action, limits["start"]), name
    for one, wanted in zip(found, expected["recomputed"], strict=True):
        assert abs(one["dH"] - wanted["dH"]) <= limits["recomputed_dH"]
        assert close(one["kinetic"][0], wanted["kinetic"][0], 1e-12 if one is found[0] else limits["recomputed"])
        assert close(one["kinetic"][1], wanted["kinetic"][1], limits["recomputed"])
        for name, actions in wanted["actions"].items():
            for ours, theirs in zip(one["actions"][name], actions, strict=True):
                assert close(ours, theirs, limits["recomputed"]), name
        for name, norms in wanted.get("forces", {}).items():
            assert len(one["forces"][name]) == len(norms), name
            for ours, theirs in zip(one["forces"][name], norms, strict=True):
                assert abs(ours["norm2"] - theirs) <= limits["recomputed"] * theirs + limits["force_floor"], name
        assert close(one["plaquette"], wanted["plaquette"], limits["recomputed"])


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
def test_energies_alone_are_those_at_the_start_of_a_trajectory(quarksmith):
    line = ("hmc", DATA / CASES[0] / "run.toml", "--replay", DATA / CASES[0] / "replay.h5", "--energies")
    quarksmith(*line, "--json", "out.json")
    found = quarksmith.json("out.json")["trajectories"][0]
    wanted = json.loads((DATA / CASES[0] / "expected.json").read_text())["recomputed"][0]
    assert close(found["kinetic"][0], wanted["kinetic"][0], 1e-12)
    assert {n: len(a) for n, a in found["actions"].items()} == dict.fromkeys(wanted["actions"], 1)
