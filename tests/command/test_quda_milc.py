"""Calls of MILC, recorded with arguments and results, made once more on the library of QUDA's names."""

import ctypes
import json
import os
from collections.abc import Iterator
from ctypes import POINTER, Structure, byref, c_double, c_int, c_longlong, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUILD, ROOT

DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data")) / "quda_clients/milc"
LIBRARY = BUILD / "quda/lib/libquda.so"
RUNS = {"rhmc_hisq_6x6x6x6": 15, "ks_spectrum_hisq_8x8x8x8": 7}
"""And how many of their calls have arrays."""
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data"),
    pytest.mark.skipif(not LIBRARY.exists(), reason="the library of QUDA's names is not built"),
]


class InvertArgs(Structure):
    _fields_ = [("max_iter", c_int), ("evenodd", c_int), ("mixed_precision", c_int), ("boundary_phase", c_double * 4)]
    _fields_ += [("make_resident_solution", c_int), ("use_resident_solution", c_int), ("solver_type", c_int)]
    _fields_ += [("tadpole", c_double), ("naik_epsilon", c_double)]


class Layout(Structure):
    _fields_ = [("latsize", POINTER(c_int)), ("machsize", POINTER(c_int)), ("device", c_int)]


class InitArgs(Structure):
    _fields_ = [("verbosity", c_int), ("layout", Layout)]


class SiteArg(Structure):
    _fields_ = [("site", c_void_p), ("link", c_void_p), ("link_offset", c_size_t), ("mom", c_void_p)]
    _fields_ += [("mom_offset", c_size_t), ("size", c_size_t)]


def pointer(array: np.ndarray) -> c_void_p:
    return c_void_p(array.ctypes.data)


def args_of(call: dict[str, Any]) -> InvertArgs:
    """What the client leaves uninitialised is anything."""
    given = {k: 12345 if v is None else v for k, v in call["inv_args"].items() if k != "boundary_phase"}
    return InvertArgs(**given)


