"""What calls are given: nested values and arrays are checked before they become values of runs."""

import cmath
import os
from collections.abc import Mapping
from typing import Any

from ._quarksmith import GaugeField, Lattice, Momenta, Spinors, UsageError, WrongLattice
from .arrays import on_device
from .communicator import ranks

DEEPEST = 16
"""Levels of values inside of each other; more are taken for a dictionary or list that contains itself."""
LONGEST = 1000
"""Numbers of an array or list where no field is asked for: extents, momenta, masses."""
INSTEAD = "give a text or few numbers, or links as a GaugeField"
SITE_AXES = ((), (4,), (4, 3), (4, 3, 3), (2, 6, 6))
"""Axes of a site: scalars, phases, spinors, links and matrices, a site term."""


def checked(values: Mapping[str, Any], lattice: Lattice | None = None) -> dict[str, Any]:
    """The values of a call as the library takes them.

    Args:
        values: of its arguments, by name.
        lattice: of its fields; by default that of the links among the values, or of the run.

    Raises:
        UsageError: an array stands where none belongs, is masked, or has another shape than a field of the lattice;
            values nest too deep.
    """
    call = _Call(lattice)
    taken = {name: call.fields(v) if name == "field" else call.taken(v, name) for name, v in values.items()}
    for name, array in call.arrays:
        _check_shape(name, array.shape, call.part(taken.get("run")))
    return taken


class _Call:
    """Values of one call, and what was seen among them."""

    def __init__(self, lattice: Lattice | None) -> None:
        self.lattice = lattice
        self.arrays: list[tuple[str, Any]] = []

    def taken(self, value: Any, name: str, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise UsageError(f"{name} nests deeper than {DEEPEST} levels, or contains itself")
        if isinstance(value, GaugeField):
            self.lattice = self.lattice or value.lattice
        if isinstance(value, GaugeField | Momenta | Spinors | str | bytes | os.PathLike):
            return value
        if hasattr(value, "ndim"):
            return _few_numbers(value, name)
        if hasattr(value, "items"):
            return {
                k: self.fields(v, depth + 1) if k == "field" else self.taken(v, str(k)[:40], depth + 1)
                for k, v in value.items()
            }
        if hasattr(value, "__iter__"):
            found = [self.taken(v, name, depth + 1) for v in value]
            if _is_long(found):
                raise UsageError(f"{name} is a long list of numbers; {INSTEAD}")
            return found
        return value

    def fields(self, value: Any, depth: int = 0) -> Any:
        """What `field` is given: a dictionary of files, numbers and arrays."""
        if isinstance(value, os.PathLike) or not hasattr(value, "items"):
            return self.taken(value, "field", depth)
        return {name: self.field(v, f"field {name}") for name, v in value.items()}

    def field(self, value: Any, name: str) -> Any:
        if isinstance(value, str | bytes | os.PathLike):
            return value
        if isinstance(value, GaugeField | Momenta | Spinors):
            raise UsageError(f"{name} is {type(value).__name__}; give its numbers: lexicographic()")
        array = as_numbers(value, name)
        if array.ndim > 0:
            self.arrays.append((name, array))
            return array
        if not cmath.isfinite(number := complex(array)):
            raise UsageError(f"{name} is not finite; give a finite number")
        return number

    def part(self, run: Any) -> tuple[int, ...]:
        """Extents of this rank's part: of a lattice, or as many as a run has on one rank."""
        if self.lattice is not None:
            return self.lattice.part
        lattice = run.get("lattice") if isinstance(run, dict) else None
        extents = lattice.get("extents") if isinstance(lattice, dict) else None
        if not isinstance(extents, list) or ranks().size > 1:
            raise UsageError("field is given as an array: give the links as a GaugeField, whose part it is of")
        return tuple(extents)


def require_one_lattice(call: str, values: list[tuple[str, Any]]) -> None:
    """Raises WrongLattice if fields among the values of a call are of different lattices or devices."""
    fields = [(name, v.lattice) for name, v in values if isinstance(v, GaugeField | Momenta | Spinors)]
    for name, lattice in fields:
        first, theirs = fields[0]
        if (lattice.extent, lattice.device) != (theirs.extent, theirs.device):
            raise WrongLattice(f"{call}: {name} is on {lattice!r}, {first} on {theirs!r}; take both of one")


def as_numbers(value: Any, name: str) -> Any:
    """An array of complex numbers in the order of this machine.

    Raises:
        UsageError: it is masked, or has no numbers.
    """
    import numpy as np

    _refuse_masked(value, name)
    if on_device(value, name):
        raise UsageError(f"{name} is in the memory of a GPU; only numbers of Spinors are taken from there: copy it")
    try:
        array = np.asarray(value)
        if array.dtype.kind in ("biufcO" if array.ndim else "iufc"):
            return np.asarray(array, "complex128", order="C")
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"{name} is {type(value).__name__}; give numbers or an array of them")


def _refuse_masked(value: Any, name: str) -> None:
    if hasattr(value, "filled"):
        raise UsageError(f"{name} is a masked array; give all its numbers, as filled(...) returns them")


def _few_numbers(value: Any, name: str) -> Any:
    """An array where no field is asked for: a number, or a few as a list."""
    _refuse_masked(value, name)
    if value.ndim > 1 or (value.ndim == 1 and len(value) > LONGEST):
        shape = tuple(value.shape)
        raise UsageError(f"{name} is an array of shape {shape}; {INSTEAD}")
    return value.tolist() if value.ndim else value


def _is_long(values: list[Any]) -> bool:
    """Whether a list is one of many numbers, or of lists of lists of them, which no argument is."""
    if len(values) > LONGEST:
        return not all(isinstance(v, GaugeField | str | bytes | os.PathLike | Mapping) for v in values)
    return any(isinstance(v, list) and any(isinstance(w, list) for w in v) for v in values)


def _check_shape(name: str, shape: tuple[int, ...], part: tuple[int, ...]) -> None:
    site, wanted = shape[len(part) :], tuple(reversed(part))
    if shape[: len(part)] != wanted or site not in SITE_AXES:
        raise UsageError(f"{name}: the array has shape {shape}, the lattice {wanted} before axes of a site; reshape it")
