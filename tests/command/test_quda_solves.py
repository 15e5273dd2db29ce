"""Settings of QudaInvertParam, drawn at random, against operators in NumPy: each is right, or refused by name."""

import ctypes
import random
from typing import Any

import numpy as np
import pytest
import quda
from quda_operators import Operator, arrays_of, field_of, links_of, random_links

pytestmark = pytest.mark.skipif(not quda.LIBRARY.exists(), reason="the library of QUDA's names is not built")
EXTENT = (4, 4, 4, 4)
WILSON = ("WILSON", "CLOVER_WILSON", "TWISTED_MASS", "TWISTED_CLOVER")
WALLS = ("DOMAIN_WALL", "DOMAIN_WALL_4D", "MOBIUS_DWF")
STAGGERED = ("STAGGERED", "ASQTAD")
REFUSED = ("CLOVER_HASENBUSCH_TWIST", "MOBIUS_DWF_EOFA", "LAPLACE", "COVDEV")


def drawn(seed: int) -> dict[str, Any]:
    """A setting: values of all members that matter, not all of which are served."""
    draw = random.Random(seed)

    def of(*names: str, prefix: str = "QUDA_", suffix: str = "") -> str:
        return prefix + draw.choice(names) + suffix

    kinds = [*WILSON * 4, *WALLS * 2, *STAGGERED * 3]
    s: dict[str, Any] = {"dslash_type": of(*kinds, draw.choice(REFUSED), suffix="_DSLASH")}
    s["solution_type"] = of(*["MAT", "MATDAG_MAT", "MATPC", "MATPCDAG_MATPC"] * 8, "MATPC_DAG", suffix="_SOLUTION")
    solve = ["DIRECT_PC", "NORMOP_PC", "NORMERR_PC"] * 8 + ["DIRECT", "NORMOP", "NORMERR"]
    s["solve_type"] = of(*solve, suffix="_SOLVE")
    s["matpc_type"] = of("EVEN_EVEN", "ODD_ODD", "EVEN_EVEN_ASYMMETRIC", "ODD_ODD_ASYMMETRIC", prefix="QUDA_MATPC_")
    s["dagger"] = of("NO", "YES", prefix="QUDA_DAG_")
    s["mass_normalization"] = of("KAPPA", "MASS", "ASYMMETRIC_MASS", suffix="_NORMALIZATION")
    s["dirac_order"] = of(*["DIRAC"] * 15, *["QDP_DIRAC"] * 3, *["LEX_DIRAC"] * 2, "CPS_WILSON_DIRAC", suffix="_ORDER")
    s["gamma_basis"] = of("DEGRAND_ROSSI", "UKQCD", "CHIRAL", "DIRAC_PAULI", suffix="_GAMMA_BASIS")
    s["inv_type"] = of(*["CG", "BICGSTAB", "GCR", "CGNR", "BICGSTABL"] * 8, "MG", "EIGCG", suffix="_INVERTER")
    s["cpu_prec"] = of("DOUBLE", "DOUBLE", "SINGLE", suffix="_PRECISION")
    s["cuda_prec"] = of("DOUBLE", "DOUBLE", "SINGLE", suffix="_PRECISION")
    s["cuda_prec_sloppy"] = of("DOUBLE", "SINGLE", "HALF", suffix="_PRECISION")
    s["residual_type"] = draw.choice([1] * 14 + [2, 4, 5] * 2 + [3])
    s["use_init_guess"] = draw.choice([0, 0, 1])
    s["twist_flavor"] = of(*["SINGLET"] * 6, *["NONDEG_DOUBLET"] * 4, "NO", prefix="QUDA_TWIST_")
    s["Ls"] = draw.choice([4, 6])
    s["kappa"] = draw.uniform(0.08, 0.12)
    s["mass"] = draw.uniform(0.1, 0.4)
    s["m5"] = -draw.uniform(1.2, 1.8)
    s["mu"], s["epsilon"] = draw.uniform(-0.3, 0.3), draw.uniform(0.02, 0.2)
    s["b_5"], s["c_5"] = (
        [complex(draw.choice([1.0, 1.5, 2.0]))] * s["Ls"],
        [complex(draw.choice([0.5, 1.0]))] * s["Ls"],
    )
    s["clover_coeff"] = s["kappa"] * draw.uniform(0.5, 1.5)
    s["tol"], s["tol_hq"] = (1e-5 if "SINGLE" in s["cpu_prec"] else 1e-9), 1e-4
    s["num_src"] = draw.choice([1, 1, 2])
    s["tm_rho"] = draw.choice([0] * 7 + [0.1])
    s["compute_action"] = draw.choice([0, 1])
    return s


