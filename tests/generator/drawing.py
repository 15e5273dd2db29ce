"""Runs tools/plots in this process: what it imports takes longer than what it draws."""

import contextlib
import io
import runpy
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from matplotlib.figure import Figure

PLOTS = Path(__file__).parents[2] / "tools" / "plots"


@dataclass
class Drawn:
    """Exit status, what was printed and written to stderr, and the figure that was saved."""

    status: Any
    printed: str
    said: str
    figure: Figure | None

    @property
    def heading(self) -> str:
        """The title of all panels; get_suptitle needs Matplotlib 3.8."""
        return " ".join(self.figure._suptitle.get_text().split())


def draw(plot: str, *arguments: Any) -> Drawn:
    """What a plot makes of these arguments."""
    line = [str(PLOTS), plot, *map(str, arguments)]
    printed, said, kept, status = io.StringIO(), io.StringIO(), [], None
    write = Figure.savefig

    def keep(figure: Figure, *words: object, **options: object) -> None:
        kept.append(figure)
        write(figure, *words, **options)

    shown = warnings.catch_warnings()  # each time, not once a process
    streams = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said)
    with (
        mock.patch.object(sys, "argv", line),
        mock.patch.object(Figure, "savefig", keep),
        streams[0],
        streams[1],
        shown,
    ):
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(PLOTS), run_name="__main__")
        except SystemExit as end:
            status = end.code
    return Drawn(status or 0, printed.getvalue(), said.getvalue(), kept[0] if kept else None)
