"""A solver that is kept for many right-hand sides."""

from typing import Any

from . import _quarksmith, commands
from ._quarksmith import Spinors
from .calls import Report, require_spinors, solve_with
from .given import checked


class Solver:
    """An action on a gauge field, set up once: M x = b for right-hand sides that come one after another.

    Site terms, even-odd forms, links in lower precision, eigenvectors and the levels of multigrid are kept. The
    arguments are those of `solve` without `rhs`; links and right-hand sides are of one lattice.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs = commands.with_action(kwargs)
        command = commands.TABLE["solve"].without("rhs", "guess")
        bound = command.bind(args, kwargs)
        self._solver = _quarksmith.open_solver(checked(command.values(bound)), None)
        self._said = ", ".join(f"{name}={value!r}" for name, value in bound.items())
        self.reports: list[Report] = []
        """Of its calls."""

    def __repr__(self) -> str:
        return f"Solver({self._said}; {len(self.reports)} calls)"

    def __call__(self, rhs: Spinors, guess: Spinors | None = None) -> Spinors:
        """The x with M x = b.

        Args:
            rhs: right-hand sides b.
            guess: of the solution; iterations begin with it instead of zero.

        Raises:
            NotConverged: a solve missed its tolerance; `solution` has the best iterates.
            UsageError: rhs or guess is of another lattice, or of other quarks.
        """
        require_spinors(rhs, guess)
        return solve_with(self._solver, rhs, guess, self.reports)
