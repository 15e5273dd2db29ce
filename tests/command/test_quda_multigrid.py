"""Multigrid of QUDA's interface: solves with the handle of newMultigridQuda, against operators in NumPy."""

import ctypes
from typing import Any

import numpy as np
import pytest
import quda
from quda_operators import Operator, arrays_of, random_links
from test_quda_solves import EXTENT, Case

pytestmark = pytest.mark.skipif(not quda.LIBRARY.exists(), reason="the library of QUDA's names is not built")
GOOD = {
    "dirac_order": "QUDA_DIRAC_ORDER",
    "solve_type": "QUDA_DIRECT_PC_SOLVE",
    "inv_type": "QUDA_GCR_INVERTER",
    "inv_type_precondition": "QUDA_MG_INVERTER",
    "cpu_prec": "QUDA_DOUBLE_PRECISION",
    "cuda_prec": "QUDA_DOUBLE_PRECISION",
    "cuda_prec_sloppy": "QUDA_SINGLE_PRECISION",
    "residual_type": 1,
    "tm_rho": 0,
    "num_src": 1,
    "twist_flavor": "QUDA_TWIST_SINGLET",
    "kappa": 0.122,
    "mu": 0.02,
    "clover_coeff": 0.122,
}
SYMMETRIC = "QUDA_MATPC_ODD_ODD"
SETTINGS = [
    ("WILSON", "MAT", SYMMETRIC),
    ("WILSON", "MATPC", "QUDA_MATPC_EVEN_EVEN"),
    ("CLOVER_WILSON", "MATPC", SYMMETRIC),
    ("CLOVER_WILSON", "MATPCDAG_MATPC", "QUDA_MATPC_ODD_ODD_ASYMMETRIC"),
    ("TWISTED_MASS", "MATDAG_MAT", SYMMETRIC),
    ("TWISTED_CLOVER", "MATPC", "QUDA_MATPC_ODD_ODD_ASYMMETRIC"),
]


class WithMultigrid(Case):
    """A case whose solves have a handle; the multigrid may have been made on other links."""

    def __init__(self, number: int, **others: Any) -> None:
        kind, solution, matpc = SETTINGS[number]
        forms = {
            "dslash_type": f"QUDA_{kind}_DSLASH",
            "solution_type": f"QUDA_{solution}_SOLUTION",
            "matpc_type": matpc,
            "dagger": f"QUDA_DAG_{'YES' if number % 2 else 'NO'}",
        }
        super().__init__(number, GOOD | forms | others)

    def multigrid_param(self, q: quda.Quda) -> Any:
        q.functions.newQudaMultigridParam.restype = quda.MultigridParam
        param = q.newQudaMultigridParam()
        inner = self.param(q)
        quda.fill(inner, {"solution_type": "QUDA_MAT_SOLUTION", "solve_type": "QUDA_DIRECT_SOLVE"})
        param.invert_param = ctypes.addressof(inner)
        self.held = inner
        return quda.fill(param, {"n_level": 2})

    def invert(self, q: quda.Quda, handle: Any) -> np.ndarray:
        p = self.param(q)
        p.preconditioner = handle
        half = self.operator.half_of(self.setting)
        b, x = ([arrays_of(v, self.setting, half) for v in of] for of in (self.b, self.guess))
        q.invertQuda(ctypes.c_void_p(x[0].ctypes.data), ctypes.c_void_p(b[0].ctypes.data), ctypes.byref(p))
        return np.concatenate([x[0].ravel().astype(complex), [p.true_res[0], p.iter, p.secs, *p.action]])


def made(q: quda.Quda, case: WithMultigrid) -> tuple[Any, Any]:
    case.load(q, case.param(q))
    param = case.multigrid_param(q)
    q.functions.newMultigridQuda.restype = ctypes.c_void_p
    return q.newMultigridQuda(ctypes.byref(param)), param


def other_links(case: WithMultigrid) -> None:
    """A step of molecular dynamics later."""
    step = random_links(EXTENT, 0.03, np.random.default_rng(7))
    case.u = step @ case.u
    case.operator = Operator(case.setting, case.u, case.antiperiodic)


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_solves_go_on_from_one_configuration_to_the_next(number):
    def work(_: int) -> np.ndarray:
        q, case = quda.Quda(), WithMultigrid(number)
        handle, param = made(q, case)
        results = [case.invert(q, handle)]
        other_links(case)
        case.load(q, case.param(q))
        results.append(case.invert(q, handle))  # QUDA itself would go on with levels of the old links
        quda.fill(param, {"setup_maxiter_refresh": [10]})
        q.updateMultigridQuda(ctypes.c_void_p(handle), ctypes.byref(param))
        results.append(case.invert(q, handle))
        q.destroyMultigridQuda(ctypes.c_void_p(handle))
        q.endQuda()
        return np.concatenate(results)

    results = np.split(quda.apart(work, 1)[0], 3)
    assert max(r[-4].real for r in results) <= 8  # iterations; without it up to 88
    case = WithMultigrid(number)
    case.check(results[0])
    other_links(case)
    case.check(results[1])
    case.check(results[2])


REFUSED = [
    ({"dslash_type": "QUDA_ASQTAD_DSLASH", "kappa": 1.0}, "newMultigridQuda: multigrid is served for Wilson"),
    ({"twist_flavor": "QUDA_TWIST_NONDEG_DOUBLET", "dslash_type": "QUDA_TWISTED_MASS_DSLASH"}, "of one flavour"),
    ({"vec_load": [1]}, "newMultigridQuda: vec_load"),
    ({"freed": 1}, "invertQuda: the handle of multigrid is not one of newMultigridQuda"),
]


@pytest.mark.parametrize(("change", "says"), REFUSED)
def test_what_has_no_multigrid_is_refused_by_name(change, says):
    own = {name: change[name] for name in ("vec_load", "freed") if name in change}

    def work(_: int) -> np.ndarray:
        q, case = quda.Quda(), WithMultigrid(0, **{n: v for n, v in change.items() if n not in own})
        case.load(q, case.param(q))
        param = case.multigrid_param(q)
        quda.fill(param, {n: v for n, v in own.items() if n == "vec_load"})
        q.functions.newMultigridQuda.restype = ctypes.c_void_p
        handle = q.newMultigridQuda(ctypes.byref(param))
        q.destroyMultigridQuda(ctypes.c_void_p(handle))
        return case.invert(q, handle)

    result = quda.apart(work, 1)[0]
    assert isinstance(result, str)
    assert says in result
