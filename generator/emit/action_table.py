"""Records of actions to the table that C++ has: parameters, kernels, link programs, functions of the parameters."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..cpp.numbers import is_one, number_function
from ..language import Alternative, Option, Parameter
from ..language.graph import Node
from ..language.printed import literal
from ..lower.numbers import Product
from ..lower.paths import PathFields
from ..lower.record import Lowered
from ..operators import OPERATORS, RECORDS
from ..operators.blocks import pattern_of
from ..operators.quark_forces import force_paths
from ..served import chain_of, hopping_of, refused_actions, solvable_actions, with_term_of
from ..site_term import site_term_of
from .link_table import program_rows
from .words import formula

MOST_COLUMNS = 90
"""Most columns of a row of the table, indented by up to 20."""


@dataclass
class Row:
    """An entry of a table in C++: its members in their order, and arrays that they refer to."""

    name: str
    members: dict[str, str] = field(default_factory=dict)
    arrays: list[tuple[str, str, list[str]]] = field(default_factory=list)

    def set(self, member: str, value: str | bool | int, default: str | bool | int = "") -> None:
        """A member, unless it is as by default."""
        if value != default:
            quoted = isinstance(value, str) and not isinstance(default, bool)
            self.members[member] = f'"{value}"' if quoted else str(value).lower()

    def code(self, member: str, value: str) -> None:
        """A member as an expression of C++."""
        if value:
            self.members[member] = _broken(value)

    def array(self, member: str, kind: str, rows: Sequence[str]) -> None:
        """A member that is a span of an array; none where that is empty."""
        if rows:
            self.arrays.append((kind, f"{self.name}_{member}", list(map(_broken, rows))))
            self.members[member] = f"{self.name}_{member}"


def _broken(code: str) -> str:
    """Long lines of functions, each function on a line of its own, its body on the next if need be."""
    for before, after in (("}, +[]", "},\n         +[]"), (" { return ", " {\n          return ")):
        lines = code.split("\n")
        code = "\n".join(line.replace(before, after) if len(line) > MOST_COLUMNS else line for line in lines)
    return code


def action_table() -> dict[str, Any]:
    """Data of templates/actions.cpp.j2: every action that can be solved for, smearings, and what was refused."""
    return {
        "actions": [action_row(RECORDS[a.name]) for a in solvable_actions()],
        "smearings": [action_row(r) for r in RECORDS.values() if not r.action.has_matrix],
        "refused": [{"name": name, "why": _lines(why)} for name, why in refused_actions().items()],
        "module": False,
    }


def action_row(record: Lowered, called: str = "") -> Row:
    """A statement of the table, under its own name or another: an action, or a smearing."""
    action = record.action
    names = [p.name for p in action.parameters]
    row = Row(action.name)
    row.set("name", called or action.name)
    row.code("text", f'"{_lines(action.text)}"')
    row.code("formula", f'"{_lines(formula(record))}"' if action.has_matrix else "")
    row.set("digest", record.own_digest)
    row.array("parameters", "ActionParameter", [_parameter_row(p) for p in action.parameters])
    row.array("alternatives", "ActionAlternative", [_alternative_row(s) for s in action.alternatives])
    if not action.has_matrix:
        _add_program(row, record)
        return row
    row.set("extends", action.extends.name if action.extends else "")
    row.set("spins", action.spins, 0)
    row.set("flavours", record.flavours, 1)
    if record.negated is not None:
        row.set("negated", sum(1 << names.index(name) for name in record.negated), -1)
    _add_program(row, record)
    if record.form is None:
        _add_body(row, record, names)
    else:
        _add_hops(row, record, names)
        _add_site(row, record, names)
    return row


def _add_program(row: Row, record: Lowered) -> None:
    """Fields by name, and the launches that make some of them."""
    program = program_rows(record)
    row.array("fields", "ActionField", program.fields)
    for n, launches in enumerate(program.launches, start=1):
        row.arrays.append(("LinkLaunch", f"{row.name}_launches_{n}", launches))
    stages = [f"{{{row.name}_launches_{n}, {reach}}}" for n, reach in enumerate(program.reaches, start=1)]
    row.array("stages", "LinkStage", stages)
    row.array("numbers", "ActionNumber", program.numbers)


def _add_body(row: Row, record: Lowered, names: Sequence[str]) -> None:
    """A general body: M and M^+ are a kernel each."""
    assert record.numbers is not None
    if row.members["name"] != f'"{record.name}"':
        row.set("matrix", record.name)
    row.set("conjugate", f"{record.name}_dagger")
    row.array("arguments", "NamedNumber", _named_numbers(record.numbers, names))
    _add_paths(row, force_paths(record))
    row.set("has_basis", "basis" in OPERATORS[record.name].axes, True)


def _add_paths(row: Row, paths: PathFields | None) -> None:
    if paths is None:
        return
    ends = [f"{{{', '.join(map(literal, numbers))}}}" for numbers in paths.ends]
    steps = [f"{{{s.start}, {s.to}, {s.step}}}" for s in paths.steps]
    row.array("path_ends", "PathEnd", ["\n     ".join(textwrap.wrap(end, 100)) for end in ends])
    row.array("path_steps", "PathStep", [", ".join(steps[n : n + 8]) for n in range(0, len(steps), 8)])


def _add_hops(row: Row, record: Lowered, names: Sequence[str]) -> None:
    form = record.form
    assert form is not None and record.links is not None and record.site is not None
    chain = chain_of(record)
    row.set("hopping", hopping_of(record).name)
    row.set("with_term", with_term_of(record).name)
    row.set("apply_inverse", f"apply_{site_term_of(record.site).name}")
    row.set("chain", chain.name if chain else "")
    row.set("reach", max(form.lengths), 1)
    row.set("directed", sum(1 << mu for mu in form.directed), 0)
    row.set("has_basis", form.has_basis, True)
    row.set("anti_hermitian", form.anti_hermitian, False)
    row.code("h", literal(form.factor.real))
    fields = list(record.fields)
    row.code("links", f"{{{', '.join(str(fields.index(name)) for name in record.links.values())}}}")
    row.set("turns", all(map(record.turns_in_su3, record.links.values())), False)
    weights = [[_number(form.weight(mu, sign), names) for sign in (1, -1)] for mu in range(4)]
    row.code("weight", "{" + ",\n             ".join(f"{{{', '.join(w)}}}" for w in weights) + "}")


def _number(rows: tuple[Product, ...], names: Sequence[str]) -> str:
    return "one" if is_one(rows) else number_function(rows, names) if rows else "{}"


def _add_site(row: Row, record: Lowered, names: Sequence[str]) -> None:
    form, site = record.form, record.site
    assert form is not None and site is not None
    if form.has_slices:
        for name in ("alpha", "beta", "b", "c", "wall"):
            row.code(name, number_function(record.slice_numbers[name], names, is_complex=True))
        return
    for name, rows in site.numbers.items():
        row.code(name, number_function(rows, names))
    if site.is_general:
        size = 4 * site.flavours
        parts = [
            f"{{{number_function((n,), names)}, {{{{{_elements(matrix[:size, :size])}}}}}}}"
            for n, matrix in site.constant
        ]
        row.array("constant", "ConstantPart", parts)
    if pattern := pattern_of(record):
        row.set("blocks_of", pattern.name)
        fields = list(record.fields)
        blocks = [
            f"{{{number_function((b.number,), names)}, {fields.index(name)}, {mu}}}" for b, (name, mu) in record.stored
        ]
        row.array("blocks", "SiteBlock", blocks)
    if site.exponential is not None:
        row.code("exponential", number_function((site.exponential,), names))


def _elements(matrix: np.ndarray) -> str:
    """The elements of a matrix that are not zero: {row, column, value}."""
    found = [
        f"{{{i}, {j}, {{{literal(z.real + 0.0)}, {literal(z.imag + 0.0)}}}}}"
        for (i, j), z in np.ndenumerate(np.asarray(matrix, complex))
        if abs(z) > 0
    ]
    return textwrap.fill(", ".join(found), 100, subsequent_indent=" " * 6)


def _parameter_row(p: Parameter) -> str:
    kinds = {"several": p.several, "each_slice": p.each_slice, "complex": p.complex}
    more = "".join(f", .{name} = true" for name, there in kinds.items() if there)
    default = "" if p.default is None else f" (default {p.default:g})"
    bounds = _words(p, default)
    return f'{{.name = "{p.name}",\n     {bounds},\n     ' + (
        f".required = {str(p.default is None).lower()}, .fallback = {literal(p.default or 0)}{more}}}"
    )


def _named_numbers(numbers: Mapping[str, Node], names: Sequence[str]) -> list[str]:
    return [f'{{"{name}", {number_function(((1.0, (node,)),), names)}}}' for name, node in numbers.items()]


def _alternative_row(s: Alternative) -> str:
    functions = ",\n       ".join(_named_numbers(s.parameters, s.numbers))
    numbers = ",".join(s.numbers)
    return f'{{.name = "{s.name}",\n     {_words(s)}, .numbers = "{numbers}",\n     .gives = {{{{{functions}}}}}}}'


def _words(o: Option, default: str = "") -> str:
    """Help, range in words, bounds."""
    low, high = (("-" if b < 0 else "") + "unbounded" if math.isinf(b) else literal(b) for b in (o.lower, o.upper))
    text = f"{o.meaning}{', ' if o.range else ''}{o.range}{default}"
    return f'.help = "{_lines(text)}",\n     .range = "{o.range}", .lower = {low}, .upper = {high}'


def _lines(text: str) -> str:
    """Inside of a C++ string literal, cut into several."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return ' "\n                "'.join(textwrap.wrap(escaped, 88))
