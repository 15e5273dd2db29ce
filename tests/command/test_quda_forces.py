"""Forces of quarks of QUDA's functions: differences of actions in NumPy along one direction of all links."""

import ctypes
from collections.abc import Callable
from ctypes import byref, c_double, c_longlong, c_void_p
from typing import Any

import numpy as np
import pytest
import quda
from quda_operators import GAMMA5, Operator, arrays_of, forward, links_of, random_links
from test_pyquda import fat_links
from test_quda_milc import InitArgs, Layout
from test_quda_motion import exponential, in_child, momenta_of, phases, random_momenta, reals_of, sites_of

pytestmark = pytest.mark.skipif(not quda.LIBRARY.exists(), reason="the library of QUDA's names is not built")


def slope(action: Callable[[np.ndarray], float], u: np.ndarray, p: np.ndarray) -> float:
    """D action(exp(s P) U) / ds, where dP/dt is the force: the sum of tr P dP/dt."""

    def difference(h: float) -> float:
        return (action(exponential(h * p) @ u) - action(exponential(-h * p) @ u)) / (2 * h)

    h = 4e-3
    one, two, four = (difference(h * k) for k in (1, 2, 4))
    better = [(4 * a - b) / 3 for a, b in ((one, two), (two, four))]
    return (16 * better[0] - better[1]) / 15


def along(force: np.ndarray, p: np.ndarray) -> float:
    return float(np.einsum("...ab,...ba", p, force).real.sum())


HISQ_EXTENT = (4, 4, 4, 4)
FAT7 = [1 / 8, 0, -1 / 16, 1 / 64, -1 / 384, 0]
LEVEL2 = [1, -1 / 24, -1 / 16, 1 / 64, -1 / 384, -1 / 8]
POLES, RESIDUES = [0.3, 1.1, 0.2, 0.7], [0.8, -0.3, 0.5, 1.2]
EPSILONS = [0.0, 0.0, -0.2, -0.2]


class Hisq:
    """D of HISQ quarks on links with phases, as matrices from one parity to the other."""

    def __init__(self, u: np.ndarray, epsilon: float) -> None:
        v = fat_links(u, FAT7)
        a, _, b = np.linalg.svd(v)
        w = a @ b
        fat = fat_links(w, LEVEL2) + epsilon / 8 * w
        long = np.stack([-(1 + epsilon) / 24 * w[m] @ forward(w[m], m) @ forward(w[m], m, 2) for m in range(4)])
        volume = int(np.prod(HISQ_EXTENT))
        places = np.arange(volume).reshape(HISQ_EXTENT[::-1])
        d = np.zeros((volume, 3, volume, 3), complex)
        here = np.arange(volume)
        for mu in range(4):
            for links, length in ((fat, 1), (long, 3)):
                there = forward(places, mu, length).ravel()
                m = links[mu].reshape(volume, 3, 3)
                d[here, :, there, :] += m
                d[there, :, here, :] -= np.conj(m).swapaxes(1, 2)
        order = sites_of(HISQ_EXTENT)
        half = volume // 2
        self.odd_even = d[order[half:]][:, :, order[:half]].reshape(3 * half, 3 * half)

    def solve(self, pole: float, phi: np.ndarray) -> np.ndarray:
        """(pole - D D)^-1 phi on even sites; D from odd to even ones is -D^+."""
        a = np.conj(self.odd_even.T) @ self.odd_even
        return np.linalg.solve(a + pole * np.eye(len(a)), phi)


def hisq_problem() -> tuple[np.ndarray, np.ndarray, list[np.ndarray], Callable[[np.ndarray], float]]:
    rng = np.random.default_rng(7)
    u, p = random_links(HISQ_EXTENT, 0.2, rng), random_momenta(HISQ_EXTENT, rng)
    size = 3 * int(np.prod(HISQ_EXTENT)) // 2
    phi = [rng.normal(size=size) + 1j * rng.normal(size=size) for _ in range(2)]
    vectors = [phi[0], phi[0], phi[1], phi[1]]

    def action(of: np.ndarray) -> float:
        d = {e: Hisq(of * phases(HISQ_EXTENT), e) for e in set(EPSILONS)}
        terms = zip(RESIDUES, EPSILONS, POLES, vectors, strict=True)
        return sum(r * np.vdot(f, d[e].solve(pole, f)).real for r, e, pole, f in terms)

    return u, p, vectors, action


