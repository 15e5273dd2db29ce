"""Products, shifted solves and clover terms of QUDA's functions against operators in NumPy."""

import ctypes
from typing import Any

import numpy as np
import pytest
import quda
from quda_operators import GAMMA5, Operator, arrays_of, clover_term, coordinates, field_of
from test_quda_solves import STAGGERED, WALLS, WILSON, Case, drawn, is_served

pytestmark = pytest.mark.skipif(not quda.LIBRARY.exists(), reason="the library of QUDA's names is not built")
PLAIN = {"dirac_order": "QUDA_DIRAC_ORDER", "cpu_prec": "QUDA_DOUBLE_PRECISION", "num_src": 1, "tm_rho": 0}
KINDS = [*WILSON, *WALLS, *STAGGERED]


def cases(**others: str) -> list[Case]:
    """One of each kind of quark for each of some settings that are served."""
    made = []
    for kind in KINDS:
        numbers = [
            n for n in range(400) if kind == drawn(n)["dslash_type"][5:-7] and is_served(drawn(n) | PLAIN | others)
        ]
        for number in numbers[:2]:
            made.append(Case(number, PLAIN | others))
    return made


def of_all(work: Any, all_cases: list[Case]) -> list[np.ndarray]:
    def one(n: int) -> np.ndarray:
        case, q = all_cases[n], quda.Quda()
        p = case.param(q)
        case.load(q, p)
        return np.asarray(work(case, q, p))

    results = quda.apart(one, len(all_cases))
    assert not [r for r in results if isinstance(r, str)]
    return results  # type: ignore[return-value]


def product(function: str, case: Case, q: quda.Quda, p: Any, *more: int) -> np.ndarray:
    half = case.operator.half_of(case.setting)
    b = arrays_of(case.b[0], case.setting, half)
    out = np.zeros_like(b)
    getattr(q, function)(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(b.ctypes.data), ctypes.byref(p), *more)
    return field_of(out.ravel(), case.operator.shape, case.setting, half)


@pytest.mark.parametrize(("function", "squared"), [("MatQuda", False), ("MatDagMatQuda", True)])
def test_products_are_those_of_the_operator(function, squared):
    kind = "QUDA_MATDAG_MAT_SOLUTION" if squared else "QUDA_MAT_SOLUTION"
    every = cases(solution_type=kind)
    half = cases(solution_type=kind.replace("MAT", "MATPC"))
    every += [c for c in half if c.operator.kind not in WALLS and not (squared and c.operator.staggered)]
    for case, result in zip(every, of_all(lambda c, q, p: product(function, c, q, p), every), strict=True):
        s, o = case.setting, case.operator
        power = {"QUDA_KAPPA_NORMALIZATION": 0, "QUDA_ASYMMETRIC_MASS_NORMALIZATION": 1}.get(s["mass_normalization"], 2)
        power = min(power, 2 if o.half_of(s) is not None else 1) * (2 if squared else 1)
        wanted = o.system(o.on(case.b[0], o.half_of(s)), s) * (2 * s["kappa"]) ** -power
        assert np.abs(result - wanted).max() <= 1e-12 * np.abs(wanted).max(), s


