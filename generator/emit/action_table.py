"""Statements to the table of actions that C++ has: parameters, kernels, and functions of the parameters' values."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from generator.actions import ACTIONS
from generator.algebra.gamma import BASES, TOLERANCE
from generator.emit.cpp import literal
from generator.language import Action, Option, Parameter, Spelling
from generator.language.graph import FIFTH, ExpressionError
from generator.lower.fifth import FifthForm
from generator.lower.hopping import DIRECTION_NAMES, ShapeError, same_hops
from generator.lower.links import Operand
from generator.lower.numbers import Product, cpp_sum, printed_sum
from generator.lower.site import SiteForm
from generator.lower.stored import clover_coefficients
from generator.lower.terms import HERE, product_value
from generator.operators import OPERATORS
from generator.operators.fat_links import link_stages
from generator.operators.forces import force_arguments, force_paths
from generator.operators.formula import numbers_of
from generator.operators.site_term import site_term_of

MOST_SPELLED = 2
"""Parameters that one option gives at most: runtime/action_info.hpp."""
SHAPE = {
    "extends": "", "offered": True, "hopping": "", "conjugate": "", "with_term": "", "apply_inverse": "", "chain": "",
    "flavours": 1, "reach": 1, "directed": 0, "has_basis": True, "anti_hermitian": False,
}  # fmt: skip
"""Members of ActionInfo with their defaults."""


def action_table() -> dict[str, Any]:
    """Data of templates/actions.cpp.j2: every action that can be solved for.

    Actions without parameters, as the Laplace operators, are tools of smearing.
    """
    rows = [action_row(a) | {"paths": paths_row(a)} for a in solvable_actions()]
    return {"actions": [r | {"members": _members(r), "weights": [_pair(w) for w in r["weights"]]} for r in rows]}


def _members(row: dict[str, Any]) -> dict[str, Any]:
    """Members of ActionInfo in their order, those that are not as by default."""
    members = {"spins": row["spins"], "parameters": f"{row['name']}_parameters"}
    if row["spellings"]:
        members["spellings"] = f"{row['name']}_spellings"
    for name, default in SHAPE.items():
        if (value := row.get(name, default)) != default:
            members[name] = f'"{value}"' if isinstance(value, str) else str(value).lower()
    members |= dict(row["numbers"])
    if row["arguments"]:
        members["arguments"] = f"{row['name']}_arguments"
    if row["force_arguments"]:
        members["force_arguments"] = f"{row['name']}_force_arguments"
    if row["paths"]["steps"]:
        members |= {"path_ends": f"{row['name']}_path_ends", "path_steps": f"{row['name']}_path_steps"}
    if row["links"]["stages"]:
        members |= {"link_stages": f"{row['name']}_stages", "link_numbers": f"{row['name']}_numbers"}
    return members


def solvable_actions() -> list[Action]:
    """Those with parameters: each is followed by those that build on it, the largest such families first."""
    families: dict[type, list[Action]] = {}
    for a in ACTIONS.values():
        if a.parameters:
            families.setdefault(a.statement.__mro__[-2], []).append(a)
    return [a for family in sorted(families.values(), key=len, reverse=True) for a in family]


def is_offered(action: Action) -> bool:
    """Commands can make it from a gauge field: an action whose links others make is one through these alone."""
    links = [f for f in action.fields if f.kind in ("links", "matrices")]
    return len(links) == 1 or not any(
        issubclass(a.statement, action.statement) for a in ACTIONS.values() if a is not action
    )


def action_row(action: Action) -> dict[str, Any]:
    """An action of the table."""
    form = FifthForm(action)
    _check_kinds(action, form)
    row = {
        "name": action.name,
        "text": _lines(action.text),
        "parameters": [_parameter_row(p) for p in action.parameters],
        "spellings": [_spelling_row(s) for s in action.spellings],
        "extends": action.extends.name if action.extends else "",
        "offered": is_offered(action),
        "spins": action.spins,
        "links": links_row(action),
        "arguments": [],
        "force_arguments": [],
    }
    if not form.has_shape:  # M and M^+ are a kernel each
        names = [p.name for p in action.parameters]
        return row | {
            "formula": _lines(f"M {form.fermion} = {_short(str(action.matrix))}"),
            "hopping": "",
            "conjugate": f"{action.name}_dagger",
            "numbers": [],
            "weights": [],
            "arguments": [_function([(1.0, (n,))], names) for n in numbers_of(action)[1].values()],
            "force_arguments": _force_arguments(action, names),
        }
    site = SiteForm(action, form.local)
    term = site_term_of(site)
    names = [p.name for p in action.parameters]
    slices = _fifth_numbers(form)
    numbers = slices or _site_numbers(site)
    own = OPERATORS.get(action.name)
    owner = _owner(form)
    return row | {
        "formula": _lines(formula(form, numbers)),
        "hopping": owner,
        "with_term": action.name if own and own.family == "hopping" else owner,
        "apply_inverse": f"apply_{term.name}",
        "chain": _chain(form),
        "flavours": site.flavours,
        "reach": max(form.lengths),
        "directed": sum(1 << mu for mu in form.directed),
        "has_basis": form.has_basis,
        "anti_hermitian": form.anti_hermitian,
        "numbers": [("h", literal(_real(form)))]
        + [(n, (_complex if slices else _function)(rows, names)) for n, rows in numbers.items()],
        "weights": [[_function(_weight(form, mu, sign), names, "one") for sign in (1, -1)] for mu in range(4)],
        "force_arguments": _force_arguments(ACTIONS[owner], names),
    }


def paths_row(action: Action) -> dict[str, list[str]]:
    """Rows of PathEnd and PathStep of an action whose force goes along its paths, several in a line."""
    paths = force_paths(action)
    if paths is None:
        return {"ends": [], "steps": []}
    rows = [f"{{{', '.join(map(literal, numbers))}}}" for numbers in paths.ends]
    ends = ["\n     ".join(textwrap.wrap(row, 100)) for row in rows]
    steps = [f"{{{s.start}, {s.to}, {s.step}}}" for s in paths.steps]
    return {"ends": ends, "steps": [", ".join(steps[n : n + 8]) for n in range(0, len(steps), 8)]}


def _force_arguments(owner: Action, names: Sequence[str]) -> list[str]:
    """Numbers of the force of hops that an action shares; parameters that it has not are as by default."""
    if force_paths(owner) is not None:
        return []
    default = {p.name: p.default or 0.0 for p in owner.parameters if p.name not in names}
    rows: list[Product] = []
    for number in force_arguments(owner):
        rows.append((default[number.data], ()) if number.data in default else (1.0, (number,)))
    return [_function([row], names) for row in rows]


def links_row(action: Action) -> dict[str, Any]:
    """How the links of an action are made: rows of LinkStep by stage, and the numbers of its parameters in them.

    Raises:
        ExpressionError: they are not one field for hops over one site and one for longer ones, which solvers take.
    """
    if action.links and len(action.links) != 2:
        raise ExpressionError(f"{action.place}: {action.name} makes {', '.join(action.links)}; make fat and long links")
    names = [p.name for p in action.parameters]
    numbers: dict[str, int] = {}

    def operand(o: Operand, fields: dict[Any, int]) -> str:
        if o.kind == "number":
            code = _function([(1.0, o.value)], names)
            return f"number({numbers.setdefault(code, len(numbers))})"
        return f"field({fields[o.value]})" if o.kind == "field" else f"along({o.value})"

    rows = []
    for stage in link_stages(action):
        steps = [
            f'{{"{launch.kernel}", {{{", ".join(operand(o, fields) for o in launch.operands)}}}}}'
            for launch, fields in zip(stage.launches, stage.numbered, strict=True)
        ]
        reach = ", ".join(map(str, stage.reach))
        rows.append({"steps": steps, "rest": f"{stage.fields}, {{{reach}}}, {str(stage.project).lower()}"})
    return {"stages": rows, "numbers": list(numbers)}


def formula(form: FifthForm, numbers: dict[str, tuple[Product, ...]]) -> str:
    """M in one line: T as it was recognised, h D, and what multiplies hops."""
    printed = {name: printed_sum(rows) for name, rows in numbers.items()}
    h = _real(form)
    factor = "" if abs(h) == 1 else f"{literal(abs(h))} "
    sign = "-" if h < 0 else "+"
    after = ""
    if form.has_slices:
        site, hops = f"{printed['alpha']} + {_atom(printed['beta'])} R", f"({printed['b']} + {printed['c']} R) psi"
        after = f"; {form.shift_formula}, {form.wall} times what comes from beyond the ends"
    else:
        site, hops = _site_text(form, printed), "psi"
    if "clover_space" in printed:
        after = f"; c = {printed['clover_space']} in space, {printed['clover_time']} in time"
    hopping = form.formula.partition("   (")[0]
    return f"M psi = {_atom(site)} psi {sign} {factor}D {hops}; {hopping}{_weights_text(form)}{after}"


def _site_text(form: FifthForm, printed: dict[str, str]) -> str:
    text = printed.get("diagonal", "")
    tau = " tau_3" if SiteForm(form.action, form.local).flavours > 1 else ""
    if "twist" in printed:
        text += f" + i {_atom(printed['twist'])} gamma_5{tau}"
    if "splitting" in printed:
        text += f" + {_atom(printed['splitting'])} tau_1"
    if "clover_space" in printed:
        text += " - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu"
    return text.removeprefix(" + ")


def _weights_text(form: FifthForm) -> str:
    found: dict[str, list[str]] = {}
    for mu in form.directions:
        ways = [printed_sum(_weight(form, mu, sign)) for sign in (1, -1)]
        axis = DIRECTION_NAMES[mu]
        for way, weight in ((axis, ways[0]),) if ways[0] == ways[1] else ((f"+{axis}", ways[0]), (f"-{axis}", ways[1])):
            found.setdefault(weight, []).append(way)
    return "".join(f"; hops along {', '.join(axes)} times {w}" for w, axes in found.items() if w != "1")


def _atom(printed: str) -> str:
    return f"({printed})" if " " in printed or printed.startswith("-") else printed


def _real(form: FifthForm) -> float:
    if abs(form.factor.imag) > 0:
        raise ExpressionError(f"{form.action.place}: hops of {form.action.name} have the complex factor {form.factor}")
    return form.factor.real


def _weight(form: FifthForm, mu: int, sign: int) -> tuple[Product, ...]:
    """What multiplies a hop within a slice: beside the b of a fifth dimension."""
    if form.has_slices or mu not in form.directions:
        return ((float(mu in form.directions), ()),)
    found = {tuple(map(str, form.numbers(mu, sign, n))): form.numbers(mu, sign, n) for n in form.lengths}
    if len(found) > 1:
        raise ShapeError(f"{form.action.place}: short and long hops of {form.action.name} have numbers that differ")
    return ((1.0, next(iter(found.values()))),)


def _site_numbers(site: SiteForm) -> dict[str, tuple[Product, ...]]:
    parts = site.parts
    if parts["twist"] and parts["twist_of_one"]:
        raise ExpressionError(
            f"{site.action.place}: {site.action.name} has i gamma_5 and i gamma_5 tau_3; use one of them"
        )
    if site.flavours > 1 and parts["twist_of_one"]:
        raise ExpressionError(f"{site.action.place}: i gamma_5 of two flavours has no kernel; use i gamma_5 tau_3")
    found = {
        "diagonal": parts["diagonal"],
        "twist": parts["twist"] or parts["twist_of_one"],
        "splitting": parts["splitting"],
    }
    if site.stored:
        clover = clover_coefficients(site.action, site.terms)
        found |= {"clover_space": clover["space"], "clover_time": clover["time"]}
    return {name: rows for name, rows in found.items() if rows}


def _fifth_numbers(form: FifthForm) -> dict[str, tuple[Product, ...]]:
    """The alpha, beta, b, c of M = (alpha + beta R) + h D (b + c R), and the wall of R.

    Raises:
        ExpressionError: hops of different directions have different numbers.
    """
    if not form.has_slices:
        return {}
    basis = BASES["degrand_rossi"]
    place = f"{form.action.place}: {form.action.name}"
    if len({h.weight for h in form.stated}) > 1:
        raise ExpressionError(f"{place}: hops within a slice have numbers that differ from direction to direction")
    found: dict[str, list[Product]] = {"alpha": list(SiteForm(form.action, form.local).parts["diagonal"]), "beta": []}
    for t in form.terms:
        if t.at[:4] == HERE[:4] and t.at[FIFTH] == 1:
            found["beta"].append((_part(t.factor * product_value(t.spin, basis, 4), form.steps[1]), t.numbers))
    hop = form.stated[0]
    there = tuple(hop.sign * (mu == hop.mu) + (mu == FIFTH) for mu in range(len(HERE)))
    across = [t for t in form.terms if t.links and t.at == there]
    unit = hop.matrix(basis, 4) @ form.steps[1]
    found["b"] = [(1.0, hop.terms[0].numbers)]
    found["c"] = [(_part(t.factor * product_value(t.spin, basis, 4), unit), t.numbers) for t in across] or [(0.0, ())]
    found["wall"] = [(1.0, (next(w for t in form.terms for _, w in t.walls),))]
    form.check_hops()
    return {name: tuple(rows) for name, rows in found.items()}


def _part(matrix: np.ndarray, unit: np.ndarray) -> float:
    """The number c of c unit, for a term that is one of several."""
    c = complex(np.vdot(unit, matrix) / np.vdot(unit, unit))
    if abs(c.imag) > TOLERANCE:
        raise ExpressionError(f"numbers along the fifth dimension are real, not {c}")
    return c.real


def _owner(form: FifthForm) -> str:
    """The operator whose kernels hop as an action does."""
    return next(
        name for name, o in OPERATORS.items() if o.family == "hopping" and not o.hops_of and same_hops(o.form, form)
    )


def _chain(form: FifthForm) -> str:
    if not form.has_slices:
        return ""
    chains = {n: FifthForm(ACTIONS[n]) for n, o in OPERATORS.items() if o.family == "slices"}
    return next(n for n, f in chains.items() if all(np.allclose(f.steps[k], form.steps[k]) for k in (1, -1)))


def _check_kinds(action: Action, form: FifthForm) -> None:
    for p in action.parameters:
        if p.several and (p.name != "mass" or action.spins != 1):
            raise ExpressionError(f"{action.place}: {p.name} of {action.name}: several values are for staggered masses")
        if p.each_slice and not (form.has_shape and form.has_slices):
            raise ExpressionError(f"{action.place}: {p.name} of {action.name}: there are no slices to differ on")


def _parameter_row(p: Parameter) -> str:
    kinds = ", true" if p.several else ", false, true" if p.each_slice else ""
    default = "" if p.default is None else f" (default {p.default:g})"
    required = str(p.default is None).lower()
    return f'{{"{p.name}",\n     {_words(p, default)}, {required}, {literal(p.default or 0)}{kinds}}}'


def _spelling_row(s: Spelling) -> str:
    gives = [f'{{"{name}", {_function(((1.0, (number,)),), s.numbers)}}}' for name, number in s.parameters.items()]
    if len(gives) > MOST_SPELLED:
        raise ExpressionError(f"{s.name} gives {len(gives)} parameters; {MOST_SPELLED} at most (ActionSpelling)")
    functions = ",\n       ".join(gives)
    return f'{{"{s.name}",\n     {_words(s)}, "{",".join(s.numbers)}",\n     {{{{{functions}}}}}}}'


def _words(o: Option, default: str = "") -> str:
    """Help, range in words, bounds."""
    bounds = [("-" if b < 0 else "") + "unbounded" if math.isinf(b) else literal(b) for b in (o.lower, o.upper)]
    text = f"{o.meaning}{', ' if o.range else ''}{o.range}{default}"
    return f'"{_lines(_escaped(text))}",\n     "{o.range}", {", ".join(bounds)}'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _function(rows: Iterable[Product], names: Sequence[str], one: str = "") -> str:
    """A function of the values; `one`, if given, is the name of that which is 1."""
    code = cpp_sum(rows, names)
    if one and code == "1":
        return one
    return (
        f"[](const double* p) {{ return {code}; }}"
        if "p[" in code
        else f"[](const double*) -> double {{ return {code}; }}"
    )


def _complex(rows: Iterable[Product], names: Sequence[str]) -> str:
    """A function of complex values, of what may differ from slice to slice."""
    code = cpp_sum(rows, names, repr)
    return f"[](const SliceValue*{' p' if 'p[' in code else ''}) -> SliceValue {{ return {code}; }}"


def _pair(functions: Sequence[str]) -> str:
    """Two functions in one line, if they fit."""
    return (", " if sum(map(len, functions)) <= 96 else ",\n              ").join(functions)


def _short(text: str) -> str:
    """What fits a page; the whole formula heads the body of the kernel."""
    return text if len(text) <= 600 else text[:597] + "..."


def _lines(text: str) -> str:
    """Inside of a C++ string literal, cut into several."""
    return ' "\n                "'.join(textwrap.wrap(text, 88))
