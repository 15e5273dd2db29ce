"""Actions that are their statement alone, with no line of C++ of their own.

Naive fermions with a chemical potential are made of hops; D234 has hops over two sites: its formula stands as a kernel.
"""

import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from independent import GAMMA
from test_ranks import mpirun, several_ranks  # noqa: F401 (fixtures)

from generator.language.action import OPTIONS
from generator.operators import RECORDS
from generator.profile import load_profile

MASS, MU = 0.1, 0.3
ACTION = ("--action", "naive", "--mass", MASS, "--mu", MU, "--device", "cpu")
MASSLESS = ("--action", "naive", "--mass", 0, "--device", "cpu")
D234 = ("--action", "d234", "--mass", MASS, "--b", 0.2, "--c", 0.1, "--device", "cpu", "--reconstruct", "18")
EXTENT = (4, 4, 4, 8)


def naive(p, mass=MASS, mu=MU):
    """Symbol m + i sum_nu gamma_nu sin(p_nu - i mu delta_nu4)."""
    k = [q - 1j * mu * (nu == 3) for nu, q in enumerate(p)]
    return mass * np.eye(4) + 1j * sum(g * np.sin(q) for g, q in zip(GAMMA, k, strict=True))


def d234(p):
    """Symbol m + sum_mu i gamma_mu sin p_mu (1 + 4 b s_mu) + 16 c s_mu^2, s = sin^2(p/2)."""
    s = [np.sin(q / 2) ** 2 for q in p]
    slashed = sum(g * np.sin(q) * (1 + 0.8 * h) for g, q, h in zip(GAMMA, p, s, strict=True))
    return (MASS + sum(1.6 * h**2 for h in s)) * np.eye(4) + 1j * slashed


def free_propagator(symbol):
    """S(x, 0) = 1/V sum_p e^(ipx) / symbol(p), antiperiodic in time."""
    momenta = [2 * np.pi * (np.arange(n) + (0.5 if nu == 3 else 0)) / n for nu, n in enumerate(EXTENT)]
    result = np.zeros((*EXTENT, 4, 4), complex)
    sites = np.indices(EXTENT)
    for p in itertools.product(*momenta):
        wave = np.exp(1j * sum(q * x for q, x in zip(p, sites, strict=True)))
        result += wave[..., None, None] * np.linalg.inv(symbol(p))
    return result / np.prod(EXTENT)


def meson(s, gammas):
    """-3 sum_x tr[G S Gbar gamma_5 S^+ gamma_5], Gbar = gamma_t G^+ gamma_t; three colours."""
    g = np.eye(4)
    for gamma in gammas:
        g = g @ gamma
    g5 = GAMMA[0] @ GAMMA[1] @ GAMMA[2] @ GAMMA[3]
    bar = GAMMA[3] @ g.conj().T @ GAMMA[3]
    terms = np.einsum("ab,xyztbc,cd,xyzted,ea->t", g, s, bar @ g5, s.conj(), g5, optimize=True)
    return -3 * terms


def close(given, expected, size):
    return [complex(*v) if isinstance(v, list) else v for v in given] == pytest.approx(list(expected), abs=1e-8 * size)


def massless(p):
    return naive(p, 0, 0)


@pytest.mark.parametrize(
    ("action", "symbol"),
    [(ACTION, naive), (MASSLESS, massless), (D234, d234)],
    ids=["naive", "naive without a mass", "d234"],
)
def test_free_quarks_are_those_of_the_momentum_space_formula(quarksmith, action, symbol):
    quarksmith("propagator", "--gauge", "unit:4,4,4,8", *action, "--tol", "1e-12", "--correlators", "c.json")
    result = quarksmith.json("c.json")
    s = free_propagator(symbol)
    size = abs(meson(s, GAMMA)).max()
    structures = [m for n in range(5) for m in itertools.combinations(range(4), n)]
    for structure in structures:
        name = "g5" if len(structure) == 4 else "".join("g" + "xyzt"[nu] for nu in structure) or "1"
        expected = meson(s, [GAMMA[nu] for nu in structure])
        assert close(result["mesons"][name], expected, size), name
    given = dict(zip(action[::2], action[1::2], strict=True))
    for option, value in given.items():
        assert result["provenance"].get(option[2:], value) == value
    assert result["provenance"]["mass"] == given["--mass"]
    assert result["provenance"]["action"] == given["--action"]
    assert all(s["residual"] < 1e-12 for s in result["solves"])


def test_what_is_not_given_takes_its_default_and_is_recorded(quarksmith):
    """In files of propagators and in what is made of them."""
    line = ("propagator", "--gauge", "weak:0.3:4,4,4,4:5", "--action", "naive", "--mass", "0.7", "--device", "cpu")
    quarksmith(*line, "--out", "p.h5", "--correlators", "c.json")
    quarksmith("correlators", "p.h5", "--correlators", "again.json")
    for name in ("c", "again"):
        result = quarksmith.json(f"{name}.json")
        assert (result["provenance"]["mass"], result["provenance"]["mu"]) == (0.7, 0)
    other = quarksmith.refuses(*line, "--mu", "0.1", "--out", "p.h5", status=2)
    assert "p.h5" in other


