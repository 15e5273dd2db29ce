"""The graphs of a statement with every field that it makes under a name: links that it gives, and what it stores.

A nonlinear function of matrices is evaluated site by site: sums of paths in its argument become fields of their own, so
that no site computes what its neighbours have computed already, forwards or backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from ..errors import ExpressionError
from ..language.action import Action
from ..language.graph import Node, is_uniform, make
from ..language.walks import merged, parts, rewritten
from .numeric import (
    COLOURS,
    EXTENT,
    TOLERANCE,
    Array,
    Numbers,
    dagger,
    group_of,
    random_field,
    random_values,
)

Slots = dict[int, Node]
"""The matrices of a field, by direction."""
NONLINEAR = ("exp", "project", "project_u3")
_PATH = ("load", "identity", "shift", "adj", "add", "sub", "neg", "mul", "constant", "parameter")


@dataclass(frozen=True, eq=False)
class Graphs:
    """M psi and the fields that it reads, as graphs of each other.

    Attributes:
        matrix: M psi; None if the statement makes links alone.
        made: fields that the statement makes, each after those that it is made of, by name.
        order: (field, direction) in the order in which their matrices can be made.
    """

    action: Action
    matrix: Node | None
    made: dict[str, Slots]

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Kinds of all fields by name."""
        return {f.name: f.kind for f in self.action.fields if f.origin != "made"} | dict.fromkeys(self.made, "matrices")

    def values(self, seed: int, numbers: Mapping[str, complex] | None = None, /, **fixed: Array) -> Values:
        """Fields of random numbers, and those that are made of them; `fixed` ones and `numbers` are given."""
        if numbers is None and not fixed:
            return self._values(seed)
        given = numbers or random_values([p.name for p in self.action.parameters], seed)
        return Values(self, self._random(seed) | fixed, given)

    @cache  # noqa: B019 - graphs are kept for good
    def _values(self, seed: int) -> Values:
        return self.values(seed, random_values([p.name for p in self.action.parameters], seed))

    @cache  # noqa: B019 - graphs are kept for good
    def _random(self, seed: int) -> dict[str, Array]:
        kinds = {f.name: f.kind for f in self.action.fields if f.origin != "made"}
        return {name: random_field(kind, 10 * seed + n) for n, (name, kind) in enumerate(kinds.items())}

    def group(self, name: str) -> str:
        """The group that the matrices of a field belong to: `SU(3)`, `U(3)` times a number, or `any`."""
        found = {group_of(v.matrix(name, mu)) for v in map(self.values, (1, 2)) for mu in self.made[name]}
        return found.pop() if len(found) == 1 else "any" if "any" in found else "U(3)"

    def is_hermitian(self, node: Node) -> bool:
        """Whether a colour matrix is Hermitian at every site, whatever the fields."""
        for value in (self.values(seed).of(node) for seed in (1, 2)):
            if np.abs(value - dagger(value)).max() > TOLERANCE * max(1.0, float(np.abs(value).max())):
                return False
        return True


class Values:
    """Numbers for all fields of a statement, those that it makes when they are asked for."""

    def __init__(self, graphs: Graphs, fields: Mapping[str, Array], parameters: Mapping[str, complex]) -> None:
        self._graphs = graphs
        self._fields = dict(fields)
        self._parameters = parameters
        self._made: dict[tuple[str, int], Array] = {}

    def matrix(self, name: str, mu: int) -> Array:
        """The matrices of a field that is made, of one direction."""
        if (name, mu) not in self._made:
            self._made[name, mu] = self.of(self._graphs.made[name][mu])
        return self._made[name, mu]

    def of(self, node: Node) -> Array:
        """The value of a graph."""
        for n in parts([node]):
            if n.op == "load" and isinstance(n.data, tuple) and n.data[0] in self._graphs.made:
                field = self._fields.setdefault(n.data[0], np.zeros((*EXTENT, 4, COLOURS, COLOURS), complex))
                field[:, :, :, :, n.data[1]] = self.matrix(*n.data)
        return Numbers(self._fields, self._parameters)(node)


def graphs_of(action: Action) -> Graphs:
    """The graphs of a statement.

    Raises:
        ExpressionError: at the line of the statement that means nothing.
    """
    builder = _Builder(action)
    for name, slots in action.links.items():
        for mu, node in slots.items():
            builder.define(name, mu.index, node)
    matrix = builder.visit(action.matrix, "", 0) if action.has_matrix else None
    aliases = builder.aliases(set(action.links))
    made = {name: slots for name, slots in builder.fields.items() if name not in aliases}
    made = {name: dict(zip(slots, _renamed(slots.values(), aliases), strict=True)) for name, slots in made.items()}
    return Graphs(action, None if matrix is None else merged(_renamed([matrix], aliases)[0]), made)


