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
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from ..errors import ExpressionError
from .graph import Direction, Node, check_size
from .parameters import Alternative, Option, Parameter
from .place import Place, at_their_line, here
from .printed import digest_of, printed
from .statement import class_of
from .symbols import (
    Complex,
    Fermion,
    Links,
    Matrices,
    Phases,
    Scalars,
    Spinor,
    StaggeredFermion,
    directions,
    symbol,
)
from .walks import all_merged, merged

COMPONENTS = {"fermion": 4, "staggered": 1}
"""Colour vectors of a site by kind of the field that a matrix acts on."""
ARGUMENTS: dict[Any, str] = {
    Links: "links",
    Matrices: "matrices",
    Scalars: "scalars",
    Phases: "phases",
    Spinor: "spinor",
    Fermion: "fermion",
    StaggeredFermion: "staggered",
}
"""Annotations of a formula's arguments."""
SMEARED = ("smeared", "links")
"""The field that a statement without a Dirac operator makes."""
RESERVED = ("action", "dirac", "extends", "links", "reported_flops")
"""Names of methods with a meaning in classes of actions."""
OPTIONS = frozenset(
    """
    help gauge lattice allow_non_su3 action flavours ls boundary source sink smear_links solver precision
    even_odd updates delta reconstruct basis tol restart bicgstab_l omega preconditioner max_iterations batch out
    correlators device grid policy json overwrite ignore_checksum quiet log_level shifts criterion
    look_ahead operator repeat seed split
    csv history field deflate time_limit mg search keep slice_tol
    mg_load mg_save mg_refresh within columns solves_alone levels rhs guess on_trajectory
    stout_rho stout_steps stout_directions
    """.split()
)
"""Options of commands that solve, whose names no parameter may have; the last ones are of other callers."""


@dataclass(frozen=True)
class Field:
    """A field of a statement besides the fermion that its matrix acts on.

    Attributes:
        name: of the argument.
        kind: one of ARGUMENTS.
        origin: `gauge`: the links of a configuration; `given`: the caller brings it, by its name; `made`: the
            statement makes it of the others.
    """

    name: str
    kind: str
    origin: Literal["gauge", "given", "made"]


