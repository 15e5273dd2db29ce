"""Writes the Fortran module of the C interface: fortran_interface.py interface/quarksmith.h quarksmith.f90.

Fortran 2018: handles and arrays of pointers are type(c_ptr), structs are bind(C) types, texts are characters that end
with c_null_char; arguments that may be NULL (`reports`, `result`) are optional.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

NUMBERS = {"int": "integer(c_int)", "size_t": "integer(c_size_t)", "double": "real(c_double)"}
OPTIONAL = {("quarksmith_solve", "reports"), ("quarksmith_solve_fields", "reports"),
            ("quarksmith_shifted_solve", "reports"), ("quarksmith_run", "result")}  # fmt: skip
"""Arguments that may be NULL; of NULL handles c_null_ptr is passed, of NULL texts an empty one."""

DECLARED = re.compile(r"(const )?(\w+)( const(?=[ *]))? ?(\*\*|\* const\*|\*)? ?(\w+)((?:\[\d+\])*)$")


class HeaderError(RuntimeError):
    """The header has what this cannot say in Fortran."""


def module_of(header: str) -> str:
    """The text of the module.

    Raises:
        HeaderError: a declaration of the header is of an unknown form.
    """
    code = re.sub(r"/\*.*?\*/|^ *#[^\n]*$|^}$", "", header, flags=re.S | re.M).replace('extern "C" {', "")
    statements = [" ".join(s.split()) for s in re.split(r";(?![^{]*})", code)]
    structs = {s.rpartition(" ")[2] for s in statements if s.startswith("typedef struct {")}
    handles = {s.rpartition(" ")[2] for s in statements if re.match(r"typedef struct \w", s)}
    types, constants, calls = [], [], []
    for statement in filter(None, statements):
        if statement.startswith(("enum", "typedef enum")):
            constants += _constants(statement)
        elif statement.startswith("typedef struct {"):
            types += _struct(statement)
        elif not statement.startswith("typedef struct"):
            calls += _call(statement, structs, handles)
    lines = [
        "! The C interface of Quarksmith (quarksmith.h, which says what each call does) for Fortran. Made by",
        "! tools/fortran_interface.py.",
        "module quarksmith",
        "  use, intrinsic :: iso_c_binding",
        "  implicit none",
        "  public",
        *(f"  {line}" for line in (*constants, *types)),
        "  interface",
        *(f"    {line}" for line in calls),
        "  end interface",
        "end module quarksmith",
    ]
    return "\n".join(part for line in lines for part in _folded(line)) + "\n"


def _folded(line: str) -> list[str]:
    """A line in pieces of at most 130 characters: Fortran takes 132."""
    pieces = []
    while len(line) > 130:
        at = line.rindex(", ", 0, 126) + 2
        pieces.append(line[:at] + "&")
        line = "        " + line[at:]
    return [*pieces, line]


def _constants(statement: str) -> list[str]:
    body = statement[statement.index("{") + 1 : statement.rindex("}")]
    return [f"integer(c_int), parameter :: {name.strip()} = {value.strip()}"
            for name, _, value in (entry.partition("=") for entry in body.split(",") if entry.strip())]  # fmt: skip


def _struct(statement: str) -> list[str]:
    name = statement.rpartition(" ")[2]
    lines = [f"type, bind(C) :: {name}"]
    for member in filter(None, map(str.strip, statement[statement.index("{") + 1 : statement.rindex("}")].split(";"))):
        if "(*" in member:
            found = re.search(r"\(\*(\w+)\)", member)
            lines.append(f"  type(c_funptr) :: {found[1] if found else ''}")
            continue
        first, *others = re.split(r", (?=\*?\w+$)", member)
        for text in (first, *(re.sub(r"\*?\w+$", other, first) for other in others)):
            lines.append(f"  {_member(text)}")
    return [*lines, f"end type {name}"]


def _member(text: str) -> str:
    found = DECLARED.match(text)
    if found is None or (not found[4] and found[2] not in NUMBERS):
        raise HeaderError(f"member '{text}' has no form in Fortran")
    extents = ", ".join(reversed(re.findall(r"\d+", found[6])))  # the first index is the fastest one
    return f"{'type(c_ptr)' if found[4] else NUMBERS[found[2]]} :: {found[5]}{f'({extents})' if extents else ''}"


def _call(statement: str, structs: set[str], handles: set[str]) -> list[str]:
    found = re.match(r"(.*?)(\w+)\((.*)\)$", statement)
    if found is None:
        raise HeaderError(f"'{statement}' is no function")
    result, name, listed = found[1].strip(), found[2], found[3]
    arguments = [] if listed == "void" else listed.split(", ")
    declared = [_argument(name, a, structs, handles) for a in arguments]
    names = ", ".join(d.rpartition(":: ")[2].partition("(")[0] for d in declared)
    kind = "subroutine" if result == "void" else "function"
    lines = [f"{kind} {name}({names}) bind(C)"]
    lines += ["  import", *(f"  {d}" for d in declared)]
    if kind == "function":
        lines.append(f"  {'type(c_ptr)' if '*' in result else 'integer(c_int)'} :: {name}")
    return [*lines, f"end {kind}"]


def _argument(call: str, text: str, structs: set[str], handles: set[str]) -> str:
    found = DECLARED.match(text)
    if found is None:
        raise HeaderError(f"argument '{text}' of {call} has no form in Fortran")
    constant, of, _, stars, name, extents = found.groups()
    intent = f"intent({'in' if constant else 'inout'})"
    optional = ", optional" if (call, name) in OPTIONAL else ""
    if of == "char" and stars == "*":
        return f"character(kind=c_char), {intent} :: {name}(*)"
    if of == "char" or (of in handles and stars == "**"):
        return f"type(c_ptr), intent(out){optional} :: {name}"
    if of in structs and stars == "*":
        many = "(*)" if name == "reports" else ""
        return f"type({of}), {intent}{optional} :: {name}{many}"
    if stars in ("* const*", "**"):
        return f"type(c_ptr), intent(in) :: {name}(*)"
    if of == "void" or of in handles:
        return f"type(c_ptr), value :: {name}"
    numbers = NUMBERS.get(of, "integer(c_int)")
    if extents:
        return f"{numbers}, {intent} :: {name}({', '.join(reversed(re.findall(r'[0-9]+', extents)))})"
    if stars:
        scalar = name in ("count", "word", "energy", "action", "log_det")
        return f"{numbers}, {intent} :: {name}{'' if scalar else '(*)'}"
    return f"{numbers}, value :: {name}"


def main() -> None:
    """Reads the header, writes the module."""
    header, module = map(Path, sys.argv[1:])
    whole = re.sub(r'#include "(.*)"', lambda part: (header.parent / part[1]).read_text(), header.read_text())
    module.write_text(module_of(whole))


if __name__ == "__main__":
    main()
