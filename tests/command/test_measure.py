"""`quarksmith measure`: runs of many configurations, their files, and what a wrong description is answered."""

import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import BUILD, ROOT
from test_ranks import Job

EXAMPLE = (ROOT / "examples" / "measure.toml").read_text()


def write(folder, text=EXAMPLE):
    (folder / "run.toml").write_text(text)
    return "run.toml"


def results(path):
    """Results by configuration number and name, as arrays of complex numbers: position, momentum, structure, t."""
    told = json.loads(path.read_text())["configurations"]
    return {c["number"]: {n: np.array(r["values"]) @ [1, 1j] for n, r in c["results"].items()} for c in told}


def test_it_gives_what_propagator_gives(quarksmith, tmp_path):
    quarksmith(
        "propagator",
        "--gauge",
        "weak:0.3:4,4,4,8:1",
        "--action",
        "clover",
        "--kappa",
        "0.12",
        "--csw",
        "1",
        "--source",
        "point:1,2,3,5",
        "--correlators",
        "c.json",
    )
    mesons = json.loads((tmp_path / "c.json").read_text())["mesons"]
    text = EXAMPLE.replace('"l", "s"', '"l", "l"').replace('["g5", "gxgygz,g5"]', '["g5", "gx", "gxgt"]')
    text = text.replace("count = 2", "at = [[1, 2, 3, 5], [0, 0, 0, 0]] #").replace("seed = 7", "")
    quarksmith("measure", write(tmp_path, text), "--out", "r.h5", "--json", "r.json")
    ours = results(tmp_path / "r.json")[1]["kaon"][0, 0]
    for n, (name, sign) in enumerate({"g5": 1, "gx": 1, "gxgt": -1}.items()):  # of -Gbar beside Gamma
        assert sign * ours[n].real == pytest.approx(np.array(mesons[name]), rel=1e-8)


def test_momenta_are_a_fourier_transform(quarksmith, tmp_path):
    """All momenta give back each site: the sum over them is what stands at the source, times the volume."""
    text = EXAMPLE.replace(
        "largest_square = 2\naverage = true",
        "momenta = [" + ", ".join(f"[{x}, {y}, {z}]" for x in range(4) for y in range(4) for z in range(4)) + "]",
    ).replace('["l", "s"]', '["l", "l"]')
    quarksmith("measure", write(tmp_path, text), "--out", "r.h5", "--json", "r.json")
    pion = results(tmp_path / "r.json")[1]["kaon"][:, :, 0, :].reshape(2, 4, 4, 4, 8)
    sites = np.fft.fftn(pion, axes=(1, 2, 3)) / 64  # exp(-i p x): by the distance from the source
    assert np.allclose(sites.imag, 0, atol=1e-13 * abs(sites).max())
    assert np.allclose(sites.sum(axis=(1, 2, 3)), pion[:, 0, 0, 0], rtol=1e-12)
    assert abs(sites[0, 0, 0, 0, 0]) == abs(sites[0, ..., 0]).max()


def test_the_graph_frees_what_nobody_needs(quarksmith, tmp_path):
    run = quarksmith("measure", write(tmp_path), "--dry-run", "--json", "d.json")
    plan = json.loads((tmp_path / "d.json").read_text())
    assert [s["makes"] for s in plan["steps"]] == ["l", "s", "kaon", "baryons"]
    assert plan["steps"][-1]["frees"] == ["l", "s", "baryons"]
    assert plan["solves"] == 2 * 2 * 2 * 12 and "96 solves" in run.stdout
    assert plan["peak_bytes"] == 2 * 4**3 * 8 * 144 * 16
    assert set(plan["seconds_per_iteration"]) == {"light", "strange"}
    assert all(1e-7 < seconds < 1 for seconds in plan["seconds_per_iteration"].values())
    separate = EXAMPLE.replace('["l", "s"]', '["l", "l"]').replace(
        'u = "l", d = "l", s = "s"', 'u = "s", d = "s", s = "s"'
    )
    quarksmith("measure", write(tmp_path, separate), "--dry-run", "--json", "e.json")
    plan = json.loads((tmp_path / "e.json").read_text())
    assert plan["steps"][1] == {"makes": "kaon", "bytes": 4**3 * 8 * 144 * 16, "frees": ["l", "kaon"]}


def test_the_graph_counts_what_a_step_needs_besides(quarksmith, tmp_path):
    """A sequential source beside its solution; what is ahead of two propagators for conserved currents."""
    text = EXAMPLE[: EXAMPLE.index("[[correlator]]")] + THREE_POINT.replace('d = "l"', 'd = "s"')
    quarksmith("measure", write(tmp_path, text), "--dry-run", "--json", "d.json")
    steps = json.loads((tmp_path / "d.json").read_text())["steps"]
    assert [s["bytes"] // (4**3 * 8 * 144 * 16) for s in steps] == [1, 2, 4, 4]


def test_an_equal_propagator_is_made_once(quarksmith, tmp_path):
    extra = ""
    for name in "ab":
        extra += f'[[propagator]]\nname = "{name}"\nquark = "light"\nsource = "point"\nsink = "gaussian:1,2"\n'
        extra += f'[[correlator]]\nname = "{name}l"\nkind = "meson"\nquarks = ["{name}", "l"]\n'
    quarksmith("measure", write(tmp_path, EXAMPLE + extra), "--dry-run", "--json", "d.json")
    plan = json.loads((tmp_path / "d.json").read_text())
    assert plan["solves"] == 96
    assert sorted(s["makes"] for s in plan["steps"]) == ["a", "al", "baryons", "bl", "kaon", "l", "s"]


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_run_goes_on_to_the_same_bits(quarksmith, tmp_path, kills):
    text = EXAMPLE.replace('"weak:0.3:4,4,4,8:2"', ", ".join(f'"weak:0.3:4,4,4,8:{n}"' for n in range(2, 5)))
    write(tmp_path, text)
    start = time.monotonic()
    quarksmith("measure", "run.toml", "--out", "a.h5", "--json", "a.json")
    taken = time.monotonic() - start
    draw = random.Random(5)
    line = [BUILD / "bin" / "quarksmith", "measure", "run.toml", "--out", "b.h5", "--json", "b.json"]
    for _ in range(kills):
        run = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.DEVNULL)
        try:
            run.wait(draw.uniform(0.3, 1) * taken)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
    quarksmith(*line[1:])
    for name in ("h5", "json"):
        assert (tmp_path / f"a.{name}").read_bytes() == (tmp_path / f"b.{name}").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.h5", "a.json", "b.h5", "b.json", "run.toml"]


def test_more_configurations_go_into_the_same_file(quarksmith, tmp_path):
    write(tmp_path, EXAMPLE.replace(', "weak:0.3:4,4,4,8:2"', ""))
    quarksmith("measure", "run.toml", "--out", "r.h5")
    (tmp_path / "r.h5.records").mkdir()
    (tmp_path / "r.h5.records/000001.h5").write_text("damaged; the joined file has it")
    run = quarksmith("measure", write(tmp_path), "--out", "r.h5", "--json", "r.json")
    assert "1 of 2 configurations are done in r.h5" in run.stderr
    quarksmith("measure", "run.toml", "--out", "whole.h5")
    assert (tmp_path / "r.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert list(results(tmp_path / "r.json")) == [1, 2]
    info = quarksmith("info", "r.h5").stdout
    assert "2 configurations" in info and "kaon" in info
    other = write(tmp_path, EXAMPLE.replace("kappa = 0.115", "kappa = 0.116"))
    assert "quark 'strange': kappa was 0.115, now 0.116" in quarksmith.refuses("measure", other, "--out", "r.h5")
    quarksmith("measure", other, "--out", "r.h5", "--overwrite")


def test_damaged_records_are_measured_again(quarksmith, tmp_path):
    write(tmp_path)
    quarksmith("measure", "run.toml", "--out", "whole.h5")
    (tmp_path / "r.h5.records").mkdir()
    data = bytearray((tmp_path / "whole.h5").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "r.h5.records" / "000001.h5").write_bytes(data)
    assert "it is damaged" in quarksmith("measure", "run.toml", "--out", "r.h5").stderr
    assert (tmp_path / "r.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    (tmp_path / "whole.h5").write_bytes(data)
    assert "it is damaged" in quarksmith.refuses("measure", "run.toml", "--out", "whole.h5", status=1)
    assert "it is damaged" in quarksmith.refuses("info", "whole.h5", status=1)


THREE_POINT = """
[[correlator]]
name = "charge"
kind = "three-point"
of = "baryon"
interpolator = "proton/up"
quarks = {u = "l", d = "l"}
line = "u"
separation = 3
currents = ["conserved_V4", "V4"]
"""

OBSERVABLES = """
[gauge_fixing]
condition = "landau"
tol = 1e-12

[[observable]]
name = "loops"
kind = "wilson-loops"
space = 2
time = 3
smear_space = "ape:0.6,2,space,1e-3"

[[observable]]
name = "polyakov"
kind = "polyakov"

[[observable]]
name = "flow"
kind = "flow"
step = 0.1
time = 0.2
"""


def test_ranks_measure_the_same(quarksmith, tmp_path):
    text = EXAMPLE.replace(', "weak:0.3:4,4,4,8:2"', "") + "momenta = [[0, 0, 0], [1, 0, -1]]\n"
    write(tmp_path, text + THREE_POINT + OBSERVABLES)
    quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
    Job(tmp_path)(4, "measure", "run.toml", "--out", "s.h5", "--json", "s.json", "--grid", "2,1,1,2")
    one, four = (
        json.loads((tmp_path / name).read_text())["configurations"][0]["results"] for name in ("r.json", "s.json")
    )
    assert set(one) == {"kaon", "baryons", "charge", "gauge_fixing", "loops", "polyakov", "flow"}
    for name, result in one.items():
        if name == "gauge_fixing":  # the last change is rounding
            result["values"][3] = four[name]["values"][3] = 0
        values = np.array(result["values"])
        assert np.allclose(four[name]["values"], values, rtol=1e-7, atol=1e-9 * abs(values).max()), name


def test_what_is_measured_does_not_depend_on_the_gauge(quarksmith, tmp_path):
    """Of point sources and sinks: mesons, baryons, three-point functions, loops: in Landau's gauge the same."""
    tight = EXAMPLE.replace("csw = 1.0", "csw = 1.0\ntol = 1e-12")
    observables = OBSERVABLES.replace(",1e-3", "")  # sweeps that stop early depend on where they begin
    write(tmp_path, tight + THREE_POINT + observables)
    quarksmith("measure", "run.toml", "--out", "fixed.h5", "--json", "fixed.json")
    write(tmp_path, tight + THREE_POINT + observables[observables.index("[[observable]]") :])
    quarksmith("measure", "run.toml", "--out", "free.h5", "--json", "free.json")
    fixed, free = (json.loads((tmp_path / name).read_text())["configurations"] for name in ("fixed.json", "free.json"))
    for one, other in zip(fixed, free, strict=True):
        before, after, *_ = one["results"].pop("gauge_fixing")["values"]
        assert after > before + 0.01
        assert one["results"].keys() == other["results"].keys()
        for name, result in one["results"].items():
            values = np.array(result["values"])
            assert np.allclose(other["results"][name]["values"], values, rtol=1e-7, atol=1e-9 * abs(values).max()), name


BAD = [
    (("kappa = 0.12", "kapa = 0.12"), "error: run.toml:15: quark 'light': key 'kapa' is unknown; did you mean kappa?"),
    (('quark = "light"', 'quark = "ligth"'), "propagator 'l': quark 'ligth' is unknown; did you mean light?"),
    (('quarks = ["l", "s"]', 'quarks = ["l"]'), "correlator 'kaon': quarks: 1 propagators; a meson has two"),
    (('quarks = ["l", "s"]', 'quarks = ["l", "x"]'), "quarks: there is no propagator 'x'; use l, s"),
    (('"gxgygz,g5"', '"gxgxgz,g5"'), "gammas: 'gxgxgz' is unknown; did you mean gxgygz?"),
    (('kind = "meson"', 'kind = "mesons"'), "kind 'mesons' is unknown; did you mean meson?"),
    (('"proton", ', '"protn", '), "interpolator 'protn' is unknown; did you mean proton?"),
    ((', s = "s"}', "}"), "interpolator 'lambda_z' has a quark s, of which quarks has no propagator; add it"),
    (("count = 2", "count = 0"), "count = 0; use a whole number from 1"),
    (
        (
            "count = 2  # drawn for each configuration; or at = [[0, 0, 0, 0], [2, 2, 2, 4]]\nseed = 7",
            "at = [0, 0, 0, 8]",
        ),
        "coordinate t = 8 lies outside the 4x4x4x8 lattice",
    ),
    (("count = 2", "at = [0, 0, 0]\n#"), "at is not a list of 4 numbers"),
    (("seed = 7", "sead = 7"), "key 'sead' is unknown here; did you mean seed?"),
    (("largest_square = 2", "momenta = [[0, 0, 0.5]]"), "momenta: 0.5; use whole numbers"),
    (("largest_square = 2", "momenta = [[0, 0, 0]]\nlargest_square = 2"), "give one of them"),
    (('"weak:0.3:4,4,4,8:2"', '"nothing_*.ildg"'), "nothing matches 'nothing_*.ildg'"),
    (('4,4,4,8:2"', '4,4,4,8:1"'), "number 1 is taken; give numbers"),
    (
        ("csw = 1.0\n\n[[quark]]", "csw = 1.0\nomega = 1.1\n\n[[quark]]"),
        'omega belongs to solver mr, not to auto; add solver = "mr", or leave it out',
    ),
    (("csw = 1.0\n\n[[quark]]", 'csw = 1.0\nsolver = "gc"\n\n[[quark]]'), "'gc' is unknown"),
    (("csw = 1.0\n\n[[quark]]", "csw = 1.0\ndelta = 0.1\n\n[[quark]]"), "delta belongs to mixed precision"),
    (("seed = 7", "seed = 7\nmomentum = [0.5, 0, 0]"), "momentum: 0.5; use whole numbers"),
    (("seed = 7", "seed = 7\nmomentum = [[1, 0, 0], [0, 1, 0]]"), "momentum: 2 momenta; give one"),
    (('"gxgygz,g5"', '"g5,g5"'), "correlator 'kaon': 'g5' is there twice; name it once"),
    (("[configurations]\n", "[configurations]\nnumbers = [1.5, 2]\n"), "numbers: 1.5; use whole numbers"),
    (("csw = 1.0\n\n[[quark]]", 'csw = 1.0\ndeflation = "12"\n\n[[quark]]'), "without quotes"),
    (
        ("csw = 1.0\n\n[[quark]]", 'csw = 1.0\ndeflation = 4\nsmear_links = "stout:0.1,1"\n\n[[quark]]'),
        "deflation belongs to links that are not smeared",
    ),
    (('name = "s"\nquark', 'name = "l"\nquark'), "there is another 'l' already"),
    (
        ('action = "clover"\nkappa = 0.12\ncsw = 1.0', 'action = "hisq"\nmass = 0.1'),
        "kind meson is of Dirac quarks, propagator 'l' is not; use staggered-meson or staggered-nucleon",
    ),
    (("[[correlator]]", "[[corelator]]"), "propagator 'l' is in no correlator; leave it out"),
    ((EXAMPLE[EXAMPLE.index("[[propagator]]") :], ""), "nothing is measured: there is no [[correlator]]"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[m for _, m in BAD])
def test_a_wrong_description_is_one_clear_error(quarksmith, tmp_path, change, message):
    assert change[0] in EXAMPLE
    write(tmp_path, EXAMPLE.replace(*change))
    error = quarksmith.refuses("measure", "run.toml", "--out", "r.h5")
    assert message in error and error.count("error:") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["run.toml"]


def test_the_conserved_charge_is_1(quarksmith, tmp_path):
    """At each time between source and sink that of two quarks, of any configuration."""
    text = EXAMPLE.replace("kappa = 0.12\n", "kappa = 0.12\ntol = 1e-12\n") + THREE_POINT
    quarksmith("measure", write(tmp_path, text), "--out", "r.h5", "--json", "r.json")
    for configuration in json.loads((tmp_path / "r.json").read_text())["configurations"]:
        result = configuration["results"]["charge"]
        charge = np.array(result["values"])[:, 0, 0] @ [1, 1j]
        at_sink = np.array(result["two_point_at_sink"]) @ [1, 1j]
        jump = charge[:, 2] - charge[:, 3]  # the links behind and ahead of the sink
        assert jump == pytest.approx(at_sink, rel=1e-10)
        assert charge[:, 0] == pytest.approx(charge[:, 2], rel=1e-10)


LOOP = """
[[correlator]]
name = "loop"
kind = "loop"
quark = "light"
count = 6
seed = 1
dilution = ["spin", "colour"]
gammas = ["1", "g5"]
"""


def test_dilution_leaves_the_mean_and_less_variance(quarksmith, tmp_path):
    text = EXAMPLE[: EXAMPLE.index("[[source]]")].replace(', "weak:0.3:4,4,4,8:2"', "")
    text += EXAMPLE[EXAMPLE.index("[[quark]]") : EXAMPLE.rindex("[[quark]]")] + LOOP
    text += LOOP.replace('"loop"', '"plain"', 1).replace('dilution = ["spin", "colour"]\n', "")
    run = quarksmith("measure", write(tmp_path, text), "--dry-run")
    assert "6 noises of quark 'light', 12 solves each" in run.stdout and "78 solves in all" in run.stdout
    quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
    found = results(tmp_path / "r.json")[1]
    diluted, plain = (found[name][:, 0, 0].sum(axis=-1) for name in ("loop", "plain"))  # over t
    assert diluted.shape == (6,) and len(set(diluted)) == 6
    assert np.std(diluted) < np.std(plain)
    assert abs(np.mean(diluted) - np.mean(plain)) < 4 * np.std(plain) / 6**0.5


WRONG_OBSERVABLES = [
    (("space = 2", "space = 5"), "space = 5; use a whole number from 1 to 4"),
    (('kind = "polyakov"', 'kind = "polyakoff"'), "kind 'polyakoff' is unknown; did you mean polyakov?"),
    (
        ('"ape:0.6,2,space,1e-3"', '"ape:2,2"'),
        "smear_space: smearing 'ape:2,2': alpha = 2 is not a number between 0 and 1",
    ),
    (("step = 0.1", "step = 0.7"), "step 0.7: the scheme is unstable; use at most 0.5"),
    (('name = "polyakov"', 'name = "kaon"'), "there is another 'kaon' already"),
    (('"landau"', '"lorentz"'), "condition 'lorentz' is unknown; use coulomb, landau"),
    (("tol = 1e-12", "boost = 2.5"), "boost = 2.5; use a number from 1 to below 2"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_OBSERVABLES, ids=[m for _, m in WRONG_OBSERVABLES])
def test_a_wrong_observable_is_refused(quarksmith, tmp_path, change, message):
    assert change[0] in OBSERVABLES
    write(tmp_path, EXAMPLE + OBSERVABLES.replace(*change))
    assert message in quarksmith.refuses("measure", "run.toml", "--dry-run")


def test_fixed_links_are_written(quarksmith, tmp_path):
    """They are in the gauge already; others of that name are not replaced unasked."""
    write(tmp_path, EXAMPLE[: EXAMPLE.index("[[source]]")] + OBSERVABLES.replace("tol =", 'out = "fixed"\ntol ='))
    quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
    first = json.loads((tmp_path / "r.json").read_text())["configurations"]
    text = '[configurations]\nfiles = ["fixed_*.ildg"]\n' + OBSERVABLES
    (tmp_path / "again.toml").write_text(text)
    quarksmith("measure", "again.toml", "--out", "s.h5", "--json", "s.json")
    for one, other in zip(first, json.loads((tmp_path / "s.json").read_text())["configurations"], strict=True):
        assert other["results"]["gauge_fixing"]["values"][0] == pytest.approx(
            one["results"]["gauge_fixing"]["values"][1], abs=1e-14
        )
        assert other["plaquette"] == pytest.approx(one["plaquette"], abs=1e-14)
    (tmp_path / "fixed_00001.ildg").write_bytes((tmp_path / "fixed_00002.ildg").read_bytes())
    (tmp_path / "r.h5").unlink()
    error = quarksmith.refuses("measure", "run.toml", "--out", "r.h5")
    assert "fixed_00001.ildg: holds other links" in error
    quarksmith("measure", "run.toml", "--out", "r.h5", "--overwrite", "--json", "r.json")


WRONG_THREE_POINT = [
    (('"proton/up"', '"proton"'), "interpolator 'proton' is unknown; use proton/up, proton/dn"),
    (('line = "u"', 'line = "s"'), "line 's'; use one of the quarks: d, u"),
    (('"V4"]', '"V5"]'), "current 'V5' is unknown"),
    (('action = "clover"', 'action = "clover"\nanisotropy = "2,1"'), "isotropic Wilson operator"),
    (("separation = 3", ""), "separation is missing; give it a whole number"),
    (("separation = 3", "separation = 8"), "separation = 8; use a whole number from 0 to 7"),
    (("separation = 3", "separation = 3\nsink_momentum = [0, 0.5, 0]"), "sink_momentum: 0.5; use whole numbers"),
    (('source = "point"', 'source = "point"\nsink = "derivative:x"'), "has a derivative at its sink; use another"),
    (('of = "baryon"', 'of = "tetraquark"'), "of 'tetraquark' is unknown"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_THREE_POINT, ids=[m for _, m in WRONG_THREE_POINT])
def test_a_wrong_three_point_function_is_refused(quarksmith, tmp_path, change, message):
    assert change[0] in EXAMPLE + THREE_POINT
    write(tmp_path, (EXAMPLE + THREE_POINT).replace(*change))
    assert message in quarksmith.refuses("measure", "run.toml", "--dry-run")


def test_options_that_mean_nothing_are_refused(quarksmith, tmp_path):
    write(tmp_path)
    assert "--out FILE.h5, or --dry-run" in quarksmith.refuses("measure", "run.toml")
    assert "leave it out" in quarksmith.refuses("measure", "run.toml", "--dry-run", "--out", "r.h5")
    assert "would replace" in quarksmith.refuses("measure", "run.toml", "--out", "run.toml", "--overwrite")
    (tmp_path / "r.h5").write_text("mine")
    quarksmith.refuses("measure", "run.toml", "--out", "r.h5", status=1)
    assert (tmp_path / "r.h5").read_text() == "mine"


def test_unconverged_solves_end_the_run(quarksmith, tmp_path):
    text = EXAMPLE.replace("kappa = 0.12\n", 'kappa = 0.12\nmax_iterations = 3\nsolver = "bicgstab"\n')
    error = quarksmith.refuses("measure", write(tmp_path, text), "--out", "r.h5", status=1)
    assert "configuration 1: propagator 'l': spin 0 colour 0: not converged" in error and "max_iterations" in error
    assert not (tmp_path / "r.h5").exists()
    assert os.listdir(tmp_path) == ["run.toml"]
