"""What can be wrong with a statement, a record or a call: errors that name it and what to do."""

from __future__ import annotations


class SpecError(ValueError):
    """A record asks for something that cannot be built."""


class ExpressionError(SpecError):
    """A formula that means nothing; the message names the user's file and line and prints the formula."""


class ShapeError(ExpressionError):
    """A statement is not of the shape that was asked for; another one may serve it."""
