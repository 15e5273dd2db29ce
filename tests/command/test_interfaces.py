"""What the command does from the shell, from Python and from C: one table, with a reason for all that is missing."""

import re
import subprocess

import pytest
from conftest import BUILD, ROOT

# Functions of quarksmith.h are named without `quarksmith_`.
SOLVER = ("action_init", "mass_of_kappa", "solver_settings_init", "solver_create", "solve_report_init", "solve")
PARTS_OF_SOLVES = ("solve_fields", "shifted_create", "shifted_solve", "spinor_format_init")
FIELDS = (
    *("field_settings_init", "field_create", "field_set", "field_get", "field_copy", "norm2", "dot", "axpby"),
    *("field_memory_init", "field_describe", "field_word"),
)
OPERATORS = (
    *("operator_settings_init", "operator_create", "dslash", "matrix", "dslash_host", "matrix_host", "term_log_det"),
)
DYNAMICS = (
    *("dynamics_create", "dynamics_set_links", "dynamics_get_links", "dynamics_set_momenta", "dynamics_get_momenta"),
    *("dynamics_kinetic", "dynamics_drift", "gauge_loops_init", "gauge_action", "gauge_force"),
    *("quark_parameters_init", "quark_create", "rational_init", "quark_matrix", "quark_rational", "quark_action"),
    *("quark_force", "quark_outer", "quark_log_det", "quark_log_det_force"),
)
SHELL = "writes files of a shell"
FILES = "works on files alone; run the command"
TIMES = "times kernels of the build; run the command"

TABLE = {
    # command: (call of Python or why there is none, functions of C or why there are none)
    "info": ("info", ("gauge_plaquette", "gauge_phase", "link_format_init")),
    "list": ("list", "names are in docs/; a wrong one gives an error that lists them"),
    "convert": ("convert", ("gauge_read", "gauge_write", "gauge_load", "gauge_get")),
    "links": ("links", "actions make their links themselves; run the command for files of them"),
    "heatbath": ("heatbath", "not there: a program in C gives links, or reads them"),
    "hmc": ("hmc", DYNAMICS),
    "smear": ("smear", "not there: a program in C gives smeared links, or reads them"),
    "flow": ("flow", "not there: run the command"),
    "apply": ("apply", "typed calls are C++ (docs/expressions.md)"),
    "propagator": ("propagator", (*SOLVER, *PARTS_OF_SOLVES)),
    "correlators": ("correlators", FILES),
    "measure": ("measure", "not there: run the command"),
    "eigen": ("eigen", "not there: run the command"),
    "multigrid": ("multigrid", "not there: run the command; quarksmith_solver_create takes method multigrid"),
    "solve-bench": ("solve_bench", TIMES),
    "bench": ("bench", TIMES),
    "accuracy": ("accuracy", TIMES),
    "scaling": ("scaling", TIMES),
    "sweep": ("is started by the generator alone", "is started by the generator alone"),
    "devices": ("devices", ("devices", "device_name")),
    "model": ("model", FILES),
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
    *("kernel_count", "kernel_name"),
    *FIELDS,
    *OPERATORS,
}
"""Of C, beside what commands do: contexts, fields and operators."""


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


@pytest.mark.parametrize("command", TABLE)
def test_what_is_missing_has_a_reason(command):
    call, c = TABLE[command]
    assert is_reason(call) or call.isidentifier()
    assert isinstance(c, tuple) or is_reason(c)
