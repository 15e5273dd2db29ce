"""Wrong command lines of the generator: status 2, one line, the nearest word that is known."""

import pytest

from generator.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generat"], "command 'generat' is unknown; did you mean generate? `python -m generator --help` lists all"),
        (["xyzzy"], "command 'xyzzy' is unknown; `python -m generator --help` lists all"),
        (
            ["generate", "--devises", "none"],
            "no option --devises; did you mean --devices? `python -m generator generate --help` lists all",
        ),
        (["sweep", "--budgt=3"], "no option --budgt; did you mean --budget? `python -m generator sweep --help`"),
        (["list", "more"], "no use for 'more'; `python -m generator list --help` lists all"),
        (["cost"], "the following arguments are required: name; `python -m generator cost --help` lists all"),
        (["cost", "x", "--bandwidth", "y"], "--bandwidth: invalid float value: 'y'; `python -m generator cost --help`"),
        (["export", "x", "--target", "cud"], "--target 'cud' is unknown; did you mean cuda? "),
    ],
)
def test_wrong_use(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    text = capsys.readouterr().err
    assert ended.value.code == 2
    assert text.startswith("generator: error: ") and text.count("\n") == 1
    assert message in text


def test_an_unknown_profile_is_told_in_the_same_style(capsys):
    assert main(["list", "--profile", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("generator: error: profile 'nowhere' is unknown; use one of")
