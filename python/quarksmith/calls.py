"""Runs a command for a call from Python, and turns its results into objects."""

import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

from . import _quarksmith
from ._quarksmith import Spinors
from .given import checked
from .table import Command

log = logging.getLogger("quarksmith")
if "ipykernel" in sys.modules and not log.handlers:  # in a notebook progress is shown, unless logging is set up
    log.addHandler(logging.StreamHandler())
    log.handlers[0].addFilter(lambda record: not logging.root.handlers)
    log.setLevel(logging.INFO)


class NotConverged(_quarksmith.Error):
    """A solve missed its tolerance; `solution` has the best iterates, with the report."""

    def __init__(self, text: str, solution: Spinors) -> None:
        super().__init__(text)
        self.solution = solution


class Report(dict[str, Any]):
    """What a command reports, as --json of the command has it; `text` is what it prints."""

    text: str = ""

    def __repr__(self) -> str:
        return self.text.rstrip() or f"{type(self).__name__}({', '.join(self)})"


class Eigenvectors(Report):
    """What `eigen` reports, and the eigenvectors: `vectors` has one as each right-hand side, |v| = 1, on all sites.

    Solves take them from the file of `out`: `solve(u, b, deflate=found)`.
    """

    vectors: Spinors | None = None
    """None: they are on slices of a fifth dimension."""
    out: str = ""

    @property
    def eigenvalues(self) -> list[float]:
        """Ascending in modulus."""
        return list(self["eigenvalues"])

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._memory().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._memory().__dlpack_device__()

    def __fspath__(self) -> str:
        if not self.out:
            raise _quarksmith.UsageError(
                "these eigenvectors are in no file, from which solves take them; give eigen out="
            )
        return self.out

    def _memory(self) -> Spinors:
        if self.vectors is None:
            raise _quarksmith.UsageError(
                "eigenvectors on slices of a fifth dimension are in files alone; give eigen out="
            )
        return self.vectors


def require_spinors(rhs: Any, guess: Any) -> None:
    """Raises TypeError if a right-hand side or a guess is not Spinors; a guess may be None."""
    for name, field in [("rhs", rhs), *([] if guess is None else [("guess", guess)])]:
        if not isinstance(field, Spinors):
            found = type(field).__name__
            raise TypeError(f"{name} is {found}, not Spinors; make some with source(), or with Spinors and assign")


def solve_with(solver: _quarksmith.OpenSolver, rhs: Any, guess: Any, reports: list[Report]) -> Spinors:
    """The solution x of M x = rhs; its report is added to `reports` as well."""
    x, report, failure = solver.solve(rhs, guess)
    x.report = Report(report)
    reports.append(x.report)
    if failure:
        raise NotConverged(failure, x)
    return x


KINDS = {"eigenvectors": Eigenvectors}
"""Classes of reports with fields of their own, by the kind of result that a command leaves."""


def call(command: Command, arguments: Mapping[str, Any]) -> Any:
    """Runs a command with the arguments that were given: those that are None or left out have their defaults."""
    values = command.values(arguments)
    if command.needs_spinors:
        rhs, guess = arguments["rhs"], arguments.get("guess")
        require_spinors(rhs, guess)
        return solve_with(_quarksmith.open_solver(checked(values, rhs.lattice), rhs), rhs, guess, [])
    found, text, gauge, spinors = _quarksmith.run(command.word, checked(values), arguments.get("on_trajectory"))
    report = KINDS.get(command.leaves, Report)(found or {})
    report.text = text
    if isinstance(report, Eigenvectors):
        report.vectors, report.out = spinors, os.fsdecode(arguments.get("out") or "")
        return report
    for field in (spinors, gauge):
        if field is not None:
            field.report = report
            return field
    return report
