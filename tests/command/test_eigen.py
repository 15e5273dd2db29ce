"""Eigenvalues, their files, and solves that begin with eigenvectors."""

import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import BUILD
from test_measure import EXAMPLE as MEASURE
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)

GAUGE = ("--gauge", "weak:0.5:4,4,4,4:3")
CLOVER = ("--action", "clover", "--mass", "-0.6", "--csw", "1")
STAGGERED = ("--action", "staggered", "--mass", "0.01")


def eigen(quarksmith, name, *options):
    quarksmith("eigen", *GAUGE, *options, "--json", f"{name}.json", "--out", f"{name}.h5", "--overwrite")
    return quarksmith.json(f"{name}.json")


def iterations(quarksmith, *options):
    """Of the same solves without and with eigenvectors."""
    bench = ("solve-bench", *GAUGE, "--solver", "cg", "--precision", "double", "--repeat", "1")
    quarksmith(*bench, *options, "--json", "bench.json", "--overwrite")
    solves = quarksmith.json("bench.json")["solves"]
    assert all(s["converged"] and s["residual"] <= 1e-10 for s in solves)
    assert [s["vectors"] > 0 for s in solves] == [False, True]
    return [s["iterations"] for s in solves]


def test_json_is_what_is_documented_and_the_forms_agree(quarksmith):
    normal = eigen(quarksmith, "normal", *CLOVER, "--operator", "normal", "--even-odd", "none", "--count", "8")
    hermitian = eigen(quarksmith, "hermitian", *CLOVER, "--operator", "hermitian", "--count", "8", "--block", "1")
    for found in (normal, hermitian):
        assert len(found["eigenvalues"]) == len(found["residuals"]) == 8 and found["applications"] > 0
        assert max(found["residuals"]) <= 1e-8 and found["seconds"] > 0
        moduli = [abs(x) for x in found["eigenvalues"]]
        assert moduli == sorted(moduli)
    assert [x * x for x in hermitian["eigenvalues"]] == pytest.approx(normal["eigenvalues"], abs=1e-12)
    assert "eigenvectors" in quarksmith("info", "normal.h5").stdout


@pytest.mark.parametrize(
    ("action", "operator", "solve"),
    [
        (CLOVER, ("normal",), ()),
        (CLOVER, ("normal", "--even-odd", "asymmetric"), ("--even-odd", "asymmetric")),
        (CLOVER, ("hermitian",), ("--even-odd", "none")),
        (STAGGERED, ("staggered",), ()),
        (("--action", "domain-wall", "--mass", "0.01", "--ls", "4"), ("normal",), ()),
    ],
)
def test_solves_begin_with_the_vectors_of_a_file_or_with_their_own(quarksmith, action, operator, solve):
    eigen(quarksmith, "ev", *action, "--count", "24", "--operator", *operator)
    plain, deflated = iterations(quarksmith, *action, *solve, "--deflate", "ev.h5")
    assert deflated < 0.9 * plain
    assert iterations(quarksmith, *action, *solve, "--deflate", "24") == pytest.approx([plain, deflated], abs=2)


@pytest.mark.parametrize(
    ("action", "columns"), [(CLOVER, 3), (("--action", "domain-wall", "--mass", "0.01", "--ls", "4"), 1)]
)
def test_vectors_are_compressed_by_local_coherence(quarksmith, action, columns):
    whole = eigen(quarksmith, "whole", *action, "--count", "24")
    found = eigen(quarksmith, "small", *action, "--count", "24", "--compress", "2,2,2,2,12")
    assert found["eigenvalues"] == pytest.approx(whole["eigenvalues"], abs=1e-12)
    assert max(found["residuals"]) <= 1e-8
    small = found["compressed"]
    assert small["block"] == [2, 2, 2, 2] and small["vectors"] == 12
    assert small["factor"] == pytest.approx(24 / (12 + columns), rel=1e-12)
    sizes = [(quarksmith.folder / f"{name}.h5").stat().st_size for name in ("whole", "small")]
    assert sizes[0] / sizes[1] == pytest.approx(small["factor"], rel=0.1)
    # The first ones are in the space of the blocks; the others are as far from it as is said.
    assert max(small["residuals"][:12]) <= 1e-7 < min(small["residuals"][12:])
    plain, by_small = iterations(quarksmith, *action, "--deflate", "small.h5")
    _, by_whole = iterations(quarksmith, *action, "--deflate", "whole.h5")
    assert by_whole <= by_small < plain


