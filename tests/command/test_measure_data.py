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


def reals(result):
    return np.array(result["values"])


def in_shared(name):
    return DATA / Path(name).relative_to("shared/data")


def gauge_fixing(**keys):
    return table("gauge_fixing", **keys).replace("[[", "[").replace("]]", "]")


FIXED = reference("gauge_fixing.json") if (DATA / "measure").is_dir() else {"entries": [], "converged": {"values": {}}}
STEPS = [entry for entry in FIXED["entries"] if "step" in entry]


@pytest.mark.parametrize("entry", STEPS, ids=[Path(e["gauge"]).name for e in STEPS])
def test_milc_gauge_fixing(measured, entry):
    """The steps of MILC: the same number of them, the functional to all its digits, its last change."""
    how = gauge_fixing(condition="coulomb", boost=entry["boost"], tol=entry["tol"])
    before, after, average, change, _, steps = reals(measured(run_file(in_shared(entry["gauge"]), how))["gauge_fixing"])
    assert steps - 1 == entry["step"]  # theirs counts from 0
    assert before == pytest.approx(entry["F_before"], abs=2e-12)
    assert after == pytest.approx(entry["F_after"], abs=2e-11)
    assert average == pytest.approx(entry["average_action"], abs=1e-9)
    assert change == pytest.approx(entry["delta"], rel=3e-3)


@pytest.mark.parametrize("case", FIXED["converged"]["values"], ids=lambda case: "-".join(case.split("/")[-1].split()))
def test_converged_gauges(measured, case):
    """The maximum of the functional, of which independent starts found no other."""
    gauge, condition = case.split()
    result = measured(run_file(in_shared(gauge), gauge_fixing(condition=condition.lower())))["gauge_fixing"]
    _, after, _, _, theta, _ = reals(result)
    assert after == pytest.approx(FIXED["converged"]["values"][case]["functional"], abs=2e-12)
    assert theta < 1e-12


LOOPS = reference("loops_flow_charge.json") if (DATA / "measure").is_dir() else {}
LENGTHS = {f"R{r}T{t}": (r - 1, t - 1) for r in range(1, 4) for t in range(1, 5)}


def loops(name, space, time, smearing=None):
    return table(
        "observable",
        name=name,
        kind="wilson-loops",
        space=space,
        time=time,
        **({"smear_space": smearing} if smearing else {}),
    )


def test_loops_and_flow_of_the_rough_field(measured):
    own = LOOPS["own"]
    results = measured(
        run_file(
            ROUGH,
            table("observable", name="p", kind="polyakov"),
            loops("w", 3, 4),
            loops("a", 2, 3, f"{APE},3,space"),
            table("observable", name="f", kind="flow", step=0.02, time=1.0, every=0.2),
            lattice=[4, 4, 4, 8],
        )
    )
    assert reals(results["p"]) == pytest.approx(np.array(own["polyakov"]), abs=1e-13)
    for name, case, digits in (("w", "wilson_loops_on_axis", 1e-13), ("a", "wilson_loops_ape3", 1e-9)):
        for loop, expected in own[case].items():
            assert reals(results[name])[LENGTHS[loop]] == pytest.approx(expected, abs=digits), (name, loop)
    history = [
        [p["t"], 36 * (1 - p["plaquette"]), p["E_time"], p["E_space"], p["t2E"], p["Q_clover"]]
        for p in own["flow"]["history"]
    ]
    assert reals(results["f"]) == pytest.approx(np.array(history), abs=1e-11)


def test_loops_of_chroma(measured):
    weak = measured(run_file(WEAK, table("observable", name="p", kind="polyakov")))
    assert reals(weak["p"]) == pytest.approx(np.array(LOOPS["polyakov_chroma"]["xyzt"]), abs=3e-7)


def test_fuzzed_loops_of_chroma(measured):
    """Links in space smeared by sweeps that stop as Chroma's do."""
    case = LOOPS["fuzzed_wilson_loops_chroma"]
    result = measured(run_file(in_shared(case["gauge"]), loops("w", 2, 4, f"{APE},2,space,1e-5")))["w"]
    assert reals(result) == pytest.approx(np.array([case["R1"], case["R2"]]), abs=2e-7)


def test_smeared_loops_of_milc(measured):
    case = LOOPS["smeared_wilson_loops_milc"]
    results = measured(
        run_file(in_shared(case["gauge"]), *(loops(f"levels_{n}", 2, 2, f"{APE},{n},space") for n in (5, 10)))
    )
    for name in ("levels_5", "levels_10"):
        found = [reals(results[name])[LENGTHS[loop]] for loop in case[name]]
        assert found == pytest.approx(list(case[name].values()), abs=1.2e-5)  # it stops its projection early
        assert found == pytest.approx(case["exact_projection"][name], abs=6e-8)


def test_flow_of_milc(measured):
    case = LOOPS["gradient_flow_milc"]
    text = run_file(in_shared(case["gauge"]), table("observable", name="f", kind="flow", step=0.1, time=0.9, every=0.1))
    found = reals(measured(text)["f"])[:, [0, 2, 3, 5]]
    assert found == pytest.approx(np.array(case["rows"]), rel=6e-6, abs=6e-7)


def test_charge_of_an_instanton(measured):
    case = LOOPS["charge_on_instanton"]
    text = run_file(
        DATA / "measure" / case["gauge"],
        table("observable", name="p", kind="plaquette"),
        table("observable", name="f", kind="flow", step=0.1, time=0.1),
    )
    results = measured(text)
    _, _, time, space, _, charge = reals(results["f"])[0]
    assert 3 * reals(results["p"])[0] == pytest.approx(case["plaquette_times_3"], abs=6e-7)
    assert (charge, time, space) == pytest.approx([case[k] for k in ("clover_charge", "E_time", "E_space")], abs=1e-9)


def test_staggered_hadrons_of_milc(measured):
    """Local pions, rhos and nucleons of asqtad quarks from a wall on the Coulomb-fixed field."""
    case = reference("staggered_hadrons_asqtad.json")["correlators"]
    names = {"PION_PS": "pion_5", "PION_SC": "pion_05", "RHO_VT": "rho_i", "RHO_PV": "rho_i0"}
    text = run_file(DATA / "milc" / "lat.sample.l8888", gauge_fixing(condition="coulomb", boost=1.8, tol=2e-6))
    text += table("source", name="wall", kind="corner-wall", at=[0])
    for mass in ("0.03", "0.05"):
        text += table("quark", name="m" + mass, action="asqtad", mass=float(mass), u0=0.8696, tol=1e-9)
        text += table("propagator", name="m" + mass, quark="m" + mass, source="wall")
        text += table("correlator", name="n" + mass, kind="staggered-nucleon", quark="m" + mass)
        text += table(
            "correlator", name="m" + mass, kind="staggered-meson", quarks=["m" + mass] * 2, mesons=list(names.values())
        )
    results = measured(text)
    for key, expected in case.items():
        mass = re.search(r"m(0\.0\d)", key)[1]
        if key.startswith("NUCLEON"):
            found = ours(results["n" + mass], (0, 0, 0), "nucleon")
        else:
            found = ours(results["m" + mass], (0, 0, 0), names["_".join(key.split("_")[:2])])
        assert difference(found, expected) < 1e-6, key
