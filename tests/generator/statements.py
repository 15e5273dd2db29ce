"""What tests of statements share: all records, and for each random fields, values of parameters, M psi as stated."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import more_actions
import numpy as np
from lattice import Interpreter, gaussian, random_field

from generator.language import Action
from generator.lower.record import Lowered, lower
from generator.operators import OPERATORS, RECORDS
from generator.operators.stated import stated_operators
from generator.spec import Operator

PHASES = (1, np.exp(0.4j), 1, -1)
"""Of boundaries."""
EXTENT = (2, 2, 2, 4)
SLICES = 4
Fields = dict[str, np.ndarray]

FURTHER = {a.name: lower(a) for a in more_actions.ACTIONS}
"""Actions that are not in the library."""
EVERY: dict[str, Lowered] = {**RECORDS, **FURTHER}
"""Records by name: whatever stands in a file of generator/actions is among them."""
WITH_MATRIX = {name: r for name, r in EVERY.items() if r.action.has_matrix}
OF_HOPS = {name: r for name, r in WITH_MATRIX.items() if r.form is not None}
MAKING = {name: r for name, r in EVERY.items() if r.launches}
"""Those that make fields."""
MOVING = {name: r for name, r in EVERY.items() if r.gauge and r.action.parameters}
"""Those that have a force."""


KERNELS: Mapping[str, Operator] = {**OPERATORS, **{o.name: o for o in stated_operators(EVERY.values())}}
"""Operators by name as they are where all of these are in the library."""


def values_of(action: Action) -> dict[str, complex]:
    """A number for each parameter: within its bounds, no default, another for each name."""
    found: dict[str, complex] = {}
    for p in action.parameters:
        shift = 0.1 + zlib.crc32(p.name.encode()) % 1000 / 2500
        real = min(max((p.default or 0) + shift, p.lower), p.upper)
        found[p.name] = real + 0.7j * shift if p.complex else real
    return found


def read_by(action: Action, extent: tuple[int, ...] = EXTENT) -> Fields:
    """Random numbers for all fields that M psi reads; those that a statement makes are as good as others here."""
    return {f.name: random_field(f.kind, extent, n + 1) for n, f in enumerate(action.fields)}


def with_made(action: Action, fields: Fields, values: Mapping[str, complex]) -> Fields:
    """The fields with those that the statement makes of them in their place."""
    extent = next(iter(fields.values())).shape[:4]
    value = Interpreter(extent, fields, dict(values), PHASES)
    whole = lambda m: np.broadcast_to(value(m), (*extent, 3, 3))  # noqa: E731
    return fields | {name: np.stack([whole(m) for m in of.values()], axis=4) for name, of in action.links.items()}


def spinor_of(record: Lowered, seed: int, extent: tuple[int, ...] = EXTENT) -> np.ndarray:
    """A field that M acts on: axes x, y, z, t, s, flavour, spin, colour."""
    slices = SLICES if record.form is not None and record.form.has_slices else 1
    return gaussian(np.random.default_rng(seed), (*extent, slices, record.flavours, record.action.spins, 3))


def stated(action: Action, fields: Fields, psi: np.ndarray, values: Mapping[str, complex]) -> np.ndarray:
    """M psi, evaluated from the graph of the statement."""
    return Interpreter(psi.shape[:4], fields | {action.fermion: psi}, dict(values), PHASES)(action.matrix)
