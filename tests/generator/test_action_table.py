"""The table of actions that C++ has, and the numbers in it."""

import textwrap
from pathlib import Path

import numpy as np
import pytest

from generator.actions import ACTIONS
from generator.emit.action_table import action_row
from generator.language import Fermion, Links, Real, action, adj, directions, exp, gamma, parameter, shift, sign, x
from generator.language.graph import ExpressionError
from generator.lower.fifth import FifthForm
from generator.lower.hopping import HoppingForm
from generator.lower.site import SiteForm
from generator.lower.stored import clover_coefficients
from generator.lower.terms import value_of
from generator.operators import OPERATORS

PARAMETERS = {
    "mass": 0.31, "xi0": 1.7, "nu": 0.9, "csw_r": 1.3, "csw_t": 0.8, "mu": 0.23, "epsilon": 0.11,
    "m5": 1.4, "b": 1.5, "c": 0.5, "b5": 1.4, "c5": 0.6, "u0": 0.9, "naik_epsilon": -0.1,
}  # fmt: skip


def test_numbers_that_differ_forward_and_backward_belong_to_an_operator_of_its_own():
    form = HoppingForm(ACTIONS["naive"])
    assert form.directed == (3,)
    assert not form.anti_hermitian
    assert HoppingForm(ACTIONS["staggered"]).anti_hermitian
    assert not HoppingForm(ACTIONS["wilson"]).anti_hermitian
    assert OPERATORS["naive"].hops_of is None


def test_numbers_of_parameters_as_cpp():
    """What is emitted, read back by Python, is what the graph says."""
    for name, a in ACTIONS.items():
        if not a.parameters or not FifthForm(a).has_shape:
            continue
        names = [p.name for p in a.parameters]
        row = action_row(a)
        values = {"p": [PARAMETERS[n] for n in names], "exp": np.exp}
        read = lambda f: eval(f.partition("return ")[2].rpartition(";")[0].replace("std::", "") or "1", values)  # noqa: E731, B023
        emitted = {k: read(f) for k, f in row["numbers"] if k != "h"}
        form = FifthForm(a)
        site = SiteForm(a, form.local)
        for part, given in (("diagonal", "alpha" if form.has_slices else "diagonal"), ("splitting", "splitting")):
            assert emitted.get(given, 0) == pytest.approx(site.value(part, PARAMETERS), rel=1e-14)
        for h in form.stated if not form.has_slices else ():
            function = row["weights"][h.mu][0 if h.sign > 0 else 1]
            weight = np.prod([value_of(n, PARAMETERS) for n in h.terms[0].numbers])
            assert read(function) == pytest.approx(weight.real, rel=1e-14)
        assert row["formula"].startswith("M psi = "), name


def test_site_terms_that_are_no_field_strengths_are_not_stored():
    @action
    class Leaf:
        c: Real = parameter(help="weight")

        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return Wilson.hopping(u, psi) + self.c * (u[x] * adj(u[x]) + adj(u[x]) * u[x]) * psi

    class Wilson:
        @staticmethod
        def hopping(u, psi):
            return sum(
                (1 - gamma[mu]) * (u[mu] * shift(psi, +mu)) + (1 + gamma[mu]) * shift(adj(u[mu]) * psi, -mu)
                for mu in directions
            )

    with pytest.raises(
        ExpressionError, match=r"test_action_table.py:\d+: leaf has sums of links at a site that are no field"
    ):
        clover_coefficients(Leaf.action, HoppingForm(Leaf.action).local)


def test_exponentials_of_numbers_are_for_statements():
    assert str(exp(parameter_node())) == "exp(mass)"
    with pytest.raises(ExpressionError, match="same at all sites"):
        exp(sign(x))


def parameter_node():
    return next(n for n in ACTIONS["naive"].matrix.args[0].args if n.op == "parameter")


def test_the_action_of_the_manual_is_the_one_that_is_built():
    root = Path(__file__).parents[2]
    written = (root / "generator/actions/naive.py").read_text().partition("@action")[2]
    shown = (root / "docs/howto-action.md").read_text()
    assert textwrap.indent("@action" + written, "    ").rstrip() in shown
    row = next(r for r in (root / "generator/profiles/default.toml").read_text().split("\n\n") if '"naive"' in r)
    assert textwrap.indent("[[kernel]]\n" + row.partition("\n")[2], "    ") in shown
