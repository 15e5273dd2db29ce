"""Molecular dynamics: what a wrong description is answered."""

import numpy as np
import pytest
from test_hmc import GAUGE, SECOND, pure_gauge

BAD = [
    (
        ("beta = 5.6", "beat = 5.6"),
        "run.toml:14: monomial 'gauge': key 'beat' is unknown here; did you mean beta?",
    ),
    (("beta = 5.6", ""), "run.toml:10: monomial 'gauge': beta is required"),
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
        "run.toml:19: integrator level 1: monomials 'gluon' is unknown; use gauge",
    ),
    (('monomials = ["gauge"]', "monomials = []"), "monomials has 0 values"),
    (('monomials = ["gauge"]', 'monomials = ["gauge", "gauge"]'), "named twice"),
    (("steps = 10", "steps = 0"), "run.toml:18: integrator level 1: steps: 0 is not in the range 1 to"),
    (("steps = 10", "steps = 2.5"), "steps: '2.5' is not a whole number"),
    (("steps = 10", "longest_step = 0"), "run.toml:18: integrator level 1: longest_step: 0 is too small"),
    (("steps = 10", "longest_step = 1e-9"), "longest_step: 1e-09 is too small; use a number of at least 5e-07"),
    (("steps = 10", "steps = 10\nlongest_step = 0.1"), "run.toml:18: integrator level 1: steps and longest_step"),
    (("length = 0.5", "length = -1"), "length: -1; use a number above 0"),
    (('kind = "leapfrog"', 'kind = "leapfrog'), "run.toml:17: "),
    (("[4, 4, 4, 4]", "[4, 4, 4]"), "run.toml:2: [lattice]: extents has 3 values"),
    (("[[integrator]]", "[integrator]"), "integrator is not a list of tables"),
    (('gauge = "hot"', 'gauge = "missing.ildg"'), "missing.ildg"),
    (
        ('gauge = "hot"', 'gauge = "hot:2,2,2,2:1"'),
        'gauge = "hot:2,2,2,2:1" is a 2x2x2x2 lattice, but extents = [4, 4, 4, 4]; give both the same',
    ),
    (('gauge = "hot"', 'gauge = "weak:0.1:4,4,4,8:1"'), "4x4x4x8 lattice, but extents = [4, 4, 4, 4]"),
    (('gauge = "hot"', 'gauge = "hot:4,4,4,4:-1"'), "seed -1; use 0 or more"),
    (
        ("seed = 7", "seed = 7\nmomenta_anisotropy = 1e300"),
        "run.toml:9: [trajectory]: momenta_anisotropy: 1e+300 is not in the range 0.01 to 100",
    ),
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


