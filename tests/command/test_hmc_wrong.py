"""Molecular dynamics: what RUN.toml may not say, each one error of a key and its line; numbers that cannot be used."""

import numpy as np
import pytest
from descriptions import hmc_file
from test_hmc import SECOND, WILSON, pure_gauge

LEAPFROG = hmc_file(WILSON, gauge="hot", steps=10, length=0.5, count=1, seed=7)
QUARK = LEAPFROG.replace("[[integrator]]", f"[[monomial]]\n{SECOND}\n\n[[integrator]]")
KIND, BETA, MASS = '"two-flavour"', '"wilson"\nbeta = 5.6', '"wilson"\nkappa = 0.12'
PLANES = "beta = 1\nplane_coefficients = {xy = 1, xz = 1, yz = 1, xt = 1, yt = 1, zt = 1}\n"
RATIONAL = '"rational"\nrational = {range = [0.01, 50]'


def quark(*keys):
    return "kappa = 0.12", "\n".join(("kappa = 0.12", *keys))


GAUGE_WRONG = [  # old text, new text, the key that is refused
    ("beta = 5.6", "beat = 5.6", "beat"),
    ("beta = 5.6", "", "beta"),
    ('kind = "gauge"', 'kind = "guage"', "kind"),
    ('"wilson"', '"willson"', "action"),
    ('["gauge"]', '["gluon"]', "monomials"),
    ('["gauge"]', "[]", "monomials"),
    ('["gauge"]', '["gauge", "gauge"]', "monomials"),
    ("steps = 10", "steps = 0", "steps"),
    ("steps = 10", "steps = 2.5", "steps"),
    ("steps = 10", "longest_step = 0", "longest_step"),
    ("steps = 10", "longest_step = 1e-9", "longest_step"),
    ("steps = 10", "steps = 10\nlongest_step = 0.1", "steps"),
    ("length = 0.5", "length = -1", "length"),
    ("seed = 7", "seed = 7\nmomenta_anisotropy = 1e300", "momenta_anisotropy"),
    ("seed = 7", 'seed = 7\nforce_norms = "some"', "force_norms"),
    ("seed = 7", "seed = 18446744073709551615", None),  # TOML's numbers have 63 bits
    ("seed = 7", 'seed = "18446744073709551616"', "seed"),
    ("seed = 7", 'seed = "7x"', "seed"),
    ('"leapfrog"', '"leapfrog', None),
    ("[4, 4, 4, 4]", "[4, 4, 4]", "extents"),
    ("[[integrator]]", "[integrator]", None),
    ('"wilson"', '"anisotropic-symanzik"', "anisotropy"),
    (BETA, '"anisotropic-symanzik"\nbeta = 2.0\nanisotropy = 2.0\nu_s = 0', "u_s"),
    ("beta = 5.6", "beta = 1\nanisotropy = -1", "anisotropy"),
    ("beta = 5.6", 'beta = 1\nplanes = "spacelike"', "planes"),
    (BETA, '"iwasaki"\nbeta = 1\nplanes = "space"', "planes"),
    (BETA, f'"loops"\n{PLANES}two_plaquette_coefficients = {{xt = 1}}', "two_plaquette_coefficients"),
    (BETA, f'"loops"\n{PLANES}rectangle_coefficients = {{xyx = 1}}', "rectangle_coefficients"),
]
QUARK_WRONG = [
    ("seed = 7", "seed = 8", None),  # the quark is in no level of the integrator
    ('["gauge"]', '["gauge", "quark"]\n[[integrator]]\nkind = "leapfrog"\nsteps = 1\nmonomials = ["gauge"]', None),
    ('"quark"\n', '"gauge"\n', None),
    ("kappa = 0.12", "kapa = 0.12", "kapa"),
    ("kappa = 0.12", "kappa = -0.12", "kappa"),
    (*quark("csw = 1.0"), "csw"),
    (*quark("mass = 0.1"), "kappa"),
    ("kappa = 0.12", "mass = true", "mass"),
    (MASS, '"twisted-mass"\nkappa = 0.12\nmu = 0.2\ntwist = 0.1', "twist"),
    (MASS, '"domain-wall"\nmass = 0.1\nls = 4\nm5 = 1.4\neven_odd = "none"\ntwist = 0.1', "twist"),
    (MASS, '"staggered"\nmass = 0.1', "kind"),
    ('"wilson"\nkappa', '"overlap"\nkappa', "action"),
    (KIND, '"rational"\nflavours = 0\nrational = {range = [1, 2]}', "flavours"),
    (KIND, '"rational"', "rational"),
    (KIND, RATIONAL + ", poles = 5}", "rational"),
    (KIND, RATIONAL + ", poles = 41, force_poles = 5}", "rational"),
    (KIND, RATIONAL + ", poles = 5, force_poles = 5, error = 1e-9}", "rational"),
    (KIND, RATIONAL + ", error = 0.5}", "rational"),
    (KIND, RATIONAL + ", poles = 1, force_poles = 5}", "rational"),
    (KIND, RATIONAL + '}\nsolver = "bicgstab"', "solver"),
    (KIND, RATIONAL + "}\nchronological = 3", "chronological"),
    (KIND, '"two-flavour-ratio"', "denominator"),
    (KIND, '"two-flavour-ratio"\ndenominator = {mass = 0.5, kappa = 0.11}', "denominator"),
    (KIND, '"log-det"\nflavours = 1', "action"),
    ('"two-flavour"\naction = "wilson"', '"log-det"\naction = "clover"\ncsw = 1.0\nprecision = "double"', "precision"),
    (*quark("tol_force = 0"), "tol_force"),
    (*quark("tol_action = 0.9"), "tol_action"),
    (*quark("boundary = [1e300, 0, 0, 0]"), "boundary"),
    (*quark('solver = "gcr"'), "solver"),
    (*quark('solver = "cgs"'), "solver"),
    (*quark('solver = "multigrid"', 'even_odd = "asymmetric"', "twist = 0.1"), "solver"),
    (*quark('solver = "cg"', 'mg = "mg.toml"'), "mg"),
    (*quark("mg_keep = true"), "mg_keep"),
    (*quark('precision = "single"'), "precision"),
    (*quark('precision = "double-threequarter"'), "precision"),
    (*quark('precision = "double-single-half"'), "precision"),
    (*quark("chronological = -1"), "chronological"),
]
WRONG = [(base, *row) for base, rows in ((LEAPFROG, GAUGE_WRONG), (QUARK, QUARK_WRONG)) for row in rows]


@pytest.mark.parametrize(("base", "old", "new", "key"), WRONG, ids=[f"{n}-{c[3]}" for n, c in enumerate(WRONG)])
def test_a_wrong_key_is_refused_with_its_line(refuse_file, base, old, new, key):
    refuse_file("hmc", base, old, new, key)


@pytest.mark.parametrize("gauge", ["hot:2,2,2,2:1", "weak:0.1:4,4,4,8:1", "hot:4,4,4,4:-1"])
def test_a_start_that_does_not_fit_is_refused(refused, tmp_path, gauge):
    (tmp_path / "run.toml").write_text(LEAPFROG.replace("hot", gauge))
    assert "gauge" in str(refused("hmc", run="run.toml"))


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
    text = QUARK.replace('kind = "two-flavour"\n', TABLES % residue).replace('["gauge"]', '["gauge", "quark"]')
    text = text.replace("seed = 7", f'seed = "{2**64 - 1}"')
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
