"""Reads files that measurements wrote. Their names go into C++: each is checked, and so is every type."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import SpecError
from ..targets import TARGETS, Target

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,199}")
"""Pattern of names of kernels, shapes, classes of launches, policies, states, formats."""
DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,:()/@+_-]{0,127}")
"""Pattern of the name of a processor, as its vendor writes it."""
WORD = re.compile(r"[A-Za-z0-9._-]{0,64}")
"""Pattern of digests and versions."""
FACT = re.compile(r"[ -~]{0,200}")
"""Pattern of other facts that a device reports about itself."""
CASE = re.compile(r"[a-z]{1,16}, grid \d{1,5}(x\d{1,5}){3}( over hosts)?, [a-z0-9]{1,16}(, \d{1,5})?")
"""Class of sizes, grid and precision of a measured policy."""
COLUMNS = ("shape", "block", "min_blocks", "registers", "spills", "status", "deviation", "microseconds", "spread")
"""Members of a candidate that is written as a list; what was not measured is missing at its end."""
_KINDS: dict[type, str] = {dict: "an object", list: "a list", int: "an integer", str: "text"}


class Field:
    """A value of a file, and where it stands: errors name file and field."""

    def __init__(self, file: Path, path: str, value: Any) -> None:
        self.file, self.path, self.value = file, path, value

    def refuse(self, wanted: str) -> SpecError:
        """The error to raise."""
        found = json.dumps(self.value, default=repr)
        found = found if len(found) <= 60 else found[:57] + "..."
        return SpecError(f"evidence {self.file}: {self.path or 'the file'} is {found}, not {wanted}; measure again")

    def be(self, kind: type) -> Any:
        """The value, of that type."""
        good = isinstance(self.value, kind) and not isinstance(self.value, bool)
        if not good:
            raise self.refuse(_KINDS[kind])
        return self.value

    def __getitem__(self, key: str) -> Field:
        """A member of an object, which must be there."""
        if key not in self.be(dict):
            raise SpecError(f"evidence {self.file}: {self._at(key)} is missing; measure again")
        return Field(self.file, self._at(key), self.value[key])

    def has(self, key: str) -> bool:
        """Whether an object has that member."""
        return key in self.be(dict)

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def items(self, pattern: re.Pattern[str] = NAME) -> list[tuple[str, Field]]:
        """Members of an object, whose names match a pattern."""
        for key in self.be(dict):
            if not pattern.fullmatch(key):
                raise Field(self.file, f"a name in {self.path or 'the file'}", key).refuse("a plain name")
        return [(key, Field(self.file, self._at(key), value)) for key, value in self.value.items()]

    def each(self) -> list[Field]:
        """Elements of a list."""
        return [Field(self.file, f"{self.path}[{n}]", value) for n, value in enumerate(self.be(list))]

    def text(self, pattern: re.Pattern[str] = NAME) -> str:
        """Text that matches a pattern."""
        if not pattern.fullmatch(self.be(str)):
            raise self.refuse("a plain name")
        return str(self.value)

    def integer(self, least: int = 0, most: int = 1 << 31) -> int:
        """An integer between two limits."""
        if not least <= self.be(int) <= most:
            raise self.refuse(f"an integer between {least} and {most}")
        return int(self.value)

    def real(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse("a finite number")
        try:
            number = float(self.value)
        except OverflowError:  # JSON knows integers of any size
            number = math.inf
        if not math.isfinite(number):
            raise self.refuse("a finite number")
        return number

    def number(self) -> float:
        """A finite positive number, of a size that a time can have."""
        if not 0 < self.real() < 1e15:
            raise self.refuse("a finite positive number")
        return float(self.value)


def read_field(path: Path) -> Field:
    """A JSON file that measurements wrote; its name ends in .gz if it is compressed.

    Raises:
        SpecError: it cannot be read, or is no JSON.
    """
    try:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_text()
        return Field(path, "", json.loads(text))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise SpecError(f"evidence {path}: {error}; delete it or run the sweep again") from error


def read_lines(path: Path) -> list[Field]:
    """A file of one JSON value a line; see read_field. A last line that was cut off is left out."""
    try:
        lines = path.read_text().rpartition("\n")[0].splitlines()
        return [Field(path, f"line {n}", json.loads(line)) for n, line in enumerate(lines, start=1)]
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"evidence {path}: {error}; delete it or run the sweep again") from error


def check_row(row: Field, *, measured: bool = True) -> None:
    """A candidate: its shape and launch numbers, and its time if it was measured.

    Raises:
        SpecError: it is no such record.
    """
    for shape in row["shape"].each():
        shape.text()
    for key in ("block", "min_blocks"):
        row[key].integer()
    for key in ("registers", "spills"):
        if row.has(key):
            row[key].integer()
    if measured and row["status"].text() == "ok":
        row["microseconds"].number()
        threads, blocks = row["block"], row["min_blocks"]
        if threads.value % 32 or not 0 <= threads.value <= 1024:
            raise threads.refuse("0 or a multiple of 32 up to 1024")
        if threads.value and not 1 <= blocks.value <= 2048 // threads.value:
            raise blocks.refuse(f"a number of blocks of {threads.value} threads that a multiprocessor can have")


def check_candidate(candidate: Field) -> None:
    """A candidate of a packed folder: what it is of, and what its compiler said.

    Raises:
        SpecError: it is no such record.
    """
    candidate["base"].text()
    for key in ("registers", "spills"):
        candidate[key].integer()
    check_row(candidate, measured=False)


def row_of(row: Field) -> Field:
    """A candidate as an object, whichever way it is written."""
    if not isinstance(row.value, list):
        return row
    if len(row.value) > len(COLUMNS):
        raise row.refuse(f"at most {len(COLUMNS)} values")
    return Field(row.file, row.path, dict(zip(COLUMNS, row.value, strict=False)))


def row_text(row: Mapping[str, Any]) -> str:
    """The short form of a candidate; an object, if it has members that COLUMNS do not name."""
    short = tuple(row) == COLUMNS[: len(row)]
    return json.dumps(list(row.values()) if short else dict(row))


def check_kernels(table: Field) -> Mapping[str, Any]:
    """Candidates by kernel, as generated/tuned keeps them."""
    kernels: dict[str, Any] = {}
    for name, entry in table.items():
        entry["digest"].text(WORD)
        classes = {}
        for size, rows in entry["classes"].items():
            found = [row_of(row) for row in rows.each()]
            for row in found:
                check_row(row)
            classes[size] = [row.value for row in found]
        kernels[name] = entry.value | {"classes": classes}
    return kernels


def samples_file(evidence: Path) -> Path:
    """File of all candidates of an evidence file, which itself keeps the deciding ones; git does not keep it."""
    return evidence.parent / "samples" / f"{evidence.stem}.json.gz"


def read_samples(evidence: Path, kernels: Mapping[str, Any]) -> dict[str, Any]:
    """All candidates of those of its kernels that were sampled as they are; empty where the samples are not at hand."""
    if not (file := samples_file(evidence)).is_file():
        return {}
    same = ("digest", "toolkit")
    found = check_kernels(read_field(file)["kernels"])
    return {n: e for n, e in found.items() if all(e.get(k) == kernels.get(n, {}).get(k, 0) for k in same)}


def check_sizes(sizes: Field) -> Mapping[str, Any]:
    """Lattice and right-hand sides of each class of launches."""
    for _, size in sizes.items():
        if len(size["lattice"].each()) != 4:
            raise size["lattice"].refuse("four extents")
        for extent in size["lattice"].each():
            extent.integer(2, 1 << 16)
        size["rhs"].integer(1, 1 << 16)
    return dict(sizes.value)


def check_target(data: Field) -> Target:
    """Target of the device of a file."""
    if data["target"].text() not in TARGETS:
        raise data["target"].refuse(f"one of {', '.join(TARGETS)}")
    return TARGETS[data["target"].value]


def check_device(data: Field) -> str:
    """Name of the device of a file."""
    return data["device"].text(DEVICE)
