"""The operators of the actions: hopping terms, with their site terms, and chains along a fifth dimension; forces."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

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
from .programs import ENDS, program_kernels
from .quark_forces import body_fields, body_force, force_paths, hop_derivative, hop_force
from .slices import SliceOperator

AnyOperator = TypeVar("AnyOperator", bound=Operator)


def stated_operators(records: Iterable[Lowered]) -> list[Operator]:
    """Kernels of all actions, each once: those of equal hops share a body, those of equal site terms everything.

    Formulas that are not made of hops over one link and terms at a site are kernels as they stand.
    """
    records = list(records)
    with_hops = [r for r in records if r.form is not None]
    owners = _owners(with_hops)
    others: list[HoppingOperator] = []
    for record in with_hops:
        assert record.form is not None and record.site is not None
        term, owner = site_term_of(record.site), owner_of(record.form, owners)
        if owner.name != record.name and term is not CLOVER:
            others.append(HoppingOperator(record.name, record.form, term, owner))
    formulas = [o for r in records if r.matrix is not None for o in formula_operators(r)]
    return [*owners, *others, *_chains(with_hops), *formulas, *_forces(records, owners)]


def _owners(records: Sequence[Lowered]) -> list[HoppingOperator]:
    """One operator for the hops of each form, in the order of the first actions with them.

    The first whose kernels a profile of the project names gives it its name, so that an added file changes no other
    action's kernels; else the first.
    """
    groups: list[list[Lowered]] = []
    for record in records:
        assert record.form is not None
        group = next((g for g in groups if g[0].form and same_hops(g[0].form, record.form)), None)
        if group is None:
            groups.append(group := [])
        group.append(record)
    owners = []
    for group in groups:
        owner = next((r for r in group if r.name in _named_in_profiles()), group[0])
        assert owner.form is not None and owner.site is not None
        owners.append(HoppingOperator(owner.name, owner.form, site_term_of(owner.site)))
    return owners


@cache
def _named_in_profiles() -> frozenset[str]:
    """Operators that rows of the project's profiles name."""
    named: set[str] = set()
    for path in (Path(__file__).parents[1] / "profiles").glob("*.toml"):
        for row in tomllib.loads(path.read_text()).get("kernel", []):
            operators = row.get("operator", [])
            named.update([operators] if isinstance(operators, str) else operators)
    return frozenset(named)


def owner_of(form: FifthForm, owners: Iterable[AnyOperator]) -> AnyOperator:
    """The operator whose kernels hop as a statement does."""
    return next(o for o in owners if same_hops(o.form, form))


def _chains(records: Iterable[Lowered]) -> list[SliceOperator]:
    found: list[FifthForm] = []
    forms = [r.form for r in records if r.form is not None and r.form.has_slices]
    for form in sorted(forms, key=lambda f: len(f.terms)):  # the simplest action gives the chain its name
        if not any(same_steps(form, c) for c in found):
            found.append(form)
    return list(map(slice_operator, found))


def same_steps(a: FifthForm, b: FifthForm) -> bool:
    """Whether two statements step alike along the fifth dimension."""
    return all(np.allclose(a.steps[n], b.steps[n]) for n in a.steps)


def slice_operator(form: FifthForm) -> SliceOperator:
    """The chain along the fifth dimension: what a step +1 brings comes from larger s, so that its chain runs back."""
    form.check_hops()

    def parts(basis: Basis) -> tuple[tuple[Matrix, int, str], ...]:
        return tuple((form.step_matrix(n, basis), -n, form.step_title(n)) for n in form.steps)

    formula = f"out = (p + q R) (d + e R)^-1 in, {form.shift_formula}; p, q, d, e of each slice"
    return SliceOperator(form.action.name, formula, parts)


def _forces(records: Sequence[Lowered], owners: Sequence[HoppingOperator]) -> list[Operator]:
    """Operators for forces of quarks: hops, formulas, site terms, and fields that statements make."""
    programs: dict[str, Expression] = {}
    for record in records:
        programs |= program_kernels(record.launches, record.moving, record.gauge)
    # Covariant derivatives without a mass are no actions of quarks.
    hops = [o for o in owners if o.is_dirac]
    found: list[Operator] = [hop_force(o.name, o.form) for o in hops if len(o.lengths) == 1]
    found += [hop_derivative(o.name, o.form) for o in hops]
    bodies = [r for r in records if r.matrix is not None and body_fields(r)]
    found += [body_force(r) for r in bodies if force_paths(r) is None]
    return [*found, *programs.values(), *ENDS, *block_operators(records)]
