"""Dirac operators whose formula is of no other shape: M and M^+ on all sites, each from one kernel."""

from __future__ import annotations

from dataclasses import dataclass

from ..language.formula import Definition, Formula
from ..lower.adjoint import adjoint
from ..lower.paths import along_paths
from ..lower.record import Lowered
from .expression import Expression


@dataclass(frozen=True, eq=False)
class FormulaOperator(Expression):
    """The expression out = M psi, or M^+ psi, of an action; its numbers are functions of the action's parameters."""

    is_dirac = True


def argument_kind(record: Lowered, field: str) -> str:
    """The kind of a field as a kernel of M takes it: links that a statement makes in SU(3) are links as any others."""
    kind = record.fields[field]
    if kind in ("links", "matrices"):
        return "links" if record.group(field) == "SU(3)" else "matrices"
    return kind


def _definition(record: Lowered, name: str, *, dagger: bool) -> Definition:
    assert record.matrix is not None and record.numbers is not None
    fermion = record.action.fermion
    result = along_paths(adjoint(record.matrix, fermion) if dagger else record.matrix, fermion)
    inputs = (
        *((field, argument_kind(record, field)) for field in record.read),
        (fermion, "fermion"),
        *((name, _kind(record, name)) for name in record.numbers),
    )
    return Definition(
        name, record.action.place, record.action.text, inputs, ((record.free_name("out"), "fermion"),), (result,)
    )


def _kind(record: Lowered, number: str) -> str:
    assert record.numbers is not None
    return "complex" if record.numbers[number].kind == "complex" else "real"


def formula_operators(record: Lowered) -> list[FormulaOperator]:
    """M and M^+, under the name of the action and with _dagger."""
    found = []
    for dagger in (False, True):
        name = f"{record.name}{'_dagger' if dagger else ''}"
        make = lambda name=name, dagger=dagger: _definition(record, name, dagger=dagger)  # noqa: E731
        found.append(FormulaOperator(Formula(name, make), flavours=record.flavours))
    return found
