"""Where files lie that the generator reads: in the repository, or in the Python package, which has the same folders."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Holds `templates`, the headers of `runtime` and the results in `generated/tuned`."""