class Case:
    """One setting: its links, its source, and what it has to reach."""

    def __init__(self, number: int, others: dict[str, Any] | None = None) -> None:
        self.number = number
        self.setting = s = drawn(number) | (others or {})
        rng = np.random.default_rng(number)
        self.antiperiodic = number % 4 == 1
        self.u = random_links(EXTENT, 0.35, rng)
        if number % 4 == 3:  # by phases of all links, as tmLQCD has it
            self.u[3] *= np.exp(1j * np.pi / EXTENT[3])
        self.order = ("QUDA_QDP_GAUGE_ORDER", "QUDA_MILC_GAUGE_ORDER", "QUDA_CPS_WILSON_GAUGE_ORDER")[number % 3]
        self.operator = Operator(s, self.u, self.antiperiodic)
        shape = self.operator.shape
        self.b = [rng.normal(size=shape) + 1j * rng.normal(size=shape) for _ in range(s["num_src"])]
        self.guess = [rng.normal(size=shape) + 0j for _ in self.b]

    def param(self, q: quda.Quda) -> Any:
        p = q.invert_param(**self.setting)
        for name in ("precondition", "refinement_sloppy", "eigensolver"):
            quda.fill(p, {f"cuda_prec_{name}": "QUDA_DOUBLE_PRECISION"})
        names = ("cpu_prec", "cuda_prec", "cuda_prec_sloppy", "cuda_prec_refinement_sloppy")
        quda.fill(p, {f"clover_{name}": "QUDA_DOUBLE_PRECISION" for name in names})
        return quda.fill(p, {"maxiter": 2000, "reliable_delta": 0.1, "verbosity": "QUDA_SUMMARIZE"})

    def gauge(self, q: quda.Quda, u: np.ndarray, kind: str, anisotropy: float = 1.0) -> None:
        """Loads links, the sign of the boundary and phases included in u."""
        p = q.gauge_param(X=EXTENT, anisotropy=anisotropy, tadpole_coeff=1.0, type=kind, gauge_order=self.order)
        antiperiodic = self.antiperiodic and u is self.operator.links.get(kind)
        quda.fill(p, {"t_boundary": "QUDA_ANTI_PERIODIC_T" if antiperiodic else "QUDA_PERIODIC_T"})
        quda.fill(p, {name: "QUDA_DOUBLE_PRECISION" for name in ("cpu_prec", "cuda_prec")})
        quda.fill(p, {"reconstruct": "QUDA_RECONSTRUCT_NO", "gauge_fix": "QUDA_GAUGE_FIXED_NO", "ga_pad": 0})
        if self.operator.staggered:
            quda.fill(p, {"staggered_phase_type": "QUDA_STAGGERED_PHASE_MILC", "staggered_phase_applied": 1})
        held, pointer = links_of(u, self.order)
        q.loadGaugeQuda(pointer, ctypes.byref(p))
        del held

    def load(self, q: quda.Quda, p: Any) -> None:
        q.initQuda(-1)
        for kind, u in self.operator.links.items():
            self.gauge(q, u, kind)
        if "CLOVER" in self.setting["dslash_type"]:
            q.loadCloverQuda(None, None, ctypes.byref(p))

    def solved(self, _: int = 0) -> np.ndarray:
        """Results of invertMultiSrcQuda: the solutions, then true_res, iter, secs and action."""
        q = quda.Quda()
        p = self.param(q)
        self.load(q, p)
        half = self.operator.half_of(self.setting)
        b = [arrays_of(v, self.setting, half) for v in self.b]
        x = [arrays_of(v, self.setting, half) for v in self.guess]
        q.invertMultiSrcQuda(quda.pointers(x), quda.pointers(b), ctypes.byref(p))
        q.endQuda()
        numbers = [*p.true_res[: len(b)], p.iter, p.secs, *p.action]
        return np.concatenate([*(v.ravel().astype(complex) for v in x), numbers])

    def check(self, result: np.ndarray) -> None:
        s, size = self.setting, len(self.b)
        half = self.operator.half_of(s)
        *res, iterations, secs, re, im = result[-size - 4 :].real
        flat = result[: -size - 4].reshape(size, -1)
        single = "SINGLE" in s["cpu_prec"]
        for n, (b, true_res) in enumerate(zip(self.b, res, strict=True)):
            x = field_of(flat[n], self.operator.shape, s, half)
            source = self.operator.on(b, half) * self.operator.source_factor(s)
            r = source - self.operator.system(x, s)
            norms = np.linalg.norm(r), np.linalg.norm(source)
            target = 2 * s["tol"] if s["residual_type"] in (1, 5) else 2 * s["tol"] / norms[1]
            if s["residual_type"] in (1, 2, 5):
                assert norms[0] / norms[1] <= max(target, 3e-6 if single else 1e-13), (norms, true_res)
            else:
                each = [np.sum(np.abs(v) ** 2, axis=(-2, -1)) for v in (r, x)]
                here = each[1] > 0
                assert np.sqrt(np.mean(each[0][here] / each[1][here])) <= 2 * max(s["tol_hq"], 1e-4 if single else 0)
            if not single and s["residual_type"] in (1, 5):
                assert true_res <= 1.1 * s["tol"]
            if n == 0 and s["compute_action"]:
                action = np.vdot(source, x)
                assert abs(complex(re, im) - action) <= (1e-4 if single else 1e-8) * abs(action)
        assert iterations > 0 or s["use_init_guess"]
        assert secs > 0


