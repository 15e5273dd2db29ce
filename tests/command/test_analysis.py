"""Analyses of examples/analysis/ on small lattices: their numbers against others' ways to them, and their pages."""

import importlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import BUILD, ROOT
from page_output import missing, numbers, parts

pytest.importorskip("h5py")
FOLDER = ROOT / "examples/analysis"


@pytest.fixture
def analysis(monkeypatch):
    """Modules of the folder by name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.fixture
def analysed(quarksmith, tmp_path):
    """Measures on weak links, runs the script; gives results by configuration and what was printed."""

    def run(name, page, links, *options, given=("results.h5",), **changes):
        text = (FOLDER / f"{name}.toml").read_text()
        files = ", ".join(f'"{links}:{seed}"' for seed in (1, 2, 3))
        text = re.sub(r"^files = .*\nfirst = \d+", f"files = [{files}]", text, flags=re.M)
        for old, new in changes.items():
            text, times = re.subn(rf"^{old} = .*$", f"{old} = {new}", text, flags=re.M)
            assert times, f"{name}.toml has no {old}"
        (tmp_path / "run.toml").write_text(text)
        quarksmith("measure", "run.toml", "--out", "results.h5", "--json", "r.json")
        names = [str(path) for pattern in given for path in sorted(tmp_path.glob(pattern))]
        command = [sys.executable, FOLDER / f"{name}.py", *names, "--out", "plot.png", *options]
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "plot.png").stat().st_size > 5000
        lines = [line for _, block in parts((ROOT / "docs" / page).read_text()) for line in block]
        assert lines and missing(lines, done.stdout, exact=False) == []
        return [c["results"] for c in json.loads((tmp_path / "r.json").read_text())["configurations"]], done.stdout

    return run


def numbers_after(output, begin):
    (line,) = [line for line in output.splitlines() if line.startswith(begin)]
    return [float(value) for value, _ in numbers(line.removeprefix(begin))]


def test_conserved_charges_count_the_quarks(analysed):
    changes = {
        "kappa": "0.12",
        "smearing": '"gaussian:1,2"',
        "sink": '"gaussian:1,2"',
        "separation": "3",
        "tol": "1e-11",
    }
    positions = {"at": "[[0, 0, 0, 0], [2, 2, 2, 4]]"}
    page = "analysis-nucleon-charge.md"
    results, output = analysed("nucleon_charge", page, "weak:0.3:4,4,4,8", "--separation", "3", **changes, **positions)
    assert numbers_after(output, "conserved charges of u and d:") == pytest.approx([2, 1], abs=2e-6)
    u, d = (np.array([r[line]["values"] for r in results])[:, :, 0, :2, :, :].mean(axis=(0, 1)) for line in "ud")
    ratio = (u - d)[0, :, 1] / (u - d)[1, :, 0]
    assert numbers_after(output, "t = 1  A/V of u - d") == pytest.approx([ratio[1]], abs=0.01)


def test_loops(analysed, analysis):
    results, output = analysed("loop", "analysis-loop.md", "weak:0.3:4,4,4,8", kappa="0.12", count="3")
    scalar = np.array([r["loop"]["values"] for r in results])[:, :, 0, 0, :, 0]
    assert numbers_after(output, "tr D^-1 of a site")[0] == pytest.approx(scalar.mean() / 64, rel=0.01)
    loops = np.random.default_rng(1).normal(size=(3, 4))
    pairs = [(n, m) for n in range(3) for m in range(3) if n != m]
    expected = [np.mean([loops[n, s] * loops[m, (s + t) % 4] for n, m in pairs for s in range(4)]) for t in range(4)]
    assert analysis("loop").disconnected(loops) == pytest.approx(expected)


def test_scales_of_the_flow(analysed, analysis):
    results, output = analysed("flow", "analysis-flow.md", "hot:4,4,4,8", time="1", step="0.05", every="0.05")
    assert numbers_after(output, "t0/a^2  ")[0] == pytest.approx(np.mean([r["flow"]["t0"] for r in results]), rel=0.05)
    t = np.linspace(0, 4, 41)
    assert analysis("flow").scales(0.2 * t, t) == pytest.approx((1.5, np.sqrt(1.5)))


def test_potential(analysed, analysis):
    results, _ = analysed("potential", "analysis-potential.md", "weak:0.3:6,6,6,8", space="4", time="5")
    r, t = np.arange(1, 7)[:, None], np.arange(1, 6)
    v = analysis("potential").potential(np.exp(-(0.6 - 0.3 / r + 0.1 * r) * t))
    assert analysis("potential").fit(v, np.ones(6)) == pytest.approx((0.6, 0.3, 0.1))


def test_gluon_propagator(analysed, analysis, qs, tmp_path):
    _, output = analysed("gluon", "analysis-gluon.md", "weak:0.3:4,4,4,4", given=("landau_*.ildg",))
    values = []
    for path in sorted(tmp_path.glob("landau_*.ildg")):
        links = np.moveaxis(qs.read(str(path)).lexicographic(), 4, 0)
        a = (links - links.conj().swapaxes(-1, -2)) / 2j
        a -= np.trace(a, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
        for direction in range(4):  # of p; axes are mu, t, z, y, x
            phase = np.exp(-0.5j * np.pi * np.arange(4)).reshape([4 if k == 3 - direction else 1 for k in range(4)])
            sums = (a * phase[None, ..., None, None]).sum(axis=(1, 2, 3, 4))
            values.append(2 * (abs(sums) ** 2).sum() / (24 * 4**4))
    assert numbers_after(output, "p 1.4142  p^2 D") == pytest.approx([2 * np.mean(values)], rel=0.01)


def test_the_jackknife_is_the_error_of_a_mean(analysis):
    data = np.random.default_rng(1).normal(size=20)
    value, error = analysis("jackknife").jackknife(lambda mean: mean, data)
    assert (value, error) == pytest.approx((data.mean(), data.std(ddof=1) / np.sqrt(20)))
    assert analysis("jackknife").shown(0.7612, 0.0234) == "0.761(23)"
