"""What formulas of a cell or a script are made of: fields, numbers, shifts, gamma matrices (docs/expressions.md)."""

from . import cells
from .generator import language as _language
from .generator.language import *  # noqa: F403

__all__ = [*_language.__all__]
action, expression = cells.action, cells.expression  # in place of the generator's, which make no kernels
