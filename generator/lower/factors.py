"""Sums of products of matrices with what several of them begin or end with written once: fewer products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ..language.graph import NAMES, Node, Step
from ..language.symbols import adj, shift
from ..language.walks import all_merged, merged
from .derivative import Weighted, weighted

_MOVES = ("add", "sub", "neg", "shift", "adj")


@dataclass(frozen=True)
class _Letter:
    """A matrix at a displaced site, or its conjugate; equal ones have one text."""

    text: str
    node: Node
    at: tuple[int, ...]
    conjugated: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Letter) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, tuple[int, ...], bool]:
        return self.text, self.at, self.conjugated

    @property
    def value(self) -> Node:
        there = shift(self.node, Step(self.at)) if any(self.at) else self.node
        return adj(there) if self.conjugated else there


_Word = tuple[_Letter, ...]
_Sum = list[tuple[int, _Word]]
"""Signs and products."""


def factored(matrix: Node) -> Node:
    """The sum with fewer products: common first or last factors of terms are taken out, first where that saves most.

    Sums without products in them, and what is no sum or product, are factors as they stand.
    """
    w = weighted(matrix)
    built = _built(_words(w.node, (0,) * len(NAMES), conjugated=False))
    return Weighted(w.factor, w.numbers, merged(built)).value


def shared_loops(links: Sequence[Node], rest: Sequence[Node]) -> tuple[list[Node], list[list[Node]]] | None:
    """Loops that two links, each times a sum of products, share up to conjugation, and those that each has in addition.

    The first has C + A, the second C^+ + B. Parts that have no further factor in common are apart. None if they share
    nothing, or differ in what they are multiplied by.
    """
    a, b = map(weighted, rest)
    if (a.factor, list(map(str, a.numbers))) != (b.factor, list(map(str, b.numbers))):
        return None
    loops = [u * w.node for u, w in zip(links, (a, b), strict=True)]
    ones, others = (_words(loop, (0,) * len(NAMES), conjugated=False) for loop in loops)
    turned = [(s, tuple(replace(x, conjugated=not x.conjugated) for x in reversed(w))) for s, w in others]
    shared = [t for t in ones if t in turned]
    own = [t for t in ones if t not in shared], [t for t, u in zip(others, turned, strict=True) if u not in shared]
    if not shared:
        return None
    groups = [(n, group) for n, terms in enumerate((shared, *own)) for group in _connected(terms)]
    ends = (links[0], *links)
    built = all_merged([ends[n] * _built([(s, w[1:]) for s, w in group]) for n, group in groups])
    parts: list[list[Node]] = [[], [], []]
    for (n, _), node in zip(groups, built, strict=True):
        parts[n].append(Weighted(a.factor, a.numbers, node).value)
    return parts[0], parts[1:]


def _connected(terms: _Sum) -> list[_Sum]:
    """Terms apart that have no factor in common but the first."""
    groups: list[_Sum] = []
    for term in terms:
        met = [g for g in groups if any(x in w[1:] for _, w in g for x in term[1][1:])]
        groups = [g for g in groups if g not in met] + [[t for g in met for t in g] + [term]]
    return groups


def _has_products(node: Node) -> bool:
    if node.op == "mul" and node.args[0].kind == "matrix":
        return True
    return node.op in _MOVES and any(_has_products(a) for a in node.args)


def _words(node: Node, at: tuple[int, ...], *, conjugated: bool) -> _Sum:
    if node.op == "shift":
        moved = tuple(a + b for a, b in zip(at, node.data.vector, strict=True))
        return _words(node.args[0], moved, conjugated=conjugated)
    if node.op == "adj":
        return _words(node.args[0], at, conjugated=not conjugated)
    if not _has_products(node):
        return [(1, (_Letter(str(node), node, at, conjugated),))]
    parts = [_words(a, at, conjugated=conjugated) for a in node.args]
    if node.op == "mul":
        first, second = reversed(parts) if conjugated else parts
        return [(s * t, (*a, *b)) for s, a in first for t, b in second]
    turned = [[(-s, w) for s, w in parts[-1]]] if node.op != "add" else [parts[-1]]
    return [word for part in (*parts[:-1], *turned) for word in part]


def _built(terms: Sequence[tuple[int, _Word]]) -> Node:
    ends = Counter(shared for _, w in terms for n in range(1, len(w)) for shared in ((True, w[:n]), (False, w[n:])))
    saved = {(first, run): (len(run) * (count - 1), len(run)) for (first, run), count in ends.items()}
    if max(saved.values(), default=(0, 0))[0] == 0:
        return _sum([(s, _product(w)) for s, w in terms])
    first, run = max(saved, key=saved.__getitem__)
    rest, at = (slice(len(run), None), slice(len(run))) if first else (slice(-len(run)), slice(-len(run), None))
    alike = [len(w) > len(run) and w[at] == run for _, w in terms]
    lead = next(s for (s, _), same in zip(terms, alike, strict=True) if same)
    inner = _built([(s * lead, w[rest]) for (s, w), same in zip(terms, alike, strict=True) if same])
    product = _product(run) * inner if first else inner * _product(run)
    others = [term for term, same in zip(terms, alike, strict=True) if not same]
    return _sum([(lead, product), *([(1, _built(others))] if others else [])])


def _product(word: _Word) -> Node:
    return reduce(lambda a, b: a * b, (x.value for x in word))


def _sum(terms: Sequence[tuple[int, Node]]) -> Node:
    (sign, total), *more = terms
    total = total if sign > 0 else -total
    for sign, node in more:
        total = total + node if sign > 0 else total - node
    return total
