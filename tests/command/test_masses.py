"""docs/tutorial-masses.md on a smaller lattice."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from page_output import missing, parts

pytest.importorskip("pyerrors")
pytest.importorskip("h5py")


def masses():
    spec = importlib.util.spec_from_file_location("masses", ROOT / "examples" / "masses.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tutorial(quarksmith, tmp_path):
    text = (ROOT / "examples" / "masses.toml").read_text().replace("first = 160", "first = 4")
    (tmp_path / "masses.toml").write_text(text.replace("gaussian:2.5,20", "gaussian:1,2").replace("0.160", "0.150"))
    heat = ("--lattice", "4,4,4,8", "--beta", "5.9", "--start", "cold", "--sweeps", "14", "--save-every", "2")
    quarksmith("heatbath", *heat, "--out", "u")
    quarksmith("measure", "masses.toml", "--out", "results.h5", "--json", "r.json")
    line = [sys.executable, ROOT / "examples" / "masses.py", "results.h5", "--plateau", "1,2", "--out", "masses.png"]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    lines = [line for _, block in parts((ROOT / "docs/tutorial-masses.md").read_text()) for line in block]
    assert len(lines) == 3 and missing(lines, run.stdout, exact=False) == []
    assert (tmp_path / "masses.png").stat().st_size > 5000
    pion = masses().read_correlator(tmp_path / "results.h5", "mesons", ["g5"])
    told = quarksmith.json("r.json")["configurations"]
    values = np.array([np.array(c["results"]["mesons"]["values"])[:, 0, 0, :, 0].mean(axis=0) for c in told])
    assert [o[0].value for o in pion.content] == pytest.approx(values.mean(axis=0), rel=1e-12)
    assert pion.content[0][0].idl["run"] == range(4, 15, 2)
    nucleon, other = (
        masses().read_correlator(tmp_path / "results.h5", "nucleon", [f"proton{np}/up", f"proton{np}/dn"])
        for np in ("", "_np")
    )
    both = masses().both_ways(nucleon, other)
    assert all(o[0].value > 0 for o in both.content)


def test_gaps_are_refused(quarksmith, tmp_path):
    text = (ROOT / "examples" / "masses.toml").read_text().replace('"u_*.ildg"', '"hot:4,4,4,4:1"')
    text = text.replace("first = 160", "numbers = [1]").replace("count = 2", "count = 1")
    (tmp_path / "run.toml").write_text(text)
    quarksmith("measure", "run.toml", "--out", "r.h5")
    more = ", ".join(f'"hot:4,4,4,4:{n}"' for n in (1, 2, 4))
    (tmp_path / "run.toml").write_text(text.replace('"hot:4,4,4,4:1"', more).replace("[1]", "[1, 2, 4]"))
    quarksmith("measure", "run.toml", "--out", "r.h5")
    with pytest.raises(SystemExit, match="not equally far apart"):
        masses().read_correlator(tmp_path / "r.h5", "mesons", ["g5"])
    with pytest.raises(SystemExit, match="use one of"):
        masses().read_correlator(tmp_path / "r.h5", "glueball", ["g5"])
