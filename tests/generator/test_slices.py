"""Operators along a fifth dimension: parts of the spins, chains, cost."""

from dataclasses import replace

import numpy as np
import pytest

from generator.algebra.gamma import BASES, DEGRAND_ROSSI, Basis
from generator.errors import SpecError
from generator.operators import find_operator, kernel
from generator.operators.slices import SliceOperator
from generator.spec import KernelSpec

OPERATOR = find_operator("domain_wall")


def random_basis(seed: int) -> Basis:
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)))
    return Basis(f"random{seed}", f"random{seed}", tuple(q @ g @ q.conj().T for g in DEGRAND_ROSSI.gamma))


def spec_of(basis: Basis, **axes) -> KernelSpec:
    return kernel("domain_wall", "double", basis=basis, **axes)


@pytest.mark.parametrize("basis", [*BASES.values(), random_basis(3)], ids=lambda b: b.name)
def test_parts_are_the_chiralities_and_run_in_opposite_directions(basis):
    minus, plus = OPERATOR.parts_of(spec_of(basis))
    for part, sign in ((minus, -1), (plus, 1)):
        projector = part.factors.reconstruct @ part.factors.project
        assert part.factors.rank == 2
        assert np.allclose(projector, (np.eye(4) + sign * basis.gamma5) / 2, atol=1e-13)
        assert part.step == sign  # P_- takes from s + 1, so that its chain runs to smaller s
    conjugate = OPERATOR.parts_of(spec_of(basis, dagger=True))
    assert [part.step for part in conjugate] == [1, -1]


def test_cost_counts_every_slice_once():
    spec = spec_of(BASES["non_relativistic"])
    # Of 24 reals: 8 flops of a chain, projection (one addition) and reconstruction (one addition, one factor).
    assert OPERATOR.cost(spec).flops == 24 * (8 + 1 + 2)
    assert OPERATOR.cost(spec).bytes == 2 * 192
    assert OPERATOR.cost(replace(spec, epilogue="axpby")).bytes == 3 * 192
    assert OPERATOR.cost(replace(spec, coefficient="complex")).flops == 24 * (18 + 1 + 2)


def test_what_is_no_operator_is_refused():
    spec = spec_of(BASES["non_relativistic"], epilogue="tinv")
    with pytest.raises(SpecError, match="no epilogue tinv; use none or axpby"):
        OPERATOR.arguments(spec)
    half = np.eye(4) / 2
    with pytest.raises(ArithmeticError, match="no projectors"):
        SliceOperator("halves", "", lambda basis: ((half, 1, "a"), (half, -1, "b"))).parts_of(spec)
    uneven = (np.diag([1.0, 0, 0, 0]), 1, "a"), (np.diag([0, 1.0, 1, 1]), -1, "b")
    with pytest.raises(ArithmeticError, match="differ in rank"):
        SliceOperator("uneven", "", lambda basis: uneven).parts_of(spec)
