"""Parameters of an action as its class declares them: help, default, range, alternative parameters."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from ..errors import ExpressionError
from .graph import Node, constant, is_uniform, make
from .place import Place, at_their_line, here

ABOVE_ZERO = sys.float_info.min
"""The lower bound of positive numbers."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of commands that belongs to an action.

    Attributes:
        help: its meaning, in one line.
        lower, upper: least and largest value.
        name: as in the class; command-line options have dashes for underscores.
        place: file and line of its declaration.
    """

    help: str
    lower: float = -math.inf
    upper: float = math.inf
    name: str = ""
    place: Place = Place("", 0)

    @property
    def option(self) -> str:
        """The option on the command line, such as `--csw-r`."""
        return f"--{option_name(self.name)}"

    @property
    def range(self) -> str:
        """The allowed range of numbers, in words; empty if there is none."""
        if self.lower == ABOVE_ZERO and math.isinf(self.upper):
            return "a positive number"
        if math.isinf(self.lower):
            return "" if math.isinf(self.upper) else f"a number of at most {self.upper:g}"
        if math.isinf(self.upper):
            return f"a number of at least {self.lower:g}"
        return f"a number from {self.lower:g} to {self.upper:g}"

    @property
    def meaning(self) -> str:
        """The help, and what form the value has."""
        return self.help


@dataclass(frozen=True, kw_only=True)
class Parameter(Option):
    """A real parameter of an action: runs record it, and an option has its name.

    Attributes:
        default: the value if none is given; None if one must be given.
        unit: the unit, empty for pure numbers.
        several: whether one run takes several values (masses of one Krylov space).
        each_slice: whether it may differ from slice to slice of a fifth dimension, and be complex.
        complex: whether it is annotated as Complex.
    """

    default: float | None = None
    unit: str = ""
    several: bool = False
    each_slice: bool = False
    complex: bool = False

    @property
    def meaning(self) -> str:
        """The help, and what form the value has."""
        several = ", or several: M1,M2,..." if self.several else ""
        slices = ", or one for each slice, complex ones as re:im" if self.each_slice else ""
        numbers = ", a number or re:im" if self.complex else ""
        return f"{self.help}{f' in {self.unit}' if self.unit else ''}{several}{slices}{numbers}"


def parameter(default: float | None = None, **more: Any) -> Any:
    """Declares a parameter in the class of an action: default, help, unit, range; see Parameter."""
    if default is not None and not _is_number(default):
        raise ExpressionError(f"{here()}: the default is no finite number; give one, or leave it out")
    return _declared(Parameter, default=default, **more)


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # of a whole number that no double holds
        return False


def _declared(kind: type[Option], **more: Any) -> Any:
    """An option, if what its statement says of it means something."""
    place, known = here(), {f.name for f in fields(kind)} - {"name", "place", "complex"}
    if wrong := sorted(more.keys() - known):
        raise ExpressionError(f"{place}: {wrong[0]}=... is unknown here; use {', '.join(sorted(known))}")
    if not isinstance(more.get("help"), str):
        raise ExpressionError(f"{place}: an option says what it is; give help='...'")
    if not all(isinstance(more.get(bound, 0), int | float) for bound in ("lower", "upper")):
        raise ExpressionError(f"{place}: lower and upper are numbers, the least and the largest value")
    return kind(place=place, **more)


@dataclass(frozen=True, kw_only=True)
class Alternative(Option):
    """An alternative parameter: an option whose numbers, separated by commas, determine other parameters.

    Attributes:
        gives: a function that returns parameters by name; its arguments are the numbers and have their names.
    """

    gives: Callable[..., dict[str, Any]]

    @property
    def numbers(self) -> list[str]:
        """Names of the numbers that the option takes, those of the arguments of `gives`."""
        return list(inspect.signature(self.gives).parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as functions of the numbers.

        Raises:
            ExpressionError: `gives` fails, or returns no dictionary with names of parameters.
        """
        with at_their_line(self.place):
            given = self.gives(*(make("parameter", "real", (), n) for n in self.numbers))
        good = isinstance(given, dict) and all(
            isinstance(name, str) and (isinstance(n, int | float) or (isinstance(n, Node) and is_uniform(n)))
            for name, n in given.items()
        )
        if not good:
            raise ExpressionError(f"{self.place}: a spelling gives parameters by name, {{'mass': 1 / (2 * kappa) - 4}}")
        return {name: n if isinstance(n, Node) else constant(float(n)) for name, n in given.items()}

    @property
    def meaning(self) -> str:
        """The help, and what form the value has."""
        return self.help if self.numbers == [self.name] else f"{','.join(self.numbers)}: {self.help}"


def spelling(gives: Callable[..., dict[str, Any]], **more: Any) -> Any:
    """Declares an alternative parameter in the class of an action, a function that gives others; see Alternative."""
    if not callable(gives):
        raise ExpressionError(f"{here()}: {gives!r} is no function of numbers that gives parameters by name")
    return _declared(Alternative, gives=gives, **more)


def option_name(name: str) -> str:
    """The name of a parameter as an option: `twisted_mass` -> `twisted-mass`."""
    return name.replace("_", "-")
