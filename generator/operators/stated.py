"""The operators of the actions: hopping terms, with their site terms, and chains along a fifth dimension; forces."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np

from ..algebra.gamma import Basis, Matrix
from ..lower.fifth import FifthForm
from ..lower.hopping import same_hops
from ..lower.record import Lowered
from ..site_term import CLOVER, site_term_of
from ..spec import Operator
from .blocks import block_operators
from .expression import Expression
from .formula import formula_operators
from .hopping import HoppingOperator
from .programs import NAMED, program_kernels
from .quark_forces import body_fields, body_force, force_paths, hop_derivative, hop_force
from .slices import SliceOperator

SHARED = re.compile(
    rf"(set|add|keep|back|force)_({'|'.join(NAMED)}|term_[0-9a-f]{{8}})s?|(term|source)_(clover|[0-9a-f]{{8}})"
)
"""Names of kernels that do not have that of an action: of launches, and of patterns of site terms."""
_shared: dict[str, Operator] = {}
"""Those so far: a name tells the formula."""


def stated_operators(records: Iterable[Lowered]) -> list[Operator]:
    """Kernels of some actions, each once: those of equal hops share a body, those of equal site terms everything."""
    records = sorted(records, key=lambda r: place_in_profiles(r.name))
    return list(dict.fromkeys(o for r in records for o in operators_of_record(r, lambda _: records)))


def operators_of_record(record: Lowered, known: Callable[[Lowered], Iterable[Lowered]]) -> list[Operator]:
    """Kernels of one action, without those of hops and chains that have the name of another one.

    Formulas that are not made of hops over one link and terms at a site are kernels as they stand.

    Args:
        record: of the action.
        known: what `first_alike` chooses from for an action.
    """
    found: list[Operator] = []
    if record.form is not None:
        assert record.site is not None
        own, term = _hopping(first_alike(record, known(record), same_hops)), site_term_of(record.site)
        if own.name == record.name:
            found += [own, *_hop_forces(own)]
        elif term is not CLOVER:
            found.append(HoppingOperator(record.name, record.form, term, own))
        if record.form.has_slices and first_alike(record, known(record), same_steps) is record:
            found.append(slice_operator(record.form))
    elif record.matrix is not None:
        found += formula_operators(record)
        if body_fields(record) and force_paths(record) is None:
            found.append(body_force(record))
    programs = program_kernels(record.launches, record.moving, record.gauge)
    return [*found, *(_shared.setdefault(o.name, o) for o in (*programs.values(), *block_operators([record])))]


def first_alike(record: Lowered, known: Iterable[Lowered], same: Callable[[FifthForm, FifthForm], bool]) -> Lowered:
    """The first action whose hops, or steps along the fifth dimension, are those of one: their kernels have its name.

    Those that profiles of the project name come first, so that an added file changes no other action's kernels.
    """
    assert record.form is not None
    return next(r for r in known if r is record or (r.form is not None and same(r.form, record.form)))


@cache
def _hopping(record: Lowered) -> HoppingOperator:
    assert record.form is not None and record.site is not None
    return HoppingOperator(record.name, record.form, site_term_of(record.site))


def place_in_profiles(name: str) -> int:
    """Where a profile of the project first names an operator; behind all others if none does."""
    return _named_in_profiles().get(name, len(_named_in_profiles()))


@cache
def _named_in_profiles() -> dict[str, int]:
    """Operators that rows of the project's profiles name, in their order."""
    named: list[str] = []
    for path in sorted((Path(__file__).parents[1] / "profiles").glob("*.toml")):
        for row in tomllib.loads(path.read_text()).get("kernel", []):
            operators = row.get("operator", [])
            named += [operators] if isinstance(operators, str) else operators
    return {name: n for n, name in enumerate(dict.fromkeys(named))}


def same_steps(a: FifthForm, b: FifthForm) -> bool:
    """Whether two statements step alike along the fifth dimension."""
    return a.has_slices and b.has_slices and all(np.allclose(a.steps[n], b.steps[n]) for n in a.steps)


def slice_operator(form: FifthForm) -> SliceOperator:
    """The chain along the fifth dimension: what a step +1 brings comes from larger s, so that its chain runs back."""
    form.check_hops()

    def parts(basis: Basis) -> tuple[tuple[Matrix, int, str], ...]:
        return tuple((form.step_matrix(n, basis), -n, form.step_title(n)) for n in form.steps)

    formula = f"out = (p + q R) (d + e R)^-1 in, {form.shift_formula}; p, q, d, e of each slice"
    return SliceOperator(form.action.name, formula, parts)


def _hop_forces(own: HoppingOperator) -> list[Expression]:
    """Forces of hops that are part of an action of quarks; covariant derivatives without a mass are none."""
    if not own.is_dirac:
        return []
    by_links = [hop_force(own.name, own.form)] if len(own.lengths) == 1 else []
    return [*by_links, hop_derivative(own.name, own.form)]
