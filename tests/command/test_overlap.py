"""examples/overlap.py: an operator made of calls of the C interface, from the shared library of the tests."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import BUILD, ROOT

LIBRARY = BUILD / "shared" / "libquarksmith.so"
EXAMPLE = ROOT / "examples" / "overlap.py"


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
"""Lattices are small."""


@pytest.fixture(scope="module")
def overlap():
    spec = importlib.util.spec_from_file_location("overlap", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["overlap"] = module
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", ENVIRONMENT["OMP_NUM_THREADS"])  # read when it is loaded
        module.loaded = module.Library(LIBRARY)
    return module


def refuses(*arguments, status=1):
    line = [sys.executable, EXAMPLE, "--library", LIBRARY, *arguments]
    run = subprocess.run(line, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == status, run.stdout + run.stderr
    return run.stderr.splitlines()[-1]


@pytest.mark.parametrize(("ratio", "poles"), [(10, 4), (1e3, 9), (1e5, 26)])
def test_the_rational_function_is_the_best_one(overlap, ratio, poles):
    """Its error has 2 m + 1 extrema of one size and changing sign: Chebyshev's criterion."""
    s = overlap.Zolotarev.of(6 / ratio, 6, poles)
    x = np.geomspace(6 / ratio, 6, 400 * poles)
    error = s(x) - 1
    turns = np.flatnonzero(np.diff(np.diff(error) < 0)) + 1  # where two are the same, one turn
    extrema = error[[0, *turns, -1]]
    assert len(extrema) == 2 * poles + 1
    assert np.all(np.diff(np.sign(extrema)) != 0)
    assert np.abs(extrema) == pytest.approx(s.error, rel=1e-2)
    assert np.allclose(s(-x), -s(x))
    assert overlap.Zolotarev.within(6 / ratio, 6, s.error * 1.01).shifts.size == poles


def test_free_quarks_are_those_of_the_formula(overlap):
    d = overlap.Overlap(overlap.loaded, (4, 4, 4, 8), rho=1.2, accuracy=1e-7)
    assert max(overlap.free_checks(d).values()) < 4e-7
    assert 0 < max(overlap.checks(d, 0.2).values()) < 4e-6


def test_any_links_have_the_relations_of_chiral_quarks(overlap, quarksmith):
    """Ginsparg and Wilson's, hermiticity, that of the propagator; the spectrum lies on the circle, whole."""
    size = ("--lattice", "2,2,2,4")
    quarksmith("heatbath", *size, "--beta", "5.8", "--sweeps", "20", "--seed", "3", "--out", "u", "--save-every", "20")
    (links,) = quarksmith.folder.glob("u*.ildg")
    for accuracy in (1e-4, 1e-8):
        d = overlap.Overlap(overlap.loaded, (2, 2, 2, 4), links, accuracy=accuracy)
        found = overlap.checks(d, 0.1)
        assert found["sign(H)^2 = 1"] < 2.1 * accuracy
        assert max(found.values()) < 100 * accuracy, found
    unit = np.eye(np.prod(d.wilson.shape)).reshape(-1, *d.wilson.shape)
    matrix = np.array([d(v).ravel() for v in unit]).T
    wilson = np.array([d.h(v).ravel() for v in unit]).T
    values = np.linalg.eigvalsh(wilson)
    assert d.low <= np.abs(values).min() <= d.low * 1.01
    assert d.high * 0.99 <= np.abs(values).max() <= d.high
    assert np.abs(np.abs(np.linalg.eigvals(matrix) - d.rho) - d.rho).max() < 1e-7
    # Against sign(H) from all eigenvectors.
    e, v = np.linalg.eigh(wilson)
    five = np.broadcast_to(overlap.GAMMA_5, d.wilson.shape).ravel()
    exact = d.rho * (np.eye(len(e)) + five[:, None] * ((v * np.sign(e)) @ v.conj().T))
    assert np.linalg.norm(matrix - exact, 2) <= d.rho * 1e-8


def test_the_program_prints_what_vanishes_and_refuses_what_means_nothing(tmp_path):
    line = [sys.executable, EXAMPLE, "--library", LIBRARY, "--lattice", "4,4,4,4", "--accuracy", "1e-6"]
    run = subprocess.run(line, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert "eigenvalues on the circle" in run.stdout
    assert "use four whole numbers" in refuses("--lattice", "4,4,4", status=2)
    assert "between 0 and 2 rho" in refuses("--lattice", "4,4,4,4", "--mass", "3", status=2)
    assert "0 < rho < 2" in refuses("--lattice", "4,4,4,4", "--rho", "2.5")
    assert "accuracy 1e-20: use" in refuses("--lattice", "4,4,4,4", "--accuracy", "1e-20")
    assert "extent 3 is not an even number" in refuses("--lattice", "4,4,3,4")
    assert "none.ildg" in refuses("--lattice", "4,4,4,4", "--gauge", str(tmp_path / "none.ildg"))
    assert "make library SHARED=ON" in refuses("--library", "none.so", "--lattice", "4,4,4,4")
