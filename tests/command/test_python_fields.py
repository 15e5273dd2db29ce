"""Fields without copies: the order of their memory, what other libraries see of it, lexicographic copies."""

import importlib.util

import numpy as np
import pytest

EXTENT = (4, 4, 6, 8)


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    r = np.random.default_rng(3)
    return r.standard_normal(shape) + 1j * r.standard_normal(shape)


def placed(view: np.ndarray, sites: np.ndarray, axes: int) -> np.ndarray:
    """Numbers by site of a view with axes as on a CPU: parity, block, `axes` of a site, re or im, lane."""
    number = view[..., 0, :] + 1j * view[..., 1, :]
    values = np.moveaxis(number, -1, 2)  # parity, block, lane, a site
    by_site = np.empty((sites.max() + 1, *values.shape[3:]), complex)
    by_site[sites[sites >= 0]] = values[sites >= 0]
    assert by_site.ndim == axes + 1
    return by_site


def test_views_are_the_memory_in_the_order_that_is_documented(qs):
    lattice = qs.Lattice(EXTENT, device="cpu")
    psi = qs.Spinors(lattice, rhs=2)
    given = numbers((2, *EXTENT[::-1], 4, 3))
    psi.assign(given)
    assert np.allclose(psi.lexicographic(), given, atol=1e-15)
    # In the basis of lexicographic arrays the memory is what was given.
    chi = qs.Spinors(lattice, rhs=2, spins=1)
    colour = given[..., 0, :].copy()
    chi.assign(colour)
    view, sites = np.asarray(chi), chi.sites()
    assert sorted(set(sites.ravel())) == list(range(np.prod(EXTENT)))
    for n in range(2):
        assert np.array_equal(placed(view[n], sites, 2)[:, 0], colour[n].reshape(-1, 3))
    parity = np.indices(EXTENT[::-1]).sum(axis=0).ravel() % 2
    assert all((parity[sites[p]] == p).all() for p in (0, 1))


def test_links_are_assigned_and_seen(qs):
    u = qs.read("hot:4,4,6,8:5", device="cpu")
    links = u.lexicographic()
    assert links.shape == (*EXTENT[::-1], 4, 3, 3)
    assert np.allclose(links @ links.conj().swapaxes(-1, -2), np.eye(3), atol=1e-13)
    assert np.array_equal(placed(np.asarray(u), u.sites(), 3), links.reshape(-1, 4, 3, 3))
    before = u.plaquette()
    g = np.diag(np.exp([0.3j, -0.1j, -0.2j]))
    u.assign(g @ links @ g.conj().T)  # a global rotation
    assert u.plaquette() == pytest.approx(before, abs=1e-14)
    np.asarray(u)[...] = 0
    assert u.plaquette() == 0


def test_writing_into_a_view_changes_the_field(qs):
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"))
    psi.assign(numbers((1, *EXTENT[::-1], 4, 3)))
    other = psi.copy()
    np.asarray(psi)[...] *= 2
    assert np.allclose(psi.lexicographic(), 2 * other.lexicographic(), rtol=1e-14)


def test_numpy_sees_one_memory(qs):
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"), rhs=3)
    by_buffer, by_dlpack = np.asarray(psi), np.from_dlpack(psi)
    assert by_buffer.ctypes.data == by_dlpack.ctypes.data == np.frombuffer(memoryview(psi)).ctypes.data
    assert by_buffer.shape == by_dlpack.shape and by_buffer.dtype == np.float64
    assert psi.__dlpack_device__() == (1, 0)
    del psi
    by_buffer[...] = 1  # the memory lives as long as its views
    assert by_dlpack.sum() == by_dlpack.size


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_libraries_see_the_same_memory(qs, name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}")
    psi = qs.Spinors(qs.Lattice(EXTENT, device="cpu"))
    psi.assign(numbers((1, *EXTENT[::-1], 4, 3)))
    here = np.asarray(psi)
    if name == "torch":
        import torch

        there = torch.from_dlpack(psi)
        assert there.data_ptr() == here.ctypes.data
    else:
        import jax

        jax.config.update("jax_enable_x64", True)
        there = jax.numpy.from_dlpack(psi)
        assert there.unsafe_buffer_pointer() == here.ctypes.data
    assert np.array_equal(np.asarray(there), here)


def test_wrong_shapes_are_refused(qs):
    psi = qs.Spinors(qs.Lattice(EXTENT))
    with pytest.raises(qs.UsageError, match=r"assign: the array has shape \(2, 3\), the field \(1, 8, 6, 4, 4, 4, 3\)"):
        psi.assign(np.zeros((2, 3), complex))
    with pytest.raises(qs.WrongLattice, match="odd|even"):
        qs.Lattice((3, 4, 4, 4))
    with pytest.raises(qs.UnknownName, match="device 'gpu' is unknown"):
        qs.Lattice(EXTENT, device="gpu")
    with pytest.raises(qs.UsageError, match="spins=2; use 4, or 1"):
        qs.Spinors(qs.Lattice(EXTENT), spins=2)
    with pytest.raises(qs.UsageError, match="smearing needs links"):
        qs.source(qs.Lattice(EXTENT), "gaussian:0,0,0,0:2.0,3")


def test_sources_are_in_all_spins_and_colours(qs):
    b = qs.source(qs.Lattice(EXTENT), "point:1,2,3,4").lexicographic()
    assert np.allclose(b[:, 4, 3, 2, 1].reshape(12, 12), np.eye(12), atol=1e-15)
    assert np.isclose(np.vdot(b, b), 12)
    u = qs.read("weak:0.2:4,4,4,4:1")
    smeared = qs.source(u, "gaussian:0,0,0,0:2.0,3").lexicographic()
    assert np.count_nonzero(np.abs(smeared[0]).sum(axis=(-1, -2))) > 7 and np.allclose(smeared[:, 1:], 0)
