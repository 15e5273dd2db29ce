"""PyQUDA on the library of QUDA's names: its recorded calls, and PyQUDA itself from PyPI, without a GPU."""

import ctypes
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quda
from conftest import ROOT
from quda_operators import Operator, arrays_of, axis, coordinates, dagger, field_of, forward, links_of, random_links

DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data")) / "quda_clients/pyquda"
EXTENT = (4, 4, 4, 8)
pytestmark = pytest.mark.skipif(not quda.LIBRARY.exists(), reason="the library of QUDA's names is not built")


def param_of(q: quda.Quda, kind: str, members: dict[str, Any]) -> Any:
    """A struct with the members of a recorded call."""
    return getattr(q, f"{kind}_param")(**members)


class Recorded:
    """Makes the calls of a recording, on arrays of our own."""

    def __init__(self, name: str) -> None:
        rows = (DATA / f"{name}_propagator.jsonl").read_text().splitlines()
        self.calls = [json.loads(row) for row in rows]
        rng = np.random.default_rng(5)
        self.u = random_links(EXTENT, 0.3, rng)
        self.q = quda.Quda()
        self.solved = 0
        self.kept: list[Any] = []

    def links(self, u: np.ndarray) -> Any:
        """Arrays in QDP's order, which stay, and the pointer to them."""
        self.kept.append(links_of(u, "QUDA_QDP_GAUGE_ORDER"))
        return self.kept[-1]

    def make(self, call: dict[str, Any], *arguments: Any) -> Any:
        return getattr(self.q, call["function"])(*arguments)

    def solve(self, call: dict[str, Any], b: np.ndarray) -> tuple[np.ndarray, Any]:
        s = call["param"]
        p = param_of(self.q, "invert", s)
        source = arrays_of(b, s, None)
        x = np.zeros_like(source)
        self.make(call, quda.pointers([x]), quda.pointers([source]), ctypes.byref(p))
        assert p.secs > 0
        assert p.iter > 0
        assert p.true_res[0] <= 1.01 * s["tol"]
        self.solved += 1
        return field_of(x.ravel(), b.shape, s, None), p


def unit_source(shape: tuple[int, ...], column: int) -> np.ndarray:
    b = np.zeros(shape, complex)
    b[0, 0, 0, 0].reshape(-1)[column] = 1
    return b


def quiet(work: Any) -> np.ndarray:
    """The result of work() in a child, which ends with the library."""
    (result,) = quda.apart(lambda _: work(), 1)
    assert not isinstance(result, str), result
    return result


