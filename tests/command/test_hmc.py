"""Molecular dynamics: trajectories of other codes, order, reversibility, resumed runs, wrong descriptions."""

import json
import math
import os
from pathlib import Path

import pytest
from conftest import ROOT

DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data")) / "hmc"
CASES = sorted(p.name for p in DATA.iterdir() if p.is_dir()) if DATA.is_dir() else []


def close(found: float, wanted: float, tolerance: float) -> bool:
    return abs(found - wanted) <= tolerance * max(abs(wanted), 1e-3)


def trajectory(quarksmith, tmp_path: Path, case: str, *options: str) -> dict:
    folder = DATA / case
    quarksmith("hmc", folder / "run.toml", "--replay", folder / "replay.h5", "--json", "out.json", *options)
    return json.loads((tmp_path / "out.json").read_text())


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
@pytest.mark.parametrize("case", CASES or ["none"])
def test_energies_at_the_start_are_those_of_other_codes(quarksmith, tmp_path, case):
    expected = json.loads((DATA / case / "expected.json").read_text())
    found = trajectory(quarksmith, tmp_path, case, "--energies")["trajectories"][0]
    wanted = expected["recomputed"][0]
    assert close(found["kinetic"][0], wanted["kinetic"][0], 1e-12)
    assert set(found["actions"]) == set(wanted["actions"])
    for name, (action,) in found["actions"].items():
        assert close(action, wanted["actions"][name][0], expected["tolerance"]["recomputed"]), name
    log = expected["trajectories"][0] if "trajectories" in expected else wanted
    for name, (action, *_) in log["actions"].items():
        assert close(found["actions"][name][0], action, expected["tolerance"]["start"]), name


GAUGE = """\
[lattice]
extents = [4, 4, 4, 4]
gauge = "{gauge}"

[trajectory]
length = 0.5
count = {count}
seed = 7

[[monomial]]
name = "gauge"
kind = "gauge"
action = "wilson"
beta = 5.6

[[integrator]]
kind = "{kind}"
steps = {steps}
monomials = ["gauge"]
"""


def pure_gauge(tmp_path: Path, name: str = "run.toml", **changes: object) -> str:
    values = {"gauge": "hot", "count": 1, "kind": "leapfrog", "steps": 10, **changes}
    (tmp_path / name).write_text(GAUGE.format(**values))
    return name


@pytest.mark.parametrize(("kind", "order"), [("leapfrog", 2), ("omelyan", 2), ("omelyan4", 4), ("force-gradient", 4)])
def test_energy_is_kept_to_the_order_of_the_integrator(quarksmith, tmp_path, kind, order):
    errors = []
    for steps in (8, 16):
        quarksmith("hmc", pure_gauge(tmp_path, kind=kind, steps=steps), "--json", "o.json", "--overwrite")
        errors.append(abs(json.loads((tmp_path / "o.json").read_text())["trajectories"][0]["dH"]))
    assert order - 0.4 < math.log2(errors[0] / errors[1]) < order + 0.4


def test_a_trajectory_there_and_back_ends_where_it_began(quarksmith, tmp_path):
    quarksmith("hmc", pure_gauge(tmp_path, kind="omelyan"), "--reversibility", "1", "--json", "o.json")
    found = json.loads((tmp_path / "o.json").read_text())["trajectories"][0]["reversibility"]
    assert 0 < found["links"] < 1e-12
    assert abs(found["dH"]) < 1e-8


