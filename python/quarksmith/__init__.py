"""Lattice QCD: fields in memory, and all that the command `quarksmith` does, one call each (docs/python.md)."""

import os

# Threads that wait give way to others soon, as in the command. OpenMP reads this once, when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from . import commands
from ._quarksmith import (
    BadData,
    Error,
    GaugeField,
    Lattice,
    MissingKernel,
    NotSU3,
    OutOfMemory,
    Spinors,
    UnknownName,
    UsageError,
    WrongLattice,
    source,
)
from ._quarksmith import version as __version__
from .calls import NotConverged, Report
from .commands import *  # noqa: F403

__all__ = [
    "BadData",
    "Error",
    "GaugeField",
    "Lattice",
    "MissingKernel",
    "NotConverged",
    "NotSU3",
    "OutOfMemory",
    "Report",
    "Spinors",
    "UnknownName",
    "UsageError",
    "WrongLattice",
    "__version__",
    "source",
    *commands.__all__,
]
