"""Parameters of actions are stated once: options, help, ranges and the docs' table follow."""

import pytest
from tree import ROOT

from generator.__main__ import main
from generator.actions import ACTIONS
from generator.emit.action_table import action_row
from generator.errors import ExpressionError
from generator.language import Links, Real, StaggeredFermion, action, adj, parameter, shift, spelling, x
from generator.lower.record import lower
from generator.operators import RECORDS
from generator.schema import actions_table, shown_in


def test_docs_show_the_schema():
    page = (ROOT / "docs" / "actions.md").read_text()
    assert f"\n{actions_table()}\n" in page and shown_in(page) == page, "docs/actions.md is out of date: make generate"


@pytest.mark.parametrize("name", [n for n, a in ACTIONS.items() if n in RECORDS and a.parameters])
def test_explain_tells_formula_and_options(name, capsys):
    assert main(["explain", name.replace("_", "-")]) == 0
    text = capsys.readouterr().out
    assert "M psi = " in text
    for option in ACTIONS[name].options.values():
        assert option.option in text and option.help in text


def test_explain_prints_the_table(capsys):
    assert main(["explain", "actions"]) == 0
    assert capsys.readouterr().out == actions_table() + "\n"


def test_a_class_that_gives_a_value_takes_its_options():
    @action
    class Critical(ACTIONS["clover"].statement):
        mass = -0.8
        csw_t = 1.0

    assert list(Critical.action.options) == ["--xi0", "--nu", "--csw-r", "--anisotropy"]


def test_more_parameters_than_an_option_can_give_are_refused():
    @action
    class Many(ACTIONS["wilson"].statement):
        all = spelling(lambda a: {"mass": a, "xi0": a, "nu": a}, help="everything")

    with pytest.raises(ExpressionError, match="all gives 3 parameters; 2 at most"):
        lower(Many.action)


def test_several_masses_need_one_krylov_space():
    """What is refused is refused with the record, for this action alone."""

    @action
    class Hermitian(ACTIONS["staggered"].statement):
        def dirac(self, u: Links, psi: StaggeredFermion) -> StaggeredFermion:
            return 2 * self.mass * psi + u[x] * shift(psi, +x) + shift(adj(u[x]) * psi, -x)

    with pytest.raises(ExpressionError, match="mass of hermitian: several values are for a mass beside D"):
        lower(Hermitian.action)


def test_quotes_in_a_help_text_stay_in_it():
    @action
    class Quoted(ACTIONS["naive"].statement):
        size: Real = parameter(help='"size" \\ more')

    assert '\\"size\\" \\\\ more' in action_row(lower(Quoted.action)).arrays[0][2][-1]


@pytest.mark.parametrize(
    ("kind", "message"), [("several", "for a mass beside D with D\\^\\+ = -D"), ("each_slice", "no slices")]
)
def test_kinds_of_parameters_need_an_action_that_has_a_use_for_them(kind, message):
    @action
    class Odd(ACTIONS["naive"].statement):
        mu: Real = parameter(0, help="potential", **{kind: True})

    with pytest.raises(ExpressionError, match=f"mu of odd: .*{message}"):
        action_row(lower(Odd.action))


def test_a_spelling_gives_parameters_of_its_action():
    @action
    class Misspelt(ACTIONS["naive"].statement):
        shift = spelling(lambda a: {"mas": a}, help="the mass")

    with pytest.raises(ExpressionError, match="shift of misspelt gives mas, which is no parameter"):
        _ = Misspelt.action.options
