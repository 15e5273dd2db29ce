"""What commands print for people: correlators, tables for terminals, help in groups, each notice once."""

import json
import os
import pty
import re
import subprocess

import pytest
from conftest import BUILD

MEASURE = """
[configurations]
files = ["weak:0.3:4,4,4,4:1", "weak:0.3:4,4,4,4:2", "weak:0.3:4,4,4,4:3"]
numbers = [1, 2, 3]
[[source]]
name = "s"
at = [0, 0, 0, 0]
[[quark]]
name = "q"
action = "wilson"
kappa = 0.12
[[propagator]]
name = "p"
quark = "q"
source = "s"
[[correlator]]
name = "c"
kind = "meson"
quarks = ["p", "p"]
gammas = ["g5", "gx"]
momenta = [[0, 0, 0], [1, 0, 0]]
"""


def tables(text):
    """Title -> rows of numbers, an error of one configuration as nothing."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if not line.startswith(" "):
            rows = found.setdefault(line.split(":")[0], [])
        elif words[0] != "t":
            rows.append([None if word == "-" else float(word) for word in words])
    return found


def test_correlators_of_a_propagator_are_printed(quarksmith, tmp_path):
    quark = ("--gauge", "weak:0.3:4,4,4,4:3", "--mass", "0.5")
    quarksmith("propagator", *quark, "--out", "p.h5", "--correlators", "c.json")
    pion = json.loads((tmp_path / "c.json").read_text())["correlators"]["pion"]
    printed = tables(quarksmith("correlators", "p.h5").stdout)
    assert [row[1] for row in printed["correlators pion"]] == pytest.approx(pion, rel=1e-10)
    assert {row[2] for row in printed["correlators pion"]} == {None}
    assert tables(quarksmith("correlators", "p.h5", "--only", "pion").stdout).keys() == {"correlators pion"}
    assert "pion" in quarksmith.refuses("correlators", "p.h5", "--only", "pon")
    assert not quarksmith("correlators", "p.h5", "--json", "j.json").stdout


def test_correlators_of_measure_have_means_and_errors_and_notices_come_once(quarksmith, tmp_path):
    (tmp_path / "m.toml").write_text(MEASURE)
    notices = quarksmith("measure", "m.toml", "--out", "m.h5", "--json", "m.json").stderr
    assert notices.count("no GPU in use") <= 1
    printed = tables(quarksmith("correlators", "m.h5").stdout)
    assert printed.keys() == {"c 0,0,0 g5", "c 0,0,0 gx", "c 1,0,0 g5", "c 1,0,0 gx"}
    results = [c["results"]["c"]["values"][0] for c in json.loads((tmp_path / "m.json").read_text())["configurations"]]
    for title, momentum, structure in (("c 0,0,0 gx", 0, 1), ("c 1,0,0 g5", 1, 0)):
        for t, row in enumerate(printed[title]):
            for at, of in ((1, 0), (3, 1)):  # real and imaginary part
                values = [r[momentum][structure][t][of] for r in results]
                mean = sum(values) / 3
                error = (sum((x - mean) ** 2 for x in values) / 6) ** 0.5
                assert row[0] == t and row[at] == pytest.approx(mean, rel=1e-9, abs=1e-15)
                assert row[at + 1] == pytest.approx(error, rel=1e-2, abs=1e-15)
    assert quarksmith.refuses("correlators", "m.h5", "--only", "d")


def on_terminal(*arguments):
    """What is printed to a terminal of 80 columns."""
    own, its = pty.openpty()
    with subprocess.Popen([BUILD / "bin/quarksmith", *arguments], stdout=its, stderr=its) as run:
        os.close(its)
        text = b""
        while part := _read(own):
            text += part
    os.close(own)
    assert run.returncode == 0
    return text.decode().replace("\r\n", "\n")


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # its end
        return b""


@pytest.mark.parametrize("name", ["sources", "options"])
def test_lists_fit_terminals(quarksmith, name):
    piped = quarksmith("list", name).stdout
    shown = on_terminal("list", name)
    assert piped.startswith("| ") and "|---" not in shown
    assert max(map(len, shown.splitlines())) <= 80 < max(map(len, piped.splitlines()))
    for cell in re.findall(r"^\| `([^`]+)`", piped, re.M):
        assert cell.split()[0].replace("\\", "")[:12] in shown


def test_options_stand_in_groups(quarksmith):
    text = quarksmith("propagator", "--help").stdout
    parts = re.split(r"\n(\w.*):\n", text)
    groups = {
        title: set(re.findall(r"^  (--[\w-]+)", part, re.M))
        for title, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert len(groups) > 3 and max(map(len, groups.values())) < 30
    for together in (
        ("--mass", "--gauge"),
        ("--solver", "--mg", "--tol"),
        ("--json", "--quiet"),
        ("--source", "--out"),
    ):
        assert any(set(together) <= group for group in groups.values()), together


@pytest.mark.parametrize(
    "wrong",
    [
        ("propagator", "--source", "nowhere:1"),
        ("propagator", "--sink", "nowhere:1"),
        ("propagator", "--solver", "nowhere"),
        ("propagator", "--even-odd", "nowhere"),
        ("propagator", "--reconstruct", "nowhere"),
        ("propagator", "--basis", "nowhere"),
        ("propagator", "--preconditioner", "nowhere"),
        ("eigen", "--operator", "nowhere"),
        ("smear", "--kind", "nowhere"),
    ],
)
def test_what_is_wrong_comes_before_what_is_missing(quarksmith, wrong):
    assert "nowhere" in quarksmith.refuses(*wrong) or wrong[1] == "--kind"


def test_a_grid_takes_as_many_ranks(quarksmith):
    said = quarksmith.refuses("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--grid", "1,1,1,2")
    assert "mpirun -n 2" in said


def test_times_of_parts_that_are_not_taken_are_no_numbers(quarksmith, tmp_path):
    once = ("--lattice", "4,4,4,4", "--seconds", "0.001", "--precision", "double")
    out = quarksmith("scaling", *once, "--json", "s.json").stdout
    assert out.splitlines()[-1].split()[-3:] == ["-"] * 3
    assert json.loads((tmp_path / "s.json").read_text())["rows"][0]["microseconds"] > 0


def test_the_flow_offers_what_it_can(quarksmith):
    assert not re.search(r"--precision.*single", quarksmith("flow", "--help").stdout)
    quarksmith.refuses("flow", "unit:4,4,4,4", "--precision", "single")


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
        (b"hello\nworld\n", "text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "89 50"),
    ],
)
def test_files_without_a_gauge_field_are_called_what_they_are(quarksmith, tmp_path, begin, kind):
    (tmp_path / "file").write_bytes(begin)
    for command in (("flow", "file"), ("propagator", "--gauge", "file", "--mass", "1", "--correlators", "c.json")):
        assert kind in quarksmith.refuses(*command, status=1)
