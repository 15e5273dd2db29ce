"""The table of commands: what each is called, takes and says of itself, as runs are described."""

import inspect
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ._quarksmith import Member, table


@dataclass(frozen=True)
class Command:
    """A command and its arguments."""

    word: str
    """As command lines have it: `solve-bench`."""
    description: str
    leaves: str
    """What a call returns: a `gauge` field, `quarks`, `eigenvectors`, or its `report`, which these have as well."""
    members: dict[str, Member] = field(repr=False)
    """Arguments by their names in Python, `in_` for `in`."""
    given: tuple[str, ...] = ()
    """What it takes in memory besides: right-hand sides, a first guess, a function."""

    @property
    def name(self) -> str:
        """As Python has it: `solve_bench`."""
        return self.word.replace("-", "_")

    @property
    def needs_spinors(self) -> bool:
        """Whether it takes right-hand sides, which no text can name."""
        return "rhs" in self.given

    def without(self, *names: str) -> "Command":
        """The same where these are given otherwise."""
        return replace(self, given=tuple(n for n in self.given if n not in names))

    def signature(self) -> inspect.Signature:
        """Parameters and defaults; those that are words by their place, or required, may be given without names."""
        leading, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        leads = {n: m for n, m in self.members.items() if m.positional or m.required}
        parameters = [
            inspect.Parameter(n, leading, default=inspect.Parameter.empty if m.required else m.default)
            for n, m in sorted(leads.items(), key=lambda item: not item[1].required)
        ]
        if self.needs_spinors:
            parameters.insert(1, inspect.Parameter("rhs", leading))
        parameters += [inspect.Parameter(n, named, default=None) for n in self.given if n != "rhs"]
        others = sorted(self.members.keys() - leads.keys())
        return inspect.Signature(
            parameters + [inspect.Parameter(n, named, default=self.members[n].default) for n in others]
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name.

        Raises:
            TypeError: some are missing, or unknown.
        """
        try:
            return self.signature().bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None

    def values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Those that describe the run, under the names of its members: None stands for the default."""
        return {m.name: arguments[n] for n, m in self.members.items() if arguments.get(n) is not None}

    def doc(self) -> str:
        """What it does and what its arguments are."""
        lines = [f"{self.description}.", "", "Args:", *(f"    {name}: {MEANINGS[name]}" for name in self.given)]
        for name, m in self.members.items():
            where = f"with {m.where}" if m.where and m.where.removeprefix("action ") not in m.help else ""
            limits = "; ".join(filter(None, (", ".join(m.choices), m.range, where)))
            lines.append(f"    {name}: {m.help}" + (f" ({limits})" if limits else ""))
        return "\n".join(lines)


MEANINGS = {
    "rhs": "right-hand sides b: Spinors, or an array in the order of lexicographic()",
    "guess": "of the solution, likewise; iterations begin with it instead of zero",
    "out": "likewise, where the solution is written; it is returned then",
    "on_trajectory": "called after each trajectory with what the report says of it; the run ends in order if it "
    "returns False, or raises",
}
"""Of what calls take in memory."""
GIVEN = {"solve": ("rhs", "guess", "out"), "hmc": ("on_trajectory",)}


def read_table() -> tuple[Command, ...]:
    """All commands."""
    return tuple(
        Command(
            word,
            description,
            leaves,
            {f"{m.name}_" if keyword.iskeyword(m.name) else m.name: m for m in members},
            GIVEN.get(word, ()),
        )
        for word, description, leaves, members in table()
    )
