"""The operators of the actions: hopping terms, with their site terms, and chains along a fifth dimension."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from generator.algebra.gamma import Basis, Matrix
from generator.language import Action
from generator.lower.fifth import FifthForm
from generator.lower.hopping import same_hops
from generator.lower.site import SiteForm
from generator.operators.formula import FormulaOperator, formula_operators
from generator.operators.hopping import HoppingOperator
from generator.operators.site_term import CLOVER, site_term_of
from generator.operators.slices import SliceOperator


def stated_operators(actions: Iterable[Action]) -> list[HoppingOperator | SliceOperator | FormulaOperator]:
    """Kernels of all actions, each once: those of equal hops share a body, those of equal site terms everything.

    Formulas that are not made of hops over one link and terms at a site are kernels as they stand.
    """
    owners: list[HoppingOperator] = []
    others: list[HoppingOperator] = []
    chains: list[FifthForm] = []
    found: list[FifthForm] = []
    formulas: list[FormulaOperator] = []
    for action in actions:
        form = FifthForm(action)
        if not form.has_shape:
            formulas += formula_operators(action)
            continue
        owner = next((o for o in owners if same_hops(o.form, form)), None)
        term = site_term_of(SiteForm(action, form.local))
        if owner is None:
            owners.append(HoppingOperator(action.name, form, term))
        elif term is not CLOVER:
            others.append(HoppingOperator(action.name, form, term, owner))
        if form.has_slices:
            chains.append(form)
    for form in sorted(chains, key=lambda f: len(f.terms)):  # the simplest action gives the chain its name
        if not any(_same_steps(form, c) for c in found):
            found.append(form)
    return [*owners, *others, *map(slice_operator, found), *formulas]


def _same_steps(a: FifthForm, b: FifthForm) -> bool:
    return all(np.allclose(a.steps[n], b.steps[n]) for n in a.steps)


def slice_operator(form: FifthForm) -> SliceOperator:
    """The chain along the fifth dimension: what a step +1 brings comes from larger s, so that its chain runs back."""
    form.check_hops()

    def parts(basis: Basis) -> tuple[tuple[Matrix, int, str], ...]:
        return tuple((form.step_matrix(n, basis), -n, form.step_title(n)) for n in form.steps)

    formula = f"out = (p + q R) (d + e R)^-1 in, {form.shift_formula}; p, q, d, e of each slice"
    return SliceOperator(form.action.name, formula, parts)
