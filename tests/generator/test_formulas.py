"""Bodies of actions: numbers that the host evaluates; and names of parameters."""

from unittest.mock import patch

import numpy as np
import pytest
from lattice import Interpreter
from statements import FURTHER, KERNELS, PHASES, WITH_MATRIX, read_by, spinor_of, stated, values_of, with_made
from test_action_table import read

from generator.emit.action_table import action_row
from generator.errors import ExpressionError
from generator.language import Fermion, Links, Real, action, parameter
from generator.operators import OPERATORS, RECORDS


@pytest.fixture(autouse=True)
def all_in_the_library():
    with patch.dict(RECORDS, FURTHER), patch.dict(OPERATORS, KERNELS):
        yield


@pytest.mark.parametrize("name", [n for n, r in WITH_MATRIX.items() if r.matrix is not None])
def test_the_host_evaluates_numbers_for_kernels_of_formulas(name):
    """What a kernel computes of its numbers is M psi and M^+ psi, and the table says how the host makes them."""
    record = WITH_MATRIX[name]
    values, psi = values_of(record.action), spinor_of(record, 7)
    fields = with_made(record.action, read_by(record.action), values)
    rows = next((rows for _, member, rows in action_row(record).arrays if member.endswith("_arguments")), [])
    given = [values[p.name] for p in record.action.parameters]
    numbers = {row.split('"')[1]: read(row, given) for row in rows}
    m, dagger = KERNELS[name], KERNELS[f"{name}_dagger"]
    for operator in (m, dagger):
        assert [n for n, kind in operator.definition.inputs if kind in ("real", "complex")] == list(numbers)
        assert all(
            v.op not in ("exp", "div") or v.kind == "matrix" for _, results in operator.blocks for *_, v in results
        )
    if any(n not in fields and n in record.fields for n in record.read):
        return  # it reads matrices that are made at a site: test_actions
    (result,) = m.definition.results
    found = Interpreter(psi.shape[:4], fields | {record.action.fermion: psi}, numbers, PHASES)(result)
    assert np.allclose(found, stated(record.action, fields, psi, values), atol=1e-12)


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