def is_served(s: dict[str, Any]) -> bool:
    """What docs/howto-quda-clients.md says of a setting."""
    kind = s["dslash_type"].removeprefix("QUDA_").removesuffix("_DSLASH")
    half, squared = "MATPC" in s["solution_type"], "DAG_" in s["solution_type"]
    flavours = kind in WALLS or (kind.startswith("TWISTED") and "DOUBLET" in s["twist_flavor"])
    return not (
        kind in REFUSED
        or "PC_DAG_" in s["solution_type"]
        or (half and "PC" not in s["solve_type"])
        or s["inv_type"] in ("QUDA_MG_INVERTER", "QUDA_EIGCG_INVERTER")
        or "CPS" in s["dirac_order"]
        or ("LEX" in s["dirac_order"] and (half or flavours))
        or s["residual_type"] == 3
        or (kind.startswith("TWISTED") and s["twist_flavor"] == "QUDA_TWIST_NO")
        or (
            kind == "TWISTED_CLOVER"
            and s["tm_rho"] != 0
            and not (half and "ASYMMETRIC" in s["matpc_type"] and not flavours)
        )
        or (half and "ASYMMETRIC" in s["matpc_type"] and kind in ("WILSON", *STAGGERED))
        or (half and kind == "DOMAIN_WALL")
        or (half and squared and kind in (*WALLS, *STAGGERED))
    )


@pytest.mark.parametrize("part", range(5))
def test_every_setting_is_right_or_refused_by_name(part):
    results = quda.apart(lambda n: Case(100 * part + n).solved(), 100)
    for number, result in enumerate(results, 100 * part):
        setting = drawn(number)
        assert isinstance(result, str) != is_served(setting), (number, setting, result)
        try:
            if isinstance(result, str):
                assert result.startswith(
                    "ERROR: invertMultiSrcQuda: " if "loadClover" not in result else "ERROR"
                ), result
                assert any(name in result for name in setting), result
            else:
                Case(number).check(result)
        except AssertionError as error:
            raise AssertionError((number, setting)) from error
