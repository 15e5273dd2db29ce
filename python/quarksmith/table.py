"""The table of commands: what each is called, takes and says of itself. All of it comes from the command's options."""

import inspect
import json
import keyword
from dataclasses import dataclass, field, replace
from typing import Any

from . import _quarksmith


@dataclass(frozen=True)
class Option:
    """An option or positional argument of a command."""

    flag: str
    """As command lines have it: `--max-iterations`."""
    description: str
    kind: str
    """FLOAT, INT, UINT, TEXT, ..., or `flag` of those without a value."""
    default: Any
    choices: tuple[str, ...]
    positional: bool
    required: bool
    several: bool

    @property
    def name(self) -> str:
        """As Python has it: `max_iterations`."""
        name = self.flag.lstrip("-").replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) else name

    @property
    def leads(self) -> bool:
        """Whether it may be given without its name: arguments, and what a command cannot do without."""
        return self.positional or self.required


@dataclass(frozen=True)
class Command:
    """A command and its options."""

    flag: str
    description: str
    leaves: str
    """What a call returns: a `gauge` field, `quarks`, `eigenvectors`, or its `report`, which these have as well."""
    options: tuple[Option, ...] = field(repr=False)
    given: tuple[str, ...] = ()
    """What it takes in memory besides: right-hand sides, a first guess, a function."""

    @property
    def name(self) -> str:
        """As Python has it: `solve_bench`."""
        return self.flag.replace("-", "_")

    @property
    def needs_spinors(self) -> bool:
        """Whether it takes right-hand sides, which no text can name."""
        return "rhs" in self.given

    def without(self, *names: str) -> "Command":
        """The same where these are given otherwise."""
        return replace(self, given=tuple(n for n in self.given if n not in names))

    def signature(self) -> inspect.Signature:
        """Parameters and defaults."""
        leading, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(o.name, leading, default=inspect.Parameter.empty if o.required else o.default)
            for o in sorted((o for o in self.options if o.leads), key=lambda o: not o.required)
        ]
        if self.needs_spinors:
            parameters.insert(1, inspect.Parameter("rhs", leading))
        parameters += [inspect.Parameter(name, named, default=None) for name in self.given if name != "rhs"]
        parameters += [
            inspect.Parameter(o.name, named, default=o.default)
            for o in sorted(self.options, key=lambda o: o.name)
            if not o.leads
        ]
        return inspect.Signature(parameters)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name.

        Raises:
            TypeError: some are missing, or unknown.
        """
        try:
            return self.signature().bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None

    def doc(self) -> str:
        """What it does and what its options are."""
        lines = [f"{self.description}.", "", "Args:"]
        for o in self.options:
            lines.append(f"    {o.name}: {o.description}" + (f" ({', '.join(o.choices)})" if o.choices else ""))
        lines[3:3] = [f"    {name}: {MEANINGS[name]}" for name in self.given]
        return "\n".join(lines)


MEANINGS = {
    "rhs": "right-hand sides b",
    "guess": "of the solution; iterations begin with it instead of zero",
    "on_trajectory": "called after each trajectory with what the report says of it; the run ends in order if it "
    "returns False, or raises",
}
"""Of what calls take in memory."""
GIVEN = {"solve": ("rhs", "guess"), "hmc": ("on_trajectory",)}


def _default(kind: str, text: str) -> Any:
    """A default as Python has it; None stands for one that depends on other things."""
    if kind == "flag":
        return False
    if text == "" or kind not in ("FLOAT", "INT", "UINT"):
        return text or None
    return float(text) if kind == "FLOAT" else int(text)


def _option(o: dict[str, Any]) -> Option:
    kind = o["type"] if o["takes_value"] else "flag"
    return Option(
        flag=o["name"],
        description=o["description"],
        kind=kind,
        default=_default(kind, o["default"]),
        choices=tuple(o["choices"]),
        positional=o["positional"],
        required=o["required"],
        several=o["several"],
    )


def read_table() -> tuple[Command, ...]:
    """All commands."""
    return tuple(
        Command(
            flag=c["name"],
            description=c["description"],
            leaves=c["leaves"],
            options=tuple(_option(o) for o in c["options"] if o["name"] != "--help"),
            given=GIVEN.get(c["name"], ()),
        )
        for c in json.loads(_quarksmith.table())
    )
