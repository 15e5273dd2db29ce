"""Right-hand sides, guesses, solutions and links in arrays of other libraries: of the host, and of a GPU.

Without a GPU, an object that describes itself as arrays of GPUs do shows what is refused. On a machine without the
build tree `QUARKSMITH_PACKAGE=installed pytest test_python_device_arrays.py` takes an installed package.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_python_gpu import device_or_skip, links

if os.environ.get("QUARKSMITH_PACKAGE") == "installed":
    from test_python_gpu import qs  # noqa: F401  (fixture)

CLOVER = {"action": "clover", "kappa": 0.12, "csw": 1.2, "tol": 1e-8}
RHS = 3


class Fake:
    """What has the interface of arrays in memory of a GPU; its numbers are those of an array of NumPy."""

    def __init__(self, array, conjugated=False, **others):
        self.array, self.conjugated = array, conjugated
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, not array.flags.writeable),
            "strides": array.strides,
            "version": 3,
        } | others

    @property
    def shape(self):
        return self.array.shape

    def is_conj(self):
        return self.conjugated

    __cuda_array_interface__ = None  # on_device looks for the name in the class


class Shared:
    """Numbers of an array of NumPy, as CPU tensors of PyTorch share them."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


@pytest.fixture
def u(qs):
    return links(qs, "cpu")


def numbers_of(u, columns=RHS):
    drawn = np.random.default_rng(5).standard_normal((columns, *u.lattice.part[::-1], 4, 3, 2))
    return drawn[..., 0] + 1j * drawn[..., 1]


def spinors_of(qs, u, numbers):
    field = qs.Spinors(u.lattice, rhs=len(numbers))
    field.assign(numbers)
    return field


def test_arrays_are_right_hand_sides_guesses_and_solutions(qs, u):
    numbers = numbers_of(u)
    solver = qs.Solver(u, **CLOVER)
    expected = solver(spinors_of(qs, u, numbers)).lexicographic()
    assert np.array_equal(solver(numbers).lexicographic(), expected)
    assert np.array_equal(qs.solve(u, Shared(numbers), **CLOVER).lexicographic(), expected)
    outs = {
        "array": np.zeros_like(expected),
        "single": np.zeros(expected.shape, "complex64"),
        "strided": np.zeros((*expected.shape[::-1], 2), complex)[..., 1].T,
        "backwards": np.zeros_like(expected)[:, ::-1, :, ::-1],
        "shared": Shared(np.zeros_like(expected)),
        "in place": numbers.copy(),
    }
    for name, out in outs.items():
        b = out if name == "in place" else numbers
        assert solver(b, out=out) is out, name
        assert np.array_equal(np.asarray(out), expected.astype(np.asarray(out).dtype)), name
    assert all(s["iterations"] > 3 for s in solver.reports[-1]["solves"])
    field = qs.Spinors(u.lattice, rhs=RHS)
    memory = np.asarray(field).ctypes.data
    assert qs.solve(u, numbers, guess=Shared(expected), out=field, **CLOVER) is field
    assert np.asarray(field).ctypes.data == memory and max(s["iterations"] for s in field.report["solves"]) <= 3
    assert solver(numbers, guess=field, out=field) is field
    with pytest.raises(qs.NotConverged) as caught:
        qs.solve(u, numbers, out=outs["array"], max_iterations=2, solver="cg", **CLOVER)
    assert np.array_equal(outs["array"], caught.value.solution.lexicographic())


def test_fields_are_written_to_arrays(qs, u):
    for field in (u, qs.Momenta(u.lattice, seed=3), qs.source(u, spins=1)):
        out = np.zeros(field.lexicographic().shape, complex)
        assert field.lexicographic(out=out) is out and np.array_equal(out, field.lexicographic())


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (lambda a: a[:2], "shape"),
        (lambda a: a.real.copy(), "float64"),
        (lambda a: a.tolist(), "list"),
        (lambda a: np.broadcast_to(a[:1], a.shape), "read-only"),
        (lambda a: np.ma.masked_array(a), "MaskedArray"),
    ],
)
def test_arrays_that_hold_no_solution_are_refused_before_the_solve(qs, u, out, words):
    solver = qs.Solver(u, **CLOVER)
    with pytest.raises((qs.UsageError, TypeError), match=words):
        solver(numbers_of(u), out=out(numbers_of(u)))
    assert not solver.reports


def test_solutions_replace_no_right_hand_sides(qs, u):
    b = spinors_of(qs, u, numbers_of(u))
    with pytest.raises(qs.UsageError, match="out is rhs"):
        qs.solve(u, b, out=b, **CLOVER)
    with pytest.raises(qs.UsageError, match="out has 1 right-hand sides, rhs has 3"):
        qs.solve(u, b, out=qs.Spinors(u.lattice), **CLOVER)