def test_vectors_of_staggered_quarks_serve_every_mass(quarksmith):
    eigen(quarksmith, "ev", *STAGGERED, "--count", "24", "--operator", "staggered")
    plain, deflated = iterations(quarksmith, "--action", "staggered", "--mass", "0.002", "--deflate", "ev.h5")
    assert deflated < 0.9 * plain


@pytest.mark.parametrize("kind", ["normal", "hermitian"])
def test_vectors_serve_every_twist_that_shifts_the_operator(quarksmith, kind):
    twisted = ("--action", "twisted-clover", "--mass", "-0.6", "--csw", "1", "--mu")
    form = ("--even-odd", "none")
    first = "0.01" if kind == "normal" else "0"
    its_form = form if kind == "normal" else ()
    made = eigen(quarksmith, "ev", *twisted, first, "--operator", kind, *its_form, "--count", "24")
    other = eigen(quarksmith, "other", *twisted, "0.05", "--operator", "normal", *form, "--count", "24")
    squares = [x if kind == "normal" else x * x for x in made["eigenvalues"]]
    shift = 0.05**2 - float(first) ** 2
    assert [x + shift for x in squares] == pytest.approx(other["eigenvalues"], abs=1e-12)
    solve = (*twisted, "0.05", *form, "--deflate")
    own = iterations(quarksmith, *solve, "other.h5")
    assert own[1] < 0.9 * own[0] and iterations(quarksmith, *solve, "ev.h5") == pytest.approx(own, abs=2)
    if kind == "normal":  # T^-1 of even-odd forms has mu too
        eigen(quarksmith, "ev", *twisted, first, "--count", "4")
        error = quarksmith.refuses("propagator", *GAUGE, *twisted, "0.05", "--deflate", "ev.h5", "--json", "p.json")
        assert "eigenvectors of another operator (mu is '0.01" in error


def test_a_propagator_is_that_without_vectors(quarksmith):
    eigen(quarksmith, "ev", *CLOVER, "--count", "24")
    command = ("propagator", *GAUGE, *CLOVER, "--json")
    quarksmith(*command, "plain.json")
    quarksmith(*command, "deflated.json", "--deflate", "ev.h5")
    plain, deflated = (quarksmith.json(f"{n}.json") for n in ("plain", "deflated"))
    assert deflated["correlators"]["pion"] == pytest.approx(plain["correlators"]["pion"], rel=1e-8)
    assert {s["solver"] for s in deflated["solves"]} == {"cg"}


def test_ranks_find_the_same_and_read_each_others_files(quarksmith, mpirun):  # noqa: F811
    options = (*CLOVER, "--count", "12", "--operator", "hermitian")
    one = eigen(quarksmith, "one", *options)
    mpirun(2, "eigen", *GAUGE, *options, "--json", "two.json", "--out", "two.h5")
    two = quarksmith.json("two.json")
    assert two["eigenvalues"] == pytest.approx(one["eigenvalues"], abs=1e-11)
    solve = (*CLOVER, "--even-odd", "none", "--deflate")
    assert iterations(quarksmith, *solve, "two.h5") == pytest.approx(iterations(quarksmith, *solve, "one.h5"), abs=2)


OTHERS = {  # what another operator differs in
    "gauge_digest": ("--gauge", "weak:0.5:4,4,4,4:4", *CLOVER),
    "mass": (*GAUGE, *CLOVER[:3], "-0.5", "--csw", "1"),
    "even_odd": (*GAUGE, *CLOVER, "--even-odd", "none"),
    "action": (*GAUGE, *STAGGERED),
    "lattice": ("--gauge", "weak:0.5:4,4,4,8:3", *CLOVER),
}


def test_vectors_of_another_operator_are_refused(quarksmith):
    eigen(quarksmith, "ev", *CLOVER, "--count", "2", "--tol", "1e-4")
    for key, options in OTHERS.items():
        assert key in quarksmith.refuses("propagator", *options, "--deflate", "ev.h5", "--json", "p.json")


