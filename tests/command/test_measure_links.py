"""Gauges, loops, flow and staggered hadrons of other codes, reproduced by `quarksmith measure`."""

import re
from pathlib import Path

import numpy as np
import pytest
from descriptions import run_file, section, table
from test_measure_data import APE, DATA, ROUGH, WEAK, difference, ours, reference

pytestmark = pytest.mark.skipif(
    not (DATA / "measure").is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data"
)


def reals(result):
    return np.array(result["values"])


def in_shared(name):
    return DATA / Path(name).relative_to("shared/data")


FIXED = reference("gauge_fixing.json") if (DATA / "measure").is_dir() else {"entries": [], "converged": {"values": {}}}
STEPS = [entry for entry in FIXED["entries"] if "step" in entry]


@pytest.mark.parametrize("entry", STEPS, ids=[Path(e["gauge"]).name for e in STEPS])
def test_milc_gauge_fixing(measured, entry):
    """The steps of MILC: the same number of them, the functional to all its digits, its last change."""
    how = section("gauge_fixing", condition="coulomb", boost=entry["boost"], tol=entry["tol"])
    before, after, average, change, _, steps = reals(measured(run_file(in_shared(entry["gauge"]), how))["gauge_fixing"])
    assert steps - 1 == entry["step"]  # theirs counts from 0
    assert before == pytest.approx(entry["F_before"], abs=2e-12)
    assert after == pytest.approx(entry["F_after"], abs=2e-11)
    assert average == pytest.approx(entry["average_action"], abs=1e-9)
    assert change == pytest.approx(entry["delta"], rel=3e-3)


CONVERGED = list(FIXED["converged"]["values"])


@pytest.mark.parametrize("case", CONVERGED, ids=["-".join(case.split("/")[-1].split()) for case in CONVERGED])
def test_converged_gauges(measured, case):
    """The maximum of the functional, of which independent starts found no other."""
    gauge, condition = case.split()
    result = measured(run_file(in_shared(gauge), section("gauge_fixing", condition=condition.lower())))["gauge_fixing"]
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
            table("observable", name="d", kind="diagonal-loops", time=2),
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
    assert reals(results["f"])[:, :6] == pytest.approx(np.array(history), abs=1e-11)
    assert reals(results["d"]) == pytest.approx([own["wilson_loops_sqrt2"][t] for t in ("T1", "T2")], abs=1e-13)


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
    _, _, time, space, _, charge, _ = reals(results["f"])[0]
    assert 3 * reals(results["p"])[0] == pytest.approx(case["plaquette_times_3"], abs=6e-7)
    assert (charge, time, space) == pytest.approx([case[k] for k in ("clover_charge", "E_time", "E_space")], abs=1e-9)


def test_staggered_hadrons_of_milc(measured):
    """Local pions, rhos and nucleons of asqtad quarks from a wall on the Coulomb-fixed field."""
    case = reference("staggered_hadrons_asqtad.json")["correlators"]
    names = {"PION_PS": "pion_5", "PION_SC": "pion_05", "RHO_VT": "rho_i", "RHO_PV": "rho_i0"}
    fixing = section("gauge_fixing", condition="coulomb", boost=1.8, tol=2e-6)
    text = run_file(DATA / "milc" / "lat.sample.l8888", fixing)
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