def test_a_resumed_run_has_the_same_bits(quarksmith, tmp_path):
    def run(description: str, *options: str) -> None:
        quarksmith("hmc", description, *options, "--overwrite")

    six, three = pure_gauge(tmp_path, "six.toml", count=6), pure_gauge(tmp_path, "three.toml", count=3)
    run(six, "--out", "whole", "--save-every", "3", "--json", "whole.json")
    run(three, "--out", "part")
    run(six, "--out", "part", "--resume", "part_00003.ildg", "--json", "part.json")
    for n in ("00003", "00006"):
        assert (tmp_path / f"whole_{n}.ildg").read_bytes() == (tmp_path / f"part_{n}.ildg").read_bytes()
    whole, part = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("whole", "part"))
    assert part["first"] == 3
    for one, other in zip(whole["trajectories"][3:], part["trajectories"], strict=True):
        assert {k: one[k] for k in ("kinetic", "actions", "dH", "accepted")} == {
            k: other[k] for k in ("kinetic", "actions", "dH", "accepted")
        }
    assert "count" in quarksmith.refuses("hmc", three, "--resume", "part_00003.ildg")


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
    keys = SECOND.replace('"wilson"', '"clover"') + "csw = 0.5\nstout = {rho = 0.1, steps = 1}\n\n[[integrator]]"
    text = GAUGE.format(gauge="weak:0.3", count=1, kind="leapfrog", steps=10).replace("[[integrator]]", keys)
    text = text.replace('["gauge"]', '["gauge", "quark"]')
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


BAD = [
    (("beta = 5.6", "beat = 5.6"), "run.toml:10: monomial 'gauge': beta is missing"),
    (
        ("beta = 5.6", "beta = 5.6\nbeat = 1"),
        "run.toml:15: monomial 'gauge': key 'beat' is unknown here; did you mean beta?",
    ),
    (
        ('kind = "gauge"', 'kind = "guage"'),
        "run.toml:12: monomial 'gauge': kind 'guage' is unknown; did you mean gauge?",
    ),
    (
        ('action = "wilson"', 'action = "willson"'),
        "run.toml:13: monomial 'gauge': action 'willson' is unknown; did you mean wilson?",
    ),
    (
        ('monomials = ["gauge"]', 'monomials = ["gluon"]'),
        "run.toml:19: integrator level 1: there is no monomial 'gluon'; use gauge",
    ),
    (('monomials = ["gauge"]', "monomials = []"), "a level without monomials does nothing"),
    (('monomials = ["gauge"]', 'monomials = ["gauge", "gauge"]'), "named twice"),
    (("steps = 10", "steps = 0"), "run.toml:18: integrator level 1: steps = 0; use a whole number from 1"),
    (("steps = 10", "steps = 2.5"), "steps is not a whole number"),
    (("steps = 10", "longest_step = 0"), "run.toml:18: integrator level 1: longest_step = 0; use a positive number"),
    (("steps = 10", "longest_step = 1e-9"), "longest_step = 1e-09; use at least 5e-07"),
    (("steps = 10", "steps = 10\nlongest_step = 0.1"), "key 'steps' is unknown here"),
    (("length = 0.5", "length = -1"), "length = -1; use a positive number"),
    (('kind = "leapfrog"', 'kind = "leapfrog'), "run.toml:17: "),
    (("[4, 4, 4, 4]", "[4, 4, 4]"), "run.toml:2: [lattice]: extents are four even numbers"),
    (("[[integrator]]", "[integrator]"), "integrator is not a list of tables"),
    (('gauge = "hot"', 'gauge = "missing.ildg"'), "missing.ildg"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[m for _, m in BAD])
def test_a_wrong_description_is_one_clear_error(quarksmith, tmp_path, change, message):
    name = pure_gauge(tmp_path)
    text = (tmp_path / name).read_text()
    assert change[0] in text
    (tmp_path / name).write_text(text.replace(*change))
    error = quarksmith.refuses("hmc", name, "--json", "o.json", status=1 if "missing.ildg" in message else 2)
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "o.json").exists()


