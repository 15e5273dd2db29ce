"""Records of actions in words: formulas in one line."""

from __future__ import annotations

import re

from ..language.graph import text
from ..lower.fifth import FifthForm
from ..lower.hopping import DIRECTION_NAMES
from ..lower.numbers import Product, printed_sum
from ..lower.record import Lowered
from ..lower.site import SiteForm

MOST_CHARACTERS = 600
"""Longest formula that is printed whole; the body of its kernel always has all of it."""
SHORT = 60
"""Of a part of one."""


def formula(record: Lowered) -> str:
    """M in one line: T as it was recognised, h D, and what multiplies hops; a general body as it stands."""
    if record.form is None or record.site is None:
        return _short(f"M {record.action.fermion} = {record.action.matrix!s}")
    form = record.form
    h = form.factor.real
    factor = "" if abs(h) == 1 else f"{abs(h):g} "
    sign = "-" if h < 0 else "+"
    if form.has_slices:
        printed = {name: printed_sum(rows) for name, rows in record.slice_numbers.items()}
        site, hops = f"{printed['alpha']} + {_atom(printed['beta'])} R", f"({printed['b']} + {printed['c']} R) psi"
        after = f"; {form.shift_formula}, {form.wall} times what comes from beyond the ends"
    else:
        site, hops, after = _site(record.site), "psi", _coefficients(record.site)
    hopping = form.formula.partition("   (")[0]
    return _short(
        f"M psi = {_atom(site)} psi {sign} {factor}D {hops}; {hopping}{_weights(form)}{_links(record)}{after}"
    )


def _short(words: str, most: int = MOST_CHARACTERS) -> str:
    return words if len(words) <= most else words[: most - 3] + "..."


def _links(record: Lowered) -> str:
    """The links that hops use, where they are not what the statement calls them."""
    assert record.links is not None and record.form is not None
    made = [name for name in record.links.values() if name not in record.action.links and name in record.graphs.made]
    return "".join(f"; V = {_short(str(record.graphs.made[name][0]))} for x" for name in made)


def _site(site: SiteForm) -> str:
    if site.is_general:
        return _joined([_constant(numbers, part) for numbers, part in _terms(site)])
    printed = {name: printed_sum(rows) for name, rows in site.numbers.items()}
    words = [printed["diagonal"]] if "diagonal" in printed else []
    tau = " tau_3" if site.flavours > 1 else ""
    if "twist" in printed:
        words.append(f"i {_atom(printed['twist'])} gamma_5{tau}")
    if "splitting" in printed:
        words.append(f"{_atom(printed['splitting'])} tau_1")
    if site.stored:
        blocks = _blocks(site)
        if site.exponential is not None:
            blocks = f"{_atom(printed_sum([site.exponential]))} exp({blocks})"
        words.append(blocks)
    return _joined(words) or "0"


def _terms(site: SiteForm) -> list[tuple[Product, str]]:
    """Constants of a general T: numbers and the matrices that they multiply."""
    found = []
    for t in site.terms:
        matrices = " ".join(text(n, level=2) for n in (*t.spin, *t.flavour)).replace("gamma5", "gamma_5")
        matrices = re.sub(r"\b(gamma|tau)\[(\w)\]", r"\1_\2", matrices)
        if t.factor.imag:
            matrices = f"i {matrices}" if t.factor.real == 0 else f"({t.factor:g}) {matrices}"
        size = t.factor.imag if t.factor.real == 0 else t.factor.real if not t.factor.imag else 1.0
        found.append(((size, t.numbers), matrices))
    return found


def _constant(numbers: Product, matrices: str) -> str:
    printed = printed_sum([numbers])
    return f"{_atom(printed)} {matrices}".strip() if printed != "1" or not matrices else matrices


def _joined(words: list[str]) -> str:
    return " + ".join(words).replace("+ -", "- ").removeprefix(" + ")


def _blocks(site: SiteForm) -> str:
    if site.clover is not None:
        return "-(1/2) sum_{mu<nu} c_munu sigma_munu F_munu"
    fields = dict.fromkeys(str(b.matrix) for b in site.blocks)
    return " + ".join(f"c_{n} S_{n} ({_short(f, SHORT)})" for n, f in enumerate(fields, start=1))


def _coefficients(site: SiteForm) -> str:
    if site.clover is None:
        return ""
    space, time = (printed_sum(site.clover[kind]) for kind in ("space", "time"))
    return f"; c = {space} in space, {time} in time"


def _weights(form: FifthForm) -> str:
    found: dict[str, list[str]] = {}
    for mu in form.directions:
        ways = [printed_sum(form.weight(mu, sign)) for sign in (1, -1)]
        axis = DIRECTION_NAMES[mu]
        for way, words in ((axis, ways[0]),) if ways[0] == ways[1] else ((f"+{axis}", ways[0]), (f"-{axis}", ways[1])):
            found.setdefault(words, []).append(way)
    return "".join(f"; hops along {', '.join(axes)} times {w}" for w, axes in found.items() if w != "1")


def _atom(printed: str) -> str:
    return f"({printed})" if " " in printed or printed.startswith("-") else printed
