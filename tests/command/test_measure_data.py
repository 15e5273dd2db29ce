"""Measurements of other codes and of an independent program, reproduced: docs/agreement.md has the differences."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from descriptions import quarks, run_file, table

DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not (DATA / "measure").is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data"
)
APE = "ape:0.6153846153846154"  # 2.5 U + C, as peers have it
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


def test_chroma(measured):
    """Mesons and all seventeen baryons, averaged over equivalent momenta; the source as theirs."""
    momenta = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    common = {"momenta": momenta, "average": True}
    numbers = [f"chroma-{n}" for n in range(17)]
    results = measured(
        run_file(
            WEAK,
            table("source", name="g", at=[0, 0, 0, 0], smearing="gaussian:2,5", smearing_links=f"{APE},1,space,1e-5"),
            quarks("g", "wilson", {"q": {"kappa": 0.11}}, tol=1e-12),
            table("correlator", name="gamma", kind="meson", quarks=["q", "q"], **common),
            table(
                "correlator", name="baryon", kind="baryon", quarks={"1": "q", "2": "q"}, interpolators=numbers, **common
            ),
        )
    )
    for name in ("mesons_momenta_chroma.json", "baryons_chroma.json"):
        for key, expected in reference(name)["correlators"].items():
            kind, number = re.match(r"([a-z]+)(\d+)", key).groups()
            p = integers(key.split("/")[1])
            assert difference(ours(results[kind], p, int(number)), expected) < (4e-6 if p == [1, 1, 1] else 1.5e-6), key


def three_point(name, of, momenta, **keys):
    return table("correlator", name=name, kind="three-point", of=of, momenta=momenta, **keys)


def test_rough_field_three_point(measured):
    """Local and conserved currents in mesons and protons, with momenta of sink and current."""
    case = reference("two_and_three_point_rough_field.json")["three_point"]
    momenta = [list(q) for q in sorted({tuple(integers(key.split("/")[-1])) for key in case if "/q" in key})]
    sinks = sorted({tuple(key.split("/")[:-2]) if "/q" in key else tuple(key.split("/")[:-1]) for key in case})
    text = run_file(
        ROUGH,
        table("source", name="s", at=[1, 2, 3, 5], smearing="gaussian:1.5,6"),
        quarks("s", "clover", {"l": {"kappa": 0.125}}, csw=1.0, tol=1e-13),
        lattice=[4, 4, 4, 8],
    )
    for n, (what, sink) in enumerate(sinks):
        currents = sorted(
            {key.split("/")[-2] for key in case if "/q" in key and key.startswith("/".join(sinks[n]) + "/")}
        )
        common = {"separation": 3, "sink_momentum": integers(sink), "currents": currents}
        if what == "pion_u":
            text += three_point(f"c{n}", "meson", momenta, quarks=["l", "l"], gamma="g5", **common)
        else:
            text += three_point(
                f"c{n}",
                "baryon",
                momenta,
                quarks={"u": "l", "d": "l"},
                line=what.split("_")[1],
                interpolator="proton/up",
                **common,
            )
    results = measured(text)
    for key, expected in case.items():
        *sink, last = key.split("/")
        if last == "two_point_at_sink":
            n = sinks.index(tuple(sink))
            found = np.array(results[f"c{n}"]["two_point_at_sink"]) @ [1, 1j]
            assert abs(found[0] - complex(*expected[0])) < 1e-12 * abs(found[0])
            continue
        *sink, current, q = key.split("/")
        result = results[f"c{sinks.index(tuple(sink))}"]
        assert difference(ours(result, integers(q), current), expected) < 1e-10, key


def test_lalibe_three_point(measured):
    """All bilinears in a proton, summed with momenta and, by all of these, at single sites."""
    case = reference("three_point_lalibe.json")["correlators"]
    names = sorted({key.split("/")[0] for key in case})
    momenta = [[x, y, z] for x in range(4) for y in range(4) for z in range(4)]
    text = run_file(WEAK, table("source", name="g", at=[0, 0, 0, 0], smearing="gaussian:2,5"))
    text += quarks("g", "clover", {"u": {"mass": 0.1}, "d": {"mass": 0.2}}, csw=1.17, tol=1e-13)
    text += table("quark", name="seq", action="clover", mass=0.5, csw=1.17, tol=1e-13)
    text += three_point(
        "c",
        "baryon",
        momenta,
        quarks={"u": "u", "d": "d"},
        interpolator="proton/up",
        line="u",
        quark="seq",
        separation=5,
        currents=names,
    )
    result = measured(text)["c"]
    for key, expected in case.items():
        name, what = key.split("/")
        if what.startswith("q"):
            assert difference(ours(result, integers(what), name), expected) < 5e-9, key
        else:
            x, y, z, t = integers(what)
            waves = [np.exp(-0.5j * np.pi * np.dot(q, [x, y, z])) * ours(result, q, name)[t] for q in momenta]
            scale = max(abs(ours(result, (0, 0, 0), name))) / 64
            assert abs(np.mean(waves) - complex(*expected)) < 5e-9 * scale, key


def open_in_time(path, extents=(4, 4, 4, 8)):
    """The field of Chroma's tests with time links of the last slice 0, in Bridge++'s format: one number a line."""
    data = WEAK.read_bytes()
    at = data.index(b"ildg-binary-data\0") - 16 + 144
    links = np.frombuffer(data, ">f8", 4 * 18 * np.prod(extents), at).reshape(*extents[::-1], 4, 18).copy()
    links[-1, :, :, :, 3] = 0
    path.write_text("\n".join(f"{x:.17g}" for x in links.ravel()) + "\n")
    return path


def test_chroma_sequential_sources(measured, tmp_path):
    """Form factors of mesons and nucleons with a smeared sink at the time of the source, the lattice open in time."""
    case = reference("sequential_sources_chroma.json")["cases"]
    text = run_file(
        open_in_time(tmp_path / "open.txt"),
        table("source", name="g", at=[0, 0, 0, 6], smearing="gaussian:2,5"),
        table("quark", name="q", action="wilson", kappa=0.11, boundary="periodic", tol=1e-12),
        table("propagator", name="s", quark="q", source="g", sink="gaussian:2,5"),
        lattice=[4, 4, 4, 8],
        allow_non_su3=True,
    )
    mesons = {"a0-a0": "1", "a0-pion_1": "g5,1", "pion_1-pion_1": "g5"}
    for name in case:
        common = {"separation": 0, "currents": ["1", "gt", "g5"]}
        if name in mesons:
            more = {"quarks": ["s", "s"], "gamma": mesons[name], "sink_momentum": [1, 0, 0]}
        else:
            more = {"quarks": {"1": "s", "2": "s"}, "interpolator": "chroma-9", "sink_momentum": [-1, 0, 0]}
            more["line"] = {"U": "2", "D": "1"}[name.split("_")[1]]
        text += three_point(name, "meson" if name in mesons else "baryon", [[0, 0, 0]], **common, **more)
    results = measured(text)
    for name, expected in case.items():
        largest = max(np.abs(np.array(c) @ [1, 1j]).max() for c in expected["form_factor_q0"].values())
        for gamma, values in expected["form_factor_q0"].items():
            current = {"gamma0": "1", "gamma8": "gt", "gamma15": "g5"}[gamma]
            found = np.roll(ours(results[name], (0, 0, 0), current), 6)  # theirs counts from t = 0
            assert abs(found - np.array(values) @ [1, 1j]).max() < 2e-6 * largest, (name, gamma)
        if name != "a0-pion_1":  # whose ends differ
            loop = complex(*expected["loopback_smeared"]["value"])
            assert abs(complex(*results[name]["two_point_at_sink"][0]) - loop) < 1e-6 * abs(loop), name


def test_exact_disconnected_loops(measured):
    """Diluted down to single components a noise gives the trace itself, by 3072 solves."""
    case = reference("disconnected_loops_exact.json")["loops"]
    momenta = [[0, 0, 0], [1, 0, 0], [0, 1, 1]]
    text = run_file(
        DATA / "latticeqcd_jl" / "conf_wilson_kappa0.141139.txt",
        table("quark", name="q", action="clover", kappa=0.125, csw=1.0, tol=1e-11),
        table(
            "correlator",
            name="l",
            kind="loop",
            quark="q",
            count=1,
            seed=3,
            dilution=["spin", "colour", "time", "space"],
            momenta=momenta,
        ),
        lattice=[4, 4, 4, 4],
    )
    result = measured(text)["l"]
    largest = max(np.abs(np.array(values) @ [1, 1j]).max() for values in case.values())
    for key, expected in case.items():
        gamma, p = key.split("/")
        found = ours(result, integers(p), int(gamma.removeprefix("gamma")))
        assert abs(found - np.array(expected) @ [1, 1j]).max() < 1e-11 * largest, key


def test_domain_wall(measured):
    """The pion and axial currents of domain-wall quarks; what is conserved has no divergence away from the source."""
    case = reference("domain_wall_axial_current.json")["correlators"]
    text = run_file(
        ROUGH,
        table("source", name="s", at=[0, 0, 0, 0]),
        quarks("s", "domain-wall", {"q": {"m5": 1.6, "mass": 0.1, "ls": 6}}, tol=1e-12),
        table("correlator", name="c", kind="meson", quarks=["q", "q"], gammas=["g5", "gxgygz,g5"]),
        table("correlator", name="w", kind="wall-currents", quark="q", currents=["conserved_A4", "J5q"]),
        table("correlator", name="v", kind="wall-currents", quark="q", source="gt", currents=["conserved_V4"]),
        lattice=[4, 4, 4, 8],
    )
    result = measured(text)
    pion = ours(result["c"], (0, 0, 0), "g5").real
    assert pion == pytest.approx(case["PP"], rel=1e-10)
    axial = ours(result["c"], (0, 0, 0), "gxgygz,g5").real  # tr[Q^+ gamma_t Q]
    assert -axial == pytest.approx(case["A4_local_P"], rel=1e-8, abs=1e-11)
    midpoint, axial = (ours(result["w"], (0, 0, 0), name).real for name in ("J5q", "conserved_A4"))
    assert midpoint == pytest.approx(case["J5qP"], rel=1e-10)
    assert axial == pytest.approx(case["A4_conserved_P"], rel=1e-9, abs=1e-11)
    divergence = axial[1:] - axial[:-1]
    assert divergence == pytest.approx((2 * 0.1 * pion + 2 * midpoint)[1:], abs=1e-10)
    vector = ours(result["v"], (0, 0, 0), "conserved_V4").real
    assert vector[1:] == pytest.approx(vector[1], abs=1e-10)
    assert abs(vector[0]) > 1e-3
