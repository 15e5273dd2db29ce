"""Lattice QCD: fields in memory, and all that the command `quarksmith` does, one call each (docs/python.md)."""

import os

# Threads that wait give way to others soon, as in the command. OpenMP reads this once, when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from typing import TYPE_CHECKING, Any

from . import _quarksmith, commands
from ._quarksmith import (
    BadData,
    Error,
    GaugeField,
    Lattice,
    MissingKernel,
    Momenta,
    NotSU3,
    OutOfMemory,
    Spinors,
    UnknownName,
    UsageError,
    WrongLattice,
    gamma,
    source,
)
from ._quarksmith import version as __version__
from .arrays import use_pool
from .calls import Eigenvectors, NotConverged, Report
from .commands import *  # noqa: F403
from .communicator import Ranks, end_together, ranks, use_ranks
from .compiler import compile_rows
from .forces import Monomials, check_forces
from .solver import Solver

_quarksmith.compile_with(compile_rows)
if _quarksmith.launched():
    end_together()

if TYPE_CHECKING:
    from .cells import action as action
    from .cells import expression as expression

__all__ = [
    "BadData",
    "Eigenvectors",
    "Error",
    "GaugeField",
    "Lattice",
    "MissingKernel",
    "Momenta",
    "Monomials",
    "NotConverged",
    "NotSU3",
    "OutOfMemory",
    "Ranks",
    "Report",
    "Solver",
    "Spinors",
    "UnknownName",
    "UsageError",
    "WrongLattice",
    "__version__",
    "check_forces",
    "gamma",
    "ranks",
    "source",
    "use_pool",
    "use_ranks",
    *commands.__all__,
]


def __getattr__(name: str) -> Any:
    """Decorators of cells, which bring the generator: it is loaded where they are used."""
    if name not in ("action", "expression"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import cells

    return getattr(cells, name)