@dataclass(frozen=True, eq=False)
class Action:
    """An action, as its statement gives it.

    Attributes:
        statement: the class that was written.
        name: in kernel names, `twisted_mass` for `TwistedMass`; of a program's second statement of that name another.
        called: in options, where it may stand for the latest of several statements.
    """

    statement: type
    name: str = ""
    called: str = ""

    def __post_init__(self) -> None:
        of, words = self.statement, re.findall(r"[A-Z][a-z0-9]*", self.statement.__name__)
        if "".join(words) != of.__name__:
            raise ExpressionError(f"{here()}: {of.__name__}: name it by words with capital letters, as TwistedMass")
        if not hasattr(getattr(of, "dirac", getattr(of, "links", None)), "__code__"):
            raise ExpressionError(f"{here()}: {of.__name__} has no function dirac, nor links")
        object.__setattr__(self, "called", self.called or "_".join(w.lower() for w in words))
        object.__setattr__(self, "name", self.name or self.called)

    @property
    def has_matrix(self) -> bool:
        """Whether it states a Dirac operator; one that does not makes links alone, as smearings do."""
        return hasattr(self.statement, "dirac")

    @property
    def place(self) -> Place:
        """Where the formula stands."""
        code = getattr(self.statement, "dirac" if self.has_matrix else "links").__code__
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
        for p in (stated := self._stated(Parameter)):
            if p.name in OPTIONS:
                raise ExpressionError(
                    f"{p.place}: {p.name} of {self.name}: the commands have an option {p.option} of another meaning; "
                    "use another name"
                )
            if p.name.endswith("_") or p.name in RESERVED or not p.name.isascii():
                raise ExpressionError(
                    f"{p.place}: {p.name} of {self.name}: use another name, without an underscore behind"
                )
        return tuple(stated)

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Alternative parameters for which the action has all the parameters that they give.

        Raises:
            ExpressionError: one gives what the statement does not have.
        """
        stated = self._stated(Alternative)
        for s in stated:
            for name in s.parameters:
                if not hasattr(self.statement, name):
                    raise ExpressionError(f"{self.place}: {s.name} of {self.name} gives {name}, which is no parameter")
        names = {p.name for p in self.parameters}
        return tuple(s for s in stated if names.issuperset(s.parameters))

    @property
    def options(self) -> dict[str, Option]:
        """Parameters and alternative parameters of the action, by the names of options."""
        return {o.option: o for o in (*self.parameters, *self.alternatives)}

    def _stated(self, kind: type[Option]) -> list[Any]:
        found: dict[str, Any] = {}
        for cls in reversed(self.statement.__mro__):
            for name, value in vars(cls).items():
                found.pop(name, None)  # a class that gives it a value leaves no choice
                if isinstance(value, kind):
                    found[name] = self._named(value, name, cls)
        return list(found.values())

    @staticmethod
    def _named(option: Option, name: str, of: type) -> Option:
        """An option under its name in a class, whose annotation says whether a parameter is complex."""
        if not isinstance(option, Parameter):
            return replace(option, name=name)
        return replace(option, name=name, complex=inspect.get_annotations(of, eval_str=True).get(name) is Complex)

    @property
    def extends(self) -> Action | None:
        """The action that means this one where options are given that this one alone has."""
        of = vars(self.statement).get("extends")
        if of and not hasattr(of, "action"):
            raise ExpressionError(f"{self.place}: {self.name} extends {of!r}; give a class marked @action")
        return of.action if of else None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields that the statement reads, the gauge field first, then those that it makes.

        The gauge field is the argument of `links`, if there is such a method, else the first argument of the kind
        Links.

        Raises:
            ExpressionError: an argument has no annotation, or one that is no field.
        """
        inner = self._arguments("links") if hasattr(self.statement, "links") else []
        outer = [a for a in self._arguments("dirac")[:-1] if a not in inner] if self.has_matrix else [SMEARED]
        made = [a for a in outer if a[1] in ("links", "matrices")] if inner else []
        read = [*inner, *(a for a in outer if a not in made)]
        gauge = next((a for a in read if a[1] == "links"), None)
        given = [Field(*a, "gauge" if a == gauge else "given") for a in read]
        return (*sorted(given, key=lambda f: f.origin != "gauge"), *(Field(*a, "made") for a in made))

    def field(self, name: str) -> Field:
        """The field of this name."""
        return next(f for f in self.fields if f.name == name)

    @property
    def fermion(self) -> str:
        """Name of the field that the matrix acts on; empty if there is none."""
        return self._arguments("dirac")[-1][0] if self.has_matrix else ""

    def _arguments(self, method: str) -> list[tuple[str, str]]:
        """Names and kinds of what a method takes."""
        signature = inspect.signature(getattr(self.statement, method), eval_str=True)
        own, *taken = signature.parameters.values()
        if own.annotation is not own.empty:
            raise ExpressionError(f"{self.place}: {method} of {self.name} is a method; its first argument is self")
        found = []
        for argument in taken:
            kind = ARGUMENTS.get(argument.annotation)
            if kind is None:
                known = ", ".join(c.__name__ for c in ARGUMENTS)
                raise ExpressionError(f"{self.place}: {argument.name} of {self.name} needs an annotation: {known}")
            if argument.name.endswith("_"):
                raise ExpressionError(f"{self.place}: {argument.name} of {self.name}: names end without an underscore")
            found.append((argument.name, kind))
        fermions = [kind in COMPONENTS for _, kind in found]
        if fermions != [False] * (len(found) - 1) + [method == "dirac"]:
            raise ExpressionError(
                f"{self.place}: {method} of {self.name} takes fields"
                + (", and last the fermion that it acts on" if method == "dirac" else " without a fermion")
            )
        return found

    @cached_property
    def spins(self) -> int:
        """Colour vectors of a site of the fermion."""
        return COMPONENTS[self._arguments("dirac")[-1][1]]

    @property
    def reported_flops(self) -> int:
        """Flops a site of the hopping term that the field quotes; 0: those that are counted."""
        flops = getattr(self.statement, "reported_flops", 0)
        if not isinstance(flops, int):
            raise ExpressionError(f"{self.place}: reported_flops of {self.name} is {flops!r}; give a whole number")
        return flops

    @cached_property
    def matrix(self) -> Node:
        """M psi as a graph, of fields by their names.

        Raises:
            ExpressionError: at the line of the statement that means nothing.
        """
        result = self._evaluated("dirac")
        if result is None:
            raise ExpressionError(f"{self.place}: dirac of {self.name} returns nothing; end it with `return` and M psi")
        if not isinstance(result, Node) or result.kind != "spinor":
            raise ExpressionError(f"{self.place}: dirac of {self.name} returns {result}, no spinor")
        return merged(check_size(result))

    @cached_property
    def links(self) -> dict[str, dict[Direction, Node]]:
        """Fields that the statement makes, as one graph of those that it reads: by name, by direction.

        Raises:
            ExpressionError: the statement gives other fields than the formula has, or not four matrices of each.
        """
        names = [f.name for f in self.fields if f.origin == "made"]
        if not hasattr(self.statement, "links"):
            return {}
        given = self._evaluated("links")
        made = given if isinstance(given, tuple) else (given,)
        four = [[self._matrix_of(field, mu) for mu in directions] for field in made]
        if len(four) != len(names):
            takes = ", ".join(names) or "no fields of links beside those that links takes: give them another name there"
            raise ExpressionError(
                f"{self.place}: links of {self.name} returns {len(four)} fields, but dirac takes {takes}"
            )
        nodes = iter(all_merged([check_size(node) for field in four for node in field]))
        return {name: {mu: next(nodes) for mu in directions} for name in names}

    @cached_property
    def digest(self) -> str:
        """Of M and of the fields that it is made of, whatever file or class states them."""
        roots = [("", self.matrix)] if self.has_matrix else []
        roots += [(f"{n}[{mu.name}] = ", m) for n, four in self.links.items() for mu, m in four.items()]
        fields = [f"{f.name}: {f.kind} {f.origin}" for f in self.fields]
        return digest_of(*fields, *((self.fermion, str(self.spins)) if self.has_matrix else ()), printed(roots))

    @property
    def says(self) -> str:
        """All that is stated: two statements that say the same are one."""
        gives = [f"{s.name} {s.numbers} {s.parameters}" for s in self.alternatives]
        kinds = [f"{p.name} {p.default} {p.several} {p.each_slice} {p.complex}" for p in self.parameters]
        ranges = [f"{o.meaning} {o.lower} {o.upper}" for o in self.options.values()]
        return digest_of(self.digest, self.text, *kinds, *gives, *ranges)

    def _matrix_of(self, field: Any, mu: Direction) -> Node:
        try:
            node = field[mu]
        except (KeyError, TypeError):
            node = None
        if not isinstance(node, Node) or node.kind != "matrix":
            raise ExpressionError(
                f"{self.place}: links of {self.name} returns no matrix for direction {mu.name}; give four of each field"
            )
        return node

    def _evaluated(self, method: str) -> Any:
        """Calls a method with symbols in place of fields and parameters, and returns its result.

        Raises:
            ExpressionError: it raises anything, at the line of the statement where it does.
        """
        arguments = [symbol(name, "spinor" if kind in COMPONENTS else kind) for name, kind in self._arguments(method)]
        with at_their_line(self.place):
            statement = self.statement()
            for p in self.parameters:
                setattr(statement, p.name, replace(symbol(p.name, "complex" if p.complex else "real"), place=p.place))
            return getattr(statement, method)(
                *(replace(a, place=self.place) if isinstance(a, Node) else a for a in arguments)
            )


def action(statement: type | Callable[..., Any]) -> Any:
    """Decorator: registers a class with parameters and `dirac` as an action; the class itself stays usable.

    A function of fields, the fermion last, and of numbers is such a class with the numbers as parameters.
    """
    if not isinstance(statement, type):
        if not inspect.isfunction(statement):
            raise ExpressionError(f"{here()}: {statement!r} is no class or function; write @action above one")
        statement = class_of(statement)
    if isinstance(option := vars(statement).get("action"), Option):
        raise ExpressionError(f"{option.place}: action of {statement.__name__} has another meaning; use another name")
    statement.action = Action(statement)  # type: ignore[attr-defined]
    return statement
