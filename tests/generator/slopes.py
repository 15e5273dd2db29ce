"""What tests of forces share: fields, slopes of functions, what an expression gives."""

import numpy as np
from lattice import Interpreter, exponential, gaussian

from generator.language.graph import Node, Step
from generator.operators import OPERATORS

EXTENT = (2, 4, 2, 4)
PHASES = (1, np.exp(0.4j), 1, -1)
ZERO = np.zeros((*EXTENT, 4, 3, 3), complex)


def algebra(rng, shape):
    m = gaussian(rng, (*shape, 3, 3))
    m = m - np.swapaxes(m, -1, -2).conj()
    return m - np.trace(m, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3


def slope(f, step=0.002):
    """f'(0) from symmetric differences at three steps, extrapolated: errors of order step^6."""
    rows = [(f(step / 2**k) - f(-step / 2**k)) / (2 * step / 2**k) for k in range(4)]
    for order in (1, 2, 3):
        rows = [(4**order * b - a) / (4**order - 1) for a, b in zip(rows, rows[1:], strict=False)]
    return rows[0]


def evaluate(graph, fields, values=None):
    return Interpreter(EXTENT, fields, values or {}, PHASES)(graph)


def call(kernel, fields, numbers, along, phases=PHASES):
    """What an expression gives for the directions of a call: its outputs by name, matrices by direction; or sums."""
    definition = kernel.definition
    extent = next(iter(fields.values())).shape[:4]
    interpreter = Interpreter(extent, dict(fields), dict(numbers), phases)
    value = lambda node: interpreter(with_directions(node, along))  # noqa: E731
    at = lambda d: along[d.index - 4] if d.index >= 4 else d.index  # noqa: E731
    if not definition.outputs:
        return [value(s) for s in definition.sums]
    return {
        output: {at(d): value(node) for d, node in result.items()} if isinstance(result, dict) else value(result)
        for (output, _), result in zip(definition.outputs, definition.results, strict=True)
    }


def in_plane(name, along, fields, **numbers):
    """The same of an operator by name: for each output in turn."""
    found = call(OPERATORS[name], fields, numbers, along)
    return list(found.values()) if isinstance(found, dict) else found


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


def masks():
    """All links at once, each moved in a direction of its own, and one link at a corner."""
    one = np.zeros((*EXTENT, 4))
    one[1, 3, 1, 3, 1] = 1
    return np.ones((*EXTENT, 4)), one


def assert_force(action, found, u):
    """`action` as a function of links; `found` = dP/dtau = [U G]_TA / 2, so that dS = 2 sum Re tr(A dP/dtau)."""
    rng = np.random.default_rng(5)
    for mask in masks():
        w = mask[..., None, None] * algebra(rng, (*EXTENT, 4))
        wanted = slope(lambda e: action(exponential(e * w) @ u))  # noqa: B023
        given = 2 * np.sum(w * np.swapaxes(found, -1, -2)).real
        size = 2 * np.sqrt(np.sum(np.abs(w) ** 2) * np.sum(np.abs(found * mask[..., None, None]) ** 2))
        assert abs(given - wanted) <= 1e-9 * size, (given, wanted)
    assert np.allclose(found, -np.swapaxes(found, -1, -2).conj())
    assert np.allclose(np.trace(found, axis1=-2, axis2=-1), 0)
