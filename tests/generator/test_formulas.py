"""Actions of no other shape than their formula: exponentials of numbers; and names of parameters."""

import numpy as np
import pytest
from lattice import Interpreter
from test_actions import EXTENT, PHASES, inputs

from generator.emit.action_table import action_row
from generator.language import Fermion, Links, Real, action, adj, directions, exp, gamma, parameter, shift, t
from generator.language.graph import ExpressionError
from generator.operators.formula import formula_operators


@action
class TwoSteps:
    """Hops over two sites with a chemical potential."""

    mass: Real = parameter(help="mass")
    mu: Real = parameter(0, help="chemical potential")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        result = self.mass * psi
        for nu in directions:
            ahead = u[nu] * shift(u[nu] * shift(psi, +nu), +nu)
            behind = shift(adj(u[nu]) * shift(adj(u[nu]) * psi, -nu), -nu)
            if nu == t:
                ahead, behind = exp(2 * self.mu) * ahead, exp(-2 * self.mu) * behind
            result += gamma[nu] * (ahead - behind) / 4
        return result


def test_the_host_evaluates_exponentials_of_numbers_for_kernels_of_formulas():
    """What a kernel computes of its numbers is M psi and M^+ psi, and the table says how the host makes them."""
    values = {"mass": 0.31, "mu": 0.23}
    fields, psi = inputs("d234")
    phi = inputs("naive")[1] * 1j + psi
    row = action_row(TwoSteps.action)
    functions = [f.partition("return ")[2].partition(";")[0] for f in row["arguments"]]
    numbers = [eval(f.replace("std::", ""), {"p": [0.31, 0.23], "exp": np.exp}) for f in functions]
    m, dagger = formula_operators(TwoSteps.action)
    names = [n for n, kind in m.definition.inputs if kind == "real"]
    assert names == [n for n, kind in dagger.definition.inputs if kind == "real"]
    assert names[0] == "mass" and len(names) == 3  # mu is in exponentials alone
    of_kernel = dict(zip(names, numbers, strict=True))

    def run(graph, v, p):
        return Interpreter(EXTENT, fields | {"psi": v}, p, PHASES)(graph)

    given = run(m.definition.results[0], psi, of_kernel)
    assert np.allclose(given, run(TwoSteps.action.matrix, psi, values), atol=1e-13)
    left = np.vdot(phi, given)
    right = np.vdot(run(dagger.definition.results[0], phi, of_kernel), psi)
    assert abs(left - right) < 1e-12 * abs(left)
    assert all(v.op != "exp" for _, results in m.blocks for *_, v in results)


def test_a_parameter_that_is_an_option_of_the_commands_is_refused_at_its_line():
    @action
    class Reserved:
        even_odd: Real = parameter(help="weight")

        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return self.even_odd * psi

    line = Reserved.action.place.line - 2
    with pytest.raises(
        ExpressionError,
        match=rf"test_formulas.py:{line}: even_odd of reserved: the commands have an option --even-odd of another "
        "meaning; use another name",
    ):
        _ = Reserved.action.parameters
