"""The derived algebra against dense matrices."""

import json

import numpy as np
import pytest

from generator.algebra.gamma import BASES, DEGRAND_ROSSI, Basis, BasisError, find_basis, products
from generator.algebra.projector import factorise
from generator.algebra.su3 import STORAGES, Numeric
from generator.operators import OPERATORS
from generator.operators.hopping import HoppingOperator
from generator.spec import KernelSpec

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")


def random_basis(seed: int) -> Basis:
    """DeGrand-Rossi rotated by a random unitary matrix."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)))
    return Basis(f"random{seed}", f"random{seed}", tuple(q @ g @ q.conj().T for g in DEGRAND_ROSSI.gamma))


ALL_BASES = [*BASES.values(), random_basis(1), random_basis(2)]


def test_degrand_rossi_is_the_basis_of_the_conventions():
    assert np.array_equal(DEGRAND_ROSSI.gamma5, np.diag([1, 1, -1, -1]))
    assert DEGRAND_ROSSI.gamma[0][0, 3] == 1j
    assert DEGRAND_ROSSI.gamma[1][0, 3] == -1
    assert DEGRAND_ROSSI.gamma[2][0, 2] == 1j
    assert DEGRAND_ROSSI.gamma[3][0, 2] == 1


def test_rotation_to_non_relativistic_is_the_one_of_the_conventions():
    expected = np.sqrt(0.5) * np.array([[0, 1, 0, 1], [-1, 0, -1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])
    assert np.allclose(BASES["non_relativistic"].rotation, expected, atol=1e-15)


@pytest.mark.parametrize("basis", ALL_BASES, ids=lambda b: b.name)
def test_rotation_is_unitary_and_intertwines(basis):
    v = basis.rotation
    assert np.allclose(v @ v.conj().T, np.eye(4), atol=1e-13)
    for mine, theirs in zip(products(basis.gamma), products(DEGRAND_ROSSI.gamma), strict=True):
        assert np.allclose(mine, v @ theirs @ v.conj().T, atol=1e-12)
    first = v.flat[np.flatnonzero(np.abs(v) > 1e-12)[0]]
    assert first.imag == pytest.approx(0, abs=1e-13) and first.real > 0


@pytest.mark.parametrize("basis", ALL_BASES, ids=lambda b: b.name)
@pytest.mark.parametrize("mu", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_wilson_projectors_have_rank_two_and_factorise(basis, mu, sign):
    matrix = np.eye(4) - sign * basis.gamma[mu]
    factors = factorise(matrix)
    assert factors.rank == 2
    assert np.allclose(factors.reconstruct @ factors.project, matrix, atol=1e-12)


@hypothesis.given(st.integers(0, 10**6), st.integers(1, 4))
@hypothesis.settings(max_examples=30, deadline=None)
def test_any_matrix_factorises_to_its_rank(seed, rank):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.normal(size=shape) + 1j * rng.normal(size=shape)  # noqa: E731
    matrix = draw(4, rank) @ draw(rank, 4)
    factors = factorise(matrix)
    assert factors.rank == rank
    assert np.allclose(factors.reconstruct @ factors.project, matrix, atol=1e-9)


def test_bases_that_are_none_are_refused(tmp_path):
    wrong = tuple(g.copy() for g in DEGRAND_ROSSI.gamma)
    wrong[2][0, 2] *= -1
    with pytest.raises(BasisError, match="gamma"):
        Basis("wrong", "wrong", wrong)
    (tmp_path / "short.json").write_text(json.dumps({"gamma": [[[1, 2]]]}))
    with pytest.raises(BasisError, match="shape"):
        find_basis("short.json", tmp_path)
    with pytest.raises(BasisError, match="no_such.json"):
        find_basis("no_such.json", tmp_path)
    with pytest.raises(BasisError, match="unknown"):
        find_basis("chiral")


def test_a_basis_is_read_from_a_file(tmp_path):
    basis = random_basis(7)
    numbers = [[[[z.real, z.imag] for z in row] for row in g] for g in basis.gamma]
    (tmp_path / "mine.json").write_text(json.dumps({"gamma": numbers}))
    read = find_basis("mine.json", tmp_path)
    assert read.name == "mine"
    assert np.allclose(read.rotation, basis.rotation, atol=1e-12)


def random_links(count: int, seed: int, colours: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = (count, colours, colours)
    q, _ = np.linalg.qr(rng.normal(size=size) + 1j * rng.normal(size=size))
    return q / np.linalg.det(q)[:, None, None] ** (1 / colours)


def random_elements(storage, count: int, seed: int) -> np.ndarray:
    """Random elements of the group or algebra that a storage holds."""
    links = random_links(count, seed, storage.colours)
    if storage.group.startswith("su("):
        parts = links - links.conj().transpose(0, 2, 1)
        return (
            parts - np.trace(parts, axis1=1, axis2=2)[:, None, None] * np.eye(storage.colours) / storage.colours
        ) / 2
    phases = np.exp(1j * np.random.default_rng(seed).uniform(-np.pi, np.pi, count))
    return links if storage.group.startswith("SU(") else phases[:, None, None] * links


def round_trip(storage, links: np.ndarray) -> np.ndarray:
    rows = storage.decode(storage.encode([row.T for row in links.transpose(1, 0, 2)], Numeric), Numeric)
    return np.array([np.stack(np.broadcast_arrays(*row), -1) for row in rows]).transpose(1, 0, 2)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=lambda s: s.name)
def test_storages_hold_random_links(storage):
    links = random_elements(storage, 2000, 3)
    assert np.abs(round_trip(storage, links) - links).max() < (
        1e-14 if storage.group[:3] in ("any", "su(") or storage.colours == 2 else 1e-11
    )


@pytest.mark.parametrize(
    "storage", [s for s in STORAGES.values() if s.colours == 3 and s.name != "a8"], ids=lambda s: s.name
)
def test_storages_hold_unit_and_permutation_links(storage):
    links = np.array(
        [
            np.eye(3),
            [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
            [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
            [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        ],
        dtype=complex,
    )
    if storage.group != "SU(3)":  # determinants 1, -1, i, -i
        links = np.concatenate([f * links for f in (1, -1, -1j, 1j)])
    assert np.abs(round_trip(storage, links) - links).max() < 1e-15


def test_stored_reals_of_links_lie_in_the_unit_interval():
    for storage in (s for s in STORAGES.values() if not s.group.startswith("su(")):
        links = random_elements(storage, 2000, 4)
        reals = storage.encode([row.T for row in links.transpose(1, 0, 2)], Numeric)
        assert len(reals) == storage.reals
        assert max(np.abs(p).max() for p in reals) <= 1


@hypothesis.given(st.floats(-np.pi, np.pi, allow_nan=False))
def test_phase_chart_inverts(phase):
    v = Numeric.chart(np.exp(1j * phase))
    assert -1 <= v <= 1
    assert abs(Numeric.unit(v) - np.exp(1j * phase)) < 1e-14


@pytest.mark.parametrize(
    "operator", [o for o in OPERATORS.values() if isinstance(o, HoppingOperator)], ids=lambda o: o.name
)
@pytest.mark.parametrize("basis", BASES.values(), ids=lambda b: b.short)
def test_dagger_is_the_conjugate_of_the_hops(operator, basis):
    spec = {
        d: KernelSpec(operator, "double", "r18", basis if operator.has_basis else None, d, tile=1)
        for d in (False, True)
    }
    plain = {(h.mu, h.sign): h.matrix for h in operator.hops(spec[False])}
    for hop in operator.hops(spec[True]):
        assert np.allclose(hop.matrix, plain[hop.mu, -hop.sign].conj().T)
