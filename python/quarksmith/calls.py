"""How a call becomes a command: values become the words of its options, and what it leaves becomes objects."""

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _quarksmith
from ._quarksmith import GaugeField, Spinors
from .table import Command, Option

log = logging.getLogger("quarksmith")


class NotConverged(_quarksmith.Error):
    """A solve missed its tolerance; `solution` has the best iterates, with the report."""

    def __init__(self, text: str, solution: Spinors) -> None:
        super().__init__(text)
        self.solution = solution


class Report(dict[str, Any]):
    """What a command reports, as --json of the command has it; `text` is what it prints."""

    text: str = ""


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


def _word(value: Any) -> str:
    """A value as options spell it."""
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, complex):
        return f"{value.real!r}:{value.imag!r}"
    if isinstance(value, Iterable):
        return ",".join(_word(v) for v in value)
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number, text or sequence of them")
    return repr(value)


def _words(option: Option, value: Any, gauges: dict[str, GaugeField]) -> list[str]:
    """The words of one option; fields get names, by which the command finds them."""
    if isinstance(value, GaugeField):
        name = f"gauge field {len(gauges) + 1}"
        gauges[name] = value
        value = name
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise TypeError(f"{option.name}: {value!r} is neither True nor False")
        return [option.flag] if value else []
    if option.several and isinstance(value, Mapping):
        values = [f"{key}={_word(v)}" for key, v in value.items()]
    elif option.several and not isinstance(value, str):
        values = [_word(v) for v in value]
    else:
        values = [_word(value)]
    return values if option.positional else [f"{option.flag}={v}" for v in values]


def tell(line: str, warning: bool) -> None:
    """Takes the lines that a command writes to standard error."""
    log.log(logging.WARNING if warning else logging.INFO, line)


def words_of(command: Command, arguments: Mapping[str, Any]) -> tuple[list[str], dict[str, GaugeField]]:
    """The words of a command line for the arguments that were given, and the fields that some of them name."""
    gauges: dict[str, GaugeField] = {}
    given: list[str] = []
    places: list[str] = []
    for option in command.options:
        if (value := arguments.get(option.name)) is not None:
            (places if option.positional else given).extend(_words(option, value, gauges))
    return [command.flag, *given, *(["--", *places] if places else [])], gauges


def require_spinors(name: str, field: Any) -> None:
    """Raises TypeError if a field is none of quarks."""
    if not isinstance(field, Spinors):
        found = type(field).__name__
        raise TypeError(f"{name} is {found}, not Spinors; make some with source(), or with Spinors and assign")


def _stops(on_trajectory: Callable[[dict[str, Any]], object]) -> Callable[[str], bool]:
    """Whether a run ends with a trajectory: where the function returns False."""
    return lambda text: on_trajectory(json.loads(text)) is False


KINDS = {"eigenvectors": Eigenvectors}
"""Reports that are more, by what commands leave."""


def call(command: Command, arguments: Mapping[str, Any]) -> Any:
    """Runs a command with the arguments that were given: those that are None or left out have their defaults."""
    words, gauges = words_of(command, arguments)
    rhs, guess, on_trajectory = (arguments.get(name) for name in ("rhs", "guess", "on_trajectory"))
    if command.needs_spinors:
        require_spinors("rhs", rhs)
    if guess is not None:
        require_spinors("guess", guess)
    after = _stops(on_trajectory) if on_trajectory is not None else None
    json_text, text, gauge, spinors, failure = _quarksmith.run(words, gauges, rhs, guess, tell, after)
    report = KINDS.get(command.leaves, Report)(json.loads(json_text) or {})
    report.text = text
    if isinstance(report, Eigenvectors):
        report.vectors, report.out = spinors, os.fspath(arguments.get("out") or "")
        return report
    if spinors is not None:
        spinors.report = report
        if failure:
            raise NotConverged(failure, spinors)
        return spinors
    if gauge is not None:
        gauge.report = report
    return report if gauge is None else gauge