class Lattice:
    """Even-odd arrays, and D of improved staggered quarks in NumPy."""

    def __init__(self, extent: list[int]) -> None:
        self.extent = extent
        sites = int(np.prod(extent))
        x = np.stack(np.unravel_index(np.arange(sites), extent[::-1]))[::-1]
        self.parity = x.sum(axis=0) % 2
        self.place = np.arange(sites) // 2 + self.parity * (sites // 2)
        self.x, self.half = x, sites // 2

    def neighbour(self, mu: int, step: int) -> np.ndarray:
        """Places of x + step mu, by place."""
        moved = self.x.copy()
        moved[mu] = (moved[mu] + step) % self.extent[mu]
        table = np.empty_like(self.place)
        table[self.place] = self.place[np.ravel_multi_index(moved[::-1], self.extent[::-1])]
        return table

    def d(self, fat: np.ndarray, long: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.zeros_like(v)
        for mu in range(4):
            for links, length in ((fat[:, mu], 1), (long[:, mu], 3)):
                behind = self.neighbour(mu, -length)
                out += np.einsum("xab,xb->xa", links, v[self.neighbour(mu, length)])
                out -= np.einsum("xba,xb->xa", links[behind].conj(), v[behind])
        return out

    def side(self, call: dict[str, Any]) -> slice:
        """The half that a solve works on."""
        odd = call["inv_args"]["evenodd"]
        return slice(odd * self.half, (odd + 1) * self.half)


class Run:
    """The calls of a run, and the library in its state after qudaInit."""

    def __init__(self, name: str) -> None:
        self.file = pytest.importorskip("h5py").File(DATA / name / "arrays.h5")
        self.calls = [json.loads(line) for line in (DATA / name / "calls.jsonl").read_text().splitlines()]
        (start,) = self.named("qudaInit")
        layout = start["input"]["layout"]
        self.lattice = Lattice(layout["latsize"])
        self.quda = ctypes.CDLL(str(LIBRARY))
        self.quda.qudaMomAction.restype = c_double
        four = c_int * 4
        self.quda.qudaInit(InitArgs(0, Layout(four(*layout["latsize"]), four(*layout["machsize"]), layout["device"])))

    def named(self, *functions: str) -> list[dict[str, Any]]:
        return [c for c in self.calls if c["function"] in functions]

    def stored(self, *functions: str) -> list[dict[str, Any]]:
        return [c for c in self.named(*functions) if c["source"]["array"] not in (None, "zero")]

    def array(self, entry: dict[str, Any]) -> np.ndarray:
        numbers = self.file[entry["array"]][:]
        return np.ascontiguousarray(numbers[..., 0] + 1j * numbers[..., 1])

    def links(self, call: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        return self.array(call["milc_fatlink"]), self.array(call["milc_longlink"])

    def full(self, call: dict[str, Any], entry: dict[str, Any], other: complex = 7j) -> np.ndarray:
        """An array of both parities, whose other half must not be touched."""
        whole = np.full((2 * self.lattice.half, 3), other)
        whole[self.lattice.side(call)] = 0 if entry["array"] == "zero" else self.array(entry)
        return whole


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    made = Run(request.param)
    assert sum("exact" in c for c in made.calls) > 0
    yield made
    made.quda.qudaFinalize()


def residuals(run: Run, call: dict[str, Any], shifts: list[float], x: list[np.ndarray], b: np.ndarray) -> list[float]:
    """|b - (shift - D^2) x| / |b| on the half of the solve, by NumPy."""
    fat, long = run.links(call)
    side = run.lattice.side(call)
    found = []
    for shift, one in zip(shifts, x, strict=True):
        v = np.zeros_like(one)
        v[side] = one[side]
        r = b[side] - (shift * v - run.lattice.d(fat, long, run.lattice.d(fat, long, v)))[side]
        found.append(float(np.linalg.norm(r) / np.linalg.norm(b[side])))
    return found


def invert(run: Run, call: dict[str, Any], b: np.ndarray, x: np.ndarray, target: float) -> tuple[float, int]:
    fat, long = run.links(call)
    final, heavy, count = c_double(), c_double(), c_int(call["num_iters_in"])
    run.quda.qudaInvert(
        call["external_precision"], call["quda_precision"], c_double(call["mass"]), args_of(call), c_double(target),
        c_double(0), pointer(fat), pointer(long), pointer(b), pointer(x), byref(final), byref(heavy), byref(count),
    )  # fmt: skip
    return final.value, count.value


def test_solves_of_one_mass(run):
    for call in run.stored("qudaInvert"):
        side, b = run.lattice.side(call), run.full(call, call["source"])
        for target in (call["target_residual"], 1e-13):
            x = run.full(call, call["guess"])
            final, count = invert(run, call, b, x, target)
            others = np.delete(x, np.r_[side], axis=0)
            assert (others == 7j).all()
            (found,) = residuals(run, call, [4 * call["mass"] ** 2], [x], b)
            assert found <= target and final == pytest.approx(found, rel=1e-6, abs=2e-15)
            if target == call["target_residual"]:
                assert count <= 1.3 * call["num_iters_out"] + 5
        exact = run.array(call["exact"])
        assert np.linalg.norm(x[side] - exact) <= 1e-9 * np.linalg.norm(exact)
        # What is there already needs no iterations, and may stand where the source does.
        assert invert(run, call, b, x, 1e-12)[1] == 0
        both = b.copy()
        final, _ = invert(run, call, both, both, 1e-10)
        assert np.linalg.norm(both[side] - exact) <= 1e-6 * np.linalg.norm(exact)


def test_solves_of_many_shifts(run):
    for call in run.stored("qudaMultishiftInvert"):
        (fat, long), side = run.links(call), run.lattice.side(call)
        shifts, n = call["offset"], call["num_offsets"]
        b = run.full(call, call["source"])
        for first in (call["target_residual"][0], 1e-13):
            x = [np.full_like(b, 7j) for _ in shifts]
            final, count = (c_double * n)(), c_int(call["num_iters_in"])
            run.quda.qudaMultishiftInvert(
                call["external_precision"], call["precision"], n, (c_double * n)(*shifts), args_of(call),
                (c_double * n)(first), (c_double * n)(), pointer(fat), pointer(long), pointer(b),
                (c_void_p * n)(*[a.ctypes.data for a in x]), final, (c_double * n)(), byref(count),
            )  # fmt: skip
            found = residuals(run, call, shifts, x, b)
            assert max(found) <= first and list(final) == pytest.approx(found, rel=1e-6, abs=5e-15)
            if first == call["target_residual"][0]:  # those without a target go on, too
                assert count.value == pytest.approx(call["num_iters_out"], abs=1)
                assert found[-1] <= 1.1 * call["final_residual"][-1] + 1e-15
        for one, exact in zip(x, run.array(call["exact"]), strict=True):
            assert np.linalg.norm(one[side] - exact) <= 1e-9 * np.linalg.norm(exact)


def test_the_operator(run):
    for call in run.stored("qudaDslash"):
        (fat, long), side = run.links(call), run.lattice.side(call)
        wanted = run.array(call["solution"])
        v = np.full((2 * run.lattice.half, 3), 7j)
        v[np.setdiff1d(np.arange(len(v)), np.r_[side])] = run.array(call["source"])
        before, count = v.copy(), c_int(call["num_iters_in"])
        out = v if call["source_is_solution"] else np.full_like(v, 7j)
        run.quda.qudaDslash(
            call["external_precision"], call["quda_precision"], args_of(call), pointer(fat), pointer(long), pointer(v),
            pointer(out), byref(count),
        )  # fmt: skip
        assert np.linalg.norm(out[side] - wanted) <= 1e-14 * max(np.linalg.norm(wanted), 1)
        if call["source_is_solution"]:
            out[side] = before[side]
            assert (out == before).all()
        # Links that change where they are are seen without the signal.
        fat *= 2
        run.quda.qudaDslash(
            2, 2, args_of(call), pointer(fat), pointer(long), pointer(before), pointer(out), byref(c_int())
        )
        assert np.linalg.norm(out[side] - run.lattice.d(fat, long, before)[side]) <= 1e-12


def in_sites(numbers: np.ndarray, offset: int, size: int) -> tuple[np.ndarray, SiteArg]:
    """Links or momenta within a struct of each site."""
    numbers = np.ascontiguousarray(numbers.reshape(len(numbers), -1)).view(np.uint8)
    sites = np.full((len(numbers), size), 255, np.uint8)
    sites[:, offset : offset + numbers.shape[1]] = numbers
    return sites, SiteArg(sites.ctypes.data, None, offset, None, offset, size)


def test_fat_and_long_links():
    """Those of HISQ, of links with phases, whose signs are in the coefficients."""
    run = Run("rhmc_hisq_6x6x6x6")
    u = run.array({"array": "/links/u_0"})
    fat, unitary, long = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    first = (c_double * 6)(1 / 8, 0, -1 / 16, 1 / 64, -1 / 384, 0)
    second = (c_double * 6)(1, -1 / 24, -1 / 16, 1 / 64, -1 / 384, -1 / 8)
    run.quda.qudaLoadUnitarizedLink(2, c_longlong(0), first, pointer(u), pointer(fat), pointer(unitary))
    run.quda.qudaLoadKSLink(2, c_longlong(0), second, pointer(unitary), pointer(fat), pointer(long))
    call = run.stored("qudaInvert")[-1]
    for found, wanted in zip((fat, long), run.links(call), strict=True):
        assert np.abs(found - wanted).max() <= 1e-13
    run.quda.qudaFinalize()


def test_momenta_and_loops():
    run = Run("rhmc_hisq_6x6x6x6")
    for call in run.named("qudaMomAction"):
        momenta = run.file[call["mom"]["array"]][:]
        momenta[..., 9] = np.nan  # not defined in the client
        sites, arg = in_sites(momenta, 688, 2144)
        assert run.quda.qudaMomAction(2, byref(arg)) == pytest.approx(call["result"], abs=1e-11)
        arg = SiteArg(mom=momenta.ctypes.data)
        assert run.quda.qudaMomAction(2, byref(arg)) == pytest.approx(call["result"], abs=1e-11)
    links = run.file["/links/u_0"][:]
    plain = np.ascontiguousarray(links, np.float32)
    for call in run.named("qudaPlaquettePhased"):
        if call["links"]["array"] is not None:
            for precision, (_sites, arg) in {2: in_sites(links, 112, 2144), 1: in_sites(plain, 8, 800)}.items():
                found = (c_double * 3)()
                run.quda.qudaPlaquettePhased(precision, found, byref(arg), 1)
                assert list(found) == pytest.approx(call["plaq"], abs=1e-14 if precision == 2 else 1e-7)
    calls = [json.loads(line) for line in (DATA / "rhmc_hisq_6x6x6x6/gauge_calls.jsonl").read_text().splitlines()]
    sites, arg = in_sites(links, 112, 2144)
    found = (c_double * 2)()
    run.quda.qudaPolyakovLoopPhased(2, found, 3, byref(arg), 1)
    assert list(found) == pytest.approx(calls[-1]["ploop"], abs=1e-13)
    for call in calls[:2]:
        n, plaquette, loop = call["num_paths"], (c_double * 3)(), (c_double * 2)()
        paths = [(c_int * len(p))(*p) for p in call["input_path_buf"]]
        traces, weights = (c_double * (2 * n))(), (c_double * n)(*call["loop_coeff"])
        table = (c_void_p * n)(*[ctypes.addressof(p) for p in paths]), (c_int * n)(*call["path_length"])
        rest = weights, n, call["max_length"], c_double(call["factor"]), byref(arg), 1
        if "plaq" in call:
            run.quda.qudaGaugeMeasurementsPhased(2, plaquette, loop, 3, traces, *table, *rest)
            assert list(plaquette) == pytest.approx(call["plaq"], abs=1e-14)
            assert list(loop) == pytest.approx(call["ploop"], abs=1e-13)
        else:
            run.quda.qudaGaugeLoopTracePhased(2, traces, *table, *rest)
        assert list(traces) == pytest.approx(call["traces"], abs=1e-9 * call["factor"])
    run.quda.qudaFinalize()
