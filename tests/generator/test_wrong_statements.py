"""Every way to get a statement wrong ends in one line that names file and line, whatever Python itself would say."""

import re
from pathlib import Path

import pytest

from generator.errors import SpecError
from generator.operators import action_of_file, add_action, add_expressions

HEAD = "from generator.language import *\nfrom generator.language import action, expression\n"
EXPRESSION = HEAD + "@expression\ndef wrong(u: Links, psi: Spinor, mu: Direction) -> Spinor:\n    "
METHOD = "def dirac(self, u: Links, psi: Fermion) -> Fermion:\n        "
FORMULAS = (
    *("shift(psi, 1)", "shift(psi, 0.5 * x)", "shift(psi, 2000 * x)", "shift(psi, x * y)", "shift(psi, 1 + x)"),
    *("shift(u, +x)", "foo * psi", "psi + 1", "psi * u[x]", "u * psi", "u[0] * psi", "psi[0]", "psi.real", "1 / psi"),
    *("1 / 0 * psi", "psi + 'a'", "gamma5(psi)", "dot(psi)", "exp(u[x])", "psi if psi else u", "float(psi)", "(-u)[x]"),
    *("[psi]", "(psi, psi)", "None", "{x: u[x]}", "(lambda a: b)(psi)", "psi @ psi", "sum(u)", "{psi: 1}", "tau[0]"),
    *(f"psi if {c} else 0 * psi" for c in ("x != 3", "x == 'x'", "t in (0, 1)", "+x == 1", "+x == x", "x == None")),
    *("psi * 10**400", "stored(u)[x]", "open('/nowhere')", "spin_matrix([[1]])", "sign(s)"),
)
PARAMETERS = (
    *("parameter()", "parameter(help=3)", "parameter(help='m', least=1)", "parameter('a', help='m')"),
    *("parameter(1, help='m', lower='a')", "spelling(3, help='k')", "spelling(lambda k: 3, help='k')"),
    "spelling(lambda k: {'mass': 'a'}, help='k')",
    *(f"parameter({d}, help='m')" for d in ("True", "float('nan')", "-float('inf')", "10**400", "10**9999")),
)
ACTIONS = [
    *(
        f"mass: Real = parameter(help='m')\n    {METHOD}return {formula}"
        for formula in (*FORMULAS, "0 * psi", "self.mas")
    ),
    *(
        f"mass: Real = parameter(help='m')\n    other: Real = {p}\n    {METHOD}return self.mass * psi"
        for p in PARAMETERS
    ),
    "mass: Real = parameter(help='m')\n    def dirac(u: Links, psi: Fermion) -> Fermion:\n        return psi",
    f"action: Real = parameter(0, help='m')\n    {METHOD}return self.action * psi",
    f"extends = 3\n    mass: Real = parameter(help='m')\n    {METHOD}return self.mass * psi",
    f"reported_flops = 'a'\n    mass: Real = parameter(help='m')\n    {METHOD}return self.mass * psi",
]
TWICE = "@action\ndef stated_twice(u: Links, psi: Fermion, mass: Real) -> Fermion:\n    return mass * psi\n"
FILES = [
    *(f"{EXPRESSION}return {formula}\n" for formula in FORMULAS),
    *(f"{EXPRESSION}{rest}\n" for rest in ("pass", "yield psi", "return psi psi")),
    *(f"{HEAD}@expression\n{rest}\n" for rest in ("class Wrong:\n    pass", "def wrong(psi: Spinr):\n    return psi")),
    *(f"{HEAD}@action\nclass Wrong:\n    {members}\n" for members in ACTIONS),
    *(
        f"{HEAD}@action\ndef stated(u: Links, psi: Fermion, {number}) -> Fermion:\n    return psi\n"
        for number in ("mass: Real = None", "mass: Real = True", "mass: Real = 1e999", "action: Real", "tol: Real = 1")
    ),
    f"{HEAD}{2 * TWICE}",
    f"{HEAD}{TWICE}@action\nclass StatedTwice:\n    mass: Real = parameter(help='m')\n    {METHOD}return psi\n",
    f"{EXPRESSION}return psi\n{EXPRESSION}return 2 * psi\n",
    *(f"{HEAD}{rest}\n" for rest in ("action(3)", "expression(3)", "import nowhere", "1 / 0")),
]


@pytest.mark.parametrize("n", range(len(FILES)))
def test_a_wrong_statement_is_refused_in_one_line_at_its_place(tmp_path: Path, n):
    file, text = tmp_path / "stated.py", FILES[n]
    file.write_text(text.replace("wrong", f"wrong{n}"))
    with pytest.raises(SpecError) as refused:
        if "@action" in text:
            add_action(action_of_file(str(file)), with_digest=True)
        for e in add_expressions(file):
            assert e.signature
    assert re.match(rf"{re.escape(str(file))}:\d+: .", str(refused.value)) and "\n" not in str(refused.value)