WITH_QUARKS = [
    ("", "", "monomial 'quark' is in no level of the integrator"),
    (
        '["gauge"]',
        '["gauge", "quark"]\n[[integrator]]\nkind = "leapfrog"\nsteps = 1\nmonomials = ["gauge"]',
        "monomial 'gauge' is in level 1 already",
    ),
    ("kappa = 0.12", "kapa = 0.12", "monomial 'quark': key 'kapa' is unknown here; did you mean kappa?"),
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
        "monomial 'quark': rational: force_poles is required",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [1, 2], poles = 41, force_poles = 5}',
        "poles: 41 is not in the range 1 to 40",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [1, 2], poles = 5, force_poles = 5, error = 1e-9}',
        "key 'error' is unknown here",
    ),
    ('"wilson"\nkappa', '"overlap"\nkappa', "action 'overlap' is unknown; use wilson"),
    ('"two-flavour"', '"two-flavour-ratio"', "monomial 'quark': denominator is missing"),
    ('"two-flavour"', '"rational"', "monomial 'quark': its rational functions are missing"),
    ("kappa = 0.12", "kappa = 0.12\ntol_force = 0", "tol_force: 0; use a number above 0, up to 0.01"),
    ("kappa = 0.12", "kappa = 0.12\ntol_action = 0.9", "tol_action: 0.9; use a number above 0, up to 0.0001"),
    (
        "kappa = 0.12",
        "kappa = 0.12\nboundary = [1e300, 0, 0, 0]",
        "phases are in units of pi; use -2 to 2",
    ),
    (
        '"two-flavour"',
        '"two-flavour-ratio"\ndenominator = {mass = 0.5, kappa = 0.11}',
        "run.toml:19: monomial 'quark': denominator: needs exactly one of mass and kappa",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [0.01, 50], error = 0.5}',
        "monomial 'quark': rational: error: 0.5; use a number above 0, up to 0.0001",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [0.01, 50], poles = 1, force_poles = 5}',
        "poles = 1 leave an error of 0.",
    ),
    ('"wilson"\nkappa = 0.12', '"staggered"\nmass = 0.1', "staggered quarks are of kind rational"),
    ('"quark"\n', '"gauge"\n', "there is a monomial 'gauge' already"),
    (
        "kappa = 0.12",
        'kappa = 0.12\nsolver = "gcr"',
        "solver 'gcr': forces are solved for by auto, cg, bicgstab, eigcg or multigrid",
    ),
    ("kappa = 0.12", 'kappa = 0.12\nsolver = "cgs"', "solver 'cgs' is unknown"),
    ("kappa = 0.12", 'kappa = 0.12\nprecision = "single"', "precision 'single': residuals are those in double"),
    ("kappa = 0.12", 'kappa = 0.12\nprecision = "double-threequarter"', "precision 'threequarter' is unknown"),
    ("kappa = 0.12", 'kappa = 0.12\nprecision = "double-single-half"', "3 parts"),
    ("kappa = 0.12", "kappa = 0.12\nchronological = -1", "chronological: -1 is not in the range 0 to 30"),
    (
        '"two-flavour"',
        '"rational"\nsolver = "bicgstab"',
        "solver 'bicgstab': kind rational is solved for all of its poles",
    ),
    (
        '"two-flavour"',
        '"rational"\nrational = {range = [0.01, 50]}\nchronological = 3',
        "chronological belongs to one system",
    ),
    (
        '"two-flavour"\naction = "wilson"',
        '"log-det"\naction = "clover"\ncsw = 1.0\nflavours = 1\nprecision = "double"',
        "key 'precision' is unknown here",
    ),
    ('"two-flavour"', '"log-det"\nflavours = 1', "the log det of action wilson does not depend on the links"),
    (
        '"two-flavour"\naction = "wilson"\nkappa = 0.12',
        '"rational"\nrational = {range = [0.01, 50]}\naction = "staggered"\nmass = 0.1\nsolver = "bicgstab"',
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


@pytest.mark.parametrize(("off", "refused"), [(0.0, False), (1e-7, True)])
def test_momenta_of_a_replay_are_in_the_algebra_to_rounding(quarksmith, tmp_path, off, refused):
    h5py = pytest.importorskip("h5py")
    a = np.random.default_rng(1).normal(size=(4, 4, 4, 4, 4, 3, 3, 2)) @ np.array([1, 1j])
    p = a - a.conj().swapaxes(-1, -2)
    p -= np.eye(3) * np.trace(p, axis1=-2, axis2=-1)[..., None, None] / 3
    p[1, 2, 3, 0, 2, 0, 1] += off
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file["momenta"] = p
    command = ("hmc", pure_gauge(tmp_path), "--replay", "p.h5")
    if not refused:
        assert "trajectory 0" in quarksmith(*command).stdout
        return
    error = quarksmith.refuses(*command, status=1)
    assert "p.h5" in error and "momenta: a matrix is not finite, anti-Hermitian and traceless" in error


TABLES = """\
kind = "rational"
rational.heatbath = {constant = 1.0, residues = [%s], poles = [1.0]}
rational.action = {constant = 1.0, residues = [-1.0], poles = [2.0]}
rational.force = {constant = 1.0, residues = [-1.0], poles = [2.0]}
"""


@pytest.mark.parametrize("residue", ["1.0", "3.0"])
def test_a_heat_bath_that_is_not_the_inverse_of_the_action_is_refused(quarksmith, tmp_path, residue):
    """(x + 2) / (x + 1) and its inverse (x + 1) / (x + 2)."""
    text = GAUGE.format(gauge="unit", count=1, kind="leapfrog", steps=2).replace(
        "[[integrator]]", SECOND + "\n[[integrator]]"
    )
    text = text.replace('kind = "two-flavour"\n', TABLES % residue).replace('["gauge"]', '["gauge", "quark"]')
    (tmp_path / "run.toml").write_text(text)
    if residue == "1.0":
        quarksmith("hmc", "run.toml")
    else:
        error = quarksmith.refuses("hmc", "run.toml", status=1)
        assert "monomial 'quark': its heat bath is not the inverse of its action" in error


def test_absurd_energies_say_what_to_look_at(quarksmith, tmp_path):
    """Where exp(-dH) is 0 nothing is accepted, but for `metropolis = false`."""
    name = pure_gauge(tmp_path, gauge="weak:0.3", steps=1, count=5)
    text = (tmp_path / name).read_text().replace("beta = 5.6", "beta = 500.0")
    (tmp_path / name).write_text(text)
    run = quarksmith("hmc", name)
    assert run.stdout.count("rejected") == 5
    assert "is far from 0; look at the steps of the integrator" in run.stderr
    assert "none of 5 trajectories was accepted; look at the steps" in run.stderr
    (tmp_path / name).write_text(text.replace("seed = 7", "metropolis = false").replace("count = 5", "count = 1"))
    line = quarksmith("hmc", name).stdout
    assert float(line.split("dH ")[1].split()[0]) > 1000 and " accepted" in line
