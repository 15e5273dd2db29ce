"""Multigrid by the command: what is chosen, searched, kept, and said where it does not serve."""

import re

import pytest
from descriptions import hmc_file

LINKS = ("--gauge", "hot:4,4,4,8:3", "--action", "wilson")
QUICK = """\
relaxations = 10
rounds = 1

[[level]]
block = [2, 2, 2, 2]
vectors = 6
smoother = "mr"
smoother_steps = 3
storage = "single"
"""


def solve(quarksmith, *options: object, status: int = 0):
    """A propagator of a heavy quark by multigrid, and what was said on the way."""
    return quarksmith("propagator", *LINKS, "--solver", "multigrid", *options, status=status).stderr


def test_tune_writes_a_file_that_solves_take(quarksmith, tmp_path):
    tune = ("multigrid", "tune", *LINKS, "--kappa", "0.12", "--tol", "1e-8", "--out", "mg.toml", "--json", "t.json")
    (tmp_path / "begin.toml").write_text(QUICK)
    text = quarksmith(*tune, "--mg", "begin.toml", "--within", "4s").stdout
    report = quarksmith.json("t.json")
    trials = report["trials"]
    assert len(re.findall(r"^ +\d+ ", text, flags=re.M)) == len(trials) >= 2
    assert f"{len(trials)} tried; the best takes" in text
    found = [t for t in trials if t["total"] is not None]
    best = min(found, key=lambda t: t["total"])
    assert best["best"] and best["total"] == pytest.approx(best["setup"] + 12 * best["solve"])
    written = (tmp_path / "mg.toml").read_text()
    assert written.startswith("# multigrid tune on ") and written.endswith(best["parameters"])
    said = solve(quarksmith, "--kappa", "0.12", "--mg", "mg.toml", "--json", "p.json")
    blocks = re.findall(r"block = \[(\d), (\d), (\d), (\d)\]", best["parameters"])
    assert all("x".join(b) in said for b in blocks)


@pytest.mark.parametrize(
    ("line", "text", "key"),
    [
        (1, "relaxation = 3", "relaxation"),
        (2, "[[level]]\nvectors = 7", "vectors"),
        (2, "[[level]]\nblock = [2, 2, 2]", "block"),
        (2, '[[level]]\nsmoother = "multigrid"', "smoother"),
        (2, '[[level]]\nstorage = "quarter"', "storage"),
        (1, 'coarsest = "cg"', "coarsest"),
        (1, "least_gain = 2", "least_gain"),
        (4, "[[level]]\ncoarse_steps = 3\n[[level]]\ncoarse_steps = 3", "coarse_steps"),
    ],
)
def test_a_wrong_file_is_refused_before_a_field_is_read(refused, tmp_path, line, text, key):
    (tmp_path / "mg.toml").write_text(text)
    error = refused("propagator", gauge="missing.ildg", kappa="0.12", solver="multigrid", mg="mg.toml", json="p.json")
    assert re.match(rf"mg\.toml:{line}: \w+: (key ')?{key}\b", str(error))


def test_blocks_that_do_not_fit_are_named(quarksmith, tmp_path):
    (tmp_path / "mg.toml").write_text("[[level]]\nblock = [2, 2, 2, 3]\n")
    error = quarksmith.refuses(
        "propagator", *LINKS, "--kappa", "0.12", "--solver", "multigrid", "--mg", "mg.toml", "--json", "p.json"
    )
    assert "mg.toml: level 1: blocks of 2x2x2x3 cut 4x4x4x8 into no lattice of even extents" in error


def test_near_null_vectors_are_kept_and_adapted(quarksmith, tmp_path):
    (tmp_path / "mg.toml").write_text(QUICK)
    mg = ("--mg", "mg.toml", "--overwrite", "--json", "p.json")

    def rounds(said: str) -> int:
        return int(re.search(r"(\d+) rounds? of adaptation", said)[1])

    saved = solve(quarksmith, "--kappa", "0.12", *mg, "--mg-save", "v.h5")
    assert "wrote v.h5" in saved
    solves = quarksmith.json("p.json")["solves"]
    assert rounds(solve(quarksmith, "--kappa", "0.12", *mg, "--mg-load", "v.h5")) == 0
    again = quarksmith.json("p.json")["solves"]
    assert abs(again[0]["iterations"] - solves[0]["iterations"]) <= 2
    lighter = ("propagator", *LINKS, "--solver", "multigrid", "--kappa", "0.13", *mg, "--mg-load", "v.h5")
    error = quarksmith.refuses(*lighter)
    assert "--mg-load v.h5: near-null vectors of another operator (mass is " in error and "--mg-refresh" in error
    assert rounds(quarksmith(*lighter, "--mg-refresh").stderr) == 1
    other = ("propagator", "--gauge", "hot:4,4,8,8:3", "--kappa", "0.12", "--solver", "multigrid", *mg)
    assert "on another lattice" in quarksmith.refuses(*other, "--mg-load", "v.h5", "--mg-refresh")
    assert "there is no such file" in quarksmith.refuses(*other, "--mg-load", "w.h5")
    assert "--mg-refresh belongs to --mg-load" in quarksmith.refuses(*other, "--mg-refresh")
    assert "--deflate v.h5" in quarksmith.refuses("propagator", *LINKS, "--kappa", "0.12", *mg[2:], "--deflate", "v.h5")


