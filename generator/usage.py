"""The command line's own errors, in the style of all errors: one line that ends in what to do, status 2."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean X? ` with the known word that is most like one; empty if none is."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"did you mean {found[0]}? " if found else ""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and suggest the nearest word.

    Attributes:
        words: its options, or the names of its commands.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self.words: list[str] = []
        super().__init__(*arguments, **settings)
        self.set_defaults(parser=self)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Argparse's add_argument, which also remembers the option."""
        self.words += [n for n in names if n.startswith("-")]
        return super().add_argument(*names, **settings)

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """The options of a whole command line; what is left over is reported by the command that it belongs to."""
        options, left = self.parse_known_args(arguments)
        if left:
            parser: Parser = options.parser
            wrong = next((word for word in left if word.startswith("-")), "").split("=")[0]
            if wrong:
                parser.refuse(f"no option {wrong}; {nearest(wrong, parser.words)}")
            parser.refuse(f"no use for '{left[0]}'; ")
        return options

    def error(self, message: str) -> NoReturn:
        """Called by argparse."""
        unknown = re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if unknown:
            known = re.findall(r"[\w-]+", unknown[3])
            what = "command" if unknown[1] == "COMMAND" else unknown[1]
            self.refuse(f"{what} '{unknown[2]}' is unknown; {nearest(unknown[2], known)}")
        self.refuse(f"{message.removeprefix('argument ')}; ")

    def refuse(self, message: str) -> NoReturn:
        """Ends the program: `message`, then the call that shows what is known."""
        print(f"generator: error: {message}`{self.prog} --help` lists all", file=sys.stderr)
        raise SystemExit(2)
