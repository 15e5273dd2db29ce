"""Wrong command lines: one line each, in one style, with the nearest word that is known; completions; manual page."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("propogator",), "did you mean propagator?"),
        (("xyzzy",), "'xyzzy'"),
        (("--vresion",), "did you mean --version?"),
        ((), "a subcommand is required"),
        (("propagator", "--gauge", "unit:4,4,4,4", "--max-iter=3"), "did you mean --max-iterations?"),
        (("propagator", "--gague", "unit:4,4,4,4"), "did you mean --gauge?"),  # before what is missing
        (("info", "a", "b"), "'b'"),
        (("info", "a", "-q"), "'-q'"),
        (("info",), "file is required"),
    ],
)
def test_wrong_use_is_one_line_that_ends_in_what_to_do(quarksmith, arguments, named):
    """Mistakes in options are those of tests/refusals_test.cpp."""
    text = quarksmith.refuses(*arguments)
    assert text.startswith("quarksmith: error: ") and text.count("\n") == 1
    assert named in text
    assert re.search(r"`quarksmith .*--help` (lists all|shows its use)$", text.strip())


def test_help_and_version_are_no_errors(quarksmith):
    assert "propagator" in quarksmith("--help").stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", quarksmith("--version").stdout)


def options_of(quarksmith, command: str) -> set[str]:
    return set(re.findall(r"^  (?:-h,)?(--[\w-]+)", quarksmith(command, "--help").stdout, flags=re.M))


def completed(script: str, line: str) -> list[str]:
    """What bash offers for the last word of a line, which it takes apart as readline does."""
    words = re.findall(r"[^\s=]+|=", line.replace("quarksmith", str(BUILD / "bin/quarksmith"), 1))
    words += [""] if line.endswith(" ") else []
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
    for command in ("propagator", "heatbath", "solve-bench", "sweep"):
        assert set(completed(script, f"quarksmith {command} --")) == options_of(quarksmith, command)
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
    lines = quarksmith("complete", "--", "propagator", f"--{option}", "").stdout.splitlines()
    command = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "c.json")
    mixed = ("--precision", "double-half") if option == "updates" else ()
    listed = quarksmith.refuses(*command, *mixed, f"--{option}", "xyzzy").split("; use ")[1].split("; ")[0]
    known = re.split(r"\[[^\]]*\]|, | or |:\S+", listed.strip())
    known = {re.sub(r",\S*", "", word.strip()) for word in known if word.strip(" ,")}
    pairs = {"auto", "double-single", "double-half"} if option == "precision" else set()
    assert {line.split("\t")[0].rstrip(":") for line in lines} - pairs == known


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_asks_the_command(quarksmith, shell, tmp_path):
    script = quarksmith("completion", shell).stdout
    assert " complete -- " in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)
    lines = quarksmith("complete", "--", "propagator", "--max-iterations=").stdout
    assert lines == "" and "--max-iterations\t" in quarksmith("complete", "--", "propagator", "--max").stdout


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
    assert "complete -o default" in (share / "bash-completion/completions/quarksmith").read_text()
    assert (share / "zsh/site-functions/_quarksmith").read_text().startswith("#compdef quarksmith")
    assert "complete -c quarksmith" in (share / "fish/vendor_completions.d/quarksmith.fish").read_text()
    assert ".TH QUARKSMITH 1" in (share / "man/man1/quarksmith.1").read_text()
