"""quarksmith smear, flow and the smearing options of propagator."""

import pytest


def test_smeared_links_are_written(quarksmith, tmp_path):
    quarksmith("smear", "stout", "weak:0.3:4,4,4,8:1", "a.ildg", "--rho", "0.1", "--steps", "2", "--json", "a.json")
    quarksmith("smear", "stout", "weak:0.3:4,4,4,8:1", "b.ildg", "--rho", "0.1", "--json", "b.json")
    quarksmith("smear", "stout", "b.ildg", "c.ildg", "--rho", "0.1", "--json", "c.json")
    quarksmith("info", "c.ildg", "--json", "info.json")
    assert quarksmith.json("a.json")["plaquette"] == pytest.approx(quarksmith.json("c.json")["plaquette"], abs=1e-14)
    assert quarksmith.json("info.json")["plaquette"] == pytest.approx(quarksmith.json("c.json")["plaquette"], abs=1e-14)
    assert quarksmith.json("info.json")["unitarity"]["unitary"] < 1e-13


def test_smearing_in_space_leaves_time_plaquettes_rougher(quarksmith, tmp_path):
    quarksmith("smear", "ape", "weak:0.3:4,4,4,8:1", "a.ildg", "--links", "space", "--json", "a.json")
    result = quarksmith.json("a.json")
    assert result["space_plaquette"] > result["time_plaquette"] + 0.1


def test_flow_tells_energies_and_charge(quarksmith, tmp_path):
    out = quarksmith(
        "flow", "weak:0.3:4,4,4,8:1", "--step", "0.02", "--time", "0.1", "--every", "0.04", "--json", "f.json",
        "--out", "f.ildg",
    ).stdout  # fmt: skip
    assert "s a step" in out
    points = quarksmith.json("f.json")["flow"]
    assert [round(p["t"], 10) for p in points] == [0, 0.04, 0.08, 0.1]
    energies = [p["plaquette_energy"] for p in points]
    assert energies == sorted(energies, reverse=True)
    quarksmith("info", "f.ildg", "--json", "info.json")
    assert energies[-1] == pytest.approx(36 * (1 - quarksmith.json("info.json")["plaquette"]), abs=1e-12)


@pytest.mark.parametrize("reconstruct", ["18", "12", "12t"])
def test_smeared_links_are_those_of_the_smeared_file(quarksmith, tmp_path, reconstruct):
    common = ("propagator", "--action", "clover", "--csw", "1", "--mass", "0.5", "--reconstruct", reconstruct)
    thin = "weak:0.2:4,4,4,8:1"
    quarksmith(*common, "--gauge", thin, "--correlators", "here.json", "--smear-links", "stout:0.1,2")
    quarksmith("smear", "stout", thin, "smeared.ildg", "--rho", "0.1", "--steps", "2")
    quarksmith(*common, "--gauge", "smeared.ildg", "--correlators", "file.json")
    here, file = (quarksmith.json(f"{n}.json")["correlators"]["pion"] for n in ("here", "file"))
    assert here == pytest.approx(file, rel=1e-8)


@pytest.mark.parametrize(
    "command",
    [
        ("smear", "stout", "u_00001.ildg", "v.milc"),
        ("flow", "u_00001.ildg", "--step", "0.02", "--time", "0.02", "--out", "v.milc"),
        ("apply", "stout4_step", "rho=0.1", "--gauge", "u_00001.ildg", "--out", "v.milc"),
        ("convert", "u_00001.ildg", "v.milc"),
    ],
    ids=lambda c: c[0],
)
def test_every_writer_knows_the_precision_of_a_format(quarksmith, tmp_path, command):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    quarksmith(*command)
    quarksmith("info", "v.milc", "--json", "i.json")
    assert quarksmith.json("i.json")["bits"] == 32


def test_directions_of_an_expression_come_with_the_call(quarksmith, tmp_path):
    """On unit links each staple is 2: the sum in one direction of four grows from 1 to 1 + 2 * 0.5."""
    quarksmith(*("apply", "add_staple", "weight=0.5", "mu=y", "nu=t", "--gauge", "unit:4,4,4,4"), "--json", "a.json")
    assert quarksmith.json("a.json")["out"]["link_trace"] == pytest.approx((3 + 2) / 4, abs=1e-14)
