"""Molecular dynamics of QUDA's functions against formulas in NumPy: H is the sum of -tr P^2 / 2 and the action."""

import ctypes
from collections.abc import Callable
from ctypes import byref, c_double, c_int, c_longlong, c_void_p
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import quda
from quda_operators import coordinates, dagger, forward, links_of, random_links
from test_quda_milc import InitArgs, Layout, SiteArg

pytestmark = pytest.mark.skipif(not quda.LIBRARY.exists(), reason="the library of QUDA's names is not built")
EXTENT = (4, 4, 2, 6)


def traceless(m: np.ndarray) -> np.ndarray:
    """The anti-Hermitian traceless part."""
    a = (m - dagger(m)) / 2
    return a - np.trace(a, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3


def random_momenta(extent: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    shape = (4, *extent[::-1], 3, 3)
    return traceless(rng.normal(size=shape) + 1j * rng.normal(size=shape))


def exponential(m: np.ndarray) -> np.ndarray:
    """Of anti-Hermitian matrices."""
    values, vectors = np.linalg.eigh(-1j * m)
    return (vectors * np.exp(1j * values)[..., None, :]) @ dagger(vectors)


def sites_of(extent: tuple[int, ...]) -> np.ndarray:
    parity = (coordinates(extent).sum(axis=0) % 2).ravel()
    return np.concatenate([np.flatnonzero(parity == p) for p in (0, 1)])


def reals_of(p: np.ndarray) -> np.ndarray:
    """[direction][even-odd site][10]: elements 01, 02, 12, then the imaginary parts of the diagonal."""
    flat = p.reshape(4, -1, 3, 3)[:, sites_of(p.shape[4:0:-1])]
    numbers = [part for i, j in ((0, 1), (0, 2), (1, 2)) for part in (flat[..., i, j].real, flat[..., i, j].imag)]
    numbers += [flat[..., i, i].imag for i in range(3)]
    return np.stack([*numbers, np.full(flat.shape[:2], np.nan)], axis=-1)


def momenta_of(reals: np.ndarray, extent: tuple[int, ...]) -> np.ndarray:
    p = np.zeros((*reals.shape[:2], 3, 3), complex)
    for n, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        p[..., i, j] = reals[..., 2 * n] + 1j * reals[..., 2 * n + 1]
        p[..., j, i] = -np.conj(p[..., i, j])
    for i in range(3):
        p[..., i, i] = 1j * reals[..., 6 + i]
    all_of = np.empty_like(p)
    all_of[:, sites_of(extent)] = p
    return all_of.reshape(4, *extent[::-1], 3, 3)


def links_from(array: np.ndarray, extent: tuple[int, ...]) -> np.ndarray:
    """[direction][even-odd site] to all sites."""
    all_of = np.empty_like(array)
    all_of[:, sites_of(extent)] = array
    return all_of.reshape(4, *extent[::-1], 3, 3)


def phases(extent: tuple[int, ...]) -> np.ndarray:
    """Of MILC, and the sign where time ends."""
    x = coordinates(extent)
    return (-1.0) ** np.stack([x[3], x[3] + x[0], x[3] + x[0] + x[1], x[3] == extent[3] - 1])[..., None, None]


def product(u: np.ndarray, steps: list[int]) -> np.ndarray:
    """Of links along a path from each site: 0 to 3 forward, 7 to 4 backward."""
    result, at = np.broadcast_to(np.eye(3), u.shape[1:]), np.zeros(4, int)
    for step in steps:
        mu = min(step, 7 - step)
        at[mu] -= step > 3
        link = u[mu]
        for nu in range(4):
            link = forward(link, nu, at[nu])
        result = result @ (link if step < 4 else dagger(link))
        at[mu] += step < 4
    return result


def loops(mu: int) -> dict[str, list[list[int]]]:
    """Rests of the loops through the link along mu, by kind."""
    back, kinds = 7 - mu, {"plaquette": [], "rectangle": [], "twisted": []}
    around = [n for n in range(8) if n not in (mu, back)]
    for n in around:
        kinds["plaquette"].append([n, back, 7 - n])
        kinds["rectangle"] += [[n, n, back, 7 - n, 7 - n], [mu, n, back, back, 7 - n], [n, back, back, 7 - n, mu]]
    for n, r in permutations(around, 2):
        if r != 7 - n:
            kinds["twisted"].append([n, r, back, 7 - n, 7 - r])
    assert [len(k) for k in kinds.values()] == [6, 18, 24]
    return kinds


def gauge_force(u: np.ndarray, coefficients: dict[str, float]) -> np.ndarray:
    """-sum c [U V]_TA."""
    force = np.zeros_like(u)
    for mu in range(4):
        for kind, rests in loops(mu).items():
            force[mu] -= coefficients[kind] * traceless(sum(product(u, [mu, *rest]) for rest in rests))  # type: ignore
    return force


COEFFICIENTS = {"plaquette": 0.7, "rectangle": -0.05, "twisted": 0.011}


def table(change: Callable[[list[Any]], None] = lambda _: None) -> tuple[Any, ...]:
    """Paths in another order for each direction, as computeGaugeForceQuda takes them."""
    rows: list[list[Any]] = [[(c, r) for k, c in COEFFICIENTS.items() for r in loops(mu)[k]] for mu in range(4)]
    for mu, row in enumerate(rows):
        for length in (3, 5):  # of one coefficient are those at the same place
            same = [n for n, (_, r) in enumerate(row) if len(r) == length]
            moved = {c: [n for n in same if row[n][0] == c] for c in {row[n][0] for n in same}}
            for places in moved.values():
                old = [row[n] for n in places]
                for n, m in zip(places, np.roll(np.arange(len(places)), mu), strict=True):
                    row[n] = old[m]
    for row in rows:
        change(row)
    paths = [[(c_int * len(r))(*r) for _, r in row] for row in rows]
    pointers = [(c_void_p * len(p))(*[ctypes.addressof(one) for one in p]) for p in paths]
    count = len(rows[0])
    lengths = (c_int * count)(*(len(r) for _, r in rows[0]))
    weights = (c_double * count)(*(c for c, _ in rows[0]))
    return (c_void_p * 4)(*[ctypes.addressof(p) for p in pointers]), lengths, weights, count, (paths, pointers)


def gauge_param(q: quda.Quda, **members: Any) -> Any:
    p = q.gauge_param(X=EXTENT, anisotropy=1.0, type="QUDA_WILSON_LINKS", gauge_order="QUDA_QDP_GAUGE_ORDER")
    quda.fill(p, {name: "QUDA_DOUBLE_PRECISION" for name in ("cpu_prec", "cuda_prec")})
    quda.fill(p, {"t_boundary": "QUDA_PERIODIC_T", "gauge_fix": "QUDA_GAUGE_FIXED_NO", "reconstruct": 18})
    return quda.fill(p, members)


def phased_members(phased: int) -> dict[str, Any]:
    boundary = "QUDA_ANTI_PERIODIC_T" if phased else "QUDA_PERIODIC_T"
    of_milc = {"staggered_phase_applied": phased, "staggered_phase_type": "QUDA_STAGGERED_PHASE_MILC"}
    return of_milc | {"t_boundary": boundary}


def arrays(numbers: np.ndarray) -> tuple[list[np.ndarray], Any]:
    held = [np.ascontiguousarray(one) for one in numbers]
    return held, (c_void_p * 4)(*(a.ctypes.data for a in held))


def in_child(work: Callable[[], np.ndarray]) -> np.ndarray | str:
    return quda.apart(lambda _: work(), 1)[0]


def start(milc: bool = False) -> tuple[quda.Quda, np.ndarray, np.ndarray]:
    q, rng, four = quda.Quda(), np.random.default_rng(11), c_int * 4
    q.momActionQuda.restype = q.qudaMomAction.restype = c_double
    if milc:
        q.qudaInit(InitArgs(0, Layout(four(*EXTENT), four(1, 1, 1, 1), 0)))
    else:
        q.initQuda(-1)
    return q, random_links(EXTENT, 0.4, rng), random_momenta(EXTENT, rng)


RESIDENT = {"use_resident_gauge": 1, "make_resident_gauge": 1, "use_resident_mom": 1, "make_resident_mom": 1}


def distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def test_links_and_momenta_of_the_caller():
    def work() -> np.ndarray:
        q, u, p = start()
        worst, dt = [], 0.13
        (momenta, m), (links, v) = arrays(reals_of(p)), links_of(u, "QUDA_QDP_GAUGE_ORDER")
        *tables, held = table()
        plain = {name: 0 for name in RESIDENT}
        for overwrite in (0, 1):
            param = gauge_param(q, overwrite_mom=overwrite, **plain)
            q.computeGaugeForceQuda(m, v, *tables, 5, c_double(dt), byref(param))
            p = (0 if overwrite else p) + dt * gauge_force(u, COEFFICIENTS)
            worst.append(distance(momenta_of(np.stack(momenta), EXTENT), p))
            momenta[0][0, 9] = np.nan
        for conjugate in (0, 1):
            q.updateGaugeFieldQuda(v, m, c_double(dt), conjugate, 1, byref(gauge_param(q, **plain)))
            u = exponential((-dt if conjugate else dt) * p) @ u
            worst.append(distance(links_from(np.stack(links), EXTENT), u))
        rough = u + 0.02 * random_momenta(EXTENT, np.random.default_rng(1))
        for phased in (0, 1):
            signs = phases(EXTENT) if phased else 1
            links, v = links_of(rough * signs, "QUDA_QDP_GAUGE_ORDER")
            param = gauge_param(
                q, staggered_phase_applied=phased, staggered_phase_type="QUDA_STAGGERED_PHASE_MILC", **plain
            )
            quda.fill(param, {"t_boundary": "QUDA_ANTI_PERIODIC_T" if phased else "QUDA_PERIODIC_T"})
            q.projectSU3Quda(v, c_double(1e-9), byref(param))
            near = links_from(np.stack(links), EXTENT) * signs
            # In SU(3), where no step changes Re tr V^+ W in first order.
            worst += [distance(near @ dagger(near), np.broadcast_to(np.eye(3), near.shape))]
            worst += [np.abs(np.linalg.det(near) - 1).max(), np.abs(traceless(dagger(near) @ rough)).max() / 10]
            assert 0 < np.abs(near - rough).max() < 0.3
        del held
        return np.array(worst)

    result = in_child(work)
    assert not isinstance(result, str), result
    assert result.max() <= 1e-13


@pytest.mark.parametrize("phased", [0, 1])
def test_links_and_momenta_that_stay(phased):
    def work() -> np.ndarray:
        q, u, p = start()
        dt, signs = 0.2, phases(EXTENT) if phased else np.ones(1)
        worst = []
        member = phased_members(phased)
        (momenta, m), (links, v) = arrays(reals_of(p)), links_of(u * signs, "QUDA_QDP_GAUGE_ORDER")
        q.loadGaugeQuda(v, byref(gauge_param(q, **member)))
        of_mom = RESIDENT | {"return_result_mom": 0, "return_result_gauge": 0} | member
        q.momResidentQuda(m, byref(gauge_param(q, **of_mom)))
        *tables, held = table()
        for _ in range(2):
            q.updateGaugeFieldQuda(None, None, c_double(dt), 0, 1, byref(gauge_param(q, **of_mom)))
            u = exponential(dt * p) @ u
            q.computeGaugeForceQuda(None, None, *tables, 5, c_double(dt), byref(gauge_param(q, **of_mom)))
            p = p + dt * gauge_force(u, COEFFICIENTS)
        q.projectSU3Quda(None, c_double(1e-9), byref(gauge_param(q, **of_mom)))
        kinetic = -np.einsum("...ab,...ba", p, p).real.sum() / 2 - 4 * p[..., 0, 0].size
        worst.append(abs(q.momActionQuda(None, byref(gauge_param(q, **of_mom))) / kinetic - 1))
        q.saveGaugeQuda(v, byref(gauge_param(q, **member)))
        worst.append(distance(links_from(np.stack(links), EXTENT), u * signs))
        seen = q.observable_param(compute_plaquette=1, compute_polyakov_loop=1, remove_staggered_phase=phased)
        q.gaugeObservablesQuda(byref(seen))
        planes = {(a, b): product(u, [a, b, 7 - a, 7 - b]) for b in range(4) for a in range(b)}
        mean = {k: np.einsum("...aa", v).real.mean() / 3 for k, v in planes.items()}
        space, time = (np.mean([v for (_, b), v in mean.items() if (b == 3) == late]) for late in (False, True))
        worst.append(np.abs(np.array(seen.plaquette) - [(space + time) / 2, space, time]).max())
        loop = np.einsum("...aa", product(u, [3] * EXTENT[3])).mean()
        worst.append(abs(complex(*seen.ploop) - loop))
        steps = [[0, 3, 7, 4], [0, 0, 6, 3, 7, 7, 1, 4], [2, 1, 0, 5, 6, 7], [3] * 6]
        weights, traces = [0.3, -2.0, 1.5, 1.0], (c_double * 8)()
        paths = [(c_int * len(s))(*s) for s in steps]
        q.computeGaugeLoopTraceQuda(
            traces, (c_void_p * 4)(*map(ctypes.addressof, paths)), (c_int * 4)(*map(len, steps)),
            (c_double * 4)(*weights), 4, 8, c_double(0.25),
        )  # fmt: skip
        for n, (w, s) in enumerate(zip(weights, steps, strict=True)):
            wanted = 0.25 * w * np.einsum("...aa", product(u, s)).sum()
            worst.append(abs(complex(traces[2 * n], traces[2 * n + 1]) - wanted) / abs(wanted))
        given_back = gauge_param(q, **of_mom | {"make_resident_mom": 0, "return_result_mom": 1})
        q.momResidentQuda(m, byref(given_back))
        worst.append(distance(momenta_of(np.stack(momenta), EXTENT), p))
        del held
        return np.array(worst)

    result = in_child(work)
    assert not isinstance(result, str), result
    assert result.max() <= 1e-12


def test_drawn_momenta():
    """-tr P^2 / 2 of a link is 4 in the mean, 4 its variance; each of the eight numbers is Gaussian."""

    def work() -> np.ndarray:
        q, _, p = start()
        momenta, m = arrays(reals_of(p))
        keep = gauge_param(q, **RESIDENT | {"return_result_mom": 0})
        q.momResidentQuda(m, byref(keep))
        drawn = []
        for seed, sigma in ((5, 1.0), (5, 0.5), (6, 1.0), (5, 1.0)):
            q.gaussMomQuda(c_longlong(seed), c_double(sigma))
            action = q.momActionQuda(None, byref(keep))
            q.momResidentQuda(m, byref(gauge_param(q, **RESIDENT | {"make_resident_mom": 0})))
            drawn.append(np.stack(momenta)[..., :9].copy())
            q.momResidentQuda(m, byref(keep))
        kinetic = (drawn[0][..., :6] ** 2).sum() + (drawn[0][..., 6:] ** 2).sum() / 2
        assert np.allclose(drawn[0], 2 * drawn[1], rtol=1e-14)
        assert np.abs(drawn[0] - drawn[2]).max() > 1
        assert (drawn[0] == drawn[3]).all()
        return np.array([kinetic, action + 4 * drawn[0][..., 0].size, (drawn[0][..., :6] ** 4).mean()])

    result = in_child(work)
    assert not isinstance(result, str), result
    count = 4 * int(np.prod(EXTENT))
    assert result[0] == pytest.approx(result[1], rel=1e-13)
    assert abs(result[0] - 4 * count) <= 5 * np.sqrt(4 * count)
    assert result[2] == pytest.approx(3 / 4, abs=5 * np.sqrt(96 / 16 / (6 * count)))


def test_links_and_momenta_in_the_sites_of_milc():
    """With phases; momenta that qudaMomLoad has taken are not touched there until qudaMomSave."""
    size, link_at, mom_at = 1000, 24, 640

    def work() -> np.ndarray:
        q, u, p = start(milc=True)
        links, _ = links_of(u * phases(EXTENT), "QUDA_MILC_GAUGE_ORDER")
        sites = np.full((len(links), size), 255, np.uint8)
        sites[:, link_at : link_at + 576] = links.reshape(len(links), -1).view(np.uint8)
        here = np.ascontiguousarray(reals_of(p).swapaxes(0, 1)).reshape(len(links), -1)
        sites[:, mom_at : mom_at + 320] = here.view(np.uint8)
        arg = SiteArg(sites.ctypes.data, None, link_at, None, mom_at, size)

        def momenta() -> np.ndarray:
            held = np.ascontiguousarray(sites[:, mom_at : mom_at + 320]).view(float)
            return momenta_of(held.reshape(-1, 4, 10).swapaxes(0, 1), EXTENT)

        def moved() -> np.ndarray:
            held = np.ascontiguousarray(sites[:, link_at : link_at + 576]).view(complex).reshape(-1, 4, 3, 3)
            return links_from(held.swapaxes(0, 1), EXTENT) * phases(EXTENT)

        worst, eb3, weights = [], 0.3, (c_double * 3)(*COEFFICIENTS.values())
        for kinds in (1, 2, 3):
            q.qudaGaugeForcePhased(2, kinds, weights, c_double(eb3), byref(arg), 1)
            used = {k: c if n < kinds else 0.0 for n, (k, c) in enumerate(COEFFICIENTS.items())}
            p = p + eb3 * gauge_force(u, used)
            worst.append(distance(momenta(), p))
        q.qudaUpdateUPhasedPipeline(2, c_double(0.1), byref(arg), 1, 0)
        u = exponential(0.1 * p) @ u
        q.qudaUnitarizeSU3Phased(2, c_double(1e-4), byref(arg), 1)
        worst += [distance(moved(), u), distance(momenta(), p)]
        q.qudaMomLoad(2, byref(arg))
        before = sites[:, mom_at : mom_at + 320].copy()
        q.qudaGaugeForcePhased(2, 3, weights, c_double(eb3), byref(arg), 1)
        q.qudaUpdateUPhasedPipeline(2, c_double(0.1), byref(arg), 1, 1)
        p = p + eb3 * gauge_force(u, COEFFICIENTS)
        u = exponential(0.1 * p) @ u
        kinetic = -np.einsum("...ab,...ba", p, p).real.sum() / 2 - 4 * p[..., 0, 0].size
        worst += [distance(moved(), u), abs(q.qudaMomAction(2, byref(arg)) / kinetic - 1)]
        assert (sites[:, mom_at : mom_at + 320] == before).all()
        q.qudaMomSave(2, byref(arg))
        worst.append(distance(momenta(), p))
        rest = np.ones(size, bool)
        rest[link_at : link_at + 576] = rest[mom_at : mom_at + 320] = False
        assert (sites[:, rest] == 255).all()
        return np.array(worst)

    result = in_child(work)
    assert not isinstance(result, str), result
    assert result.max() <= 1e-12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.append((0.1, [0, 0, 3, 7, 7])), "path"),
        (lambda row: row.__setitem__(3, (0.1, [])), "path"),
        (lambda row: row.pop(20), "loop_coeff"),
    ],
)
def test_other_tables_of_paths_are_refused(change, said):
    def work() -> np.ndarray:
        q, u, p = start()
        (_momenta, m), (_links, v) = arrays(reals_of(p)), links_of(u, "QUDA_QDP_GAUGE_ORDER")
        *tables, _held = table(change)
        q.computeGaugeForceQuda(m, v, *tables, 5, c_double(0.1), byref(gauge_param(q, **{n: 0 for n in RESIDENT})))
        return np.zeros(1)

    result = in_child(work)
    assert isinstance(result, str) and result.startswith("ERROR: computeGaugeForceQuda: ") and said in result
