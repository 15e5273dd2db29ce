"""One record of each action, from which everything else follows: kernels, tables, forces, options, words.

A statement is of hopping shape (one link a hop, a site term with a closed form of its inverse, perhaps a fifth
dimension) or a general body: M and M^+ on all sites as they stand. Which of the two is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from ..errors import ExpressionError, ShapeError, SpecError
from ..language.action import Action
from ..language.graph import Node, is_uniform, make
from ..language.place import at_their_line
from ..language.walks import fields_of, parts, rewritten
from ..released import RELEASED
from .adjoint import check_linear
from .fifth import FifthForm
from .hermiticity import negated_in_adjoint
from .made import Graphs, Slots, graphs_of, has_shift
from .numbers import Product
from .numeric import COLOURS, TOLERANCE, dagger, random_field
from .program import Launch, launches_of
from .site import Block, SiteForm
from .stages import Stage, stages_of

Slot = tuple[str, int]
"""A field and one of its matrices."""
MOST_GIVEN = 2
"""Parameters that one option gives at most: runtime/action_info.hpp."""
MOST_BLOCKS, MOST_BLOCK_FIELDS = 12, 8
"""Matrices of a site that kernels take, and the fields in which they stand: operators/blocks.py."""


@dataclass(frozen=True, eq=False)
class Lowered:
    """A lowered action.

    Attributes:
        action: its statement.
        graphs: M psi and all fields that the statement makes.
        form: hops, site term and fifth dimension; None for a general body.
        site: the site term of `form`.
        links: of `form` the field whose links hops of each length take.
        stored: of `form` where the matrix of each block of the site term stands.
        matrix: of a general body M psi, as a graph of fields and of numbers by their names; without a form and without
            this the statement makes links alone.
        numbers: these numbers, functions of the parameters.
        why: for a general body why it is one.
    """

    action: Action
    graphs: Graphs
    form: FifthForm | None = None
    site: SiteForm | None = None
    links: Mapping[int, str] | None = None
    stored: tuple[tuple[Block, Slot], ...] = ()
    matrix: Node | None = None
    numbers: Mapping[str, Node] | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """Name of the action as in kernel names."""
        return self.action.name

    @property
    def own_digest(self) -> str:
        """The digest by which files know the statement; none of one that says what it said when it was released."""
        return "" if self.action.digest == RELEASED.get(self.name) else self.action.digest

    @cached_property
    def flavours(self) -> int:
        """Flavours that belong together in a vector."""
        if self.site is not None:
            return self.site.flavours
        if self.matrix is None:
            return 1
        return 2 if any(n.kind == "flavour" for n in parts([self.matrix])) else 1

    @property
    def slice_numbers(self) -> dict[str, tuple[Product, ...]]:
        """The alpha, beta, b, c of M = (alpha + beta R) + h D (b + c R), and the wall of R."""
        assert self.form is not None and self.site is not None
        return self.form.numbers_along_slices | {"alpha": self.site.parts["diagonal"]}

    @cached_property
    def negated(self) -> tuple[str, ...] | None:
        """The parameters that change sign in gamma_5 M^+ gamma_5, if that is M for other values of them."""
        return negated_in_adjoint(self.graphs, self.flavours)

    @property
    def fields(self) -> dict[str, str]:
        """Kinds by name of all fields that it reads or makes."""
        return self.graphs.kinds

    def free_name(self, word: str) -> str:
        """A name for what is not of the statement: the word, with underscores behind it if the statement has it."""
        taken = {*self.fields, self.action.fermion, *(self.numbers or ()), *(p.name for p in self.action.parameters)}
        while word in taken:
            word += "_"
        return word

    @cached_property
    def gauge(self) -> str:
        """The links of a configuration; empty if it takes other fields alone."""
        return next((f.name for f in self.action.fields if f.origin == "gauge"), "")

    @property
    def given(self) -> dict[str, str]:
        """Kinds by name of the fields that the caller brings."""
        return {f.name: f.kind for f in self.action.fields if f.origin == "given"}

    @cached_property
    def read(self) -> tuple[str, ...]:
        """Fields that kernels of M read, besides the fermion; those of blocks, which are stored otherwise, left out."""
        if self.form is not None:
            assert self.links is not None
            return tuple(dict.fromkeys(self.links.values()))
        if self.matrix is None:
            return tuple(self.action.links)
        return tuple(n for n in fields_of([self.matrix]) if n != self.action.fermion)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Launches that make the fields of the statement from those that it reads."""
        return tuple(launches_of(self.graphs, self._wanted))

    @property
    def _wanted(self) -> list[str]:
        """Fields of kernels that the statement makes."""
        wanted = dict.fromkeys((*self.read, *(slot[0] for _, slot in self.stored)))
        return [n for n in wanted if n in self.graphs.made]

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The launches grouped into stages between fields that are kept."""
        return tuple(stages_of(self.graphs, self.launches, self._wanted))

    @cached_property
    def moving(self) -> frozenset[str]:
        """Fields that depend on the links of a configuration, and these: what a force reaches them through."""
        found = {self.gauge}
        for name, slots in self.graphs.made.items():
            if found & set(fields_of(slots.values())):
                found.add(name)
        return frozenset(found - {""})

    @cached_property
    def groups(self) -> dict[str, str]:
        """The group of the link fields that its kernels read: `SU(3)`, `U(3)` times a number, `any`."""
        return {name: self.group(name) for name in self.read if self.fields[name] in ("links", "matrices")}

    @cache  # noqa: B019 - records are kept for good
    def group(self, name: str) -> str:
        """The group of one field of matrices."""
        if name in self.graphs.made:
            return self.graphs.group(name)
        return "SU(3)" if self.fields[name] == "links" else "any"

    @cache  # noqa: B019
    def turns_in_su3(self, name: str) -> bool:
        """Whether links V change by dV = w V with w in su(3) when those of a configuration do: phases stay."""
        if name == self.gauge:
            return True
        if name not in self.graphs.made or self.group(name) == "any":
            return False
        found = [self.graphs.values(5, **{self.gauge: random_field("links", seed)}) for seed in (21, 22)]
        for mu in self.graphs.made[name]:
            one, other = (values.matrix(name, mu) for values in found)
            if np.abs(np.linalg.det(one) - np.linalg.det(other)).max() > TOLERANCE:
                return False
            if np.abs(one @ dagger(one) - np.eye(COLOURS)).max() > TOLERANCE:
                return False
        return True


@cache
def lower(action: Action) -> Lowered:
    """The record of an action.

    Raises:
        ExpressionError: at the line of the statement, if it means nothing or cannot be built.
    """
    lowered = _lowered(action, graphs_of(action))
    _check_options(lowered)
    return lowered


def _lowered(action: Action, graphs: Graphs) -> Lowered:
    if graphs.matrix is None:
        return Lowered(action, graphs)
    check_linear(graphs.matrix, action.fermion)
    form = FifthForm(action, graphs.matrix)
    try:
        if not form.terms:
            raise ExpressionError(f"{action.place}: M of {action.name} is 0: no term of the formula is left")
        return _of_hops(action, graphs, form)
    except ShapeError as error:
        if any(n.op == "shift" and len(n.args) > 1 for n in parts([graphs.matrix])):
            raise ExpressionError(f"{error}; beside a fifth dimension there are hops, and numbers at a site") from error
        return _general(action, graphs, graphs.matrix, str(error))


def _of_hops(action: Action, graphs: Graphs, form: FifthForm) -> Lowered:
    form.check()
    site = SiteForm(graphs, form.local)
    site.check()
    if action.spins == 1 and (site.stored or site.is_general or site.flavours > 1):
        raise ShapeError(f"{action.place}: {action.name}: the site term of one colour vector is no number")
    made, links = dict(graphs.made), {}
    for length, name in form.fields.items():
        links[length] = name or _free(f"links{length}", graphs, made)
        if not name:
            matrices: Slots = form.links(length)
            made[links[length]] = matrices
    stored = _placed(site.blocks, graphs, made)
    if len(stored) > MOST_BLOCKS or len({name for _, (name, _) in stored}) > MOST_BLOCK_FIELDS:
        raise ShapeError(f"{action.place}: {action.name}: {len(stored)} matrices of a site")
    lowered = Lowered(action, replace(graphs, made=made), form, site, links, stored)
    _check_fifth(lowered)
    return lowered


def _check_fifth(lowered: Lowered) -> None:
    form, site = lowered.form, lowered.site
    assert form is not None and site is not None
    if not form.has_slices:
        return
    form.check_hops()
    if site.stored or site.is_general or site.flavours > 1 or site.twisted:
        raise ExpressionError(
            f"{form.action.place}: {form.action.name}: along a fifth dimension what does not hop is a number"
        )


def _check_options(lowered: Lowered) -> None:
    """Checks that the parameters are those that the lowered form needs, and fit into the table of actions."""
    form, action = lowered.form, lowered.action
    for p in action.parameters:
        # M M^+ = T^2 - h^2 D^2 for a number T with a parameter in it: one Krylov space for all its values
        has_masses = p.name == "mass" and form is not None and form.anti_hermitian and lowered.flavours == 1
        if p.several and not has_masses:
            raise ExpressionError(
                f"{action.place}: {p.name} of {action.name}: several values are for a mass beside D with D^+ = -D; "
                f"state the parameter anew: {p.name}: Real = parameter(help=...)"
            )
        if p.each_slice and not (form is not None and form.has_slices):
            raise ExpressionError(f"{p.place}: {p.name} of {action.name}: there are no slices to differ on")
    for s in action.alternatives:
        if len(s.parameters) > MOST_GIVEN:
            raise ExpressionError(f"{s.place}: {s.name} gives {len(s.parameters)} parameters; {MOST_GIVEN} at most")


def _placed(blocks: Iterable[Block], graphs: Graphs, made: dict[str, Slots]) -> tuple[tuple[Block, Slot], ...]:
    """Blocks with the places of their matrices, in as few fields as the directions that occur in them allow."""
    found = []
    for block in blocks:
        found.append((block, place_of(block.matrix, graphs, made)))
    return tuple(found)


def place_of(matrix: Node, graphs: Graphs, made: dict[str, Slots]) -> Slot:
    """Where a matrix of the site stands, which is one of a field: with the first of its directions that is free."""
    matrix = _apart(matrix, graphs, made)
    along = sorted({mu for n in parts([matrix]) if n.op == "load" and isinstance(n.data, tuple) for mu in n.data[1:]})
    for name, slots in made.items():
        for mu in slots:
            if name.startswith("sites") and str(slots[mu]) == str(matrix):
                return name, mu
    for number in range(1, 100):
        name = f"sites{number}"
        free = [mu for mu in along or range(4) if mu not in made.get(name, {})]
        if free and free[0] == (along or [free[0]])[0]:
            made.setdefault(name, {})[free[0]] = matrix
            return name, free[0]
    raise ShapeError(f"{graphs.action.place}: {graphs.action.name}: too many matrices at a site")


def _apart(node: Node, graphs: Graphs, made: dict[str, Slots]) -> Node:
    """A matrix with sums of paths that multiply each other in fields of their own: a kernel would make all at once."""
    if not has_shift(node):
        return node
    if node.op == "mul" and all(a.kind == "matrix" and has_shift(a) and _is_sum(a) for a in node.args):
        args = tuple(make("load", "matrix", (), place_of(a, graphs, made)) for a in node.args)
    else:
        args = tuple(_apart(a, graphs, made) for a in node.args)
    return node.on(args)


def _free(word: str, graphs: Graphs, made: Mapping[str, Slots]) -> str:
    taken = {*made, *graphs.kinds, graphs.action.fermion}
    while word in taken:
        word += "_"
    return word


def _general(action: Action, graphs: Graphs, stated: Node, why: str) -> Lowered:
    made = dict(graphs.made)
    matrix, numbers = numbered(stated, action)
    if any(n.op == "exp" and n.kind == "block" for n in parts([matrix])):
        raise ExpressionError(
            f"{why}; exp(...) of matrices in spin and colour is for site terms of actions made of hops"
        )
    sums = [n for n in _site_matrices(matrix) if _is_sum(n)]
    slots = [place_of(n, graphs, made) for n in sums]
    loads = {id(n): make("load", "matrix", (), slot) for n, slot in zip(sums, slots, strict=True)}
    (matrix,) = rewritten([matrix], Node.on, lambda n: loads.get(id(n)))
    return Lowered(action, replace(graphs, made=made), matrix=matrix, numbers=numbers, why=why)


def _site_matrices(matrix: Node) -> list[Node]:
    """The matrices in colour that multiply spinors, or stand beside matrices in spin."""
    found: dict[int, Node] = {}
    for n in parts([matrix]):
        if n.kind != "matrix":
            found |= {id(a): a for a in n.args if a.kind == "matrix"}
    return list(found.values())


def _is_sum(node: Node) -> bool:
    """Whether a matrix is no product of matrices and numbers: it is computed once, not with each application.

    What is made of another spinor is computed where it stands: launches have no spinors.
    """
    if any(n.kind == "spinor" for n in parts([node])):
        return False
    if node.op in ("mul", "adj", "shift"):
        return any(_is_sum(a) for a in node.args)
    return node.kind == "matrix" and node.op not in ("load", "identity")


def numbered(matrix: Node, action: Action) -> tuple[Node, dict[str, Node]]:
    """M psi with names for functions of parameters, which the host evaluates once, and all numbers in it by name."""
    functions: dict[str, Node] = {}
    taken = {p.name for p in action.parameters} | {f.name for f in action.fields} | {action.fermion}

    def named(node: Node) -> Node | None:
        if node.op == "parameter":
            functions[node.data] = node
            return node
        if is_uniform(node) and node.op in ("exp", "div", "adj", "re", "im"):
            name = next((n for n, f in functions.items() if str(f) == str(node)), "")
            if not name:
                name = next(n for k in range(1, 99) if (n := f"number{k}") not in functions and n not in taken)
            functions[name] = node
            return make("parameter", node.kind, (), name)
        return None

    (result,) = rewritten([matrix], Node.on, named)
    order = [p.name for p in action.parameters]
    used = sorted(functions, key=lambda n: (order.index(n) if n in order else len(order), n))
    return result, {n: functions[n] for n in used}


class Refused(SpecError):  # noqa: N818 - a result, not raised
    """An action that cannot be built; others are not concerned."""


def try_lower(action: Action) -> Lowered | Refused:
    """The record, or why there is none."""
    try:
        with at_their_line(action.place):
            _ = action.options, action.extends, action.reported_flops  # which may be wrong too
            return lower(action)
    except SpecError as error:
        return Refused(str(error))