SECOND = """\
[[monomial]]
name = "quark"
kind = "two-flavour"
action = "wilson"
kappa = 0.12
"""
WITH_QUARKS = [
    ("", "", "monomial 'quark' is in no level of the integrator"),
    (
        '["gauge"]',
        '["gauge", "quark"]\n[[integrator]]\nkind = "leapfrog"\nsteps = 1\nmonomials = ["gauge"]',
        "monomial 'gauge' is in level 1 already",
    ),
    ("kappa = 0.12", "kapa = 0.12", "monomial 'quark': key 'kapa' is unknown; did you mean kappa?"),
    ("kappa = 0.12", "kappa = -0.12", "monomial 'quark': kappa -0.12: use a positive number"),
    ("kappa = 0.12", "kappa = 0.12\ncsw = 1.0", "csw belongs to action clover"),
    ("kappa = 0.12", "kappa = 0.12\nmass = 0.1", "exactly one of mass and kappa"),
    (
        '"wilson"\nkappa = 0.12',
        '"twisted-mass"\nkappa = 0.12\nmu = 0.2\ntwist = 0.1',
        'twist with mu belongs to even_odd "asymmetric" or "none": action twisted-mass has a mu',
    ),
    (
        '"wilson"\nkappa = 0.12',
        '"domain-wall"\nmass = 0.1\nls = 4\nm5 = 1.4\neven_odd = "none"\ntwist = 0.1',
        "twist belongs to one Dirac quark in four dimensions, not to domain-wall",
    ),
    ('"two-flavour"', '"rational"\nflavours = 0\nrational = {range = [1, 2]}', "flavours = 0"),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [1, 2], poles = 5}',
        "monomial 'quark': rational: force_poles is missing",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [1, 2], poles = 41, force_poles = 5}',
        "poles = 41; use a whole number from 1 to 40",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [1, 2], poles = 5, force_poles = 5, error = 1e-9}',
        "key 'error' is unknown here",
    ),
    ('"wilson"\nkappa', '"overlap"\nkappa', "action 'overlap' is unknown; use wilson"),
    ('"two-flavour"', '"two-flavour-ratio"', "monomial 'quark': denominator is missing"),
    ('"two-flavour"', '"rational"', "monomial 'quark': its rational functions are missing"),
    ("kappa = 0.12", "kappa = 0.12\ntol_force = 0", "tol_force = 0; use a number between 0 and 1"),
    ('"wilson"\nkappa = 0.12', '"staggered"\nmass = 0.1', "staggered quarks are of kind rational"),
    ('"quark"\n', '"gauge"\n', "there is a monomial 'gauge' already"),
    ("kappa = 0.12", 'kappa = 0.12\nsolver = "gcr"', "solver 'gcr': forces are solved for by auto, cg or bicgstab"),
    ("kappa = 0.12", 'kappa = 0.12\nsolver = "cgs"', "solver 'cgs' is unknown"),
    ("kappa = 0.12", 'kappa = 0.12\nprecision = "single"', "precision 'single': residuals are those in double"),
    ("kappa = 0.12", 'kappa = 0.12\nprecision = "double-threequarter"', "precision 'threequarter' is unknown"),
    ("kappa = 0.12", 'kappa = 0.12\nprecision = "double-single-half"', "3 parts"),
    ("kappa = 0.12", "kappa = 0.12\nchronological = -1", "chronological = -1; use a whole number from 0 to 30"),
    (
        '"two-flavour"',
        '"rational"\nsolver = "bicgstab"',
        "solver 'bicgstab': kind rational is solved for all of its poles",
    ),
    ('"two-flavour"', '"rational"\nchronological = 3', "chronological: a first guess serves one system"),
    (
        '"two-flavour"\naction = "wilson"',
        '"log-det"\naction = "clover"\ncsw = 1.0\nflavours = 1\nprecision = "double"',
        "key 'precision' is unknown here",
    ),
    ('"two-flavour"', '"log-det"\nflavours = 1', "the log det of action wilson does not depend on the links"),
    (
        '"two-flavour"\naction = "wilson"\nkappa = 0.12',
        '"rational"\naction = "staggered"\nmass = 0.1\nsolver = "bicgstab"',
        "solver 'bicgstab': kind rational",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WITH_QUARKS, ids=[m for *_, m in WITH_QUARKS])
def test_a_wrong_quark_is_one_clear_error(quarksmith, tmp_path, old, new, message):
    text = GAUGE.format(gauge="unit", count=1, kind="leapfrog", steps=2).replace(
        "[[integrator]]", SECOND + "\n[[integrator]]"
    )
    assert old in text
    (tmp_path / "run.toml").write_text(text.replace(old, new))
    error = quarksmith.refuses("hmc", "run.toml")
    assert message in error and error.startswith("quarksmith: error: run.toml:") and error.count("\n") == 1


