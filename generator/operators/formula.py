"""Dirac operators whose formula is of no other shape: M and M^+ on all sites, each from one kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from generator.language import Action
from generator.language.operator import Expression
from generator.language.symbols import Definition
from generator.lower.adjoint import adjoint
from generator.lower.paths import along_paths


@dataclass(frozen=True)
class FormulaOperator(Expression):
    """The expression out = M psi, or M^+ psi, of an action; its numbers are the parameters of the action.

    Attributes:
        action: whose formula it is.
        dagger: True for M^+.
    """

    action: Action = field(kw_only=True)
    dagger: bool = False

    @cached_property
    def definition(self) -> Definition:
        """What the statement says, as that of a function of its fields and parameters."""
        fields = self.action.fields
        fermion = fields[-1]
        matrix = self.action.matrix
        result = along_paths(adjoint(matrix, fermion.name) if self.dagger else matrix, fermion.name)
        kind = "fermion" if fermion.kind == "staggered" else fermion.kind
        inputs = (
            *((f.name, f.kind) for f in fields[:-1]),
            (fermion.name, kind),
            *((p.name, "real") for p in self.action.parameters),
        )
        return Definition(self.name, self.action.place, self.action.text, inputs, (("out", kind),), (result,))


def formula_operators(action: Action) -> list[FormulaOperator]:
    """M and M^+, under the name of the action and with _dagger."""
    return [
        FormulaOperator(action.statement, f"{action.name}{'_dagger' if dagger else ''}", action=action, dagger=dagger)
        for dagger in (False, True)
    ]
