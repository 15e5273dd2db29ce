"""What tests of forces share: fields, slopes of functions, what an expression gives."""

import numpy as np
from lattice import Interpreter, exponential, random_links

from generator.actions import ACTIONS
from generator.language.graph import Node, Step
from generator.lower.fifth import FifthForm
from generator.operators import OPERATORS

EXTENT = (2, 4, 2, 4)
PARAMETERS = {
    "mass": 0.31, "xi0": 1.7, "nu": 0.9, "csw_r": 1.3, "csw_t": 0.8, "mu": 0.23, "epsilon": 0.11,
    "m5": 1.4, "b": 0.7, "c": 0.4, "b5": 1.5, "c5": 0.5,
}  # fmt: skip
PHASES = (1, np.exp(0.4j), 1, -1)
ZERO = np.zeros((*EXTENT, 4, 3, 3), complex)


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
        rows = [(4**order * b - a) / (4**order - 1) for a, b in zip(rows, rows[1:], strict=False)]
    return rows[0]


def evaluate(graph, fields):
    return Interpreter(EXTENT, fields, PARAMETERS, PHASES)(graph)


def fields_of(name):
    action = ACTIONS[name]
    rng = np.random.default_rng(3)
    slices = 4 if FifthForm(action).has_slices else 1
    shape = (*EXTENT, slices, 2 if "doublet" in name else 1, action.spins, 3)
    fields = {f.name: random_links(EXTENT, n + 1) for n, f in enumerate(action.fields[:-1])}
    return fields | {"psi": gaussian(rng, shape), "y": gaussian(rng, shape)}


def applied(name, fields, **numbers):
    """What an expression gives: its outputs by name."""
    definition = OPERATORS[name].definition
    interpreter = Interpreter(EXTENT, fields, PARAMETERS | numbers, PHASES)
    outputs = {}
    for (output, _), result in zip(definition.outputs, definition.results, strict=True):
        outputs[output] = np.zeros((*EXTENT, 4, 3, 3), complex)
        for mu, node in result.items():
            outputs[output][:, :, :, :, mu.index] = interpreter(node)
    return outputs


def in_plane(name, along, fields, **numbers):
    """What an expression gives for the directions of a call: sums, or matrices by direction.

    Directions get their places in a copy of the formula.
    """
    definition = OPERATORS[name].definition
    value = lambda node: Interpreter(EXTENT, fields, numbers, PHASES)(with_directions(node, along))  # noqa: E731
    if not definition.outputs:
        return [value(result) for result in definition.results]
    return [{along[d.index - 4]: value(node) for d, node in result.items()} for result in definition.results]


def add_in_plane(field, name, along, fields, **numbers):
    """What one of one output gives is put into a field."""
    (found,) = in_plane(name, along, fields, **numbers)
    for mu, m in found.items():
        field[:, :, :, :, mu] = m


def add_plaquettes(p, u, weights):
    """The force of plaquettes with coefficients of their planes, of the links along one direction after the other."""
    for mu in range(4):
        others = [nu for nu in range(4) if nu != mu]
        a, b, c = (weights[min(mu, nu), max(mu, nu)] for nu in others)
        add_in_plane(p, "force_plaquettes", (mu, *others), {"u": u, "p": p}, a=a, b=b, c=c)


def with_directions(node, along):
    data = node.data
    place = lambda mu: along[mu - 4] if mu >= 4 else mu  # noqa: E731
    if node.op == "load" and isinstance(data, tuple):
        data = (data[0], place(data[1]))
    if node.op == "shift":
        vector = [0] * len(data.vector)
        for mu, n in enumerate(data.vector):
            if n:
                vector[place(mu)] += n
        data = Step(tuple(vector))
    return Node(node.op, node.kind, tuple(with_directions(a, along) for a in node.args), data, node.algebra)


def assert_force(action, found, u):
    """`action` as a function of links; `found` = dP/dtau = [U G]_TA / 2, so that dS = 2 sum Re tr(A dP/dtau)."""
    rng = np.random.default_rng(5)
    masks = [np.ones((*EXTENT, 4))]
    for where in ((0, 0, 0, 0, 0), (1, 3, 1, 3, 1), (0, 2, 1, 3, 2), (1, 0, 0, 3, 3)):
        masks.append(np.zeros((*EXTENT, 4)))
        masks[-1][where] = 1
    for mask in masks:
        w = mask[..., None, None] * algebra(rng, (*EXTENT, 4))
        wanted = slope(lambda e: action(exponential(e * w) @ u))  # noqa: B023
        given = 2 * np.sum(w * np.swapaxes(found, -1, -2)).real
        size = 2 * np.sqrt(np.sum(np.abs(w) ** 2) * np.sum(np.abs(found * mask[..., None, None]) ** 2))
        assert abs(given - wanted) <= 1e-9 * size, (given, wanted)
    assert np.allclose(found, -np.swapaxes(found, -1, -2).conj())
    assert np.allclose(np.trace(found, axis1=-2, axis2=-1), 0)
