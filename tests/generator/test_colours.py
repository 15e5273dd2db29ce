"""Other numbers of colours than three: representations, the text of storages, records and costs."""

import re

import numpy as np
import pytest

from generator.algebra.representation import REPRESENTATIONS
from generator.algebra.su3 import STORAGES
from generator.cost import multiply_flops
from generator.cpp.expressions import storage_text
from generator.errors import SpecError
from generator.operators import kernel
from generator.profile import all_of_row, load_profile, row_for

DIMENSIONS = {
    "adjoint": lambda n: n * n - 1,
    "symmetric": lambda n: n * (n + 1) // 2,
    "antisymmetric": lambda n: n * (n - 1) // 2,
}


def random_link(rng, n: int) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))
    return q / np.linalg.det(q) ** (1 / n)


def in_algebra(rng, n: int) -> np.ndarray:
    m = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    return (m - m.conj().T) / 2 - 1j * np.trace(m).imag / n * np.eye(n)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("r", REPRESENTATIONS.values(), ids=lambda r: r.name)
def test_representations_are_homomorphisms_into_su(r, n):
    rng = np.random.default_rng(1)
    u, v = random_link(rng, n), random_link(rng, n)
    d = r.dimension(n)
    assert d == DIMENSIONS[r.name](n)
    assert np.allclose(r.of(u) @ r.of(v), r.of(u @ v), atol=1e-14)
    assert np.allclose(r.of(u) @ r.of(u).conj().T, np.eye(d), atol=1e-14)
    assert abs(np.linalg.det(r.of(u)) - 1) < 1e-13
    assert not r.real or np.abs(r.of(u).imag).max() < 1e-15


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("r", REPRESENTATIONS.values(), ids=lambda r: r.name)
def test_forces_go_back_by_the_adjoint_of_the_derivative(r, n):
    rng = np.random.default_rng(2)
    y, z = in_algebra(rng, n), in_algebra(rng, r.dimension(n))
    values, vectors = np.linalg.eigh(-1j * y)

    def exponential(t: float) -> np.ndarray:
        return vectors @ np.diag(np.exp(1j * t * values)) @ vectors.conj().T

    h, weights = 4e-3, (0.75, -0.15, 1 / 60)
    derivative = sum(w * (r.of(exponential(k * h)) - r.of(exponential(-k * h))) for k, w in enumerate(weights, 1)) / h
    inner = [np.trace(a.conj().T @ b).real for a, b in ((derivative, z), (y, r.back(z, n)))]
    assert inner[0] == pytest.approx(inner[1], rel=1e-9)


@pytest.mark.parametrize("storage", [s for s in STORAGES.values() if s.colours in (2, 4)], ids=lambda s: s.name)
def test_printed_storages_are_what_dense_matrices_give(storage):
    """The C++ text, with its few functions, run as Python."""
    draw = in_algebra if storage.group.startswith("su(") else random_link
    u = draw(np.random.default_rng(3), storage.colours)
    text = storage_text(storage)

    class Complex(complex):
        re = property(lambda z: z.real)
        im = property(lambda z: z.imag)

    class Element:
        e = [Complex(z) for z in u.flat]

    def python(code: str) -> str:
        return re.sub(r"Complex<R>\{(.*), (.*)\}", r"complex(\1, \2)", code.replace("R{}", "0"))

    p = [eval(code, {"u": Element}) for code in text["reals"]]
    known = {"p": p, "complex": complex, "conj": np.conj}
    for line in text["decode_statements"]:
        name, code = re.fullmatch(r"const auto (\w+) = (.*);", line).groups()
        known[name] = eval(python(code), known)
    found = np.array([eval(python(code), known) for code in text["elements"]]).reshape(u.shape)
    assert np.abs(found - u).max() < 1e-15


def test_storages_and_rows_say_the_colours():
    basis = load_profile("default").find("wilson_double_c2r8_nr_n1").basis
    spec = kernel("wilson", "double", links="c4r32", basis=basis, tile=1)
    assert spec.colours == 4
    assert all_of_row(row_for(spec)) == [spec]
    update = kernel("axpby", "double", spins=4, colours=2)
    assert update.name == "axpby_double_s4_c2"
    assert all_of_row(row_for(update)) == [update]
    assert kernel("axpby", "double", spins=4).name == "axpby_double_s4"


def test_bodies_of_hops_serve_all_colours_and_those_that_name_them_have_their_own():
    basis = load_profile("default").find("wilson_double_c2r8_nr_n1").basis
    two, three = (kernel("wilson", "double", links=links, basis=basis, tile=1) for links in ("c2r8", "r18"))
    assert two.body == three.body
    assert kernel("force_wilson", "double", links="c2r8", basis=basis).body == "force_wilson_nr_c2"


def test_costs_go_with_the_colours():
    assert multiply_flops(3) == 66
    assert multiply_flops(2) == 4 * 6 + 2 * 2
    two, three = (kernel("axpby", "double", spins=4, colours=n) for n in (2, 3))
    assert 3 * two.operator.cost(two).bytes == 2 * three.operator.cost(three).bytes


@pytest.mark.parametrize(
    ("operator", "axes"), [("apply_term", {"basis": True}), ("domain_wall", {"basis": True}), ("axpby", {"spins": 4})]
)
def test_what_is_of_three_colours_says_so(operator, axes):
    basis = load_profile("default").find("wilson_double_c2r8_nr_n1").basis
    precision = "bits20" if operator == "axpby" else "double"
    with pytest.raises(SpecError, match="have three colours, not 2"):
        kernel(operator, precision, colours=2, **{a: basis if a == "basis" else v for a, v in axes.items()})


def test_profile_su2_holds_both_representations():
    names = {s.name for s in load_profile("su2").kernels}
    assert {"wilson_double_c2r8_nr_n1", "wilson_double_r18_nr_n1", "represent_adjoint_double_c2r8"} <= names
    assert {
        "back_adjoint_double_c2",
        "heatbath_double_c2r8",
        "move_links_double_c2r8",
        "cg_residual_double_c2",
    } <= names
