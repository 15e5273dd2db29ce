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


def require_spinors(**fields: Any) -> None:
    """Raises TypeError if a field is neither Spinors nor an array; those but `rhs` may be None."""
    for name, field in fields.items():
        if not (isinstance(field, Spinors) or hasattr(field, "shape") or (field is None and name != "rhs")):
            found = type(field).__name__
            raise TypeError(f"{name} is {found}, not Spinors or an array; make some with source(), or with Spinors")


def solve_with(solver: _quarksmith.OpenSolver, rhs: Any, guess: Any, out: Any, reports: list[Report]) -> Any:
    """The solution x of M x = rhs, which is in `out` if that is given; its report is added to `reports` as well."""

    def spinors(given: Any) -> Spinors:
        if isinstance(given, Spinors):
            return given
        made = solver.right_hand_sides((*given.shape, 1)[0])
        made.assign(given)
        return made

    b = spinors(rhs)
    x = out if isinstance(out, Spinors) else solver.solutions(b)
    is_elsewhere = out is not None and x is not out
    if is_elsewhere:
        x.require_fits(out)
    report, failure = solver.solve(b, None if guess is None else spinors(guess), x)
    x.report = Report(report)
    reports.append(x.report)
    if is_elsewhere:
        x.lexicographic(out=out)
    if failure:
        raise NotConverged(failure, x)
    return x if out is None else out


KINDS = {"eigenvectors": Eigenvectors}
"""Classes of reports with fields of their own, by the kind of result that a command leaves."""


def call(command: Command, arguments: Mapping[str, Any]) -> Any:
    """Runs a command with the arguments that were given: those that are None or left out have their defaults."""
    values = command.values(arguments)
    if command.needs_spinors:
        fields = {name: arguments.get(name) for name in command.given}
        require_spinors(**fields)
        rhs = fields["rhs"] if isinstance(fields["rhs"], Spinors) else None
        solver = _quarksmith.open_solver(checked(values, rhs.lattice if rhs else None), rhs)
        return solve_with(solver, **fields, reports=[])
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
