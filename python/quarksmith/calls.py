"""How a call becomes a command: values become the words of its options, and what it leaves becomes objects."""

import json
import logging
import os
from collections.abc import Iterable, Mapping
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


def _tell(line: str, warning: bool) -> None:
    log.log(logging.WARNING if warning else logging.INFO, line)


def call(command: Command, arguments: Mapping[str, Any]) -> Any:
    """Runs a command with the arguments that were given: those that are None or left out have their defaults."""
    gauges: dict[str, GaugeField] = {}
    given: list[str] = []
    places: list[str] = []
    for option in command.options:
        if (value := arguments.get(option.name)) is not None:
            (places if option.positional else given).extend(_words(option, value, gauges))
    rhs = arguments.get("rhs")
    if command.needs_spinors and not isinstance(rhs, Spinors):
        found = type(rhs).__name__
        raise TypeError(f"rhs is {found}, not Spinors; make some with source(), or with Spinors and assign")
    end = ["--", *places] if places else []
    json_text, text, gauge, spinors, failure = _quarksmith.run([command.flag, *given, *end], gauges, rhs, _tell)
    report = Report(json.loads(json_text) or {})
    report.text = text
    if spinors is not None:
        spinors.report = report
        if failure:
            raise NotConverged(failure, spinors)
        return spinors
    if gauge is not None:
        gauge.report = report
    return report if gauge is None else gauge