def test_hops_are_those_of_the_operator():
    every = [c for c in cases(solution_type="QUDA_MATPC_SOLUTION") if "DOUBLET" not in c.setting["twist_flavor"]]
    every = [c for c in every if c.operator.kind != "TWISTED_CLOVER" or c.setting["dagger"] == "QUDA_DAG_NO"]

    def work(case: Case, q: quda.Quda, p: Any) -> np.ndarray:
        o, s = case.operator, case.setting
        b = arrays_of(case.b[0], s, 1)
        out = np.zeros_like(b)
        q.dslashQuda(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(b.ctypes.data), ctypes.byref(p), 0)
        return field_of(out.ravel(), o.shape, s, 0)

    for case, result in zip(every, of_all(work, every), strict=True):
        s, o = case.setting, case.operator
        b, conjugate = o.on(case.b[0], 1), s["dagger"] == "QUDA_DAG_YES"
        before = conjugate and o.kind == "TWISTED_MASS" and "ASYMMETRIC" not in s["matpc_type"]
        if before:
            b = o.site(o.inverse, b, True)
        wanted = o.on(o.hop(b, conjugate), 0)
        if o.kind not in ("WILSON", *WALLS, *STAGGERED) and not before:
            wanted = o.site(o.inverse, wanted, conjugate)
        if o.staggered and s["mass_normalization"] == "QUDA_KAPPA_NORMALIZATION":
            wanted = wanted / (2 * s["mass"])
        assert np.abs(result - wanted).max() <= 1e-12 * np.abs(wanted).max(), s


def test_shifted_solves_are_right():
    squared = {"dagger": "QUDA_DAG_NO", "solve_type": "QUDA_NORMOP_PC_SOLVE"}
    every = cases(solution_type="QUDA_MATPCDAG_MATPC_SOLUTION", **squared)
    every += cases(solution_type="QUDA_MATDAG_MAT_SOLUTION", **squared)
    other = {"dagger": "QUDA_DAG_YES", "solve_type": "QUDA_NORMOP_PC_SOLVE"}
    every += [c for c in cases(solution_type="QUDA_MATPCDAG_MATPC_SOLUTION", **other) if not c.operator.walls]
    every = [c for c in every if not c.operator.staggered] + [
        c for c in cases(solution_type="QUDA_MATPC_SOLUTION", **squared) if c.operator.staggered
    ]
    offsets, tolerance = [0.05, 0.2, 1.5], 1e-9

    def work(case: Case, q: quda.Quda, p: Any) -> np.ndarray:
        quda.fill(p, {"num_offset": 3, "offset": offsets, "tol_offset": [tolerance] * 3, "residual_type": 1})
        b = arrays_of(case.b[0], case.setting, case.operator.half_of(case.setting))
        x = [np.zeros_like(b) for _ in offsets]
        q.invertMultiShiftQuda(quda.pointers(x), ctypes.c_void_p(b.ctypes.data), ctypes.byref(p))
        assert max(p.true_res_offset[:3]) <= 1.1 * tolerance
        assert list(p.offset[:3]) == offsets
        return np.stack(x)

    for case, result in zip(every, of_all(work, every), strict=True):
        s, o = case.setting, case.operator
        half, factor = o.half_of(s), o.source_factor(s)
        if o.staggered:
            o.mass = 0
            factor = np.sqrt(offsets[0]) if s["mass_normalization"] == "QUDA_KAPPA_NORMALIZATION" else 1.0
        source = factor * o.on(case.b[0], half)
        for offset, flat in zip(offsets, result, strict=True):
            x = field_of(flat.ravel(), o.shape, s, half)
            r = source - o.system(x, s) - offset * (1 if o.staggered else factor) * x
            assert np.linalg.norm(r) <= 2 * tolerance * np.linalg.norm(source), s


