"""Molecular dynamics: what a wrong description is answered."""

import pytest
from test_hmc import GAUGE, SECOND, pure_gauge

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