def _renamed(nodes: Iterable[Node], names: Mapping[str, str]) -> list[Node]:
    """Graphs with other names of fields of matrices."""

    def change(n: Node, args: tuple[Node, ...]) -> Node:
        kept = n.op != "load" or not isinstance(n.data, tuple) or n.field not in names
        return n.on(args) if kept else n.on(args, (names[n.field], n.data[1]))

    return rewritten(nodes, change)


def has_shift(node: Node) -> bool:
    """Whether it reads other sites."""
    return node.op == "shift" or any(map(has_shift, node.args))


def is_path_sum(node: Node) -> bool:
    """Whether it is a sum of products of matrices along paths, times numbers."""
    if is_uniform(node):
        return True
    return node.op in _PATH and all(map(is_path_sum, node.args))


@dataclass
class _Builder:
    """Rewrites graphs; what is stored gets names."""

    action: Action
    fields: dict[str, Slots] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _done: dict[int, tuple[Node, Node]] = field(default_factory=dict)
    _cuts: dict[tuple[str, int], int] = field(default_factory=dict)

    def define(self, name: str, mu: int, node: Node) -> None:
        """One matrix of a field; those that it is made of come before it."""
        value = self.visit(node, name, mu)
        self.fields.setdefault(name, {})[mu] = value

    def visit(self, node: Node, owner: str, mu: int) -> Node:
        """A graph in which what is stored is loaded; `owner` is the field that it belongs to."""
        if id(node) not in self._done:
            self._done[id(node)] = node, self._rewritten(node, owner, mu)
        return self._done[id(node)][1]

    def _rewritten(self, node: Node, owner: str, mu: int) -> Node:
        if node.op == "stored":
            kept, index = node.data
            name = self._names.setdefault(id(kept), self._free("stored"))
            if index not in self.fields.get(name, {}):
                self.define(name, index, node.args[0])
            return make("load", "matrix", (), (name, index), algebra=node.algebra)
        args = tuple(self.visit(a, owner, mu) for a in node.args)
        if node.op in NONLINEAR and node.kind == "matrix":
            if not owner and has_shift(args[0]):
                raise ExpressionError(
                    f"{node.place}: {node.op}(...) of paths in dirac; keep its result: stored({{mu: ...}}), or links"
                )
            args = (self._cut(args[0], owner, mu),)
        return node.on(args)

    def _cut(self, node: Node, owner: str, mu: int) -> Node:
        """An argument with its sums of paths in a field."""
        if not has_shift(node):
            return node
        below = [has_shift(a) for a in node.args]
        matrices = [a.kind == "matrix" for a in node.args]
        if is_path_sum(node) and node.op != "adj" and (node.op == "shift" or sum(below) == len(below)):
            return self._kept(node, owner, mu)
        if node.op == "mul" and all(matrices) and all(below):
            return self._kept(node, owner, mu)
        args = tuple(self._cut(a, owner, mu) if b else a for a, b in zip(node.args, below, strict=True))
        return node.on(args)

    def _kept(self, node: Node, owner: str, mu: int) -> Node:
        number = self._cuts[owner, mu] = self._cuts.get((owner, mu), 0) + 1
        name = f"{owner}_sum{number}"
        self.fields.setdefault(name, {})[mu] = node
        return make("load", "matrix", (), (name, mu), algebra=node.algebra)

    def _free(self, word: str) -> str:
        taken = {f.name for f in self.action.fields} | set(self._names.values())
        return next(name for n in range(1, 10**6) if (name := f"{word}{n}") not in taken)

    def aliases(self, kept: set[str]) -> dict[str, str]:
        """Fields that are others as they stand: the name that a statement gives stays."""
        found = {}
        for name in kept:
            slots = self.fields[name]
            of = {v.data[0] for v in slots.values() if v.op == "load" and isinstance(v.data, tuple)}
            plain = all(v.op == "load" and v.data[1] == mu for mu, v in slots.items())
            if plain and len(of) == 1:
                (other,) = of
                if other in self.fields and len(self.fields[other]) == len(slots) and other not in found:
                    self.fields[name] = self.fields[other]
                    found[other] = name
        return found
