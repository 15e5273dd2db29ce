"""The ranks that calls are of: those that were started together, or those of a communicator."""

import sys
import traceback
from types import TracebackType
from typing import Any, NamedTuple

from . import _quarksmith


class Ranks(NamedTuple):
    """Where this process is among those that share lattices."""

    rank: int
    size: int


def ranks() -> Ranks:
    """Number of this process among those that calls are of, from 0, and how many these are.

    Collective at first, as all calls are where there are several.
    """
    return _take(_quarksmith.ranks())


def use_ranks(which: Any) -> Ranks:
    """Chooses the ranks that all calls from here on are of; those call this.

    Fields that were made before belong to the ranks of then.

    Args:
        which: a communicator of mpi4py, or another object whose `py2f()` gives its number in Fortran, or that number;
            `"all"`, the default: all processes that were started together; `"self"`: this one alone.

    Raises:
        UsageError: it is none of these, or of another MPI library than this one uses.
    """
    if isinstance(which, str):
        if which not in ("all", "self"):
            raise _quarksmith.UsageError(f"use_ranks: {which!r} is unknown; use 'all', 'self' or a communicator")
        return _take(_quarksmith.use_all() if which == "all" else _quarksmith.use_self())
    if isinstance(which, bool) or not (isinstance(which, int) or hasattr(which, "py2f")):
        raise _quarksmith.UsageError(
            f"use_ranks: {type(which).__name__} is no communicator; use one of mpi4py, 'all' or 'self'"
        )
    if isinstance(which, int):
        return _take(_quarksmith.use_communicator(which))
    _require_same_library(which)
    return _take(_quarksmith.use_communicator(which.py2f()))


def _require_same_library(communicator: Any) -> None:
    """Raises UsageError for a communicator of another MPI library: its numbers mean nothing to ours."""
    module = sys.modules.get(type(communicator).__module__)
    own = _quarksmith.mpi_library()
    if module is None or not own or not hasattr(module, "Get_library_version"):
        return
    theirs = str(module.Get_library_version())
    if not theirs.startswith(own):
        name = theirs.split(",")[0].split("\n")[0]
        raise _quarksmith.UsageError(
            f"use_ranks: {module.__name__} uses {name}, quarksmith {own}; install an mpi4py for {own}"
        )


def _take(place: tuple[int, int]) -> Ranks:
    found = Ranks(*place)
    if found.size > 1:
        end_together()
    return found


def end_together() -> None:
    """From here on an exception that nobody catches ends all ranks, if they have joined."""
    if sys.excepthook is not _end:
        _before.append(sys.excepthook)
        sys.excepthook = _end


_before: list[Any] = []


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Reports an uncaught exception, once if all ranks have met it; ends the job if some have not, as they may wait."""
    if _quarksmith.joined() == 1:
        _before[-1](kind, error, trace)
        return
    all_failed, alike = _quarksmith.meet_in_error("".join(traceback.format_exception_only(kind, error)))
    rank, _ = _quarksmith.ranks()
    if not alike:
        print(f"rank {rank}:", file=sys.stderr)
    if not alike or rank == 0:
        _before[-1](kind, error, trace)
    if not all_failed:
        sys.stderr.flush()
        _quarksmith.abort(1)
