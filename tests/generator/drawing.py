"""Runs a plotting tool in this process: what it imports takes longer than what it draws."""

import contextlib
import io
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

TOOLS = Path(__file__).parents[2] / "tools"


def draw(tool: str, *arguments: Any) -> tuple[Any, str]:
    """Its exit status, or the message that it exits with, and what it writes to stderr."""
    path, line = [str(TOOLS), *sys.path], [tool, *map(str, arguments)]
    said, status = io.StringIO(), None
    shown = warnings.catch_warnings()  # each time, not once a process
    with mock.patch.multiple(sys, path=path, argv=line), contextlib.redirect_stderr(said), shown:
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(TOOLS / tool), run_name="__main__")
        except SystemExit as end:
            status = end.code
    return status or 0, said.getvalue()
