"""Dirac operators whose formula is of no other shape: M and M^+ on all sites, each from one kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from generator.language import Action
from generator.language.graph import Node, make
from generator.language.operator import Expression
from generator.language.symbols import Definition
from generator.lower.adjoint import adjoint
from generator.lower.paths import along_paths


@dataclass(frozen=True, eq=False)
class FormulaOperator(Expression):
    """The expression out = M psi, or M^+ psi, of an action; its numbers are functions of the action's parameters.

    Attributes:
        action: whose formula it is.
        dagger: True for M^+.
    """

    action: Action = field(kw_only=True)
    dagger: bool = False

    is_dirac = True

    @cached_property
    def definition(self) -> Definition:
        """What the statement says, as that of a function of its fields and parameters."""
        fields = self.action.fields
        fermion = fields[-1]
        matrix, numbers = numbers_of(self.action)
        result = along_paths(adjoint(matrix, fermion.name) if self.dagger else matrix, fermion.name)
        kind = "fermion" if fermion.kind == "staggered" else fermion.kind
        inputs = (
            *((f.name, f.kind) for f in fields[:-1]),
            (fermion.name, kind),
            *((name, "real") for name in numbers),
        )
        return Definition(self.name, self.action.place, self.action.text, inputs, (("out", kind),), (result,))


def numbers_of(action: Action) -> tuple[Node, dict[str, Node]]:
    """M psi with names for exponentials of numbers, which the host evaluates once, and all numbers in it by name."""
    exponentials: dict[str, Node] = {}
    used: set[str] = set()
    seen: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in seen:
            seen[id(node)] = replaced(node)
        return seen[id(node)]

    def replaced(node: Node) -> Node:
        if node.op == "exp" and node.kind == "real":
            name = next((n for n, e in exponentials.items() if str(e) == str(node)), f"exp_{len(exponentials) + 1}")
            exponentials[name] = node
            return make("parameter", "real", (), name)
        if node.op == "parameter":
            used.add(node.data)
        args = tuple(visit(a) for a in node.args)
        return node if args == node.args else replace(node, args=args)

    matrix = visit(action.matrix)
    parameters = {p.name: make("parameter", "real", (), p.name) for p in action.parameters if p.name in used}
    return matrix, parameters | exponentials


def formula_operators(action: Action) -> list[FormulaOperator]:
    """M and M^+, under the name of the action and with _dagger."""
    return [
        FormulaOperator(action.statement, f"{action.name}{'_dagger' if dagger else ''}", action=action, dagger=dagger)
        for dagger in (False, True)
    ]
