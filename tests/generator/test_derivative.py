"""Derivatives of formulas against differences of the formulas themselves, evaluated on whole fields."""

import numpy as np
import pytest
from lattice import Interpreter, exponential, random_links

from generator.actions import ACTIONS
from generator.language import dot, re
from generator.language.derivative import derivative, substituted
from generator.language.graph import make
from generator.lower.fifth import FifthForm

EXTENT = (2, 4, 2, 4)
PARAMETERS = {
    "mass": 0.31, "xi0": 1.7, "nu": 0.9, "csw_r": 1.3, "csw_t": 0.8, "mu": 0.23, "epsilon": 0.11,
    "m5": 1.4, "b": 0.7, "c": 0.4,
}  # fmt: skip
PHASES = (1, np.exp(0.4j), 1, -1)
MATRICES = {
    (name, f.name): f.kind for name, action in ACTIONS.items() for f in action.fields if f.kind in ("links", "matrices")
}


def gaussian(rng, shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def algebra(rng, shape):
    m = gaussian(rng, (*shape, 3, 3))
    m = m - np.swapaxes(m, -1, -2).conj()
    return m - np.trace(m, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3


def slope(f, step=0.02):
    """f'(0) from symmetric differences at three steps, extrapolated: errors of order step^6."""
    rows = [(f(step / 2**k) - f(-step / 2**k)) / (2 * step / 2**k) for k in range(4)]
    for order in (1, 2, 3):
        rows = [(4**order * b - a) / (4**order - 1) for a, b in zip(rows, rows[1:])]
    return rows[0]


def evaluate(graph, fields):
    return Interpreter(EXTENT, fields, PARAMETERS, PHASES)(graph)


def assert_slopes(functional, name, fields, gradient, links=True):
    """Along random directions, at one site alone too: dS = sum Re tr(dU G)."""
    u = fields[name]
    g = np.zeros((*EXTENT, 4, 3, 3), complex)
    for mu, node in gradient.items():
        g[:, :, :, :, mu.index] = evaluate(node, fields)
    rng = np.random.default_rng(5)
    masks = [np.ones((*EXTENT, 4))]
    for where in ((0, 0, 0, 0, 0), (1, 3, 1, 3, 1), (0, 2, 1, 3, 2), (1, 0, 0, 3, 3)):
        masks.append(np.zeros((*EXTENT, 4)))
        masks[-1][where] = 1
    for mask in masks:
        w = mask[..., None, None] * (algebra(rng, (*EXTENT, 4)) if links else gaussian(rng, (*EXTENT, 4, 3, 3)))
        moved = lambda e: exponential(e * w) @ u if links else u + e * w  # noqa: B023, E731
        wanted = slope(lambda e: evaluate(functional, fields | {name: moved(e)}).sum())  # noqa: B023
        du = w @ u if links else w
        found = np.sum(du * np.swapaxes(g, -1, -2)).real
        size = np.sqrt(np.sum(np.abs(du) ** 2) * np.sum(np.abs(g * mask[..., None, None]) ** 2))
        assert abs(found - wanted) <= 1e-9 * size, (found, wanted)


def fermion_functional(name):
    """-2 Re Y^+ M X."""
    action = ACTIONS[name]
    return -2.0 * re(dot(make("load", "spinor", (), "y"), action.matrix))


def fields_of(name):
    action = ACTIONS[name]
    rng = np.random.default_rng(3)
    slices = 4 if FifthForm(action).has_slices else 1
    shape = (*EXTENT, slices, 2 if "doublet" in name else 1, action.spins, 3)
    fields = {f.name: random_links(EXTENT, n + 1) for n, f in enumerate(action.fields[:-1])}
    return fields | {"psi": gaussian(rng, shape), "y": gaussian(rng, shape)}


@pytest.mark.parametrize(("name", "field"), MATRICES)
def test_fermion_forces_are_the_slopes_of_their_actions(name, field):
    functional = fermion_functional(name)
    links = MATRICES[name, field] == "links" and field != "long"
    assert_slopes(functional, field, fields_of(name), derivative(functional, field), links)
