"""Fields as arrays of other libraries, without copies: the same addresses, on the CPU and on a GPU where there is one.

On a machine without the build tree `QUARKSMITH_PACKAGE=installed pytest test_python_gpu.py` takes an installed package.
"""

import gc
import importlib.util
import os

import numpy as np
import pytest

os.environ.setdefault("JAX_ENABLE_X64", "1")  # fields are of double precision
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

if os.environ.get("QUARKSMITH_PACKAGE") == "installed":

    @pytest.fixture(scope="session")
    def qs():
        import quarksmith

        return quarksmith


def device_or_skip(qs, name):
    try:
        qs.Lattice((4, 4, 4, 8), name)
    except qs.Error as error:
        pytest.skip(str(error).splitlines()[0])
    return name


@pytest.fixture(params=["cpu", "cuda"])
def device(qs, request):
    return device_or_skip(qs, request.param)


def library(name, device):
    """A library, and how its arrays tell where they lie; skips where it is missing or does not know the device."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    if name == "numpy":
        if device != "cpu":
            pytest.skip("NumPy has no arrays on GPUs")
        return np.from_dlpack, lambda a: a.ctypes.data
    if name == "torch":
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            pytest.skip("this PyTorch has no GPU")
        return torch.from_dlpack, lambda a: a.data_ptr()
    if name == "jax":
        import jax

        if device == "cuda" and jax.default_backend() != "gpu":
            pytest.skip("this JAX has no GPU")
        return jax.numpy.from_dlpack, lambda a: a.unsafe_buffer_pointer()
    import cupy

    if device == "cpu":
        pytest.skip("CuPy has no arrays on the CPU")
    return cupy.from_dlpack, lambda a: a.data.ptr


LIBRARIES = ("numpy", "cupy", "torch", "jax")
FIELDS = {
    "links": lambda qs, u: u,
    "spinors": lambda qs, u: qs.source(u, "point:1,2,3,4"),
    "staggered": lambda qs, u: qs.source(u, "point:1,2,3,4", spins=1),
    "momenta": lambda qs, u: qs.Momenta(u.lattice, seed=3),
}


def links(qs, device):
    return qs.read("weak:0.3:4,4,4,8:11", device=device)


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_arrays_lie_where_fields_do(qs, device, name, kind):
    take, address = library(name, device)
    field = FIELDS[kind](qs, links(qs, device))
    first, second = take(field), take(field)
    assert address(first) == address(second)
    assert field.__dlpack_device__()[0] == {"cpu": 1, "cuda": 2}[device]
    seen = np.asarray(first.cpu() if hasattr(first, "cpu") else first.get() if name == "cupy" else first)
    assert np.allclose(norms_by_site(seen, field, device), norms_by_site_of(field), rtol=1e-14, atol=0)


def norms_by_site(memory, field, device):
    """Sums of squares at each place that has a site: axes (column,) parity, block, components, 2, lane, or site, 2."""
    place = memory.ndim - (1 if device == "cpu" else 2)
    parity = 1 if hasattr(field, "rhs") else 0
    kept = (parity, parity + 1, place)
    sums = (memory**2).sum(axis=tuple(n for n in range(memory.ndim) if n not in kept))
    return sums[field.sites() >= 0]


def norms_by_site_of(field):
    """The same from the lexicographic numbers."""
    numbers = field.lexicographic()
    if type(field).__name__ == "Momenta":  # the first two of the diagonal, and what is above it
        numbers = numbers * np.array([[1, 1, 1], [0, 1, 1], [0, 0, 0]])
    first = 1 if hasattr(field, "rhs") else 0
    sums = (abs(numbers) ** 2).sum(axis=(*range(first), *range(first + 4, numbers.ndim)))
    sites = field.sites()
    return sums.ravel()[sites[sites >= 0]]


@pytest.mark.parametrize("name", ("cupy", "torch", "jax"))
def test_libraries_agree_about_the_address(qs, device, name):
    field = FIELDS["spinors"](qs, links(qs, device))
    first = "numpy" if device == "cpu" else next((n for n in ("cupy", "torch") if importlib.util.find_spec(n)), "")
    if not first or first == name:
        pytest.skip("there is no other library to compare with")
    (take, address), (take_other, address_other) = library(name, device), library(first, device)
    assert address(take(field)) == address_other(take_other(field))


@pytest.mark.parametrize("name", ("numpy", "cupy", "torch"))
def test_what_is_written_is_in_the_field(qs, device, name):
    take, _ = library(name, device)
    u = links(qs, device)
    b = qs.source(u)
    before = b.lexicographic()
    view = take(b)
    view *= 2
    wait(name)
    assert np.array_equal(b.lexicographic(), 2 * before)
    x, y = qs.solve(u, b, kappa=0.12), qs.solve(u, qs.source(u), kappa=0.12)
    assert np.allclose(x.lexicographic(), 2 * y.lexicographic(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_memory_lives_as_long_as_a_view(qs, device, name):
    take, address = library(name, device)
    b = FIELDS["spinors"](qs, links(qs, device))
    view = take(b)
    there, norm = address(view), float((view**2).sum())
    del b
    gc.collect()
    others = [FIELDS["spinors"](qs, links(qs, device)) for _ in range(3)]
    assert all(address(take(o)) != there for o in others)
    assert float((view**2).sum()) == norm


def wait(name):
    """Until work on a GPU has ended, as calls of quarksmith expect."""
    if name == "cupy":
        import cupy

        cupy.cuda.Device().synchronize()
    if name == "torch":
        import torch

        if torch.cuda.is_available():
            torch.cuda.synchronize()


def test_numpy_says_that_a_gpu_has_the_numbers(qs):
    u = links(qs, device_or_skip(qs, "cuda"))
    with pytest.raises((BufferError, RuntimeError, TypeError, ValueError)):
        np.from_dlpack(u)
    assert u.lexicographic().shape == (8, 4, 4, 4, 4, 3, 3)