def hisq_arguments(u: np.ndarray, vectors: list[np.ndarray]) -> tuple[Any, Any, list[np.ndarray], Any]:
    """Solutions on both parities, and coefficients as MILC and PyQUDA make them."""
    x = []
    for epsilon, pole, f in zip(EPSILONS, POLES, vectors, strict=True):
        d = Hisq(u * phases(HISQ_EXTENT), epsilon)
        even = d.solve(pole, f)
        x.append(np.concatenate([even, d.odd_even @ even]))
    rows = [[2 * r, LEVEL2[1] * 2 * r] for r in RESIDUES]
    rows += [[e / 8 * 2 * r, -e / 24 * 2 * r] for e, r in zip(EPSILONS, RESIDUES, strict=True) if e != 0]
    held = [(c_double * 2)(*row) for row in rows]
    return (c_void_p * len(held))(*map(ctypes.addressof, held)), quda.pointers(x), x, held


def test_the_force_of_hisq_quarks():
    def work() -> np.ndarray:
        u, p, vectors, action = hisq_problem()
        coefficients, quarks, _x, _held = hisq_arguments(u, vectors)
        wanted = slope(action, u, p)
        q = quda.Quda()
        four = ctypes.c_int * 4
        q.qudaInit(InitArgs(0, Layout(four(*HISQ_EXTENT), four(1, 1, 1, 1), 0)))
        found = []
        dt, level2, fat7 = 0.3, (c_double * 6)(*LEVEL2), (c_double * 6)(*FAT7)
        links, pointer = links_of(u * phases(HISQ_EXTENT), "QUDA_MILC_GAUGE_ORDER")
        momenta = np.full((4, links.shape[0], 10), np.nan).swapaxes(0, 1).copy()
        q.qudaHisqParamsInit(c_longlong(0))
        q.qudaHisqForce(
            2, 4, 2, c_double(dt), coefficients, quarks, level2, fat7, pointer, pointer, pointer,
            c_void_p(momenta.ctypes.data),
        )  # fmt: skip
        found.append(along(momenta_of(momenta.swapaxes(0, 1), HISQ_EXTENT), p) / dt)
        # The same is added to momenta that stay.
        param = q.gauge_param(X=HISQ_EXTENT, gauge_order="QUDA_QDP_GAUGE_ORDER", cpu_prec="QUDA_DOUBLE_PRECISION")
        quda.fill(param, {"use_resident_mom": 1, "make_resident_mom": 1, "return_result_mom": 0})
        held = [np.ascontiguousarray(one) for one in reals_of(p)]
        q.momResidentQuda(quda.pointers(held), byref(param))
        _links, v = links_of(u * phases(HISQ_EXTENT), "QUDA_QDP_GAUGE_ORDER")
        q.computeHISQForceQuda(None, c_double(dt), level2, fat7, v, v, v, quarks, 4, 2, coefficients, byref(param))
        quda.fill(param, {"make_resident_mom": 0, "return_result_mom": 1})
        q.momResidentQuda(quda.pointers(held), byref(param))
        found.append(along(momenta_of(np.stack(held), HISQ_EXTENT) - p, p) / dt)
        return np.array(found) / wanted - 1

    result = in_child(work)
    assert not isinstance(result, str), result
    assert np.abs(result).max() <= 1e-8


@pytest.mark.parametrize("name", ["level2_coeff", "fat7_coeff", "coeff"])
def test_other_coefficients_are_refused(name):
    def work() -> np.ndarray:
        u, _, vectors, _ = hisq_problem()
        coefficients, quarks, _x, held = hisq_arguments(u, vectors)
        level2, fat7 = (c_double * 6)(*LEVEL2), (c_double * 6)(*FAT7)
        {"level2_coeff": level2, "fat7_coeff": fat7, "coeff": held[1]}[name][1] += 0.01
        q = quda.Quda()
        q.initQuda(-1)
        param = q.gauge_param(X=HISQ_EXTENT, gauge_order="QUDA_QDP_GAUGE_ORDER", cpu_prec="QUDA_DOUBLE_PRECISION")
        q.computeHISQForceQuda(
            None, c_double(1), level2, fat7, None, None, None, quarks, 4, 2, coefficients, byref(param)
        )
        return np.zeros(1)

    result = in_child(work)
    assert isinstance(result, str) and result.startswith(f"ERROR: computeHISQForceQuda: {name}[")


CLOVER_EXTENT = (2, 2, 2, 4)
CLOVER: dict[str, Any] = {
    "dslash_type": "QUDA_CLOVER_WILSON_DSLASH", "kappa": 0.115, "clover_coeff": 0.115 * 1.3, "clover_csw": 1.3,
    "solution_type": "QUDA_MATPCDAG_MATPC_SOLUTION", "matpc_type": "QUDA_MATPC_EVEN_EVEN_ASYMMETRIC",
    "mass_normalization": "QUDA_KAPPA_NORMALIZATION", "dagger": "QUDA_DAG_YES", "dirac_order": "QUDA_DIRAC_ORDER",
    "gamma_basis": "QUDA_DEGRAND_ROSSI_GAMMA_BASIS", "solve_type": "QUDA_NORMOP_PC_SOLVE", "mass": 0.0, "mu": 0.0,
    "inv_type": "QUDA_CG_INVERTER", "twist_flavor": "QUDA_TWIST_NO", "Ls": 1, "epsilon": 0.0,
    "cpu_prec": "QUDA_DOUBLE_PRECISION", "cuda_prec": "QUDA_DOUBLE_PRECISION",
    "cuda_prec_sloppy": "QUDA_DOUBLE_PRECISION", "clover_cpu_prec": "QUDA_DOUBLE_PRECISION",
}  # fmt: skip
CLOVER_POLES, CLOVER_RESIDUES, FLAVOURS = [0.05, 0.4], [0.6, 0.9], 1.5


def clover_matrix(u: np.ndarray) -> tuple[Operator, np.ndarray]:
    """The operator, and its asymmetric form on even sites as a matrix."""
    o = Operator(CLOVER, u, antiperiodic=True)
    even = np.flatnonzero((o.parity == 0).ravel())
    columns = []
    for n in range(12 * even.size):
        one = np.zeros((int(np.prod(CLOVER_EXTENT)), 12), complex)
        one[even[n // 12], n % 12] = 1
        columns.append(o.even_odd(one.reshape(o.shape), False, False).reshape(-1, 12)[even].ravel())
    return o, np.stack(columns, axis=1)


def test_the_force_of_clover_quarks():
    rng = np.random.default_rng(3)
    u, p = random_links(CLOVER_EXTENT, 0.2, rng), random_momenta(CLOVER_EXTENT, rng)
    size = 6 * int(np.prod(CLOVER_EXTENT))
    phi = rng.normal(size=size) + 1j * rng.normal(size=size)

    def solutions(of: np.ndarray) -> tuple[Operator, list[np.ndarray]]:
        o, m = clover_matrix(of)
        square = np.conj(m.T) @ m
        return o, [np.linalg.solve(square + pole * np.eye(size), phi) for pole in CLOVER_POLES]

    def action(of: np.ndarray) -> float:
        o, x = solutions(of)
        odd = o.term.reshape(-1, 12, 12)[(o.parity == 1).ravel()]
        quarks = sum(r * np.vdot(phi, one).real for r, one in zip(CLOVER_RESIDUES, x, strict=True))
        return float(quarks - FLAVOURS * np.linalg.slogdet(odd)[1].sum())

    def work() -> np.ndarray:
        wanted = slope(action, u, p)
        o, x = solutions(u)
        q = quda.Quda()
        q.initQuda(-1)
        param, of_quarks = loaded(q, o, CLOVER)
        half = [arrays_of(on_even(o, one), CLOVER, 0) for one in x]
        held = [np.ascontiguousarray(one) for one in reals_of(p)]
        dt, kappa = 0.2, CLOVER["kappa"]
        q.computeCloverForceQuda(
            quda.pointers(held), c_double(dt), quda.pointers(half), None, (c_double * 2)(*CLOVER_RESIDUES),
            c_double(-(kappa**2)), c_double(-kappa * 1.3 / 8), 2, c_double(FLAVOURS), None, byref(param),
            byref(of_quarks),
        )  # fmt: skip
        return np.array([along(momenta_of(np.stack(held), CLOVER_EXTENT) - p, p) / dt / wanted - 1])

    result = in_child(work)
    assert not isinstance(result, str), result
    assert abs(result[0]) <= 1e-8


def loaded(q: quda.Quda, o: Operator, members: dict) -> tuple:
    """Loads links and makes the clover term of them: parameters of links and of quarks."""
    of_links = {"gauge_order": "QUDA_QDP_GAUGE_ORDER", "t_boundary": "QUDA_ANTI_PERIODIC_T", "anisotropy": 1.0}
    of_links |= {"cpu_prec": "QUDA_DOUBLE_PRECISION", "type": "QUDA_WILSON_LINKS", "reconstruct": 18}
    param = q.gauge_param(X=CLOVER_EXTENT, make_resident_mom=0, use_resident_mom=0, **of_links)
    _links, v = links_of(o.u, "QUDA_QDP_GAUGE_ORDER")
    q.loadGaugeQuda(v, byref(param))
    of_quarks = q.invert_param(**members)
    q.loadCloverQuda(None, None, byref(of_quarks))
    return param, of_quarks


def on_even(o: Operator, numbers: np.ndarray) -> np.ndarray:
    all_of = np.zeros((int(np.prod(CLOVER_EXTENT)), 12), complex)
    all_of[np.flatnonzero((o.parity == 0).ravel())] = numbers.reshape(-1, 12)
    return all_of.reshape(o.shape)


TWISTED = CLOVER | {"dslash_type": "QUDA_TWISTED_CLOVER_DSLASH", "twist_flavor": "QUDA_TWIST_SINGLET", "mu": -0.3}
DOUBLET = TWISTED | {"twist_flavor": "QUDA_TWIST_NONDEG_DOUBLET", "epsilon": 0.15, "Ls": 2, "evmax": 2.5}
ODD = {"matpc_type": "QUDA_MATPC_ODD_ODD_ASYMMETRIC"}


@pytest.mark.parametrize(
    ("members", "ratio"),
    [(TWISTED | ODD, 0), (TWISTED, 0), (CLOVER | ODD, 0), (TWISTED | ODD | {"tm_rho": 0.2}, 1), (DOUBLET | ODD, 0)],
    ids=["twisted", "even", "clover", "ratio", "doublet"],
)
def test_the_force_that_tmlqcd_takes(members, ratio):
    """With Z = gamma_5 X: minus twice that of the action for which A A^+ Z is fixed."""
    rng = np.random.default_rng(7)
    u, p = random_links(CLOVER_EXTENT, 0.2, rng), random_momenta(CLOVER_EXTENT, rng)
    half = Operator.half_of(members)
    o = Operator(members, u, antiperiodic=True)
    weights, kappa = [0.7, 1.2], members["kappa"]
    x, more = ([o.on(rng.normal(size=o.shape) + 1j * rng.normal(size=o.shape), half) for _ in weights] for _ in "xy")
    z = [np.einsum("st,...ta->...sa", GAMMA5, one) for one in x]

    def action(of: np.ndarray) -> float:
        a = Operator(members, of, antiperiodic=True)
        total = 0.0
        for weight, one, other in zip(weights, z, more, strict=True):
            product = np.linalg.norm(a.even_odd(one, False, True)) ** 2
            if ratio:
                product += 2 * np.vdot(one, a.even_odd(other, False, False)).real
            total -= weight / (2 * kappa**2) / members.get("evmax", 1) * product
        others = a.term[a.parity != half]
        return float(total - (0 if ratio else 4 / o.shape[4] * np.linalg.slogdet(others)[1].sum()))

    def work() -> np.ndarray:
        wanted = slope(action, u, p)
        q = quda.Quda()
        q.initQuda(-1)
        param, of_quarks = loaded(q, o, members)
        vectors, others = ([arrays_of(one, members, half) for one in given] for given in (x, more))
        held = [np.ascontiguousarray(one) for one in reals_of(p)]
        q.computeTMCloverForceQuda(
            quda.pointers(held), quda.pointers(vectors), quda.pointers(others) if ratio else None,
            (c_double * 2)(*weights), 2, byref(param), byref(of_quarks), ratio,
        )  # fmt: skip
        return np.array([-along(momenta_of(np.stack(held), CLOVER_EXTENT) - p, p) / wanted - 1])

    result = in_child(work)
    assert not isinstance(result, str), result
    assert abs(result[0]) <= 1e-8