def test_an_early_end_keeps_the_best_pairs(quarksmith):
    line = ("eigen", *GAUGE, *CLOVER, "--count", "24", "--overwrite", "--json", "ev.json", "--out", "ev.h5")
    whole = eigen(quarksmith, "ev", *CLOVER, "--count", "24")
    worst = []
    for most in (300, 900, 1800, whole["applications"] // 2):
        error = quarksmith.refuses(*line, "--max-applications", most, status=1)
        assert f"error: --max-applications {most}: " in error and "24 best vectors are in ev.h5; give more" in error
        found = quarksmith.json("ev.json")
        assert not found["converged"] and len(found["eigenvalues"]) == 24
        assert most <= found["applications"] < most + 8
        worst.append(max(found["residuals"]))
        # In any space of vectors the n-th lowest value is at least that of all.
        assert all(x >= y - 1e-9 for x, y in zip(found["eigenvalues"], whole["eigenvalues"], strict=True))
    assert worst[-1] < worst[0]
    plain, deflated = iterations(quarksmith, *CLOVER, "--deflate", "ev.h5")
    assert deflated < 0.9 * plain
    error = quarksmith.refuses(*line, "--max-applications", "8", status=1)
    assert "0 of 24 eigenvalues" in error and "there are no vectors yet; give more" in error


@pytest.mark.parametrize("how", ["SIGTERM", "--time-limit"])
def test_signals_and_time_limits_end_with_the_best_pairs(quarksmith, how):
    line = [BUILD / "bin/quarksmith", "eigen", "--gauge", "weak:0.5:8,8,8,8:3", *CLOVER, "--count", "200"]
    line += ["--tol", "1e-13", "--json", "ev.json", "--out", "ev.h5", "--overwrite"]
    for patience in (2, 4, 8, 16):  # until there are some
        limit = (how, str(patience)) if how == "--time-limit" else ()
        start = time.monotonic()
        run = subprocess.Popen([*line, *limit], cwd=quarksmith.folder, stderr=subprocess.PIPE, text=True)
        if how == "SIGTERM":
            time.sleep(patience)
            run.send_signal(signal.SIGTERM)
        _, errors = run.communicate(timeout=120)
        assert time.monotonic() - start < 60
        assert run.returncode == (143 if how == "SIGTERM" else 1)
        assert f"error: {'ended by SIGTERM; ' if how == 'SIGTERM' else f'{how} {patience}: '}" in errors
        if "there are no vectors yet" not in errors:
            break
    assert "best vectors are in ev.h5" in errors and quarksmith.json("ev.json")["eigenvalues"]
    assert "eigenvectors" in quarksmith("info", "ev.h5").stdout


def test_damaged_and_missing_files_are_told(quarksmith):
    eigen(quarksmith, "ev", *CLOVER, "--count", "2", "--tol", "1e-4")
    solve = ("propagator", *GAUGE, *CLOVER, "--json", "p.json", "--deflate")
    assert "there is no such file" in quarksmith.refuses(*solve, "none.h5")
    content = bytearray((quarksmith.folder / "ev.h5").read_bytes())
    content[len(content) // 2] ^= 1
    (quarksmith.folder / "ev.h5").write_bytes(content)
    assert "does not match its checksum" in quarksmith.refuses(*solve, "ev.h5", status=1)
    assert "holds eigenvectors" in quarksmith.refuses("correlators", "ev.h5", "--json", "c.json")


def test_measure_begins_with_eigenvectors(quarksmith, tmp_path):
    """Computed, or those of files; of other links they are refused."""
    solver = 'kappa = 0.125\ntol = 1e-12\nsolver = "cg"\n'
    plain = MEASURE.replace(', "weak:0.3:4,4,4,8:2"', "").replace("kappa = 0.12\n", solver)
    quark = ("--gauge", "weak:0.3:4,4,4,8:1", "--action", "clover", "--csw", "1", "--kappa", "0.125")
    quarksmith("eigen", *quark, "--count", "12", "--out", "ev_00001.h5")
    numbers, iterations = {}, {}
    for key in ("", "deflation = 12\n", 'deflation = "ev"\n'):
        (tmp_path / "run.toml").write_text(plain.replace(solver, solver + key))
        quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json", "--overwrite")
        found = quarksmith.json("r.json")["configurations"][0]
        numbers[key] = np.array(found["results"]["kaon"]["values"])
        iterations[key] = np.array(found["solves"]["values"])[0, 0, :, 0].max()
        assert np.allclose(numbers[key], numbers[""], rtol=1e-8)
        assert key == "" or iterations[key] < iterations[""] - 2
    (tmp_path / "ev_00001.h5").rename(tmp_path / "ev_00002.h5")
    other = plain.replace("4,4,4,8:1", "4,4,4,8:2").replace(solver, solver + 'deflation = "ev"\n')
    (tmp_path / "run.toml").write_text(other)
    error = quarksmith.refuses("measure", "run.toml", "--out", "s.h5")
    assert "quark 'light': deflation ev_00002.h5: eigenvectors of another operator (gauge_digest is" in error
