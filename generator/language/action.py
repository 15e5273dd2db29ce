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
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from generator.language.graph import ExpressionError, Node, Place, here, make, merged
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
OPTIONS = frozenset(
    """
    help gauge lattice allow_non_su3 action flavours anisotropy ls boundary source sink smear_links solver precision
    even_odd updates delta reconstruct basis tol restart bicgstab_l omega preconditioner max_iterations batch out
    correlators device grid policy json overwrite quiet log_level shifts criterion look_ahead operator repeat seed csv
    history
    """.split()
)
"""What options of the commands that solve mean already, whatever the action."""


@dataclass(frozen=True)
class Parameter:
    """A real parameter of an action.

    Attributes:
        help: what it is, in one line.
        default: its value where none is given; None if one must be given.
        lower, upper: least and largest value.
        unit: its unit, empty for pure numbers.
        name: as in the class.
        place: where it stands.
    """

    help: str
    default: float | None = None
    lower: float = -math.inf
    upper: float = math.inf
    unit: str = ""
    name: str = ""
    place: Place = Place("", 0)


def parameter(
    default: float | None = None,
    *,
    help: str,  # noqa: A002 (the word that the field and argparse use)
    lower: float = -math.inf,
    upper: float = math.inf,
    unit: str = "",
) -> Any:
    """What a class of an action says of a parameter beside its name; see Parameter."""
    return Parameter(help, default, lower, upper, unit, place=here())


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
        """Parameters in the order in which they were written, those of base classes first.

        Raises:
            ExpressionError: one would be an option that has another meaning.
        """
        found: dict[str, Parameter] = {}
        for cls in reversed(self.statement.__mro__):
            for name, value in vars(cls).items():
                found.pop(name, None)  # a class that gives it a value leaves no choice
                if isinstance(value, Parameter):
                    found[name] = replace(value, name=name)
        for p in found.values():
            if p.name in OPTIONS:
                option = "--" + p.name.replace("_", "-")
                raise ExpressionError(
                    f"{p.place}: {p.name} of {self.name}: the commands have an option {option} of another meaning; "
                    "use another name"
                )
        return tuple(found.values())

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
