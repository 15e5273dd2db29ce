"""What formulas of a cell or a script are made of: fields, numbers, shifts, gamma matrices (docs/expressions.md)."""

from .cells import action, expression
from .generator import language as _language
from .generator.language import *  # noqa: F403

__all__ = [*_language.__all__]
globals().update(action=action, expression=expression)