def test_memory_of_a_gpu_is_refused_without_one(qs, u):
    numbers = numbers_of(u)
    solver, field, fake = qs.Solver(u, **CLOVER), spinors_of(qs, u, numbers), Fake(numbers)
    calls = (
        lambda: field.assign(fake),
        lambda: field.lexicographic(out=fake),
        lambda: solver(fake),
        lambda: solver(field, guess=fake),
        lambda: solver(field, out=fake),
        lambda: qs.solve(u, fake, **CLOVER),
    )
    for call in calls:
        with pytest.raises(qs.UsageError, match="the array is in the memory of a GPU, the field on cpu"):
            call()
    for other in (u, qs.Momenta(u.lattice)):
        with pytest.raises(qs.UsageError, match="in the memory of a GPU"):
            other.assign(Fake(other.lexicographic()))
    with pytest.raises(qs.UsageError, match="give a pool to"):
        qs.use_pool(lambda size, stream: 0, device="cpu")
    with pytest.raises(qs.UsageError, match="'jax' is no pool"):
        qs.use_pool("jax")


WRONG = {
    "real": (lambda a: Fake(a.real.copy()), "complex128 or complex64"),
    "other bytes": (lambda a: Fake(a, typestr=">c16"), "complex128 or complex64"),
    "masked": (lambda a: Fake(a, mask=Fake(a)), "masked"),
    "conjugated": (lambda a: Fake(a, conjugated=True), "resolve_conj"),
    "between numbers": (lambda a: Fake(a, strides=(*a.strides[:-1], 24)), "strides"),
    "off": (lambda a: Fake(a, data=(a.ctypes.data + 4, False)), "strides"),
    "shape": (lambda a: Fake(a[0]), "shape"),
}
WRONG_OUT = {
    "read-only": (lambda a: Fake(a, data=(a.ctypes.data, True)), "read-only"),
    "repeated": (lambda a: Fake(a, strides=(0, *a.strides[1:])), "at one place"),
    "interleaved": (lambda a: Fake(a, strides=(*a.strides[:-2], 32, 16)), "at one place"),
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_hold_no_spinors_are_refused(qs, u, case):
    make, words = WRONG[case]
    numbers = numbers_of(u)
    field = spinors_of(qs, u, numbers)
    for call in (lambda: field.assign(make(numbers)), lambda: field.lexicographic(out=make(numbers))):
        with pytest.raises(qs.UsageError, match=words):
            call()


@pytest.mark.parametrize("case", WRONG_OUT)
def test_arrays_that_cannot_be_written_are_read(qs, u, case):
    make, words = WRONG_OUT[case]
    numbers = numbers_of(u)
    field = spinors_of(qs, u, numbers)
    with pytest.raises(qs.UsageError, match=words):
        field.require_fits(make(numbers))
    with pytest.raises(qs.UsageError, match="in the memory of a GPU"):
        field.assign(make(numbers))


# --- with a GPU ---


class Library:
    """CuPy or PyTorch, each with what the tests need of it."""

    def __init__(self, name):
        self.name = name
        if name == "cupy":
            import cupy

            self.asarray, self.address, self.host = cupy.asarray, lambda a: a.data.ptr, cupy.asnumpy
            self.stream = lambda: cupy.cuda.Stream(non_blocking=True)
            self.transpose, self.wait = lambda a, axes: a.transpose(axes), cupy.cuda.Device().synchronize
        else:
            import torch

            self.asarray = lambda a: torch.from_numpy(a).cuda()
            self.address, self.host = lambda a: a.data_ptr(), lambda a: a.cpu().numpy()
            self.stream = lambda: torch.cuda.stream(torch.cuda.Stream())
            self.transpose, self.wait = lambda a, axes: a.permute(axes), torch.cuda.synchronize


@pytest.fixture(params=["cupy", "torch"])
def library(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return Library(request.param)


@pytest.fixture
def there(qs):
    return links(qs, device_or_skip(qs, "cuda"))


def test_solutions_are_those_of_numpy(qs, there, library):
    numbers = numbers_of(there)
    solver = qs.Solver(there, **CLOVER)
    expected = solver(numbers).lexicographic()
    again = solver(numbers, guess=expected).lexicographic()
    b, out = library.asarray(numbers), library.asarray(np.zeros_like(numbers))
    address = library.address(out)
    assert solver(b, out=out) is out and library.address(out) == address
    assert np.array_equal(library.host(out), expected)
    assert np.array_equal(library.host(b), numbers)
    assert np.array_equal(qs.solve(there, b, **CLOVER).lexicographic(), expected)
    solver(b, guess=library.asarray(expected), out=out)
    assert np.array_equal(library.host(out), again)
    with pytest.raises(qs.UsageError, match="in the memory of"):
        qs.Spinors(qs.Lattice(there.lattice.extent, "cpu"), rhs=RHS).assign(b)


@pytest.mark.parametrize("word", ["complex128", "complex64"])
def test_arrays_of_every_order(qs, there, library, word):
    numbers = numbers_of(there).astype(word)
    field = spinors_of(qs, there, numbers)
    for axes in (range(7), (1, 2, 3, 4, 5, 6, 0), (6, 5, 0, 4, 3, 2, 1), (2, 0, 6, 3, 1, 5, 4)):
        stored = np.ascontiguousarray(numbers.transpose(axes))
        back = tuple(np.argsort(axes))
        view = library.transpose(library.asarray(stored), back)
        taken = qs.Spinors(there.lattice, rhs=RHS)
        taken.assign(view)
        assert np.array_equal(taken.lexicographic(), field.lexicographic()), axes
        out = library.transpose(library.asarray(np.zeros_like(stored)), back)
        field.lexicographic(out=out)
        assert np.array_equal(library.host(out), field.lexicographic().astype(word)), axes
    staggered = qs.source(there, spins=1)
    out = library.asarray(np.zeros(staggered.lexicographic().shape, word))
    staggered.lexicographic(out=out)
    assert np.array_equal(library.host(out), staggered.lexicographic())


@pytest.mark.parametrize("word", ["complex128", "complex64"])
def test_links_and_momenta(qs, there, library, word):
    for field in (there, qs.Momenta(there.lattice, seed=3)):
        numbers = field.lexicographic().astype(word)
        stored = np.ascontiguousarray(numbers.transpose(6, 0, 4, 3, 2, 1, 5))
        back = tuple(np.argsort((6, 0, 4, 3, 2, 1, 5)))
        taken = there.copy() if field is there else qs.Momenta(there.lattice)
        taken.assign(library.transpose(library.asarray(0 * stored), back))
        assert not taken.lexicographic().any()
        taken.assign(library.transpose(library.asarray(stored), back))
        assert np.allclose(taken.lexicographic(), numbers, rtol=0, atol=1e-14 if word == "complex128" else 1e-6)
        out = library.transpose(library.asarray(np.zeros_like(stored)), back)
        field.lexicographic(out=out)
        assert np.array_equal(library.host(out), numbers)


def test_arrays_are_used_in_the_order_of_their_stream(qs, there, library):
    numbers = numbers_of(there)
    field, taken = spinors_of(qs, there, 2 * numbers), qs.Spinors(there.lattice, rhs=RHS)
    large = library.asarray(np.full((4096, 4096), 1e-4))
    a, out = library.asarray(numbers), library.asarray(np.zeros_like(numbers))
    library.wait()
    with library.stream():
        for _ in range(20):
            large = large @ large
        a += a  # runs when the products are done
        taken.assign(a)
        for _ in range(20):
            large = large @ large
        out += 1
        field.lexicographic(out=out)
        doubled = out + out
        found = library.host(doubled)
    assert np.array_equal(taken.lexicographic(), field.lexicographic())
    assert np.array_equal(found, 2 * field.lexicographic())


def test_numbers_do_not_pass_the_host(qs, there):
    torch = pytest.importorskip("torch")

    def copies(work):
        work()  # what is set up once
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            work()
            torch.cuda.synchronize()
        names = [event.name for event in seen.events()]
        if not any("move_each" in name for name in names):
            pytest.skip("the profiler shows no kernels")
        return sorted(name for name in names if name.startswith("Memcpy") and "DtoD" not in name)

    numbers = numbers_of(there)
    field, out = spinors_of(qs, there, numbers), qs.Spinors(there.lattice, rhs=RHS)
    a, to = torch.from_numpy(numbers).cuda(), torch.zeros(numbers.shape, dtype=torch.complex128, device="cuda")
    assert copies(lambda: field.assign(a)) == copies(lambda: field.lexicographic(out=to)) == []
    matrices = torch.zeros(there.lexicographic().shape, dtype=torch.complex128, device="cuda")
    assert copies(lambda: there.lexicographic(out=matrices)) == copies(lambda: there.assign(matrices)) == []
    solver = qs.Solver(there, **CLOVER)

    def by_fields():
        field.assign(a)
        solver(field, out=out)

    assert copies(lambda: solver(a, out=to)) == copies(by_fields)


POOLS = """
import sys
from pathlib import Path
import numpy as np
import quarksmith as qs

name = sys.argv[1]
if name == "cupy":
    import cupy
    used = cupy.get_default_memory_pool().used_bytes
    allocate = cupy.get_default_memory_pool().malloc
    release = None
else:
    import torch
    used = torch.cuda.memory_allocated
    allocate = torch.cuda.caching_allocator_alloc
    release = torch.cuda.caching_allocator_delete
given = []
if sys.argv[2] == "own":
    def counted(size, stream):
        assert stream != 0
        given.append(size)
        return allocate(size)
    qs.use_pool(counted, release and (lambda address, stream: release(address)), device="cuda")
else:
    qs.use_pool(name, device="cuda")
before = used()
u = qs.read("weak:0.3:4,4,4,8:11", device="cuda")
x = qs.solve(u, qs.source(u), kappa=0.12)
assert used() - before > x.lexicographic().nbytes, used()
assert (len(given) > 3) == (sys.argv[2] == "own")
try:
    qs.use_pool(name, device="cuda")
except qs.UsageError as error:
    assert "in use" in str(error)
else:
    raise SystemExit("a second pool was taken")
held = used()
del x
assert used() < held
print("done")
"""


@pytest.mark.parametrize("whose", ["own", "by name"])
def test_memory_comes_from_the_pool_of_a_library(qs, there, library, whose):
    run = [sys.executable, "-c", POOLS, library.name, whose]
    done = subprocess.run(run, cwd=Path(qs.__path__[0]).parent, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr
