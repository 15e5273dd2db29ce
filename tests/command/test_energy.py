"""`quarksmith bench --energy`: joules where the machine reports them, else one line that says why not."""

import json
import re
import threading
import time

import pytest

BENCH = (
    "bench",
    "--device",
    "cpu",
    "--lattice",
    "4,4,4,4",
    "--seconds",
    "0.005",
    "--only",
    "algebra_norm2",
    "--energy",
)
WATTS = 40


def zone(folder, name, energy, reach=10_000_000):
    folder.mkdir(parents=True)
    (folder / "name").write_text(name + "\n")
    (folder / "max_energy_range_uj").write_text(f"{reach}\n")
    (folder / "energy_uj").write_text(f"{energy}\n")


@pytest.fixture
def powercap(tmp_path):
    """Two packages that draw 40 W together, the second near the end of its range, and a zone that must not count."""
    folder = tmp_path / "powercap"
    zone(folder / "intel-rapl:0", "package-0", 0)
    zone(folder / "intel-rapl:1", "package-1", 9_900_000)
    zone(folder / "intel-rapl:0:0", "core", 0)
    stop = threading.Event()
    start = time.monotonic()

    def count():
        while not stop.wait(0.002):
            drawn = int((time.monotonic() - start) * WATTS / 2 * 1e6)
            for name, first in (("intel-rapl:0", 0), ("intel-rapl:1", 9_900_000), ("intel-rapl:0:0", 0)):
                part = folder / "part"
                part.write_text(f"{(first + drawn) % 10_000_000}\n")
                part.replace(folder / name / "energy_uj")

    thread = threading.Thread(target=count)
    thread.start()
    yield folder
    stop.set()
    thread.join()


@pytest.mark.alone
def test_joules_are_watts_times_seconds(quarksmith, powercap, tmp_path):
    done = quarksmith(*BENCH, "--powercap", powercap, "--json", "b.json", "--csv", "b.csv")
    assert "energy: 2 RAPL zone(s)" in done.stdout and "      mJ       W\n" in done.stdout
    rows = json.loads((tmp_path / "b.json").read_text())["kernels"]
    assert rows
    for row in rows:
        assert row["watts"] == pytest.approx(WATTS, rel=0.1)
        # Launches of the two measurements differ by the load of the machine; a wrong unit is a thousand times off.
        assert 0.01 < row["joules"] / (WATTS * row["microseconds"] * 1e-6) < 100
    header, *lines = (tmp_path / "b.csv").read_text().splitlines()
    assert header.endswith(",joules,watts") and len(lines) == len(rows)
    assert float(lines[0].split(",")[-2]) == pytest.approx(rows[0]["joules"], rel=1e-4)


def test_a_counter_that_stands_still_gives_no_number(quarksmith, tmp_path):
    zone(tmp_path / "powercap" / "intel-rapl:0", "package-0", 5)
    quarksmith(*BENCH, "--powercap", tmp_path / "powercap", "--json", "b.json")
    assert all("joules" not in row for row in json.loads((tmp_path / "b.json").read_text())["kernels"])


def test_a_machine_without_a_counter_says_so_in_one_line(quarksmith, tmp_path):
    done = quarksmith(*BENCH, "--powercap", tmp_path / "nothing", "--json", "b.json", "--csv", "b.csv")
    assert re.search(r"^energy: not reported: .*nothing has no intel-rapl zones", done.stdout, flags=re.M)
    assert "mJ" not in done.stdout and "joules" not in (tmp_path / "b.csv").read_text()
    assert "joules" not in (tmp_path / "b.json").read_text()


def test_a_counter_that_may_not_be_read_says_so(quarksmith, tmp_path):
    zone(tmp_path / "powercap" / "intel-rapl:0", "package-0", 5)
    (tmp_path / "powercap" / "intel-rapl:0" / "energy_uj").unlink()
    assert "cannot be read" in quarksmith(*BENCH, "--powercap", tmp_path / "powercap").stdout