def test_a_clover_term_that_is_passed_is_that_of_the_links():
    """In QUDA's packed order, blocks with gamma_5 = 1 first: diagonals, then columns below them."""
    every = [c for c in cases(solution_type="QUDA_MAT_SOLUTION") if "CLOVER" in c.operator.kind]

    def work(case: Case, q: quda.Quda, p: Any) -> np.ndarray:
        o = case.operator
        parity = (coordinates(o.extent).sum(axis=0) % 2).ravel()
        sites = np.concatenate([np.flatnonzero(parity == k) for k in (0, 1)])
        plain = Case(case.number, PLAIN | {"dslash_type": "QUDA_CLOVER_WILSON_DSLASH"}).operator
        packed = []
        for of in (plain.term, plain.inverse):
            blocks = [of.reshape(-1, 12, 12)[sites][:, k : k + 6, k : k + 6] for k in (0, 6)]
            assert np.diag(GAMMA5)[:2].sum() == 2
            below = [(i, j) for j in range(6) for i in range(j + 1, 6)]
            rows = []
            for a in blocks:
                off = np.stack([a[:, i, j] for i, j in below], axis=1)
                rows += [np.einsum("xii->xi", a).real, off.view(float)]
            packed.append(np.ascontiguousarray(np.concatenate(rows, axis=1)))
        quda.fill(p, {"clover_order": "QUDA_PACKED_CLOVER_ORDER"})
        q.freeCloverQuda()
        q.loadCloverQuda(*(ctypes.c_void_p(a.ctypes.data) for a in packed), ctypes.byref(p))
        if o.kind == "CLOVER_WILSON":
            wanted = [np.linalg.slogdet(o.term.reshape(-1, 12, 12)[parity == k])[1].sum() for k in (0, 1)]
            assert np.allclose(p.trlogA[:2], wanted, rtol=1e-11)
        return product("MatQuda", case, q, p)

    results = of_all(work, every)
    for case, result in zip(every, results, strict=True):
        s, o = case.setting, case.operator
        power = 0 if s["mass_normalization"] == "QUDA_KAPPA_NORMALIZATION" else 1
        wanted = o.system(case.b[0], s) * (2 * s["kappa"]) ** -power
        assert np.abs(result - wanted).max() <= 1e-12 * np.abs(wanted).max(), s


def test_anisotropic_links_and_clover_term():
    """PyQUDA's way: the term is made of links in space divided by one number, hops are of links divided by another."""
    case = Case(1, PLAIN | {"dslash_type": "QUDA_CLOVER_WILSON_DSLASH", "solution_type": "QUDA_MAT_SOLUTION"})
    u, s = case.u, case.setting
    scaled = []
    for xi in (1.3, 2.6):
        scaled.append(u.copy())
        scaled[-1][:3] /= xi

    def work(n: int) -> np.ndarray:
        del n
        q = quda.Quda()
        p = case.param(q)
        q.initQuda(-1)
        case.gauge(q, scaled[0], "QUDA_WILSON_LINKS", anisotropy=1.0)
        q.loadCloverQuda(None, None, ctypes.byref(p))
        case.gauge(q, scaled[1], "QUDA_WILSON_LINKS", anisotropy=2.6)
        return product("MatQuda", case, q, p)

    (result,) = quda.apart(work, 1)
    o = Operator(s, scaled[1], antiperiodic=False)
    o.term = np.eye(12) + s["clover_coeff"] * clover_term(scaled[0])
    power = 0 if s["mass_normalization"] == "QUDA_KAPPA_NORMALIZATION" else 1
    wanted = o.system(case.b[0], s) * (2 * s["kappa"]) ** -power
    assert np.abs(result - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_links_come_back():
    case = Case(1, PLAIN | {"dslash_type": "QUDA_WILSON_DSLASH"})

    def work(n: int) -> np.ndarray:
        del n
        q = quda.Quda()
        case.load(q, case.param(q))
        plaquette = (ctypes.c_double * 3)()
        q.plaqQuda(plaquette)
        return np.array(plaquette)

    (plaquette,) = quda.apart(work, 1)
    u = case.u
    planes = {}
    for mu in range(4):
        for nu in range(mu):
            loop = u[mu] @ np.roll(u[nu], -1, 3 - mu) @ np.conj(np.roll(u[mu], -1, 3 - nu)).swapaxes(-1, -2)
            planes[mu, nu] = np.einsum("...ab,...ab->...", loop, np.conj(u[nu])).real.mean() / 3
    space = np.mean([v for (mu, _), v in planes.items() if mu < 3])
    time = np.mean([v for (mu, _), v in planes.items() if mu == 3])
    assert np.allclose(plaquette, [(space + time) / 2, space, time], rtol=1e-13)
