"""Wrong command lines: one line each, in one style, with the nearest word that is known; completions; manual page."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("propogator",), "command 'propogator' is unknown; did you mean propagator? `quarksmith --help` lists all"),
        (("xyzzy",), "command 'xyzzy' is unknown; `quarksmith --help` lists all"),
        (("--vresion",), "option '--vresion' is unknown; did you mean --version? `quarksmith --help` lists all"),
        ((), "a subcommand is required; `quarksmith --help` shows its use"),
        (
            ("propagator", "--gauge", "unit:4,4,4,4", "--masss", "1"),
            "propagator has no option --masss; did you mean --mass? `quarksmith propagator --help` lists all",
        ),
        (
            ("propagator", "--gauge", "unit:4,4,4,4", "--max-iter=3"),
            "propagator has no option --max-iter; did you mean --max-iterations?",
        ),
        (("propagator", "--gague", "unit:4,4,4,4"), "propagator has no option --gague; did you mean --gauge?"),
        (("info", "--zzzzzz", "u"), "info has no option --zzzzzz; `quarksmith info --help` lists all"),
        (("info", "a", "b"), "info cannot use 'b': it takes no further argument"),
        (("info",), "info: file is required; `quarksmith info --help` shows its use"),
        (("propagator", "--gauge", "u", "--kappa", "heavy"), "propagator: --kappa: 'heavy' is not a number;"),
        (("smear", "stout", "a", "b", "--steps", "x"), "smear: --steps: 'x' is not a whole number;"),
        (("smear", "stout", "a", "b", "--steps", "0"), "smear: --steps: 0 is too small; use a number above 0;"),
        (("propagator", "--gauge", "u", "--ls", "99"), "propagator: --ls: 99 is not in the range 1 to 64;"),
        (
            ("info", "u", "--log-level", "inof"),
            "--log-level 'inof' is unknown; did you mean info? use info, warn or error; `quarksmith info --help`",
        ),
        (("convert", "a", "b", "--format", "nersk"), "--format 'nersk' is unknown; did you mean nersc? use ildg, "),
        (("smear", "stoot", "a", "b"), "kind 'stoot' is unknown; did you mean stout? use stout, ape or hyp;"),
        (("propagator", "--gauge"), "`quarksmith propagator --help` shows its use"),
    ],
)
def test_wrong_use_is_one_line_that_ends_in_what_to_do(quarksmith, arguments, message):
    text = quarksmith.refuses(*arguments)
    assert text.startswith("quarksmith: error: ") and text.count("\n") == 1
    assert message in text
    assert re.search(r"`quarksmith .*--help` (lists all|shows its use)$", text.strip())


def test_help_and_version_are_no_errors(quarksmith):
    assert "propagator" in quarksmith("--help").stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", quarksmith("--version").stdout)


def options_of(quarksmith, command: str) -> set[str]:
    return set(re.findall(r"^  (?:-h,)?(--[\w-]+)", quarksmith(command, "--help").stdout, flags=re.M))


def completed(script: str, line: str) -> list[str]:
    """What bash offers for the last word of a line, which it takes apart as readline does."""
    words = re.findall(r"[^\s=]+|=", line) + ([""] if line.endswith(" ") else [])
    quoted = " ".join(f"'{w}'" for w in words)
    program = f"{script}\nCOMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}\n_quarksmith\n"
    program += 'for w in "${COMPREPLY[@]}"; do echo "$w"; done; complete -p quarksmith >&2'
    run = subprocess.run(["bash", "--norc"], input=program, capture_output=True, text=True, check=True)
    assert run.stderr == "complete -o default -F _quarksmith quarksmith\n"
    return run.stdout.split()


def test_bash_completes_commands_options_and_values(quarksmith):
    script = quarksmith("completion", "bash").stdout
    assert {"propagator", "solve-bench", "completion", "man", "--version"} <= set(completed(script, "quarksmith "))
    assert completed(script, "quarksmith prop") == ["propagator"]
    assert set(completed(script, "quarksmith propagator --")) == options_of(quarksmith, "propagator")
    assert completed(script, "quarksmith propagator --corr") == ["--correlators"]
    assert completed(script, "quarksmith info u --log-level ") == ["info", "warn", "error"]
    assert completed(script, "quarksmith info u --log-level=wa") == ["warn"]
    assert completed(script, "quarksmith smear ") == ["stout", "ape", "hyp"]
    assert completed(script, "quarksmith propagator --action tw") == ["twisted-mass", "twisted-clover"]
    assert completed(script, "quarksmith propagator --source gau") == ["gaussian:"]
    assert completed(script, "quarksmith heatbath --start h") == ["hot"]
    assert completed(script, "quarksmith propagator --gauge ") == []  # then bash completes names of files


@pytest.mark.parametrize(
    "option",
    ["action", "solver", "precision", "source", "sink", "smear-links", "policy", "basis", "even-odd", "updates"],
)
def test_values_that_are_completed_are_those_that_are_taken(quarksmith, option):
    """What the error of a wrong one lists."""
    offered = completed(quarksmith("completion", "bash").stdout, f"quarksmith propagator --{option} ")
    command = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "c.json")
    mixed = ("--precision", "double-half") if option == "updates" else ()
    listed = quarksmith.refuses(*command, *mixed, f"--{option}", "xyzzy").split("; use ")[1].split("; ")[0]
    known = re.split(r"\[[^\]]*\]|, | or |:\S+", listed.strip())
    known = {re.sub(r",\S*", "", word.strip()) for word in known if word.strip(" ,")}
    pairs = {"auto", "double-single", "double-half"} if option == "precision" else set()
    assert {word.rstrip(":") for word in offered} - pairs == known


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_every_option(quarksmith, shell, tmp_path):
    script = quarksmith("completion", shell).stdout
    for command in ("propagator", "heatbath", "solve-bench", "sweep"):
        for option in options_of(quarksmith, command):
            assert (f"-l {option[2:]} " if shell == "fish" else option) in script, option
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_the_manual_page_holds_every_option_and_is_sound(quarksmith, tmp_path):
    page = quarksmith("man").stdout
    for command in ("propagator", "heatbath"):
        section = page.split(f".SS {command}\n")[1].split(".SS ")[0].replace("\\-", "-")
        assert options_of(quarksmith, command) - {"--help"} <= set(re.findall(r"\\fB(--[\w-]+)", section))
    if shutil.which("groff") is None:
        pytest.skip("needs groff to lint the manual page")
    run = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", run.stdout)
    assert "U' = exp(rho TA(C U^+)) U" in re.sub(r"\s+", " ", text)


def test_installation_holds_pages_and_completions(tmp_path):
    environment = os.environ | {"DESTDIR": str(tmp_path)}
    command = ["cmake", "--install", BUILD, "--prefix", "/opt/quarksmith"]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    share = tmp_path / "opt/quarksmith/share"
    assert "propagator" in (share / "bash-completion/completions/quarksmith").read_text()
    assert (share / "zsh/site-functions/_quarksmith").read_text().startswith("#compdef quarksmith")
    assert "complete -c quarksmith" in (share / "fish/vendor_completions.d/quarksmith.fish").read_text()
    assert ".TH QUARKSMITH 1" in (share / "man/man1/quarksmith.1").read_text()
