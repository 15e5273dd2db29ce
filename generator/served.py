"""Which kernels serve which action: operators of its hops, its site term, its chain."""

from __future__ import annotations

from typing import Any

from .language import Action
from .lower.hopping import same_hops
from .lower.record import Lowered
from .operators import OPERATORS, RECORDS, REFUSED, alike
from .operators.stated import first_alike, same_steps
from .spec import Operator


def hopping_of(record: Lowered) -> Operator:
    """The operator whose kernels hop as an action does."""
    return OPERATORS[first_alike(record, alike(record), same_hops).name]


def with_term_of(record: Lowered) -> Operator:
    """The operator whose kernels apply its site term as well."""
    own = OPERATORS.get(record.name)
    return own if own is not None and own.family == "hopping" else hopping_of(record)


def chain_of(record: Lowered) -> Operator | None:
    """The operator of its chain along a fifth dimension."""
    if record.form is None or not record.form.has_slices:
        return None
    return OPERATORS[first_alike(record, alike(record), same_steps).name]


def operators_of(record: Lowered) -> list[tuple[Operator, dict[str, Any]]]:
    """The operators whose kernels an action is solved with, and axes that they have for it."""
    if record.form is None:
        names = (record.name, f"{record.name}_dagger") if record.matrix is not None else ()
        return [(OPERATORS[name], {"spins": record.action.spins}) for name in names]
    assert record.site is not None
    found: list[tuple[Operator, dict[str, Any]]] = [(hopping_of(record), {"tile": 1})]
    if record.site.stored or record.site.twisted or record.site.is_general or record.flavours > 1:
        found.append((with_term_of(record), {"tile": record.flavours, "epilogue": "taxpby"}))
    return found + ([(chain, {})] if (chain := chain_of(record)) else [])


def served(operator: Operator) -> list[Lowered]:
    """The actions that an operator's kernels are solved with."""
    if operator.family != "hopping":
        record = RECORDS.get(operator.name.removesuffix("_dagger"))
        return [record] if record is not None and record.matrix is not None else []
    form = (operator.hops_of or operator).form
    return [r for r in RECORDS.values() if r.form is not None and same_hops(form, r.form)]


def solvable_actions() -> list[Action]:
    """Actions with parameters: each is followed by those that build on it, the largest such families first."""
    families: dict[type, list[Action]] = {}
    for a in (r.action for r in RECORDS.values()):
        if a.has_matrix and a.parameters:
            families.setdefault(a.statement.__mro__[-2], []).append(a)
    return [a for family in sorted(families.values(), key=len, reverse=True) for a in family]


def refused_actions() -> dict[str, str]:
    """Statements that nothing can be solved for, and why. Those without parameters are tools of smearing."""
    plain = [r.name for r in RECORDS.values() if r.action.has_matrix and not r.action.parameters]
    why = dict.fromkeys(plain, "its statement has no parameter; give it one, such as a mass")
    return dict(sorted((why | {name: str(reason) for name, reason in REFUSED.items()}).items()))
