"""Lines of a user's file: where a formula was written, and where it went wrong."""

from __future__ import annotations

import contextlib
import difflib
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import ExpressionError, SpecError

FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Place:
    """A line of the user's file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@cache
def _is_own(file: str) -> bool:
    return file.startswith((FOLDER, "<string>", "<frozen"))


def here() -> Place:
    """The line of the user's file that led to this call, past all functions of this package in between."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        _is_own(frame.f_code.co_filename) or frame.f_globals.get("__name__") == "quarksmith.cells"
    ):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


@contextlib.contextmanager
def at_their_line(place: Place) -> Iterator[None]:
    """Turns an exception of a user's function into an error at its file's last line in the traceback, or at `place`."""
    try:
        yield
    except SpecError:
        raise
    except (Exception, SystemExit) as error:
        theirs = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == place.file]
        where = Place(place.file, theirs[-1].lineno or place.line) if theirs else place
        if isinstance(error, SyntaxError) and error.filename:
            where = Place(error.filename, error.lineno or 1)
        why = error.msg if isinstance(error, SyntaxError) else str(error).partition("\n")[0]
        raise ExpressionError(f"{where}: {type(error).__name__}: {_remedied(why, error)}") from error


_CALLED = {
    "Node": "a formula",
    "Four": "a field of links (u[mu] is a matrix)",
    "Direction": "a direction",
    "Step": "a step",
    "Stored": "a stored field",
    "Formula": "an expression",
}
"""What a user knows the classes of this package as."""
_KNOWN = "fields and formulas take + - * / and functions such as adj, shift and trace (docs/expressions.md)"


def _remedied(why: str, error: BaseException) -> str:
    """The message of an exception of Python in terms of the language, and what to do."""
    if isinstance(error, NameError) and error.name and error.__traceback__:
        frame = list(traceback.walk_tb(error.__traceback__))[-1][0]
        similar = difflib.get_close_matches(error.name, [*frame.f_locals, *frame.f_globals], n=1)
        return f"{why}; {f'did you mean {similar[0]}?' if similar else 'import or define it'}"
    said = re.sub(rf"(type )?'?\b({'|'.join(_CALLED)})\b'?( object)?", lambda m: _CALLED[m[2]], why)
    return why if said == why else f"{said}; {_KNOWN}"
