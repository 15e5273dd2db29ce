"""A solver that is kept for many right-hand sides."""

from typing import Any, TypeVar, overload

from . import _quarksmith, commands
from ._quarksmith import Spinors
from .arrays import Array
from .calls import Report, require_spinors, solve_with
from .given import checked

Field = Spinors | Array
T = TypeVar("T")


class Solver:
    """An action on a gauge field, set up once: M x = b for right-hand sides that come one after another.

    Site terms, even-odd forms, links in lower precision, eigenvectors and the levels of multigrid are kept. The
    arguments are those of `solve` without `rhs`; links and right-hand sides are of one lattice.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs = commands.with_action(kwargs)
        command = commands.TABLE["solve"].without("rhs", "guess", "out")
        bound = command.bind(args, kwargs)
        self._solver = _quarksmith.open_solver(checked(command.values(bound)), None)
        self._said = ", ".join(f"{name}={value!r}" for name, value in bound.items())
        self.reports: list[Report] = []
        """Of its calls."""

    def __repr__(self) -> str:
        return f"Solver({self._said}; {len(self.reports)} calls)"

    @overload
    def __call__(self, rhs: Field, guess: Field | None = None, out: None = None) -> Spinors: ...
    @overload
    def __call__(self, rhs: Field, guess: Field | None = None, *, out: T) -> T: ...
    def __call__(self, rhs: Field, guess: Field | None = None, out: Any = None) -> Any:
        """The x with M x = b.

        Args:
            rhs: right-hand sides b: Spinors, or an array in the order of `lexicographic`.
            guess: of the solution, likewise; iterations begin with it instead of zero.
            out: likewise, where the solution is written; it is returned then.

        Raises:
            NotConverged: a solve missed its tolerance; `solution` has the best iterates.
            UsageError: rhs, guess or out is of another lattice, or of other quarks.
        """
        require_spinors(rhs=rhs, guess=guess, out=out)
        return solve_with(self._solver, rhs, guess, out, self.reports)
