"""Docstrings have brackets around what may be left out, which Markdown would take for links."""

from typing import Any

import griffe


class Brackets(griffe.Extension):
    """Escapes them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """In the docstring of any object."""
        if obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("[", "\\[")
