"""What the command does from the shell, from Python and from C: one table, with a reason for all that is missing."""

import re
import subprocess

import pytest
from conftest import BUILD, ROOT

# Functions of quarksmith.h are named without `quarksmith_`.
SOLVER = ("solver_create", "solve_report_init", "solve", "solve_fields", "shifted_create", "shifted_solve")
FIELDS = (
    *("field_create", "field_set", "field_get", "field_copy", "norm2", "dot", "axpby"),
    *("field_memory_init", "field_describe", "field_word", "spinor_format_init"),
)
OPERATORS = (
    *("operator_create", "operator_field", "dslash", "matrix", "dslash_host", "matrix_host", "reduce", "reconstruct"),
    *("term_log_det", "gauge_field"),
)
DYNAMICS = (
    *("dynamics_create", "dynamics_set_links", "dynamics_get_links", "dynamics_set_momenta", "dynamics_get_momenta"),
    *("dynamics_kinetic", "dynamics_drift", "gauge_loops_init", "gauge_action", "gauge_force"),
    *("quark_create", "rational_init", "quark_matrix", "quark_rational", "quark_action"),
    *("quark_force", "quark_outer", "quark_log_det", "quark_log_det_force"),
)
SHELL = "writes files of a shell"
TUNING = "is started by the generator alone"

TABLE = {
    # command: (call of Python, functions of C beside `run`, or why there are none)
    "info": ("info", ("gauge_plaquette", "gauge_phase", "link_format_init")),
    "list": ("list", ()),
    "convert": ("convert", ("gauge_read", "gauge_write", "gauge_load", "gauge_get")),
    "links": ("links", ()),
    "heatbath": ("heatbath", ()),
    "hmc": ("hmc", DYNAMICS),
    "smear": ("smear", ()),
    "flow": ("flow", ()),
    "apply": ("apply", ()),
    "propagator": ("propagator", SOLVER),
    "correlators": ("correlators", ()),
    "measure": ("measure", ()),
    "eigen": ("eigen", ()),
    "multigrid": ("multigrid", ()),
    "solve-bench": ("solve_bench", ()),
    "bench": ("bench", ()),
    "accuracy": ("accuracy", ()),
    "scaling": ("scaling", ()),
    "sweep": (TUNING, TUNING),
    "devices": ("devices", ("devices", "device_name")),
    "model": ("model", ()),
    "completion": (SHELL, SHELL),
    "man": (SHELL, SHELL),
}
"""A name is a call, a tuple functions, a text with blanks the reason why there is none."""
CALLS_ALONE = {
    "read": "a command reads what it needs",
    "solve": "right-hand sides are in memory; the command has propagator",
}
OBJECTS = {
    "Lattice", "GaugeField", "Spinors", "Momenta", "Eigenvectors", "Report", "Solver", "source", "check_forces",
    "expression", "action",
}  # fmt: skip
"""Of Python, beside calls."""
HANDLES = {
    *("open", "synchronize", "free", "version", "status_name", "message", "handle_message"),
    *("kernel_count", "kernel_name", "help", "run", "result_text", "result_gauge", "result_field"),
    *FIELDS,
    *OPERATORS,
}
"""Of C, beside what commands do: contexts, fields, operators, and what runs all commands."""


def commands() -> set[str]:
    text = subprocess.run([BUILD / "bin/quarksmith", "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z-]+) ", text.partition("Subcommands:")[2], flags=re.M))


def functions() -> set[str]:
    text = (ROOT / "interface/quarksmith.h").read_text()
    return set(re.findall(r"^(?:[a-z_]+ |const char\* )quarksmith_(\w+)\(", text, flags=re.M))


def is_reason(entry: object) -> bool:
    return isinstance(entry, str) and " " in entry


def test_every_command_is_in_the_table():
    assert commands() == set(TABLE)


def test_every_call_of_python_is_in_the_table(qs):
    named = {call for call, _ in TABLE.values() if not is_reason(call)}
    assert named | set(CALLS_ALONE) == set(qs.commands.__all__)
    for name in OBJECTS:
        assert getattr(qs, name).__doc__, name


def test_every_function_of_c_is_in_the_table():
    named = [f for _, c in TABLE.values() if isinstance(c, tuple) for f in c]
    assert len(named) == len(set(named)) and not set(named) & HANDLES
    assert functions() == set(named) | HANDLES


def test_c_runs_every_command_but_those_with_a_reason():
    program = BUILD / "bin" / "quarksmith_c_tests"
    if not program.exists():
        pytest.skip("the tests were not built")
    run = subprocess.run([program, "offers", *TABLE], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [command for command, (_, c) in TABLE.items() if not is_reason(c)]


@pytest.mark.parametrize("command", TABLE)
def test_what_is_missing_has_a_reason(command):
    call, c = TABLE[command]
    assert is_reason(call) or call.isidentifier()
    assert isinstance(c, tuple) or is_reason(c)
