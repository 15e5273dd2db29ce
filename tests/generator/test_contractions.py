"""Contractions of propagators: elements, traces, epsilon tensors, and sequential sources as derivatives."""

import itertools
from functools import reduce

import numpy as np
import pytest

from generator.algebra.gamma import DEGRAND_ROSSI
from generator.errors import ExpressionError, SpecError
from generator.language import Gamma, Propagator, Sum, adj, epsilon, expression, gamma, total, trace, x
from generator.language.graph import Node
from generator.language.symbols import symbol
from generator.lower.propagators import gamma_products
from generator.lower.sequential import derivative
from generator.operators import OPERATORS, kernel
from generator.operators.contractions import TWO_POINT
from generator.operators.expression import Expression
from generator.operators.hadrons import other_parity

EPSILON = np.zeros((3, 3, 3))
for order in itertools.permutations(range(3)):
    EPSILON[order] = np.linalg.det(np.eye(3)[list(order)])
ONE = {"spin": 4, "matrix": 3, "block": 12}


def value(node: Node, fields: dict[str, np.ndarray]) -> np.ndarray:
    """A formula at one site, with dense 12x12 matrices, row 3 spin + colour."""
    if node.op in ("load", "parameter"):
        return fields[node.data]
    if node.op == "constant":
        return np.asarray(node.data)
    if node.op in ("gamma", "gamma5"):
        return DEGRAND_ROSSI.gamma5 if node.op == "gamma5" else DEGRAND_ROSSI.gamma[node.data]
    if node.op == "spin":
        return np.array(node.data)
    args = [value(a, fields) for a in node.args]
    if node.op == "promote":
        return args[0] * np.eye(4) if args[0].ndim == 0 else in_both(args[0], node.args[0].kind)
    if node.op in ("add", "sub"):
        return args[0] + args[1] if node.op == "add" else args[0] - args[1]
    if node.op == "neg":
        return -args[0]
    if node.op == "mul" and node.kind == "block":
        args = [in_both(a, n.kind) for a, n in zip(args, node.args, strict=True)]
    if node.op == "mul":
        return args[0] * args[1] if 0 in (args[0].ndim, args[1].ndim) else args[0] @ args[1]
    if node.op == "adj":
        return args[0].conj().T
    if node.op == "element":
        sink, source = node.data
        return args[0][3 * sink : 3 * sink + 3, 3 * source : 3 * source + 3]
    if node.op == "epsilon":
        return np.einsum("ijk,lmn,il,jm->nk", EPSILON, EPSILON, *args)
    assert node.op in ("trace", "total", "totals"), node.op
    return args[0] if node.op.startswith("total") else np.trace(reduce(np.matmul, args))


def in_both(m: np.ndarray, kind: str) -> np.ndarray:
    return {"spin": lambda: np.kron(m, np.eye(3)), "matrix": lambda: np.kron(np.eye(4), m)}.get(kind, lambda: m)()


def random(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 12)) + 1j * rng.normal(size=(12, 12))


@pytest.mark.parametrize("name", TWO_POINT)
def test_derivatives_by_propagators(name: str) -> None:
    baryons = TWO_POINT[name]
    fields = {q: random(n) for n, q in enumerate(baryons.lines)} | {"parity": np.asarray(-1.0)}
    contraction = baryons.numbers[-1]
    for line in baryons.lines:
        step = random(17)
        b = value(derivative(contraction, line), fields)
        ahead, back = (value(contraction, fields | {line: fields[line] + h * step}) for h in (1e-3, -1e-3))
        third = value(contraction, fields | {line: step}) if name.startswith("decuplet_111") else 0  # of a cube
        assert np.trace(b @ step) == pytest.approx((ahead - back) / 2e-3 - third * 1e-6, rel=1e-9)


def test_a_derivative_needs_its_propagator() -> None:
    s = symbol("s", "propagator")
    with pytest.raises(ExpressionError, match="not made of r"):
        derivative(trace(s), "r")
    with pytest.raises(ExpressionError, match="derivative by a propagator is not known"):
        derivative(trace(adj(s)), "s")


def test_components_of_the_other_parity() -> None:
    s, parity = symbol("s", "propagator"), symbol("parity", "real")
    m, g5 = random(1), np.kron(DEGRAND_ROSSI.gamma5, np.eye(3))
    for sign, expected in ((1.0, m), (-1.0, g5 @ m @ g5)):
        found = value(other_parity(s, parity), {"s": m, "parity": np.asarray(sign)})
        assert np.allclose(found, expected, atol=1e-14)


def test_packed_products_of_gammas() -> None:
    flips, units = gamma_products()
    for n in range(16):
        dense = reduce(np.matmul, (DEGRAND_ROSSI.gamma[mu] for mu in range(4) if n >> mu & 1), np.eye(4))
        found = np.zeros((4, 4), dtype=complex)
        for row in range(4):
            at = 2 * (4 * n + row)
            found[row, row ^ (flips >> 2 * n & 3)] = 1j ** (units[at // 64] >> at % 64 & 3)
        assert np.allclose(found, dense)


def test_statements_of_a_contraction() -> None:
    @expression("pair")
    def pair(s: Propagator, r: Propagator, g: Gamma) -> Sum:
        return total(trace(adj(r) * gamma[x] * s * g)), total(epsilon(s[0, 1], s[2, 3], r[0, 0]))

    operator = Expression(pair)
    assert operator.sums == 4
    assert operator.signature == "s:propagator:x:each r:propagator:y:each g:gamma:0:here"
    assert operator.axes == ("precision", "spins")


def test_wrong_uses_of_propagators() -> None:
    s, m = symbol("s", "propagator"), symbol("u", "links")[x]
    with pytest.raises(ExpressionError, match="spins from 0 to 3"):
        s[0, 4]
    with pytest.raises(ExpressionError, match="epsilon takes a matrix"):
        epsilon(s, s)
    with pytest.raises(ExpressionError, match="trace takes a matrix"):
        trace(m, s)
    with pytest.raises(SpecError, match=r'precision = \["double"\], spins = \[4\]'):
        spec = kernel("mesons", "single", spins=4)
        OPERATORS["mesons"].arguments(spec)
