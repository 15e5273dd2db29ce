"""A solver that is kept for many right-hand sides."""

import json
from typing import Any

from . import _quarksmith, commands
from ._quarksmith import Spinors
from .calls import NotConverged, Report, require_spinors, tell, words_of


class Solver:
    """An action on a gauge field, set up once: M x = b for right-hand sides that come one after another.

    Site terms, even-odd forms, links in lower precision, eigenvectors and the levels of multigrid are kept. The
    arguments are those of `solve` without `rhs`; links and right-hand sides are of one lattice.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        command = commands.TABLE["solve"].without("rhs", "guess")
        words, gauges = words_of(command, command.bind(args, kwargs))
        self._solver = _quarksmith.open_solver(words, gauges, tell)
        self.reports: list[Report] = []
        """Of its calls."""

    def __call__(self, rhs: Spinors, guess: Spinors | None = None) -> Spinors:
        """The x with M x = b.

        Args:
            rhs: right-hand sides b.
            guess: of the solution; iterations begin with it instead of zero.

        Raises:
            NotConverged: a solve missed its tolerance; `solution` has the best iterates.
            UsageError: rhs or guess is of another lattice, or of other quarks.
        """
        require_spinors("rhs", rhs)
        if guess is not None:
            require_spinors("guess", guess)
        text, x, failure = self._solver.solve(rhs, guess, tell)
        x.report = Report(json.loads(text))
        self.reports.append(x.report)
        if failure:
            raise NotConverged(failure, x)
        return x
