"""Measurements of other codes and of an independent program, reproduced: docs/howto-measure.md has the differences."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not (DATA / "measure").is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data"
)
WEAK = DATA / "chroma" / "weak_field.lime"
ROUGH = DATA / "bridge" / "conf_04040408.txt.gz"
OCTET = ("proton", "neutron", "lambda_z", "sigma_p", "sigma_z", "sigma_m", "xi_z", "xi_m")
DECUPLET = (
    "delta_pp",
    "delta_p",
    "delta_z",
    "delta_m",
    "sigma_star_p",
    "sigma_star_z",
    "sigma_star_m",
    "xi_star_z",
    "xi_star_m",
    "omega_m",
)
BOTH_PARITIES = [name + parity for parity in ("", "_np") for name in OCTET + DECUPLET]


def reference(name):
    return json.loads((DATA / "measure" / name).read_text())


def toml(value):
    """A value as TOML has it; tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def table(kind, /, **keys):
    return f"[[{kind}]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())


def run_file(gauge, *tables, **keys):
    return (
        f"[configurations]\nfiles = [{toml(str(gauge))}]\n"
        + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())
        + "".join(tables)
    )


def quarks(source, action, solved, **common):
    """Quarks by name, and propagators of the same names."""
    text = ""
    for name, keys in solved.items():
        text += table("quark", name=name, action=action, **common, **keys)
        text += table("propagator", name=name, quark=name, source=source)
    return text


@pytest.fixture
def measured(quarksmith, tmp_path):
    """Runs a description; its results by name."""

    def run(text):
        (tmp_path / "run.toml").write_text(text)
        quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
        return json.loads((tmp_path / "r.json").read_text())["configurations"][0]["results"]

    return run


def ours(result, momentum, structure):
    """Of the first position, by t."""
    momenta = np.array(result["momenta"]).reshape(-1, 3).tolist()
    k = result["structures"].split().index(structure) if isinstance(structure, str) else structure
    return np.array(result["values"])[0, momenta.index(list(momentum)), k] @ [1, 1j]


def difference(found, expected):
    """The largest, relative to the largest value."""
    expected = np.array(expected) @ [1, 1j]
    return abs(found - expected).max() / abs(expected).max()


def integers(text):
    return [int(n) for n in re.findall(r"-?\d+", text)]


def test_rough_field(measured):
    """All mesons, and baryons of both parities, with momenta, of an independent program."""
    case = reference("two_and_three_point_rough_field.json")
    momenta = [[0, 0, 0], [1, 0, 0], [0, -1, 0], [1, 1, 0], [0, 1, -1], [1, 1, 1]]
    results = measured(
        run_file(
            ROUGH,
            table("source", name="s", at=[1, 2, 3, 5], smearing="gaussian:1.5,6"),
            quarks("s", "clover", {"l": {"kappa": 0.125}, "h": {"kappa": 0.115}}, csw=1.0, tol=1e-13),
            table("correlator", name="uu", kind="meson", quarks=["l", "l"], momenta=momenta),
            table("correlator", name="us", kind="meson", quarks=["l", "h"], momenta=momenta),
            table(
                "correlator",
                name="baryons",
                kind="baryon",
                quarks={"u": "l", "d": "l", "s": "h"},
                interpolators=BOTH_PARITIES,
                momenta=momenta,
            ),
            lattice=[4, 4, 4, 8],
        )
    )
    assert len(case["mesons"]) == 96 and len(case["baryons"]) == 77
    for key, expected in case["mesons"].items():
        quark, gamma, p = key.split("/")
        assert difference(ours(results[quark], integers(p), int(gamma[5:])), expected) < 1e-12, key
    for key, expected in case["baryons"].items():
        name, spin, p = key.split("/")
        found = ours(results["baryons"], integers(p), f"{name}/{spin.removeprefix('spin_')}")
        assert difference(found, expected) < 1e-12, key
    pion = ours(results["uu"], (0, 0, 0), "g5").real
    assert pion == pytest.approx(case["pion_check_norm"], rel=1e-12)


def test_lalibe(measured):
    """Mesons and baryons of three quarks with momenta, sinks as they are and smeared."""
    case = reference("two_point_lalibe_momenta.json")["correlators"]
    text = run_file(WEAK, table("source", name="g", at=[0, 0, 0, 0], smearing="gaussian:2,5"))
    for flavour, mass in {"u": 0.1, "d": 0.2, "s": 0.6}.items():
        text += table("quark", name=flavour, action="clover", mass=mass, csw=1.17, tol=1e-13)
        text += table("propagator", name=flavour + "PS", quark=flavour, source="g")
        text += table("propagator", name=flavour + "SS", quark=flavour, source="g", sink="gaussian:2,5")
    for sink in ("PS", "SS"):
        for meson, other in {"piplus": "d", "kplus": "s"}.items():
            text += table(
                "correlator",
                name=meson + sink,
                kind="meson",
                quarks=["u" + sink, other + sink],
                gammas=["g5"],
                largest_square=1,
            )
        text += table(
            "correlator",
            name="baryons" + sink,
            kind="baryon",
            quarks={f: f + sink for f in "uds"},
            interpolators=BOTH_PARITIES,
            largest_square=1,
        )
    results = measured(text)
    assert len(case) == 100
    for key, expected in case.items():
        sink, name, *spin, p = key.split("/")
        if spin:
            found = ours(results["baryons" + sink], integers(p), f"{name}/{spin[0].removeprefix('spin_')}")
        else:
            found = ours(results[name + sink], integers(p), "g5")
        assert difference(found, expected) < 4e-12, key