def test_a_replay_without_the_numbers_is_one_clear_error(quarksmith, tmp_path):
    name = pure_gauge(tmp_path)
    quarksmith("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--out", "p.h5")
    assert "holds no trajectory 0" in quarksmith.refuses("hmc", name, "--replay", "p.h5", status=1)
    (tmp_path / "damaged.h5").write_bytes((tmp_path / "p.h5").read_bytes()[:700])
    assert "damaged.h5" in quarksmith.refuses("hmc", name, "--replay", "damaged.h5", status=1)


QUARK = """\
[lattice]
extents = [4, 4, 4, 4]
gauge = "weak:0.4"

[trajectory]
length = 0.1
count = 1
seed = 5

[[monomial]]
name = "quark"
{quark}
tol_force = 1e-12
tol_action = 1e-13

[[integrator]]
kind = "leapfrog"
steps = {steps}
monomials = ["quark"]
"""
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
    text = QUARK.format(quark="\n".join(lines), steps=steps)
    if kind == "log-det":
        text = text.replace("tol_force = 1e-12\ntol_action = 1e-13\n", "")
    if kind == "rational":  # dH of half the digits tells its order
        text = text.replace("= 1e-12\ntol_action = 1e-13", "= 1e-10\ntol_action = 1e-10")
    if action not in ("asqtad", "hisq"):
        return text
    # Three links in a row need six sites; rough links have fat ones whose projection has large derivatives.
    return text.replace("[4, 4, 4, 4]", "[6, 6, 6, 6]").replace("weak:0.4", "weak:0.2")


def quark(quarksmith, tmp_path, name: str, steps: int, *options: str) -> dict:
    (tmp_path / "run.toml").write_text(described(name, steps))
    quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite", *options)
    return json.loads((tmp_path / "o.json").read_text())["trajectories"][0]


@pytest.mark.parametrize("name", QUARKS)
def test_energy_is_kept_with_every_action(quarksmith, tmp_path, name):
    """With a wrong force dH would fall like the step, if at all."""
    coarse, fine = (quark(quarksmith, tmp_path, name, steps)["dH"] for steps in (4, 8))
    assert 1.8 < math.log2(abs(coarse / fine)) < 2.2


def test_a_twist_on_all_sites_is_a_twisted_mass(quarksmith, tmp_path):
    """The same numbers from two operators."""
    found = []
    for action, key in (("wilson", "twist"), ("twisted-mass", "mu")):
        keys = f'kind = "two-flavour"\naction = "{action}"\nmass = 0.2\n{key} = 0.3\neven_odd = "none"'
        (tmp_path / "run.toml").write_text(QUARK.format(quark=keys, steps=3))
        quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite")
        found.append(json.loads((tmp_path / "o.json").read_text())["trajectories"][0])
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
def test_trajectories_are_those_of_other_codes(quarksmith, tmp_path, case):
    expected = json.loads((DATA / case / "expected.json").read_text())
    found, limits = trajectory(quarksmith, tmp_path, case)["trajectories"], expected["tolerance"]
    assert len(found) == len(expected["recomputed"])
    for one, wanted in zip(found, expected["recomputed"], strict=True):
        assert abs(one["dH"] - wanted["dH"]) <= limits["recomputed_dH"]
        assert close(one["kinetic"][1], wanted["kinetic"][1], limits["recomputed"])
        for name, (_, action) in wanted["actions"].items():
            assert close(one["actions"][name][1], action, limits["recomputed"]), name
        for name, norms in wanted.get("forces", {}).items():
            assert len(one["forces"][name]) == len(norms), name
            for ours, theirs in zip(one["forces"][name], norms, strict=True):
                assert abs(ours["norm2"] - theirs) <= limits["recomputed"] * theirs + limits["force_floor"], name
        assert close(one["plaquette"], wanted["plaquette"], limits["recomputed"])
