"""Site terms as records: their algebra against dense matrices, and what they cost."""

import itertools

import numpy as np
import pytest

from generator.algebra.gamma import BASES, DEGRAND_ROSSI, find_basis
from generator.cpp.expressions import frame_text
from generator.emit.render import render_body
from generator.errors import SpecError
from generator.operators import find_operator, kernel
from generator.plan import exists_on
from generator.profile import FOLDER
from generator.site_term import DOUBLET_TWIST, TWIST
from generator.spec import KernelSpec
from generator.targets import GPU

DR, NR = DEGRAND_ROSSI, BASES["non_relativistic"]
TAU1, TAU3 = np.array([[0, 1], [1, 0]]), np.diag([1, -1])


def spec(operator: str, epilogue: str, tile: int = 1, precision: str = "double", basis=NR) -> KernelSpec:
    return kernel(operator, precision, "r12", basis, epilogue=epilogue, tile=tile)


def test_the_formulas_of_inverses_hold():
    """T^-1 as the records state it, for a Hermitian C that commutes with gamma_5."""
    rng = np.random.default_rng(1)
    mu, epsilon, g5 = 0.7, 0.3, DR.gamma5
    blocks = [rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)) + 4 * np.eye(2) for _ in range(2)]
    c = np.zeros((4, 4), dtype=complex)
    c[:2, :2], c[2:, 2:] = (b + b.conj().T for b in blocks)
    one = np.eye(4)
    b = np.linalg.inv(c @ c + mu**2 * one)
    assert np.allclose((c + 1j * mu * g5) @ (c @ b - 1j * mu * g5 @ b), one)
    b = np.linalg.inv(c @ c + (mu**2 - epsilon**2) * one)
    t = np.kron(np.eye(2), c) + 1j * mu * np.kron(TAU3, g5) + epsilon * np.kron(TAU1, one)
    inverse = np.kron(np.eye(2), c @ b) - 1j * mu * np.kron(TAU3, g5 @ b) - epsilon * np.kron(TAU1, b)
    assert np.allclose(t @ inverse, np.eye(8))


@pytest.mark.parametrize("basis", [*BASES.values(), find_basis("rotated.json", FOLDER)], ids=lambda b: b.name)
def test_i_gamma5_is_that_of_the_basis(basis):
    """The rendered rows, evaluated on the unit vectors."""
    rows = frame_text(basis)["i_gamma5"]

    def times(*numbers):
        *factor, vector = numbers
        return complex(*factor) * vector

    for column, unit in enumerate(np.eye(4, dtype=complex)):
        names = {"psi": list(unit), "times": times, "times_i": lambda z: 1j * z}
        assert np.allclose([eval(row, names) for row in rows], 1j * basis.gamma5[:, column], atol=1e-12)


def test_a_twist_costs_flops_but_no_bytes():
    for epilogue, plain, added in (("tinv", "none", 48), ("taxpby", "axpby", 48), ("axpby_tinv", "axpby", 48)):
        cost = find_operator("twisted_mass").cost(spec("twisted_mass", epilogue))
        wilson = find_operator("wilson").cost(spec("wilson", plain))
        assert cost.bytes == wilson.bytes and cost.reals == wilson.reals
        assert cost.flops == wilson.flops + added and cost.reported == wilson.reported + added
    assert DOUBLET_TWIST.flops(NR, inverse=True) == 96  # for each flavour
    assert TWIST.flops(DR, inverse=False) == 48


def test_twisted_clover_reads_one_term_or_two():
    wilson = find_operator("wilson").cost(spec("wilson", "none"))
    tinv = find_operator("twisted_clover").cost(spec("twisted_clover", "tinv"))
    assert tinv.flops == wilson.flops + 2 * 504 + 48
    assert tinv.bytes == wilson.bytes + 2 * 72 * 8
    doublet = find_operator("twisted_clover_doublet").cost(spec("twisted_clover_doublet", "tinv", tile=2))
    links = 8 * 12 * 8
    assert doublet.bytes == tinv.bytes - links / 2 - 72 * 8  # two flavours share links and terms
    taxpby = find_operator("twisted_clover").cost(spec("twisted_clover", "taxpby"))
    assert taxpby.reported == 1320 + 48 + 504 + 48
    assert find_operator("wilson").cost(spec("wilson", "tinv")).reported == 1872


def test_flavours_are_not_cut_and_run_on_both_targets():
    operator = find_operator("twisted_doublet")
    with pytest.raises(SpecError, match="cuts the 2 flavours"):
        operator.arguments(spec("twisted_doublet", "tinv", tile=1))
    assert exists_on(spec("twisted_doublet", "tinv", tile=2), GPU)
    assert not exists_on(spec("twisted_doublet", "tinv", tile=4), GPU)
    assert not exists_on(spec("wilson", "none", tile=2), GPU)


def test_operators_with_the_same_hops_share_one_body():
    for operator, dagger in itertools.product(("twisted_mass", "twisted_clover_doublet"), (False, True)):
        mine, wilson = (kernel(name, "double", "r12", NR, dagger, tile=2) for name in (operator, "wilson"))
        assert mine.body == wilson.body
        assert render_body(mine, "") == render_body(wilson, "")
