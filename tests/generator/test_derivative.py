"""Derivatives of formulas against differences of the formulas themselves, evaluated on whole fields."""

import numpy as np
import pytest
from lattice import exponential, gaussian
from slopes import EXTENT, algebra, evaluate, masks, slope
from statements import WITH_MATRIX, read_by, spinor_of, values_of

from generator.language import adj, dot, exp, gamma, im, outer, project, re, shift, sigma, sign, t, ta, trace, x, y, z
from generator.language.graph import make
from generator.language.symbols import Four
from generator.lower import derivative as derivatives
from generator.lower.derivative import derivative

MATRICES = {
    (name, f.name): f.kind
    for name, r in WITH_MATRIX.items()
    for f in r.action.fields
    if f.kind in ("links", "matrices") and not (r.site is not None and r.site.exponential)
}
VALUES = {"number": 0.7 - 0.4j}


def assert_slopes(functional, name, fields, gradient, values, links=True):
    """Along random directions, at one site alone too: dS = sum Re tr(dU G)."""
    u = fields[name]
    g = np.zeros((*EXTENT, 4, 3, 3), complex)
    for mu, node in gradient.items():
        g[:, :, :, :, mu.index] = evaluate(node, fields, values)
    rng = np.random.default_rng(5)
    for mask in masks():
        w = mask[..., None, None] * (algebra(rng, (*EXTENT, 4)) if links else gaussian(rng, (*EXTENT, 4, 3, 3)))
        moved = lambda e: exponential(e * w) @ u if links else u + e * w  # noqa: B023, E731
        wanted = slope(lambda e: evaluate(functional, fields | {name: moved(e)}, values).sum())  # noqa: B023
        du = w @ u if links else w
        found = np.sum(du * np.swapaxes(g, -1, -2)).real
        size = np.sqrt(np.sum(np.abs(du) ** 2) * np.sum(np.abs(g * mask[..., None, None]) ** 2))
        assert abs(found - wanted) <= 1e-9 * size, (found, wanted)


@pytest.mark.parametrize(("name", "field"), MATRICES)
def test_fermion_forces_are_the_slopes_of_their_actions(name, field):
    """-2 Re Y^+ M X."""
    record, action = WITH_MATRIX[name], WITH_MATRIX[name].action
    functional = -2.0 * re(dot(make("load", "spinor", (), "y"), action.matrix))
    fields = read_by(action, EXTENT) | {"y": spinor_of(record, 8, EXTENT), action.fermion: spinor_of(record, 7, EXTENT)}
    gradient = derivative(functional, field)
    assert_slopes(functional, field, fields, gradient, values_of(action), MATRICES[name, field] == "links")


def stored(matrix):
    return make("stored", "matrix", (matrix,))


def functionals():
    """Real functions of links that pass through every operation which has a rule."""
    u, f, g = Four("u"), *(make("load", "spinor", (), n) for n in ("psi", "y"))
    number = make("parameter", "complex", (), "number")
    colour = trace(u[x] * shift(u[y], +x)) * number
    turned = exp(ta(u[z] * shift(adj(u[x]), -z)))
    return [
        im(colour) * re(trace(turned * u[t])) - re(adj(colour) * trace(u[x])),
        re(dot(f, outer(u[x] * f, shift(u[y] * g, +t)) * g)) + im(dot(sign(x, y) * (gamma[x] * (u[y] * f)), u[t] * g)),
        re(trace(stored(make("project_u3", "matrix", (u[x] + 0.4 * u[y] + 0.2 * u[z],))) * u[t])),
        re(trace(project(u[x] + 0.4 * u[y] + 0.2 * u[z]) * u[t])),
        re(dot(f, (re(trace(u[z])) * u[x] + -u[y] - (2 + 1j) * u[t]) * g)) + re(dot(sigma[x, y] * u[x] * g, f)),
    ]


def slopes_hold(functional, fields):
    try:
        assert_slopes(functional, "u", fields, derivative(functional, "u"), VALUES)
    except AssertionError:
        return False
    return True


@pytest.fixture(scope="module")
def some_fields():
    wilson = WITH_MATRIX["wilson"]
    return read_by(wilson.action, EXTENT) | {"psi": spinor_of(wilson, 7, EXTENT), "y": spinor_of(wilson, 8, EXTENT)}


def test_every_operation_has_its_derivative(some_fields):
    for functional in functionals():
        assert slopes_hold(functional, some_fields), functional


@pytest.mark.parametrize("op", [op for op in derivatives.RULES if op != "promote"])
def test_a_sign_planted_in_a_rule_is_caught(op, some_fields, monkeypatch):
    """Of each part that it passes something on to, one at a time."""
    rule, count = derivatives.RULES[op], []

    def planted(number):
        def wrong(node, c):
            passed = rule(node, c)
            count.append(len(passed))
            return [(below, -value if k == number else value) for k, (below, value) in enumerate(passed)]

        return wrong

    number = 0
    while number == 0 or number < max(count):
        monkeypatch.setitem(derivatives.RULES, op, planted(number))
        assert not all(slopes_hold(f, some_fields) for f in functionals()), (op, number)
        number += 1
