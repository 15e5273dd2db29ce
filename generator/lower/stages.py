"""In which order the fields of a statement are made: stages between fields that are kept for all that reads them.

On parts of a lattice each stage is worked on with a border as deep as it reaches, and no exchange on the way; what only
leads to its results is made where it is needed, forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ..language.graph import Node
from ..language.walks import fields_of
from .made import Graphs
from .program import Launch

Sites = tuple[int, int, int, int]
"""Numbers of sites along x, y, z, t on either side."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage: fields that are made from given ones and those of earlier stages.

    Attributes:
        fields: that are kept.
        launches: in their order.
        reach: how far what is read lies from what is made.
    """

    fields: tuple[str, ...]
    launches: tuple[Launch, ...]
    reach: Sites


def stages_of(graphs: Graphs, launches: Iterable[Launch], wanted: Iterable[str]) -> list[Stage]:
    """The launches that make the wanted fields, by stages."""
    launches = list(launches)
    made = dict.fromkeys(name for launch in launches for name in (launch.field, launch.kept) if name)
    reads = {name: set(fields_of(graphs.made[name].values())) & set(made) for name in made}
    kept = _kept(graphs, reads, set(wanted))
    found = []
    for group in _groups(reads, kept):
        on_the_way = _on_the_way(group, reads, kept)
        mine = [launch for launch in launches if launch.field in group or launch.field in on_the_way]
        found.append(Stage(tuple(group), tuple(mine), _reach(graphs, group, on_the_way | set(group))))
    return found


def _kept(graphs: Graphs, reads: dict[str, set[str]], wanted: set[str]) -> set[str]:
    """Wanted fields, whole ones that a statement stores, and what leads to several of these."""
    cuts = {name for name in reads if "_sum" in name}
    kept = {n for n in reads if n in wanted or (len(graphs.made[n]) == 4 and n not in cuts)}
    while True:
        leads_to: dict[str, set[str]] = {}
        for name in kept:
            for other in _on_the_way([name], reads, kept):
                leads_to.setdefault(other, set()).add(name)
        more = {name for name, owners in leads_to.items() if len(owners) > 1}
        if not more:
            return kept
        kept |= more


def _on_the_way(group: Iterable[str], reads: dict[str, set[str]], kept: set[str]) -> set[str]:
    """Fields that are not kept of which some are made."""
    found: set[str] = set()
    left = list(group)
    while left:
        for name in reads[left.pop()] - kept - found:
            found.add(name)
            left.append(name)
    return found


def _groups(reads: dict[str, set[str]], kept: set[str]) -> list[list[str]]:
    """Kept fields, each after those that it is made of: those of one group are made of each other, or side by side."""
    needs = {
        name: {k for other in (name, *_on_the_way([name], reads, kept)) for k in reads[other] & kept} - {name}
        for name in reads
        if name in kept
    }

    @cache
    def below(name: str) -> frozenset[str]:
        found: set[str] = set()
        left = [name]
        while left:
            for other in needs[left.pop()] - found:
                found.add(other)
                left.append(other)
        return frozenset(found)

    groups: list[list[str]] = []
    for name in sorted(needs, key=lambda n: len(below(n))):
        around = [g for g in groups if below(name) & set(g) and any(name in below(other) for other in g)]
        if around:
            around[0].append(name)
        elif groups and not below(name) & set(groups[-1]):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


Span = tuple[tuple[int, int], ...]
"""Least and largest displacement along each direction."""
_HERE: Span = ((0, 0),) * 4


def _reach(graphs: Graphs, group: Iterable[str], inside: set[str]) -> Sites:
    """The largest displacement of what is read by the matrices of some fields, through others inside the stage."""
    seen: dict[tuple[str, int], Span] = {}
    done: dict[int, Span] = {}

    def of_field(name: str, mu: int) -> Span:
        if (name, mu) not in seen:
            seen[name, mu] = _HERE  # a field may read others of its own matrices
            seen[name, mu] = of_node(graphs.made[name][mu])
        return seen[name, mu]

    def of_node(node: Node) -> Span:
        if id(node) not in done:
            done[id(node)] = of_parts(node)
        return done[id(node)]

    def of_parts(node: Node) -> Span:
        if node.op == "load" and isinstance(node.data, tuple) and node.data[0] in inside:
            return of_field(*node.data)
        found = _around([of_node(a) for a in node.args])
        if node.op != "shift":
            return found
        return tuple((low + n, high + n) for (low, high), n in zip(found, node.data.vector, strict=False))

    spans = _around([of_field(name, mu) for name in group for mu in graphs.made[name]])
    x, y, z, t = (max(-low, high) for low, high in spans)
    return x, y, z, t


def _around(spans: Iterable[Span]) -> Span:
    """The smallest range of sites that covers all of the given ones."""
    found = list(spans) or [_HERE]
    return tuple((min(s[mu][0] for s in found), max(s[mu][1] for s in found)) for mu in range(4))