def test_a_formula_as_it_stands_has_no_even_odd_form(quarksmith):
    line = ("propagator", "--gauge", "weak:0.3:4,4,4,4:5", *D234, "--correlators", "c.json")
    error = quarksmith.refuses(*line, "--even-odd", "symmetric", status=2)
    assert "action d234 has no even-odd form with these parameters; leave it out" in error
    quarksmith(*line, "--even-odd", "none")


def test_what_does_not_hop_must_not_vanish_for_an_even_odd_form(quarksmith):
    line = ("propagator", "--gauge", "weak:0.3:4,4,4,4:5", *MASSLESS, "--correlators", "c.json")
    error = quarksmith.refuses(*line, "--even-odd", "symmetric", status=2)
    assert "action naive has no even-odd form with these parameters; leave it out" in error


def test_parameters_of_statements_may_not_be_called_as_other_options_are(quarksmith):
    """The generator knows all options of the commands that solve but those of actions."""
    commands = (("propagator",), ("solve-bench",), ("multigrid", "tune"))
    helps = [quarksmith(*command, "--help").stdout for command in commands]
    options = {o.replace("-", "_") for text in helps for o in re.findall(r"^ +(?:-\w, )?--([\w-]+)", text, re.M)}
    of_actions = {o.name for r in RECORDS.values() for o in r.action.options.values()}
    of_interfaces = {"rhs", "guess", "on_trajectory", "stout_rho", "stout_steps", "stout_directions"}
    assert OPTIONS - options == ({"help"} - options) | of_interfaces
    assert options - OPTIONS <= of_actions


@pytest.mark.parametrize("form", ["none", "symmetric", "asymmetric", "d234"])
def test_several_ranks_solve_as_one(quarksmith, mpirun, form):  # noqa: F811
    action = D234 if form == "d234" else (*ACTION, "--even-odd", form)
    heavy = [0.5 if word == MASS else word for word in action]  # four ranks share two processors here
    line = ("propagator", "--gauge", "weak:0.3:4,4,4,8:5", *heavy, "--tol", "1e-11")
    quarksmith(*line, "--correlators", "alone.json")
    mpirun(4, *line, "--grid", "1,1,2,2", "--correlators", "together.json")
    one, all_ranks = (mpirun.json(f"{n}.json") for n in ("alone", "together"))
    for name, values in one["mesons"].items():
        assert all_ranks["mesons"][name] == pytest.approx(values, abs=1e-9 * max(map(abs, one["correlators"]["pion"])))


def test_a_missing_formula_is_answered_by_a_row_that_a_profile_takes(quarksmith):
    """Hops to all 80 neighbours are in no default profile."""
    line = ("propagator", "--gauge", "unit:4,4,4,4", "--action", "brillouin", "--mass", 1, "--correlators", "c.json")
    error = quarksmith.refuses(*line, "--device", "cpu", "--reconstruct", "18", status=2)
    assert "no kernels of action brillouin" in error
    (quarksmith.folder / "mine.toml").write_text("include = []\n" + error[error.index("[[kernel]]") :])
    kernels = load_profile(str(quarksmith.folder / "mine.toml")).kernels
    assert sorted(k.operator.name for k in kernels) == ["brillouin", "brillouin_dagger"]


def test_energies_of_free_quarks_are_zeros_of_the_determinant(quarksmith):
    """tools/plots dispersion: powers in a propagator against the formula, both ways in time."""
    dense = ("--action", "naive", "--mass", 0.2, "--mu", 0.1, "--device", "cpu")
    for action, name in ((dense, "naive"), (D234, "d234"), (ACTION, "denser")):
        quarksmith("propagator", "--gauge", "unit:4,4,4,16", *action, "--tol", "1e-12", "--out", f"{name}.h5")
    tool = [sys.executable, ROOT / "tools/plots", "dispersion"]
    files = ["naive.h5", "d234.h5"]
    done = subprocess.run([*tool, *files], cwd=quarksmith.folder, capture_output=True, text=True, check=True)
    rows = [
        [float(v) for v in r.split("|")[2:7]] for r in done.stdout.splitlines() if r.startswith(("| naive", "| d2"))
    ]
    assert len(rows) == 6
    for p, *energies in rows:
        assert energies[::2] == pytest.approx(energies[1::2], abs=1e-7), p
    assert rows[0][1] - rows[0][3] == pytest.approx(2 * 0.1, abs=1e-7)
    assert (quarksmith.folder / "dispersion.png").read_bytes().startswith(b"\x89PNG")
    quarksmith("propagator", "--gauge", "weak:0.1:4,4,4,4:1", *ACTION, "--out", "weak.h5")
    (quarksmith.folder / "other.h5").write_bytes(b"other")
    refused = {
        "weak.h5": "use --gauge unit",
        "other.h5": "no propagator of quarksmith",
        "denser.h5": "use a chemical potential below",
    }
    for file, text in refused.items():
        done = subprocess.run([*tool, file], cwd=quarksmith.folder, capture_output=True, text=True, check=False)
        assert (done.returncode, text in done.stderr) == (1, True), done.stderr