def test_a_damaged_file_of_vectors_is_noticed(quarksmith, tmp_path):
    (tmp_path / "mg.toml").write_text(QUICK)
    mg = ("--kappa", "0.12", "--mg", "mg.toml", "--json", "p.json", "--overwrite")
    solve(quarksmith, *mg, "--mg-save", "v.h5")
    sound = (tmp_path / "v.h5").read_bytes()
    (tmp_path / "v.h5").write_bytes(sound[: len(sound) // 2] + b"\x5a" + sound[len(sound) // 2 + 1 :])
    error = solve(quarksmith, *mg, "--mg-load", "v.h5", status=1)
    assert "v.h5" in error and "does not match its checksum" in error


def test_a_field_on_which_it_does_not_converge_ends_with_an_error(quarksmith, tmp_path):
    (tmp_path / "mg.toml").write_text(QUICK)
    line = ("--kappa", "0.25", "--mg", "mg.toml", "--max-iterations", "30", "--out", "p.h5", "--json", "p.json")
    error = solve(quarksmith, *line, status=1)
    assert "spin 0 colour 0: not converged: residual " in error and "use a larger --max-iterations" in error
    assert (tmp_path / "p.h5.part").exists() and not (tmp_path / "p.h5").exists()
    entry = quarksmith.json("p.json")["solves"][0]
    assert entry["converged"] is False and 1e-10 < float(entry["residual"]) < 10


def test_auto_does_not_take_it_where_its_setup_would_cost_more(quarksmith, tmp_path):
    """Of hundreds of iterations on few sites; tests/multigrid_choice_test.cpp has where it does."""
    line = ("propagator", "--gauge", "weak:0.3:4,4,4,8:5", "--mass", "-0.97", "--json", "p.json")
    assert "multigrid" not in quarksmith(*line).stderr
    solves = quarksmith.json("p.json")["solves"]
    assert len(solves) == 12 and max(float(s["iterations"]) for s in solves) > 96


def trajectory(keys, count=1):
    monomial = f'name = "quark"\n{keys}\ntol_force = 1e-12\ntol_action = 1e-13'
    lattice = {"gauge": "weak:0.5", "extents": (4, 4, 4, 8)}
    return hmc_file(monomial, **lattice, kind="omelyan", steps=2, length=0.2, count=count, seed=7)


TWO = 'kind = "two-flavour"\naction = "clover"\ncsw = 1\nkappa = 0.135'
RATIO = TWO.replace("two-flavour", "two-flavour-ratio") + "\ndenominator = {kappa = 0.12}"


@pytest.mark.parametrize(
    ("keys", "more"), [(TWO, 'even_odd = "asymmetric"'), (RATIO, "mg_keep = true"), (TWO, 'even_odd = "none"')]
)
def test_trajectories_are_those_of_cg(quarksmith, tmp_path, keys, more):
    (tmp_path / "mg.toml").write_text(QUICK)
    found = []
    form = more if more.startswith("even_odd") else ""
    for solver in (f'solver = "cg"\nprecision = "double"\n{form}', f'solver = "multigrid"\nmg = "mg.toml"\n{more}'):
        (tmp_path / "run.toml").write_text(trajectory(f"{keys}\n{solver}"))
        quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite", "--reversibility", "1")
        found.append(quarksmith.json("o.json")["trajectories"][0])
    cg, multigrid = found
    assert multigrid["dH"] == pytest.approx(cg["dH"], abs=1e-7)
    assert multigrid["actions"]["quark"] == pytest.approx(cg["actions"]["quark"], rel=1e-10)
    assert multigrid["reversibility"]["links"] < 1e-10
    assert multigrid["work"]["quark"]["fallbacks"] == 0 and multigrid["work"]["quark"]["refreshes"] >= 1
    assert cg["work"]["quark"]["refreshes"] == 0
    assert 0 < multigrid["work"]["quark"]["iterations"] < cg["work"]["quark"]["iterations"]


def test_a_resumed_run_makes_its_vectors_anew(quarksmith, tmp_path):
    (tmp_path / "mg.toml").write_text(QUICK)
    for name, count in (("two.toml", 2), ("one.toml", 1)):
        text = trajectory(f'{TWO}\nsolver = "multigrid"\nmg = "mg.toml"', count)
        (tmp_path / name).write_text(text)
    quarksmith("hmc", "two.toml", "--out", "whole")
    quarksmith("hmc", "one.toml", "--out", "part")
    quarksmith("hmc", "two.toml", "--out", "part", "--resume", "part_00001.ildg", "--overwrite")
    assert (tmp_path / "whole_00002.ildg").read_bytes() == (tmp_path / "part_00002.ildg").read_bytes()
