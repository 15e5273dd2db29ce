"""Records of actions to the table that C++ has: parameters, kernels, link programs, functions of the parameters."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..cpp.numbers import is_one, number_function
from ..language import Action, Alternative, Option, Parameter
from ..language.printed import literal
from ..lower.hopping import same_hops
from ..lower.numbers import Product
from ..lower.paths import PathFields
from ..lower.record import Lowered
from ..operators import OPERATORS, RECORDS, REFUSED
from ..operators.blocks import pattern_of
from ..operators.quark_forces import force_paths
from ..operators.stated import same_steps
from ..released import RELEASED
from ..site_term import site_term_of
from .link_table import Numbers, program_rows
from .words import formula, site_numbers, weight

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
    """Data of templates/actions.cpp.j2: every action that can be solved for, smearings, and what was refused.

    Actions without parameters, as the Laplace operators, are tools of smearing.
    """
    smearings = [r for r in RECORDS.values() if not r.action.has_matrix]
    matrices = [r.action for r in RECORDS.values() if r.action.has_matrix]
    unsolved = {
        a.name: "its statement has no parameter; give it one, such as a mass" for a in matrices if not a.parameters
    }
    reasons = sorted((unsolved | REFUSED).items())
    refused = [{"name": name, "why": _lines(_escaped(str(why)))} for name, why in reasons]
    return {
        "actions": [action_row(RECORDS[a.name]) for a in solvable_actions()],
        "smearings": [smearing_row(r) for r in smearings],
        "refused": refused,
        "module": False,
    }


def solvable_actions() -> list[Action]:
    """Actions with parameters: each is followed by those that build on it, the largest such families first."""
    families: dict[type, list[Action]] = {}
    for a in (r.action for r in RECORDS.values()):
        if a.has_matrix and a.parameters:
            families.setdefault(a.statement.__mro__[-2], []).append(a)
    return [a for family in sorted(families.values(), key=len, reverse=True) for a in family]


def is_offered(action: Action) -> bool:
    """Whether commands offer it: not where another action makes the matrices that this one is given."""
    given = {f.name for f in action.fields if f.origin == "given" and f.kind == "matrices"}
    others = (r.action for r in RECORDS.values() if r.action is not action)
    return not any(given & a.links.keys() and issubclass(a.statement, action.statement) for a in others)


def action_row(record: Lowered, called: str = "") -> Row:
    """An action of the table, under its own name or another."""
    action = record.action
    names = [p.name for p in action.parameters]
    row = Row(action.name)
    row.set("name", called or action.name)
    row.code("text", f'"{_lines(_escaped(action.text))}"')
    row.code("formula", f'"{_lines(_escaped(formula(record)))}"')
    _add_digest(row, action)
    _add_parameters(row, action)
    row.set("extends", action.extends.name if action.extends else "")
    row.set("offered", is_offered(action), True)
    row.set("spins", action.spins, 0)
    row.set("flavours", record.flavours, 1)
    if record.negated is not None:
        row.set("negated", sum(1 << names.index(name) for name in record.negated), -1)
    numbers = Numbers(names)
    _add_program(row, record, numbers)
    if record.form is None:
        _add_body(row, record, numbers)
    else:
        _add_hops(row, record, names)
        _add_site(row, record, names, numbers)
    return row


def smearing_row(record: Lowered) -> Row:
    """A smearing of the table."""
    row = Row(record.name)
    row.set("name", record.name)
    row.code("text", f'"{_lines(_escaped(record.action.text))}"')
    _add_digest(row, record.action)
    _add_parameters(row, record.action)
    _add_program(row, record, Numbers([p.name for p in record.action.parameters]))
    return row


def _add_digest(row: Row, action: Action) -> None:
    if action.digest != RELEASED.get(action.name):
        row.set("digest", action.digest)


def _add_parameters(row: Row, action: Action) -> None:
    row.array("parameters", "ActionParameter", [_parameter_row(p) for p in action.parameters])
    row.array("alternatives", "ActionAlternative", [_alternative_row(s) for s in action.alternatives])


def _add_program(row: Row, record: Lowered, numbers: Numbers) -> None:
    """Fields by name, and the launches that make some of them."""
    program = program_rows(record, numbers)
    row.array("fields", "ActionField", program.fields)
    for n, launches in enumerate(program.launches, start=1):
        row.arrays.append(("LinkLaunch", f"{row.name}_launches_{n}", launches))
    stages = [f"{{{row.name}_launches_{n}, {reach}}}" for n, reach in enumerate(program.reaches, start=1)]
    row.array("stages", "LinkStage", stages)
    row.array("numbers", "ActionNumber", numbers.functions)


def _add_body(row: Row, record: Lowered, numbers: Numbers) -> None:
    """A general body: M and M^+ are a kernel each."""
    assert record.numbers is not None
    if row.members["name"] != f'"{record.name}"':
        row.set("matrix", record.name)
    row.set("conjugate", f"{record.name}_dagger")
    rows = [
        f'{{"{n}", {number_function(((1.0, (node,)),), numbers.parameters)}}}' for n, node in record.numbers.items()
    ]
    row.array("arguments", "NamedNumber", rows)
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
    own, owner = OPERATORS.get(record.name), _owner(record)
    row.set("hopping", owner)
    row.set("with_term", record.name if own and own.family == "hopping" else owner)
    row.set("apply_inverse", f"apply_{site_term_of(record.site).name}")
    row.set("chain", _chain(record))
    row.set("reach", max(form.lengths), 1)
    row.set("directed", sum(1 << mu for mu in form.directed), 0)
    row.set("has_basis", form.has_basis, True)
    row.set("anti_hermitian", form.anti_hermitian, False)
    row.code("h", literal(form.factor.real))
    fields = list(record.fields)
    row.code("links", f"{{{', '.join(str(fields.index(name)) for name in record.links.values())}}}")
    row.set("turns", all(map(record.turns_in_su3, record.links.values())), False)
    weights = [[_number(weight(form, mu, sign), names) for sign in (1, -1)] for mu in range(4)]
    row.code("weight", "{" + ",\n             ".join(f"{{{', '.join(w)}}}" for w in weights) + "}")


def _number(rows: tuple[Product, ...], names: Sequence[str]) -> str:
    return "one" if is_one(rows) else number_function(rows, names) if rows else "{}"


def _add_site(row: Row, record: Lowered, names: Sequence[str], numbers: Numbers) -> None:
    form, site = record.form, record.site
    assert form is not None and site is not None
    if form.has_slices:
        along = form.numbers_along_slices | {"alpha": site.parts["diagonal"]}
        for name in ("alpha", "beta", "b", "c", "wall"):
            row.code(name, number_function(along[name], names, is_complex=True))
        return
    for name, rows in site_numbers(site).items():
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


def _owner(record: Lowered) -> str:
    """The operator whose kernels hop as an action does."""
    return next(
        name
        for name, o in OPERATORS.items()
        if o.family == "hopping" and not o.hops_of and record.form is not None and same_hops(o.form, record.form)
    )


def _chain(record: Lowered) -> str:
    form = record.form
    if form is None or not form.has_slices:
        return ""
    chains = {n: RECORDS[n].form for n, o in OPERATORS.items() if o.family == "slices"}
    return next(n for n, f in chains.items() if f is not None and same_steps(f, form))


def _parameter_row(p: Parameter) -> str:
    kinds = {"several": p.several, "each_slice": p.each_slice, "complex": p.complex}
    more = "".join(f", .{name} = true" for name, there in kinds.items() if there)
    default = "" if p.default is None else f" (default {p.default:g})"
    bounds = _words(p, default)
    return f'{{.name = "{p.name}",\n     {bounds},\n     ' + (
        f".required = {str(p.default is None).lower()}, .fallback = {literal(p.default or 0)}{more}}}"
    )


def _alternative_row(s: Alternative) -> str:
    gives = [
        f'{{"{name}", {number_function(((1.0, (number,)),), s.numbers)}}}' for name, number in s.parameters.items()
    ]
    functions = ",\n       ".join(gives)
    numbers = ",".join(s.numbers)
    return f'{{.name = "{s.name}",\n     {_words(s)}, .numbers = "{numbers}",\n     .gives = {{{{{functions}}}}}}}'


def _words(o: Option, default: str = "") -> str:
    """Help, range in words, bounds."""
    low, high = (("-" if b < 0 else "") + "unbounded" if math.isinf(b) else literal(b) for b in (o.lower, o.upper))
    text = f"{o.meaning}{', ' if o.range else ''}{o.range}{default}"
    return f'.help = "{_lines(_escaped(text))}",\n     .range = "{o.range}", .lower = {low}, .upper = {high}'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _lines(text: str) -> str:
    """Inside of a C++ string literal, cut into several."""
    return ' "\n                "'.join(textwrap.wrap(text, 88))
