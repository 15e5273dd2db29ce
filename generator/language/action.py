"""The statement of an action: a class with parameters and a formula for its Dirac operator.

    @action
    class TwistedMass(Wilson):
        mu: Real = parameter(help="twisted mass")

        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return super().dirac(u, psi) + 1j * self.mu * gamma5 * psi

All that the library knows of a discretisation follows from such a class (generator/lower).
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from generator.language.graph import ExpressionError, Node, Place, make, merged
from generator.language.symbols import Fermion, FourMatrices, Links, Matrices, Spinor, StaggeredFermion

COMPONENTS = {"fermion": 4, "spinor": 4, "staggered": 1}
"""Colour vectors of a site by kind of field."""
ARGUMENTS: dict[Any, str] = {
    Links: "links",
    Matrices: "matrices",
    Fermion: "fermion",
    Spinor: "spinor",
    StaggeredFermion: "staggered",
}
"""Annotations of a formula's arguments."""
ABOVE_ZERO = sys.float_info.min
"""The lower bound of positive numbers."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """What commands take for an action.

    Attributes:
        help: what it is, in one line.
        lower, upper: least and largest value.
        name: as in the class; options have dashes for underscores.
    """

    help: str
    lower: float = -math.inf
    upper: float = math.inf
    name: str = ""

    @property
    def option(self) -> str:
        """`--csw-r`."""
        return f"--{option_name(self.name)}"

    @property
    def range(self) -> str:
        """What numbers must be, in words; empty if they may be any."""
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
        default: its value where none is given; None if one must be given.
        unit: its unit, empty for pure numbers.
        several: one run takes several values (masses of one Krylov space).
        each_slice: it may differ from slice to slice of a fifth dimension, and be complex.
    """

    default: float | None = None
    unit: str = ""
    several: bool = False
    each_slice: bool = False

    @property
    def meaning(self) -> str:
        """The help, and what form the value has."""
        several = ", or several: M1,M2,..." if self.several else ""
        slices = ", or one for each slice, complex ones as re:im" if self.each_slice else ""
        return f"{self.help}{f' in {self.unit}' if self.unit else ''}{several}{slices}"


def parameter(default: float | None = None, **more: Any) -> Any:
    """What a class of an action says of a parameter beside its name; see Parameter."""
    return Parameter(default=default, **more)


@dataclass(frozen=True, kw_only=True)
class Spelling(Option):
    """Another way to give parameters: an option with numbers, separated by commas, of which they are functions.

    Attributes:
        gives: a function of the numbers, named as its arguments are, that returns parameters by name.
    """

    gives: Callable[..., dict[str, Any]]

    @property
    def numbers(self) -> list[str]:
        """Names of its numbers."""
        return list(inspect.signature(self.gives).parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as functions of the numbers."""
        return self.gives(*(make("parameter", "real", (), n) for n in self.numbers))

    @property
    def meaning(self) -> str:
        """The help, and what form the value has."""
        return self.help if self.numbers == [self.name] else f"{','.join(self.numbers)}: {self.help}"


def spelling(gives: Callable[..., dict[str, Any]], **more: Any) -> Any:
    """What a class of an action says of an option that gives parameters; see Spelling."""
    return Spelling(gives=gives, **more)


def option_name(name: str) -> str:
    """A name of the table as options have it: `twisted_mass` -> `twisted-mass`."""
    return name.replace("_", "-")


@dataclass(frozen=True)
class Field:
    """An argument of a formula: its name and kind (links, matrices, fermion, staggered, spinor)."""

    name: str
    kind: str


@dataclass(frozen=True, eq=False)
class Action:
    """An action, as its statement gives it.

    Attributes:
        statement: the class that was written.
        name: in kernel names and options, `twisted_mass` for `TwistedMass`.
    """

    statement: type
    name: str = field(default="")

    def __post_init__(self) -> None:
        words = re.findall(r"[A-Z][a-z0-9]*", self.statement.__name__)
        object.__setattr__(self, "name", self.name or "_".join(w.lower() for w in words))

    @property
    def place(self) -> Place:
        """Where the formula stands."""
        code = self.statement.dirac.__code__  # type: ignore[attr-defined]
        return Place(code.co_filename, code.co_firstlineno)

    @property
    def text(self) -> str:
        """The statement's docstring, first line: what it is and its source."""
        return (inspect.getdoc(self.statement) or "").partition("\n\n")[0].replace("\n", " ")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters in the order in which they were written, those of base classes first."""
        return tuple(self._stated(Parameter))

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """Those of which the action has all parameters."""
        names = {p.name for p in self.parameters}
        return tuple(s for s in self._stated(Spelling) if names.issuperset(s.parameters))

    @property
    def options(self) -> dict[str, Option]:
        """What gives its parameters, by the names of options."""
        return {o.option: o for o in (*self.parameters, *self.spellings)}

    def _stated(self, kind: type[Option]) -> list[Any]:
        found: dict[str, Any] = {}
        for cls in reversed(self.statement.__mro__):
            for name, value in vars(cls).items():
                found.pop(name, None)  # a class that gives it a value leaves no choice
                if isinstance(value, kind):
                    found[name] = replace(value, name=name)
        return list(found.values())

    @property
    def extends(self) -> Action | None:
        """The action that means this one where options are given that this one alone has."""
        of = vars(self.statement).get("extends")
        return of.action if of else None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Arguments of the formula.

        Raises:
            ExpressionError: one has no annotation, or one that is no field.
        """
        signature = inspect.signature(self.statement.dirac, eval_str=True)  # type: ignore[attr-defined]
        result = []
        for argument in list(signature.parameters.values())[1:]:
            kind = ARGUMENTS.get(argument.annotation)
            if kind is None:
                known = ", ".join(c.__name__ for c in ARGUMENTS)
                raise ExpressionError(f"{self.place}: {argument.name} of {self.name} needs an annotation: {known}")
            result.append(Field(argument.name, kind))
        if [f.kind in COMPONENTS for f in result] != [False] * (len(result) - 1) + [True]:
            raise ExpressionError(f"{self.place}: dirac takes links, and last the fermion that it acts on")
        return tuple(result)

    @property
    def spins(self) -> int:
        """Colour vectors of a site of the fermion."""
        return COMPONENTS[self.fields[-1].kind]

    @property
    def reported_flops(self) -> int:
        """Flops a site of the hopping term that the field quotes; 0: those that are counted."""
        return int(getattr(self.statement, "reported_flops", 0))

    @cached_property
    def matrix(self) -> Node:
        """M psi as a graph.

        Raises:
            ExpressionError: at the line of the statement that means nothing.
        """
        statement = self.statement()
        for p in self.parameters:
            setattr(statement, p.name, make("parameter", "real", (), p.name))
        symbols = [
            make("load", "spinor", (), f.name) if f.kind in COMPONENTS else FourMatrices(f.name, algebra=False)
            for f in self.fields
        ]
        result = statement.dirac(*symbols)
        if not isinstance(result, Node) or result.kind != "spinor":
            raise ExpressionError(f"{self.place}: dirac of {self.name} returns {result}, no spinor")
        return merged(result)


def action(statement: type) -> Any:
    """Decorator: registers a class with parameters and `dirac` as an action; the class itself stays usable."""
    statement.action = Action(statement)  # type: ignore[attr-defined]
    return statement
