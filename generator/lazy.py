"""Mappings whose values are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import TypeVar

Value = TypeVar("Value")


class Lazy(MutableMapping[str, Value]):
    """Values by name; who asks for one that is there pays for no other.

    Attributes:
        made: those made so far, and those that were put here.
    """

    def __init__(self, names: Callable[[], Iterable[str]], make: Callable[[str], None]) -> None:
        """`make` puts what a name asks for into `made`, once; with it for all `names`, all are there, in this order."""
        self._names, self._make = names, make
        self.made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self.made:
            self._make(name)
        return self.made[name]

    def __setitem__(self, name: str, value: Value) -> None:
        self.made[name] = value

    def __delitem__(self, name: str) -> None:
        del self.made[name]

    def __iter__(self) -> Iterator[str]:
        for name in (names := list(self._names())):
            self._make(name)
        return iter([name for name in dict.fromkeys([*names, *self.made]) if name in self.made])

    def __len__(self) -> int:
        return len(list(iter(self)))
