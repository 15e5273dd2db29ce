"""The generator in this process: compiles what a build lacks, and what cells state, with the compilers of the build."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from . import _quarksmith

if TYPE_CHECKING:
    from .generator.emit.build import Build

log = logging.getLogger("quarksmith")


@cache
def build() -> Build:
    """The build that this package comes from: its folder, or what an installed package has kept of it.

    Raises:
        UsageError: the folder of the build is gone.
    """
    from .generator.emit.build import read_build
    from .generator.folders import ROOT

    installed = Path(__file__).resolve().parent == ROOT
    with wrong_use():
        return read_build(ROOT / "build" if installed else Path(_quarksmith.build_folder))


@contextmanager
def wrong_use(name: str = "") -> Iterator[None]:
    """Errors of the generator as those of the library: UsageError for what was asked for, Error for what failed.

    Args:
        name: of the function of a cell, which they name.
    """
    from .generator.emit.ondemand import CompileError
    from .generator.errors import SpecError

    try:
        yield
    except SpecError as error:
        raise _quarksmith.UsageError(f"{name}: " * bool(name) + _in_cells(str(error))) from None
    except CompileError as error:
        raise _quarksmith.Error(str(error)) from None


def _in_cells(text: str) -> str:
    """Names cells of IPython as their prompts do, `In[3]`, where a message names the files that stand for them."""
    import sys

    if "IPython" not in sys.modules:
        return text
    shell = sys.modules["IPython"].get_ipython()
    for name, number in getattr(getattr(shell, "compile", None), "_filename_map", {}).items():
        text = text.replace(name, f"In[{number}]")
    return text


def compile_rows(rows: Sequence[str], instruction_set: str) -> list[str] | str | None:
    """Libraries for rows of a profile, one each; why there are none; or None where the generator cannot run here."""
    try:
        from .generator.emit.asked import compile_asked
        from .generator.emit.ondemand import CompileError, exclusive
        from .generator.errors import SpecError
        from .generator.profile import one_of_row
    except ModuleNotFoundError as missing:
        log.info("kernels are not compiled in this process, which lacks %s", missing.name)
        return None
    try:
        own = _for_instruction_set(instruction_set)
        specs = [one_of_row(row) for row in rows]
        with exclusive(own):
            return [str(module) for module in compile_asked(specs, own, log.info)]
    except (SpecError, CompileError, OSError, _quarksmith.UsageError) as error:
        return f"compiling on demand failed:\n{error}"


def _for_instruction_set(name: str) -> Build:
    """The build with the one table of processors that this process uses, and those of GPUs."""
    from dataclasses import replace

    from .generator.targets import HOST, TABLES

    return replace(build(), tables=(name, *(t for t in TABLES if t not in HOST.tables)))


def may_compile() -> None:
    """Raises UsageError where kernels are not to be compiled."""
    if os.environ.get("QUARKSMITH_ON_DEMAND", "on") == "off":
        raise _quarksmith.UsageError(
            "QUARKSMITH_ON_DEMAND is off, and a formula of a cell has to be compiled; unset it"
        )
