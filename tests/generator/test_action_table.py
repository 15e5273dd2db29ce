"""The table of actions that C++ has, and the numbers in it."""

import re
import textwrap
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from lowered import Machine
from statements import EVERY, FURTHER, KERNELS, OF_HOPS, read_by, values_of
from tree import tracked

from generator.actions import ACTIONS
from generator.cpp.numbers import number_function
from generator.emit.action_table import action_row, action_table
from generator.errors import ExpressionError
from generator.language import exp, sign, x
from generator.operators import OPERATORS, RECORDS


@pytest.fixture
def all_in_the_library():
    with patch.dict(RECORDS, FURTHER), patch.dict(OPERATORS, KERNELS):
        yield


def read(code, values):
    """A function of the table, evaluated by Python."""
    text = code.partition("return ")[2].rpartition(";")[0].replace("std::", "") or "1"
    names = {"p": values, "exp": np.exp, "conj": np.conj, "Value": complex}
    return eval(re.sub(r"(p\[\d+\])\.(real|imag)\(\)", r"\1.\2", text), names)


def test_numbers_that_differ_forward_and_backward_are_known():
    assert EVERY["naive"].form.directed == (3,)
    assert {n for n, r in RECORDS.items() if r.form is not None and r.form.anti_hermitian} == {
        *("staggered", "improved_staggered", "asqtad", "hisq")
    }


@pytest.mark.parametrize("name", [n for n, r in OF_HOPS.items() if r.action.parameters])
def test_numbers_of_parameters_as_cpp(name, all_in_the_library):
    """What is emitted, read back by Python, is what the graph says."""
    record, row = OF_HOPS[name], action_row(OF_HOPS[name])
    names, values = [p.name for p in record.action.parameters], values_of(record.action)
    machine = Machine(record, read_by(record.action), values)
    emitted = " ".join(" ".join(row.members.values()).split())
    form, along = record.form, record.form.has_slices
    numbers = [(False, form.weight(mu, way)) for mu in form.directions for way in (1, -1)]
    numbers += [(along, rows) for rows in (record.slice_numbers if along else record.site.numbers).values()]
    for is_complex, rows in numbers:
        code = number_function(rows, names, is_complex=is_complex)
        assert read(code, [values[n] for n in names]) == pytest.approx(machine.sum(rows), rel=1e-14)
        assert code in emitted or machine.sum(rows) == 1
    assert row.members["formula"].startswith('"M psi = ')


def test_the_table_has_all_records_and_nothing_that_was_refused():
    table = action_table()
    assert {r.name for r in table["actions"]} == {
        n for n, r in RECORDS.items() if r.action.parameters and r.action.has_matrix
    }
    assert {r.name for r in table["smearings"]} == {n for n, r in RECORDS.items() if not r.action.has_matrix}
    ours = {path.stem for path in tracked("generator/actions/*.py")}
    files = {name: a.statement.__module__.rpartition(".")[2] for name, a in ACTIONS.items()}
    refused = {r["name"] for r in table["refused"]}
    assert {n for n in refused if files.get(n, n) in ours} == {"laplace3", "laplace4"}  # own actions may be refused


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
