"""Links of an action, as its statement makes them from the gauge field: a list of launches of kernels.

The statement is cut into stages where links are projected on U(3). Within a stage a field is a sum of numbers times
matrices; each term is a kernel that adds it up, found by comparing it with the formulas of kernels. Fields that the
statement stores on the way are made by kernels that add them up, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from generator.language import Action, Expression
from generator.language.graph import ExpressionError, Node, is_uniform

Key = Any
"""A field: its name in the statement, or the Stored that it is."""
Sums = dict[int, Node]
"""The matrices of a field, by direction."""


@dataclass(frozen=True)
class Operand:
    """What a kernel is given: a field, a number (product of the numbers of a statement) or a direction."""

    kind: Literal["field", "number", "direction"]
    value: Any


@dataclass(frozen=True)
class Launch:
    """A kernel and its operands, in the order of its call."""

    kernel: str
    operands: tuple[Operand, ...]

    @property
    def fields(self) -> list[Key]:
        """Those of its operands that are fields."""
        return [o.value for o in self.operands if o.kind == "field"]


@dataclass(frozen=True, eq=False)
class Stage:
    """What is made from one field.

    Attributes:
        source: the field that is read.
        made: fields that are made, with their matrices.
        launches: in their order.
        project: whether what is made is projected on U(3) then.
    """

    source: Key
    made: dict[Key, Sums]
    launches: tuple[Launch, ...]
    project: bool

    @cached_property
    def numbered(self) -> list[dict[Key, int]]:
        """For each launch the numbers of fields: 0 the source, then those made, then what is stored for a while."""
        last = {key: n for n, launch in enumerate(self.launches) for key in launch.fields}
        fixed = {key: n for n, key in enumerate((self.source, *self.made))}
        kept: dict[Key, int] = {}
        found = []
        for n, launch in enumerate(self.launches):
            for key in launch.fields:
                if key not in fixed and key not in kept:
                    free = set(range(len(fixed), len(fixed) + len(kept) + 1)) - set(kept.values())
                    kept[key] = min(free)
            found.append(fixed | kept)
            kept = {key: k for key, k in kept.items() if last[key] > n}
        return found

    @property
    def fields(self) -> int:
        """How many there are at a time."""
        return 1 + max(max(numbers.values()) for numbers in self.numbered)

    @cached_property
    def reach(self) -> tuple[int, ...]:
        """Sites along x, y, z, t, on either side, from which the source is read."""
        found = [_reach(node, self.source, {}) for sums in self.made.values() for node in sums.values()]
        return tuple(max(max(-r[mu][0], r[mu][1]) for r in found if r) for mu in range(4))


def stages(action: Action, kernels: Sequence[Expression]) -> list[Stage]:
    """The links of an action as launches of these kernels; none if it takes the gauge field itself.

    Raises:
        ExpressionError: no kernel makes a term of the statement.
    """
    made: dict[Key, Sums] = {n: {mu.index: m for mu, m in ms.items()} for n, ms in action.links.items()}
    found: list[Stage] = []
    while made:
        cover = _Cover(action, kernels, set(made))
        launches = tuple(launch for key, sums in made.items() for launch in cover.launches(key, sums))
        stage = Stage(cover.source(), made, launches, bool(found))
        found.insert(0, stage)
        made = {}
        if not isinstance(stage.source, str):
            inner = {mu.index: m.args[0].args[0] for mu, m in stage.source.matrices.items()}
            if any(m.op != "stored" for m in inner.values()) or len(inner) != 4:
                raise ExpressionError(f"{action.place}: {action.name}: project_u3 takes a field that is stored")
            made = {inner[0].data[0]: {mu: m.args[0] for mu, m in inner.items()}}
    return found


def _leaf(node: Node) -> tuple[Key, int] | None:
    """Field and direction of a matrix that stands in memory."""
    return node.data if node.op in ("load", "stored") else None


def _is_projected(node: Node) -> bool:
    return node.op == "stored" and node.args[0].op == "project_u3"


def _terms(node: Node) -> Iterator[tuple[tuple[Node, ...], Node]]:
    """The terms of a sum: numbers that are the same at all sites, and the matrix that they multiply."""
    if node.op == "add":
        yield from _terms(node.args[0])
        yield from _terms(node.args[1])
        return
    numbers: tuple[Node, ...] = ()
    while node.op == "mul" and is_uniform(node.args[0]):
        numbers, node = (*numbers, node.args[0]), node.args[1]
    yield numbers, node


def _reach(node: Node, source: Key, done: dict[int, list[tuple[int, int]] | None]) -> list[tuple[int, int]] | None:
    """The least and the most sites along each direction from which a field is read; None if it is not."""
    if id(node) in done:
        return done[id(node)]
    found: list[tuple[int, int]] | None = None
    leaf = _leaf(node)
    below = [r for r in (_reach(a, source, done) for a in node.args) if r]
    if leaf is not None and leaf[0] == source:
        found = [(0, 0)] * 4
    elif below:
        at = node.data.vector if node.op == "shift" else (0,) * 4
        found = [(min(r[mu][0] for r in below) + at[mu], max(r[mu][1] for r in below) + at[mu]) for mu in range(4)]
    done[id(node)] = found
    return found


class _Cover:
    """The kernels of one stage.

    Attributes:
        known: fields that are made so far, or given.
    """

    def __init__(self, action: Action, kernels: Sequence[Expression], made: set[Key]) -> None:
        self.action, self.kernels = action, kernels
        self.made, self.known = made, set(made)
        self.read: list[Key] = []

    def source(self) -> Key:
        """The field from which everything was made."""
        if len(self.read) != 1:
            raise ExpressionError(f"{self.action.place}: links of {self.action.name} are made from one field at a time")
        return self.read[0]

    def launches(self, key: Key, sums: Sums) -> Iterator[Launch]:
        """Launches that make a field: one that begins all directions, then the terms one by one."""
        terms = {mu: list(_terms(node)) for mu, node in sums.items()}
        yield self._first(key, {mu: of.pop(0) for mu, of in terms.items()})
        for mu, of in terms.items():
            for numbers, node in of:
                yield self._added(key, mu, numbers, node)

    def _first(self, key: Key, terms: dict[int, tuple[tuple[Node, ...], Node]]) -> Launch:
        weights = {tuple(map(str, numbers)) for numbers, _ in terms.values()}
        for kernel in self.kernels:
            if kernel.directions or len(kernel.definition.outputs) != 1 or len(weights) != 1:
                continue
            given: dict[str, Operand] = {}
            patterns = {d.index: m.args[1] for d, m in kernel.definition.results[0].items() if m.op == "mul"}
            if patterns.keys() == terms.keys() and all(
                self._same(patterns[mu], node, (), given) for mu, (_, node) in terms.items()
            ):
                return self._launch(kernel, given, terms[0][0], key, None)
        raise self._no_kernel(terms[0][1])

    def _added(self, key: Key, mu: int, numbers: tuple[Node, ...], node: Node) -> Launch:
        """The kernel that adds a term to a sum, and stores it if the statement does."""
        stores = node.data[0] if node.op == "stored" and node.data[0] not in self.known else None
        core = node.args[0] if stores else node
        for kernel in self.kernels:
            *more, (out, _) = kernel.definition.outputs
            total = list(kernel.definition.results[-1].values())[0]
            if len(kernel.directions) != 2 or len(more) != bool(stores) or total.op != "add":
                continue
            for nu in range(4):
                given: dict[str, Operand] = {}
                if nu != mu and self._same(total.args[1].args[1], core, (mu, nu), given):
                    given |= {"mu": Operand("direction", mu), "nu": Operand("direction", nu)}
                    given[total.args[0].data[0]] = Operand("field", key)
                    return self._launch(kernel, given, numbers, key, stores)
        raise self._no_kernel(node)

    def _launch(
        self, kernel: Expression, given: dict[str, Operand], numbers: tuple[Node, ...], key: Key, stores: Key
    ) -> Launch:
        definition = kernel.definition
        weight = Operand("number", numbers)
        operands = [weight if kind == "real" else given[name] for name, kind in definition.inputs]
        operands += [Operand("field", k) for k in ([stores] if stores else [])] + [Operand("field", key)]
        for o in operands:
            if o.kind == "field" and o.value not in self.known:
                if o.value is stores:
                    self.known.add(stores)
                elif o.value not in self.read:
                    self.read.append(o.value)
        return Launch(kernel.name, tuple(operands))

    def _same(self, pattern: Node, node: Node, chosen: tuple[int, ...], given: dict[str, Operand]) -> bool:
        """Whether a kernel's formula in some directions is this one; `given` becomes what its fields are here."""
        turned = lambda index: chosen[index - 4] if 4 <= index < 4 + len(chosen) else index  # noqa: E731
        leaf = _leaf(node)
        if pattern.op == "load":
            if leaf is None or turned(pattern.data[1]) != leaf[1] or not self._is_there(node):
                return False
            return given.setdefault(pattern.data[0], Operand("field", leaf[0])).value == leaf[0]
        if pattern.op == "shift" and node.op == "shift":
            vector = [0] * 4
            for index, n in enumerate(pattern.data.vector[:6]):
                vector[turned(index) if index < 4 or chosen else 0] += n
            if tuple(vector) != node.data.vector[:4]:
                return False
        elif pattern.op != node.op or pattern.data != node.data:
            return False
        return len(pattern.args) == len(node.args) and all(
            self._same(p, n, chosen, given) for p, n in zip(pattern.args, node.args, strict=True)
        )

    def _is_there(self, node: Node) -> bool:
        """Whether a matrix is in memory: given, projected in the stage before, or stored in this one."""
        return node.op == "load" or _is_projected(node) or node.data[0] in self.known

    def _no_kernel(self, node: Node) -> ExpressionError:
        names = ", ".join(k.name for k in self.kernels)
        return ExpressionError(
            f"{node.place}: {self.action.name}: no kernel adds up {str(node)[:99]}; there are {names}"
        )
