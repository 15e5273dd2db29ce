"""Sums of products with shared factors taken out."""

from functools import reduce

import numpy as np
from lattice import random_links
from slopes import EXTENT, evaluate, gaussian

from generator.language import adj, shift, x, y
from generator.language.symbols import Four
from generator.language.walks import parts
from generator.lower.factors import factored, shared_loops

U = Four("u")
V = Four("v")
FIELDS = {"u": random_links(EXTENT, 3), "v": gaussian(np.random.default_rng(4), (*EXTENT, 4, 3, 3))}


def products(node):
    return sum(n.op == "mul" and n.args[0].kind == "matrix" for n in parts([node]))


def assert_factored(node, most):
    result = factored(node)
    assert products(result) == most < products(node)
    assert np.allclose(evaluate(result, FIELDS), evaluate(node, FIELDS), rtol=0, atol=1e-12)


def test_what_all_terms_begin_or_end_with_is_written_once():
    a, b, c, d = U[x], shift(U[y], +x), adj(V[x]), V[y]
    assert_factored(a * b * c + a * d * c - a * b * d, 4)
    assert_factored(-(a * b) - a * c, 1)


def test_runs_of_factors_are_shared():
    a, b, c, f = U[x], U[y], V[x], V[y]
    inserted = f * a * b * c + a * f * b * c + a * b * f * c + a * b * c * f
    assert_factored(inserted, 8)
    pairs = "(v[y]*u[x] + u[x]*v[y])*(u[y]*v[x]) + u[x]*u[y]*(v[y]*v[x] + v[x]*v[y])"
    assert str(factored(inserted)) == pairs  # no product of one is needed in the other


def test_conjugates_and_shifts_of_products_are_followed():
    a, b, c = U[x], U[y], V[x]
    assert_factored(adj(shift(a * b, -y)) + shift(adj(b), -y) * c + 0.5 * a - 0.5 * a, 1)


def test_sums_without_products_are_factors():
    inner = V[x] - adj(V[x])
    assert_factored(reduce(lambda f, g: f + g, [U[x] * inner, U[y] * inner, U[x] * inner * U[y]]), 3)


def test_loops_through_two_links_stand_once():
    """Up to conjugation; what has another loop, or no factor in common with others, is apart."""
    u, v, a, b, c = U[x], U[y], V[x], V[y], adj(V[x])
    common, own = shared_loops((u, v), (0.5 * (a * b * adj(v) - b * c), 0.5 * (adj(u * a * b) + c * a + c * b)))
    assert [str(n) for n in common] == [str(0.5 * (u * (a * b * adj(v))))]
    assert [[str(n) for n in of] for of in own] == [[str(0.5 * (u * -(b * c)))], [str(0.5 * (v * (c * (a + b))))]]
    assert shared_loops((u, v), (a * b, c * a)) is None
    assert shared_loops((u, v), (2 * (a * adj(v)), 3 * (adj(a) * adj(u)))) is None
