"""Wrong command lines of the generator: status 2, one line, the nearest word that is known."""

import pytest

from generator.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["generat"], "did you mean generate?"),
        (["xyzzy"], "'xyzzy'"),
        (["generate", "--devises", "none"], "did you mean --devices?"),
        (["sweep", "--budgt=3"], "did you mean --budget?"),
        (["list", "more"], "'more'"),
        (["cost"], "name"),
        (["cost", "x", "--bandwidth", "y"], "--bandwidth"),
        (["export", "x", "--target", "cud"], "did you mean cuda?"),
    ],
)
def test_wrong_use(arguments, named, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    text = capsys.readouterr().err
    assert ended.value.code == 2 and named in text
    assert text.startswith("generator: error: ") and text.count("\n") == 1