@pytest.mark.skipif(not DATA.is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data")
def test_the_recorded_clover_propagator():
    def work() -> np.ndarray:
        r = Recorded("clover")
        antiperiodic = r.u.copy()
        antiperiodic[3, -1] *= -1
        worst = 0.0
        for call in r.calls:
            name, p = call["function"], call.get("param", call.get("inv_param"))
            if name == "initQuda":
                r.q.initQuda(-1)
            elif name == "loadGaugeQuda":
                u = antiperiodic if p["t_boundary"] == "QUDA_ANTI_PERIODIC_T" else r.u
                r.make(call, r.links(u)[1], ctypes.byref(param_of(r.q, "gauge", p)))
            elif name == "loadCloverQuda":
                r.make(call, None, None, ctypes.byref(param_of(r.q, "invert", p)))
            elif name == "invertMultiSrcQuda":
                s = p | {"epsilon": 0.0, "twist_flavor": "", "b_5": [], "c_5": []}
                operator = Operator(s, r.u, antiperiodic=True)
                b = unit_source(operator.shape, r.solved)
                x, _ = r.solve(call, b)
                rest = operator.source_factor(s) * b - operator.system(x, s)
                worst = max(worst, np.linalg.norm(rest) / operator.source_factor(s))
        assert r.solved == 12
        return np.array([worst])

    assert quiet(work)[0] <= 1.1e-12


def staple(u: np.ndarray, v: np.ndarray, mu: int, nu: int) -> np.ndarray:
    up = u[nu] @ forward(v, nu) @ dagger(forward(u[nu], mu))
    down = dagger(u[nu]) @ v @ forward(u[nu], mu)
    return up + np.roll(down, 1, axis(nu))


def fat_links(u: np.ndarray, c: list[float]) -> np.ndarray:
    """Paths of 1, 3, 5 and 7 links and Lepage's, with the coefficients of QUDA."""
    fat = np.empty_like(u)
    for mu in range(4):
        fat[mu] = (c[0] - 6 * c[5]) * u[mu]
        for nu in set(range(4)) - {mu}:
            three = staple(u, u[mu], mu, nu)
            fat[mu] += c[2] * three + c[5] * staple(u, three, mu, nu)
            for rho in set(range(4)) - {mu, nu}:
                (sigma,) = set(range(4)) - {mu, nu, rho}
                five = staple(u, three, mu, rho)
                fat[mu] += c[3] * five + c[4] * staple(u, five, mu, sigma)
    return fat


def from_arrays(held: list[np.ndarray]) -> np.ndarray:
    parity = (coordinates(EXTENT).sum(axis=0) % 2).ravel()
    sites = np.concatenate([np.flatnonzero(parity == p) for p in (0, 1)])
    u = np.empty((4, sites.size, 3, 3), complex)
    u[:, sites] = np.stack(held)
    return u.reshape(4, *EXTENT[::-1], 3, 3)


@pytest.mark.skipif(not DATA.is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data")
def test_the_recorded_hisq_propagator():
    def work() -> np.ndarray:
        r = Recorded("hisq")
        held = {"u": r.links(r.u)}
        for name in ("w", "fat", "long"):
            held[name] = r.links(np.zeros_like(r.u))
        worst = {"solve": 0.0}
        for call in r.calls:
            name, p = call["function"], call.get("param")
            if name == "initQuda":
                r.q.initQuda(-1)
            elif name == "staggeredPhaseQuda":
                r.make(call, held["u"][1], ctypes.byref(param_of(r.q, "gauge", p | {"return_result_gauge": 1})))
                x = coordinates(EXTENT)
                eta = np.stack([x[3], x[3] + x[0], x[3] + x[0] + x[1], x[3] == EXTENT[3] - 1])
                worst["phases"] = np.abs(from_arrays(held["u"][0]) - ((-1.0) ** eta)[..., None, None] * r.u).max()
            elif name == "computeKSLinkQuda":
                first = call["fatlink"] is None
                places = (
                    [None, None, held["w"][1], held["u"][1]]
                    if first
                    else [held["fat"][1], held["long"][1], None, held["w"][1]]
                )
                coefficients = (ctypes.c_double * 6)(*call["path_coeff"])
                r.make(call, *places, coefficients, ctypes.byref(param_of(r.q, "gauge", p)))
                u, w = (from_arrays(held[n][0]) for n in ("u", "w"))
                fat = fat_links(u if first else w, call["path_coeff"])
                if first:
                    a, _, b = np.linalg.svd(fat)
                    worst["w"] = np.abs(w - a @ b).max()
                else:
                    worst["fat"] = np.abs(from_arrays(held["fat"][0]) - fat).max()
                    naik = [call["path_coeff"][1] * w[m] @ forward(w[m], m) @ forward(w[m], m, 2) for m in range(4)]
                    worst["long"] = np.abs(from_arrays(held["long"][0]) - np.stack(naik)).max()
            elif name == "loadGaugeQuda":
                which = "fat" if p["type"] == "QUDA_GENERAL_LINKS" else "long"
                r.make(call, held[which][1], ctypes.byref(param_of(r.q, "gauge", p)))
            elif name == "invertMultiSrcQuda":
                s = p | {"epsilon": 0.0, "twist_flavor": "", "b_5": [], "c_5": []}
                operator = Operator(s, r.u, antiperiodic=True)
                operator.u, operator.long = (from_arrays(held[n][0]) for n in ("fat", "long"))
                b = unit_source(operator.shape, r.solved)
                x, _ = r.solve(call, b)
                worst["solve"] = max(worst["solve"], np.linalg.norm(b - operator.system(x, s)))
        assert r.solved == 3
        return np.array([worst[n] for n in ("phases", "w", "fat", "long", "solve")])

    phases, w, fat, long, solve = quiet(work)
    assert phases == 0
    assert max(w, fat, long) <= 1e-13
    assert solve <= 1.1e-12


PIONS = textwrap.dedent(
    """
    import json, sys
    import numpy
    from pyquda_utils import core, io

    core.init([1, 1, 1, 1], [4, 4, 4, 8], backend="numpy")
    gauge = io.readILDGGauge(sys.argv[1])
    latt_info = core.LatticeInfo([4, 4, 4, 8], -1, 1.0)
    pions = {}
    dirac = core.getClover(latt_info, -0.277, 1e-13, 1000, 1.0, 1.160920226, 1.160920226)
    with dirac.useGauge(gauge):
        x = core.invert(dirac, "point", [0, 0, 0, 0])
    pions["clover"] = numpy.einsum("wtzyxijab,wtzyxijab->t", x.data.conj(), x.data).real.tolist()
    dirac = core.getClover(latt_info, -0.277, 1e-13, 1000, 1.0, 1.160920226, 1.160920226, [[2, 2, 2, 4]])
    with dirac.useGauge(gauge):
        x = core.invert(dirac, "point", [0, 0, 0, 0])
    pions["multigrid"] = numpy.einsum("wtzyxijab,wtzyxijab->t", x.data.conj(), x.data).real.tolist()
    xi, nu = 2.464, 0.95
    dirac = core.getClover(core.LatticeInfo([4, 4, 4, 8], -1, xi / nu), 0.1, 1e-13, 1000, xi, 1.07, 0.91)
    with dirac.useGauge(gauge):
        x = core.invert(dirac, "point", [0, 0, 0, 0])
    pions["anisotropic"] = numpy.einsum("wtzyxijab,wtzyxijab->t", x.data.conj(), x.data).real.tolist()
    dirac = core.getHISQ(latt_info, 0.0102, 1e-13, 1000, 0.0)
    with dirac.useGauge(gauge):
        x = core.invertStaggered(dirac, "point", [0, 0, 0, 0])
    pions["hisq"] = numpy.einsum("wtzyxab,wtzyxab->t", x.data.conj(), x.data).real.tolist()
    json.dump(pions, open(sys.argv[2], "w"))
    """
)
ENVIRONMENT = os.environ | {
    "OMP_NUM_THREADS": "2",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
ACTIONS = {
    "clover": ["--action", "clover", "--mass", -0.277, "--csw", 1.160920226],
    "anisotropic": "--action clover --mass 0.1 --anisotropy 2.464,0.95 --csw-r 0.91 --csw-t 1.07".split(),
    "hisq": ["--action", "hisq", "--mass", 0.0102],
}
ACTIONS["multigrid"] = ACTIONS["clover"]


@pytest.fixture(scope="module")
def pyquda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with PyQUDA, built against the library."""
    folder = tmp_path_factory.mktemp("pyquda")
    (folder / "quda").mkdir()
    (folder / "quda/include").symlink_to(quda.HEADERS)
    (folder / "quda/lib").symlink_to(quda.LIBRARY.parent)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    environment = os.environ | {"QUDA_PATH": str(folder / "quda"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for words in (
        ["setuptools<81", "wheel", "Cython", "numpy", "mpi4py"],
        ["--no-build-isolation", "--no-deps", "pyquda==0.10.54", "pyquda-utils==0.10.54.post0"],
    ):
        pip = [python, "-m", "pip", "install", "-q", *words]
        done = subprocess.run(pip, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0 and "No matching distribution" in done.stderr + done.stdout:
            pytest.skip("PyPI cannot be reached")
        assert done.returncode == 0, done.stderr
    return python


def test_pions_of_pyquda_are_ours(pyquda, quarksmith, tmp_path):
    quarksmith("smear", "stout", "weak:0.3:4,4,4,8:7", "u.ildg", "--rho", 0.05)
    command = [pyquda, "-c", PIONS, tmp_path / "u.ildg", tmp_path / "pions.json"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    theirs = json.loads((tmp_path / "pions.json").read_text())
    for action, options in ACTIONS.items():
        quarksmith(
            "propagator",
            "--gauge",
            "u.ildg",
            *options,
            "--source",
            "point:0,0,0,0",
            "--tol",
            1e-13,
            "--correlators",
            f"{action}.json",
        )
        ours = np.array(json.loads((tmp_path / f"{action}.json").read_text())["correlators"]["pion"])
        ours = ours[:, 0] if ours.ndim == 2 else ours
        assert np.max(np.abs(np.array(theirs[action]) / ours - 1)) <= 1e-12


HMC = textwrap.dedent(
    """
    import json, sys
    import numpy
    from pyquda_utils import core, io
    from pyquda.hmc import HMC, O2Nf1Ng0V
    from pyquda.action import GaugeAction, CloverWilsonAction, HISQAction
    from pyquda.action.abstract import LoopParam, RationalParam
    from pyquda.field import LatticeMom, X, Y, Z, T

    core.init([1, 1, 1, 1], [4, 4, 4, 8], backend="numpy")
    info, axes = core.LatticeInfo([4, 4, 4, 8], -1, 1.0), (X, Y, Z, T)
    paths = [[m, n, -m, -n] for i, m in enumerate(axes) for n in axes[i + 1 :]]
    paths += [[m, m, n, -m, -m, -n] for m in axes for n in axes if m is not n]
    gluons = lambda: GaugeAction(info, LoopParam(paths, [1.0] * 6 + [-0.05] * 12), 6.0)
    r = RationalParam(*[0.1, [0.4, 0.9], [0.02, 0.5]] * 3)
    quarks = {
        "gauge": lambda: [],
        "clover": lambda: [
            CloverWilsonAction(info, RationalParam(), 0.1, 2, 1e-13, 1000, 1.1),
            CloverWilsonAction(info, r, 0.2, 1, 1e-13, 1000, 1.1),
        ],
        "hisq": lambda: [HISQAction(info, r, 1e-13, 1000, epsilon) for epsilon in (0.0, -0.2)],
    }
    seen = {}
    for kind in quarks:
        rows = seen[kind] = []
        for steps in (5, 10):
            gauge = io.readILDGGauge(sys.argv[1])
            hmc = HMC(info, [gluons(), *quarks[kind]()], O2Nf1Ng0V(steps))
            hmc.initialize(7, gauge)
            hmc.gaussMom()
            hmc.samplePhi()
            energy = lambda: hmc.momAction() + hmc.gaugeAction() + hmc.fermionAction()
            before, plaquette = energy(), hmc.plaquette()[0]
            hmc.integrate(0.25)
            change = energy() - before
            mom, back = LatticeMom(info), core.LatticeGauge(info)
            hmc.saveMom(mom)
            mom.data *= -1
            hmc.loadMom(mom)
            hmc.integrate(0.25)
            hmc.saveGauge(back)
            rows.append([change, float(numpy.abs(back.data - gauge.data).max()), plaquette])
    json.dump(seen, open(sys.argv[2], "w"))
    """
)


def test_hmc_of_pyquda(pyquda, quarksmith, tmp_path):
    """The energy is that of the forces: leapfrog misses it in second order, and goes back to its start."""
    quarksmith("smear", "stout", "weak:0.3:4,4,4,8:7", "u.ildg", "--rho", 0.05)
    command = [pyquda, "-c", HMC, tmp_path / "u.ildg", tmp_path / "hmc.json"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for rows in json.loads((tmp_path / "hmc.json").read_text()).values():
        (coarse, back, plaquette), (fine, fine_back, _) = rows
        assert abs(coarse) > 1e-6
        assert coarse / fine == pytest.approx(4, rel=0.1)
        assert max(back, fine_back) <= 1e-9
        assert 0.5 < plaquette < 1
