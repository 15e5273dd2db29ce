"""Reports and plots of evidence."""

import gzip
import json

import pytest
from drawing import draw
from tree import tracked

from generator.__main__ import main
from generator.errors import SpecError
from generator.profile import load_profile
from generator.targets import TARGETS
from generator.tune.evidence import samples_file
from generator.tune.report import axis_gains, read_evidence, report, sensitivity
from generator.tune.tuned import FOLDER
from generator.tune.winners import deciding

NAME = "wilson_single_r12_nr_n1"
SPEC = load_profile("default").find(NAME)


def row(us, *shape, block=SPEC.block, min_blocks=SPEC.min_blocks, status="ok"):
    numbers = {"block": block, "min_blocks": min_blocks, "registers": 99, "spills": 0}
    return {"shape": list(shape), **numbers, "status": status, "microseconds": us}


ROWS = [
    row(10.0, "box", "stream", block=256, min_blocks=2),
    row(11.0, "box", block=256, min_blocks=2),
    row(12.0, "stream"),
    row(15.0),
    row(1.0, "tfirst", status="wrong"),
]


@pytest.fixture
def path(tmp_path):
    """Evidence with its samples beside; a kernel of both has left the profile."""
    thin = deciding(SPEC, {"large": ROWS}, TARGETS["cuda"])
    entry = {NAME: {"digest": "a", "toolkit": "", "classes": thin}, "gone_double": {"digest": "", "classes": {}}}
    samples = {NAME: {"digest": "a", "toolkit": "", "classes": {"large": ROWS}}}
    facts = {
        "device": "Some GPU",
        "target": "cuda",
        "toolkit": "13.0",
        "sizes": {"large": {"lattice": [16, 8, 8, 8], "rhs": 1}},
    }
    path = tmp_path / "some_gpu.json"
    path.write_text(json.dumps({**facts, "kernels": entry}))
    samples_file(path).parent.mkdir()
    samples_file(path).write_bytes(gzip.compress(json.dumps({**facts, "kernels": samples}).encode(), mtime=0))
    return path


def test_the_best_candidate_its_rates_and_its_gain(path):
    (measured,) = read_evidence(path, [SPEC]).kernels
    assert measured.variant == "box_stream_b256m2" and measured.gain == 1.5
    sites = 16 * 8 * 8 * 8 / 2
    assert measured.gflops() == pytest.approx(1320 * sites / 10e-6 * 1e-9)
    assert measured.gbytes() == pytest.approx((8 * 12 * 4 + 2 * 96) * sites / 10e-6 * 1e-9)


def test_what_each_axis_was_worth(path):
    gains = {axis: list(values.values()) for axis, values in axis_gains(read_evidence(path, [SPEC]).kernels)}
    # Without tfirst nothing changes: the only candidate with it is wrong. The default's launch numbers cost 12 / 10.
    assert gains == {"launch": [1.2], "box": [1.2], "stream": [1.1]}


def test_sensitivity_with_all_else_free_and_fixed(path):
    found = sensitivity(read_evidence(path, [SPEC]).kernels)
    assert found["block", "128"] == {"free": [1.2], "fixed": []}
    assert found["stream", "without"] == {"free": [1.1], "fixed": [1.1]}
    assert found["box", "without"] == {"free": [1.2], "fixed": []}
    assert found["box", "with"] == {"free": [1.0], "fixed": [1.0]}


def test_the_report_is_markdown(path):
    text = report(read_evidence(path, [SPEC]), copy=4e12)
    assert "### Some GPU" in text and "1 kernels of the evidence are not in the profile" in text
    line = next(line for line in text.splitlines() if NAME in line)
    bytes_per_second = 576 * 4096 / 10e-6
    assert line == f"| `{NAME}` | box_stream_b256m2 | 99 | 10 | 541 | {bytes_per_second / 4e12:.0%} | 1.50 |"
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {7, 8}


def test_what_an_axis_was_worth_needs_the_samples_of_the_kernel_as_it_is(path):
    """Without them, or with those of another body, the table of kernels is the same and the other is left out."""
    whole = report(read_evidence(path, [SPEC]))
    assert "| box |" in whole and "| stream |" in whole and "samples" not in whole
    data = json.loads(gzip.decompress(samples_file(path).read_bytes()))
    data["kernels"][NAME]["digest"] = "b"
    samples_file(path).write_bytes(gzip.compress(json.dumps(data).encode(), mtime=0))
    old = report(read_evidence(path, [SPEC]))
    samples_file(path).unlink()
    without = report(read_evidence(path, [SPEC]))
    assert old == without and "| box |" not in without and str(samples_file(path)) in without.splitlines()[-1]
    tables = ["\n".join(line for line in t.splitlines() if NAME in line and "`" in line[:3]) for t in (whole, without)]
    assert tables[0] == tables[1] and "1.50" in tables[0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        gzip.compress(b"{", mtime=0)[:-9],
        gzip.compress(b"[]", mtime=0),
        gzip.compress(b'{"kernels": 1}', mtime=0),
    ],
)
def test_damaged_samples_are_refused(data, path):
    samples_file(path).write_bytes(data)
    with pytest.raises(SpecError, match=r"some_gpu\.json\.gz"):
        read_evidence(path, [SPEC])


KEPT = [p for p in tracked("generated/tuned/*.json") if p.parent == FOLDER]


@pytest.mark.parametrize("file", KEPT, ids=lambda path: path.stem)
def test_the_command_prints_the_kept_evidence(file, capsys):
    assert main(["report", "--device", file.stem, "--copy", "4280"]) == 0
    text = capsys.readouterr().out
    assert "#### large launches, " in text and "of the floor" in text
    assert ("| launch |" in text) == ("nvidia" in file.stem and samples_file(file).is_file())


def test_evidence_that_is_not_kept_is_a_clear_error(capsys):
    assert main(["report", "--device", "Other"]) == 2
    assert "known are" in capsys.readouterr().err


def test_evidence_is_drawn(path, tmp_path):
    """Bars are gains; each value of each knob has its boxes, where all samples are at hand."""
    found = draw("tuning", path, "--out", tmp_path / "t.png")
    gains, knobs = found.figure.axes
    assert [bar.get_width() for bar in gains.patches] == [pytest.approx(0.5)]  # beyond 1
    assert [t.get_text() for t in gains.get_yticklabels()] == [NAME]
    values = [t.get_text() for t in knobs.get_yticklabels()]
    assert {"block 128", "block 256", "with box", "without box", "with stream", "without stream"} <= set(values)
    samples_file(path).unlink()
    found = draw("tuning", path, "--out", tmp_path / "t.png")
    (gains,) = found.figure.axes
    assert [bar.get_width() for bar in gains.patches] == [pytest.approx(0.5)]
    assert str(samples_file(path)) in found.printed.splitlines()[0]
    above, below = draw("roofline", path, "--copy", "4000", "--out", tmp_path / "r.png").figure.axes
    (point,) = [line for line in above.lines if line.get_marker() == "o"]
    (measured,) = read_evidence(path, [SPEC]).kernels
    assert list(point.get_xdata()) == [pytest.approx(measured.gflops() / measured.gbytes())]
    assert list(point.get_ydata()) == [pytest.approx(measured.gflops())]
    refused = draw("roofline", path, "--out", tmp_path / "n.png")
    assert refused.status == 1 and "--copy" in refused.said and not (tmp_path / "n.png").exists()
