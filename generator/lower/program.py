"""Smeared links and other fields of a statement as launches of kernels, each of which adds a term to a matrix.

A term is a weight times a core: a formula of matrices without the names of fields, directions and numbers. Terms that
differ only in these names share their kernels, even between statements. In derivatives each core passes the derivative
by its result on to the matrices that it is made of (solvers/links/).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..language.graph import FIFTH, Direction, Node, Step, constant, is_uniform, make
from ..language.walks import merged, parts, rewritten
from .made import Graphs, Slots

Numbers = tuple[Node, ...]
OPERANDS = tuple(f"m{n}" for n in range(1, 9))
"""Names of the matrices in cores."""


@dataclass(frozen=True, eq=False)
class Core:
    """A formula for a matrix made of others, without names of fields, directions and numbers.

    Attributes:
        node: its graph, of operands m1, m2, ..., numbers n1, n2, ... and directions of the call; the first of these is
            the direction of the matrix.
        operands: kind of each operand: matrices, phases or scalars.
        numbers: kind of each number: real or complex.
        directions: number of directions that a call supplies.
        whole: whether a launch makes the matrices of all directions.
    """

    node: Node
    operands: tuple[str, ...]
    numbers: tuple[str, ...]
    directions: int
    whole: bool

    @cached_property
    def formula(self) -> str:
        """The formula of the core, as text."""
        return str(self.node)

    @property
    def text(self) -> str:
        """Text that identifies the core."""
        return f"{'all' if self.whole else self.directions}: {self.formula}"


@dataclass(frozen=True, eq=False)
class Launch:
    """A launch that computes one term of a field, or of one of its matrices.

    Attributes:
        core: the formula to evaluate.
        field: the field to which the term is added; `mu` is the direction of the matrix, None for all four.
        weight: factors of the term.
        operands, numbers, directions: arguments of the core.
        first: whether the term begins the sum instead of being added.
        kept: a field that receives the core without its weight as well; empty if there is none.
    """

    core: Core
    field: str
    mu: int | None
    weight: Numbers
    operands: tuple[str, ...]
    numbers: Numbers
    directions: tuple[int, ...]
    first: bool
    kept: str = ""

    @property
    def projects(self) -> bool:
        """Whether it is the projection of a field, which may be singular."""
        return self.core.node.op == "project_u3" and self.core.node.args[0].op == "load"


@dataclass(frozen=True, eq=False)
class _Group:
    """Terms with the same weight, directions and fields, which are computed together."""

    weight: Numbers
    node: Node
    core: Core
    operands: tuple[str, ...]
    numbers: Numbers
    directions: tuple[int, ...]

    @property
    def copied(self) -> tuple[str, int] | None:
        """Field and direction of the matrix, if the group is just a copy of one."""
        return self.node.data if self.node.op == "load" and self.node.kind == "matrix" else None


def launches_of(graphs: Graphs, wanted: Sequence[str]) -> list[Launch]:
    """The launches that compute some fields and all fields that these depend on, in order."""
    planner = _Planner(graphs)
    for name in wanted:
        for mu in graphs.made[name]:
            planner.emit(name, mu)
    return planner.launches


@dataclass
class _Planner:
    graphs: Graphs
    launches: list[Launch] = field(default_factory=list)
    _made: set[tuple[str, int]] = field(default_factory=set)
    _begun: set[str] = field(default_factory=set)
    _groups: dict[tuple[str, int], list[_Group]] = field(default_factory=dict)

    def groups(self, name: str, mu: int) -> list[_Group]:
        """The terms of a matrix."""
        if (name, mu) not in self._groups:
            self._groups[name, mu] = grouped(self.graphs.made[name][mu], mu, self.graphs.kinds)
        return self._groups[name, mu]

    def emit(self, name: str, mu: int) -> None:
        """Adds the launches that compute a matrix, unless they were added before."""
        if (name, mu) in self._made:
            return
        if self._is_whole(name):
            self._emit_whole(name)
            return
        for n, group in enumerate(self.groups(name, mu)):
            if n == 0 and self._begins_whole(name):
                if name not in self._begun:
                    self._begun.add(name)
                    for nu in range(4):
                        self._need(self.groups(name, nu)[0])
                    self._launch(name, None, self.groups(name, 0)[0], group.weight, first=True)
                continue
            self._emit_term(name, mu, group, first=n == 0)
        self._made.add((name, mu))

    def _emit_term(self, name: str, mu: int, group: _Group, *, first: bool) -> None:
        copied = group.copied
        if copied is None or first or not self._can_be_kept(*copied):
            self._need(group)
            self._launch(name, mu, group, group.weight, first=first)
            return
        (inner,) = self.groups(*copied)
        self._need(inner)
        self._made.add(copied)
        self._launch(name, mu, inner, group.weight, first=False, kept=copied[0])

    def _begins_whole(self, name: str) -> bool:
        """Whether one launch can begin the sums of all four directions, from fields with links in all directions."""
        if set(self.graphs.made[name]) != set(range(4)):
            return False
        begin = [self.groups(name, mu)[0] for mu in range(4)]
        whole = all(set(self.graphs.made.get(n, range(4))) == set(range(4)) for n in begin[0].operands)
        return whole and begin[0].core.directions == 1 and all(_form(g) == _form(begin[0]) for g in begin)

    def _can_be_kept(self, name: str, mu: int) -> bool:
        """Whether a matrix can be computed by the launch that adds it to another one."""
        if (name, mu) in self._made or name not in self.graphs.made or self._is_whole(name):
            return False
        return len(self.groups(name, mu)) == 1 and not self.groups(name, mu)[0].weight

    def _need(self, group: _Group) -> None:
        for node in parts([group.node]):
            if node.op == "load" and isinstance(node.data, tuple) and node.data[0] in self.graphs.made:
                self.emit(*node.data)

    def _launch(
        self, name: str, mu: int | None, group: _Group, weight: Numbers, *, first: bool, kept: str = ""
    ) -> None:
        core = group.core if mu is not None else _of_all(group.core)
        directions = group.directions if mu is not None else ()
        self.launches.append(Launch(core, name, mu, weight, group.operands, group.numbers, directions, first, kept))

    def _is_whole(self, name: str) -> bool:
        """Whether the matrices of all four directions have the same formula, which uses no other direction."""
        slots: Slots = self.graphs.made[name]
        if set(slots) != set(range(4)):
            return False
        forms = [[_form(g) for g in self.groups(name, mu)] for mu in range(4)]
        return all(f == forms[0] for f in forms) and all(g.core.directions == 1 for g in self.groups(name, 0))

    def _emit_whole(self, name: str) -> None:
        self._made |= {(name, mu) for mu in range(4)}
        for n, group in enumerate(self.groups(name, 0)):
            for mu in range(4):
                self._need(self.groups(name, mu)[n])
            self._launch(name, None, group, group.weight, first=n == 0)


def _form(group: _Group) -> tuple[object, ...]:
    return group.core.text, tuple(map(str, group.weight)), tuple(map(str, group.numbers)), group.operands


def _of_all(core: Core) -> Core:
    return Core(core.node, core.operands, core.numbers, 0, whole=True)


def grouped(node: Node, mu: int, kinds: Mapping[str, str]) -> list[_Group]:
    """The terms of the matrix of direction mu, grouped by weight, directions and fields."""
    found: dict[object, tuple[Numbers, Node]] = {}
    for sign, weight, term in terms(node):
        key = tuple(map(str, weight)), _along(term), _fields(term)
        if key in found:
            before = found[key][1]
            found[key] = weight, before + term if sign > 0 else before - term
        else:
            found[key] = weight, term if sign > 0 else -term
    return [_group(weight, merged(term), mu, kinds) for weight, term in found.values()]


def terms(node: Node, sign: int = 1) -> Iterator[tuple[int, Numbers, Node]]:
    """The terms of a sum: sign, real factors that are the same at all sites, and the rest of each term."""
    if node.op in ("add", "sub"):
        yield from terms(node.args[0], sign)
        yield from terms(node.args[1], -sign if node.op == "sub" else sign)
        return
    if node.op == "neg":
        yield from terms(node.args[0], -sign)
        return
    if node.op == "mul" and is_uniform(node.args[0]) and node.args[0].kind == "real":
        inner = node.args[1]
        if inner.op in ("add", "sub", "neg") and inner.kind == "matrix":  # a sum that has one weight stays one
            yield sign, (node.args[0],), inner
            return
        for s, weight, term in terms(inner, sign):
            yield s, (node.args[0], *weight), term
        return
    if node.op == "mul" and node.args[0].op == "constant" and abs(node.args[0].data) != 1:  # i c is c times i
        c = node.args[0].data
        yield sign, (constant(abs(c)),), constant(c / abs(c)) * node.args[1]
        return
    yield sign, (), node


def _along(node: Node) -> frozenset[int]:
    found = set()
    for n in parts([node]):
        if n.op == "load" and isinstance(n.data, tuple):
            found.add(n.data[1])
        if n.op == "shift":
            found |= {nu for nu, steps in enumerate(n.data.vector[:4]) if steps}
    return frozenset(found)


def _fields(node: Node) -> frozenset[object]:
    return frozenset(n.data for n in parts([node]) if n.op == "load")


def _group(weight: Numbers, node: Node, mu: int, kinds: Mapping[str, str]) -> _Group:
    directions = [mu]
    operands: dict[Any, str] = {}
    numbers: dict[str, Node] = {}

    def along(index: int) -> int:
        if index >= 4:
            return index
        if index not in directions:
            directions.append(index)
        return 4 + directions.index(index)

    def named(n: Node) -> Node | None:
        if is_uniform(n) and (n.op != "constant" or _is_weight(n)):
            name = next((k for k, v in numbers.items() if str(v) == str(n)), f"n{len(numbers) + 1}")
            numbers[name] = n
            return make("parameter", n.kind, (), name)
        if n.op == "load":
            name = operands.setdefault(n.data, OPERANDS[len(operands)])
            slot = (name, along(n.data[1])) if isinstance(n.data, tuple) else name
            return make("load", n.kind, (), slot, algebra=n.algebra)
        return None

    def moved(n: Node, args: tuple[Node, ...]) -> Node:
        return n.on(args, _moved(n.data, along)) if n.op == "shift" else n.on(args)

    canonical = merged(rewritten([node], moved, named)[0])
    names = [data[0] if isinstance(data, tuple) else data for data in operands]
    core = Core(
        canonical,
        tuple("matrices" if kinds[n] in ("links", "matrices") else kinds[n] for n in names),
        tuple(n.kind for n in numbers.values()),
        len(directions),
        whole=False,
    )
    return _Group(weight, node, core, tuple(names), tuple(numbers.values()), tuple(directions))


def _is_weight(node: Node) -> bool:
    """Whether a real constant is a weight, as of smearings; multiples of 1/2 belong to the formula itself."""
    return node.kind == "real" and 2 * node.data != round(2 * node.data)


def product(weight: Numbers) -> Node:
    """The product of the factors of a weight, as a node."""
    result = constant(1.0)
    for n in weight:
        result = n * result if result.op != "constant" or result.data != 1 else n
    return result


CALLED = tuple(Direction(n) for n in range(4, FIFTH))
"""Directions that a call supplies: mu, nu, rho, sigma."""


def renamed(node: Node, names: Mapping[Direction, Direction]) -> Node:
    """A graph in which directions are replaced: those that are keys of `names`, by their values."""
    numbers = {before.index: after.index for before, after in names.items()}
    data = node.data
    if node.op == "load" and isinstance(data, tuple):
        data = (data[0], numbers.get(data[1], data[1]))
    if node.op == "shift":
        data = _moved(data, lambda mu: numbers.get(mu, mu))
    return node.on(tuple(renamed(a, names) for a in node.args), data)


def _moved(step: Step, along: Callable[[int], int]) -> Step:
    """A step along other directions."""
    vector = [0] * len(step.vector)
    for mu, n in enumerate(step.vector):
        vector[along(mu) if n else mu] += n
    return Step(tuple(vector))
