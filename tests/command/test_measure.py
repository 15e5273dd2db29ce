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
    quark = ("--gauge", "weak:0.3:4,4,4,8:1", "--action", "clover", "--kappa", "0.12", "--csw", "1")
    quarksmith("propagator", *quark, "--source", "point:1,2,3,5", "--correlators", "c.json")
    mesons = quarksmith.json("c.json")["mesons"]
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
    plan = quarksmith.json("d.json")
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
    plan = quarksmith.json("e.json")
    assert plan["steps"][1] == {"makes": "kaon", "bytes": 4**3 * 8 * 144 * 16, "frees": ["l", "kaon"]}


def test_the_graph_counts_what_a_step_needs_besides(quarksmith, tmp_path):
    """A sequential source beside its solution; what is ahead of two propagators for conserved currents."""
    text = EXAMPLE[: EXAMPLE.index("[[correlator]]")] + THREE_POINT.replace('d = "l"', 'd = "s"')
    quarksmith("measure", write(tmp_path, text), "--dry-run", "--json", "d.json")
    steps = quarksmith.json("d.json")["steps"]
    assert [s["bytes"] // (4**3 * 8 * 144 * 16) for s in steps] == [1, 2, 4, 4]


def test_an_equal_propagator_is_made_once(quarksmith, tmp_path):
    extra = ""
    for name in "ab":
        extra += f'[[propagator]]\nname = "{name}"\nquark = "light"\nsource = "point"\nsink = "gaussian:1,2"\n'
        extra += f'[[correlator]]\nname = "{name}l"\nkind = "meson"\nquarks = ["{name}", "l"]\n'
    quarksmith("measure", write(tmp_path, EXAMPLE + extra), "--dry-run", "--json", "d.json")
    plan = quarksmith.json("d.json")
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
    (tmp_path / "r.h5").write_bytes((tmp_path / "r.h5").read_bytes()[:-10])
    assert "truncated or damaged" in quarksmith.refuses("correlators", "r.h5", status=1)


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
    one, four = (quarksmith.json(name)["configurations"][0]["results"] for name in ("r.json", "s.json"))
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
    fixed, free = (quarksmith.json(name)["configurations"] for name in ("fixed.json", "free.json"))
    for one, other in zip(fixed, free, strict=True):
        before, after, *_ = one["results"].pop("gauge_fixing")["values"]
        assert after > before + 0.01
        assert one["results"].keys() == other["results"].keys()
        for name, result in one["results"].items():
            values = np.array(result["values"])
            assert np.allclose(other["results"][name]["values"], values, rtol=1e-7, atol=1e-9 * abs(values).max()), name


def test_the_conserved_charge_is_1(quarksmith, tmp_path):
    """At each time between source and sink that of two quarks, of any configuration."""
    text = EXAMPLE.replace("kappa = 0.12\n", "kappa = 0.12\ntol = 1e-12\n") + THREE_POINT
    quarksmith("measure", write(tmp_path, text), "--out", "r.h5", "--json", "r.json")
    for configuration in quarksmith.json("r.json")["configurations"]:
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


def test_fixed_links_are_written(quarksmith, tmp_path):
    """They are in the gauge already; others of that name are not replaced unasked."""
    write(tmp_path, EXAMPLE[: EXAMPLE.index("[[source]]")] + OBSERVABLES.replace("tol =", 'out = "fixed"\ntol ='))
    quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
    first = quarksmith.json("r.json")["configurations"]
    text = '[configurations]\nfiles = ["fixed_*.ildg"]\n' + OBSERVABLES
    (tmp_path / "again.toml").write_text(text)
    quarksmith("measure", "again.toml", "--out", "s.h5", "--json", "s.json")
    for one, other in zip(first, quarksmith.json("s.json")["configurations"], strict=True):
        assert other["results"]["gauge_fixing"]["values"][0] == pytest.approx(
            one["results"]["gauge_fixing"]["values"][1], abs=1e-14
        )
        assert other["plaquette"] == pytest.approx(one["plaquette"], abs=1e-14)
    (tmp_path / "fixed_00001.ildg").write_bytes((tmp_path / "fixed_00002.ildg").read_bytes())
    (tmp_path / "r.h5").unlink()
    error = quarksmith.refuses("measure", "run.toml", "--out", "r.h5")
    assert "fixed_00001.ildg: holds other links" in error
    quarksmith("measure", "run.toml", "--out", "r.h5", "--overwrite", "--json", "r.json")


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_gauge_fixing_does_not_replace_what_it_reads(quarksmith, tmp_path, options):
    quarksmith("flow", "weak:0.3:4,4,4,8:1", "--time", "0", "--out", "u_00001.ildg")
    links = (tmp_path / "u_00001.ildg").read_bytes()
    (tmp_path / "here").symlink_to(tmp_path)
    text = '[configurations]\nfiles = ["u_*.ildg"]\n' + OBSERVABLES.replace("tol =", 'out = "here/u"\ntol =')
    error = quarksmith.refuses("measure", write(tmp_path, text), "--out", "r.h5", *options)
    assert "[gauge_fixing] out" in error and "u_00001.ildg" in error
    assert (tmp_path / "u_00001.ildg").read_bytes() == links
    text = OBSERVABLES.replace("tol =", 'transformation = "r"\ntol =')
    write(tmp_path, '[configurations]\nfiles = ["u_*.ildg"]\n' + text)
    assert "[gauge_fixing] transformation" in quarksmith.refuses("measure", "run.toml", "--out", "r_00001.h5", *options)


PLAQUETTE = '[configurations]\nfiles = ["{}"]\n[[observable]]\nname = "p"\nkind = "plaquette"\n'


def test_records_are_of_the_links_that_are_there(quarksmith, tmp_path):
    """Files that were replaced, and those of another folder with the same name, are not done."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
        gauge = f"weak:0.3:4,4,4,4:{ord(folder)}"
        quarksmith("flow", gauge, "--time", "0", "--out", f"{folder}/u_1.ildg")
    quarksmith("measure", write(tmp_path, PLAQUETTE.format("a/u_1.ildg")), "--out", "r.h5")
    records = (tmp_path / "r.h5").read_bytes()
    (tmp_path / "c").symlink_to(tmp_path / "a")
    run = quarksmith("measure", write(tmp_path, PLAQUETTE.format("c/u_1.ildg")), "--out", "r.h5", "--json", "a.json")
    assert "1 of 1 configurations are done" in run.stderr
    error = quarksmith.refuses("measure", write(tmp_path, PLAQUETTE.format("b/u_1.ildg")), "--out", "r.h5")
    assert "configuration 1" in error and "b/u_1.ildg" in error and "--overwrite" in error
    (tmp_path / "b/u_1.ildg").replace(tmp_path / "a/u_1.ildg")
    error = quarksmith.refuses("measure", write(tmp_path, PLAQUETTE.format("a/u_1.ildg")), "--out", "r.h5")
    assert "a/u_1.ildg" in error and (tmp_path / "r.h5").read_bytes() == records
    quarksmith("measure", "run.toml", "--out", "r.h5", "--overwrite", "--json", "b.json")
    plaquettes = [quarksmith.json(f"{name}.json")["configurations"][0]["plaquette"] for name in "ab"]
    assert plaquettes[0] != plaquettes[1]


def test_configurations_have_one_lattice(quarksmith, tmp_path):
    text = PLAQUETTE.format('weak:0.3:4,4,4,4:1", "weak:0.3:4,4,4,8:2')
    error = quarksmith.refuses("measure", write(tmp_path, text), "--out", "r.h5")
    assert "4x4x4x8" in error and "4x4x4x4" in error


ENDLESS = {
    "gauge fixing": '[gauge_fixing]\ncondition = "landau"\nboost = 1.0\ntol = 1e-300\nmax_steps = 1000000000\n',
    "smeared loops": OBSERVABLES[OBSERVABLES.index("[[observable]]") :].replace("ape:0.6,2", "ape:0.6,1000000"),
    "smeared source": EXAMPLE[EXAMPLE.index("[[source]]") :].replace(
        "seed = 7", 'seed = 7\nsmearing = "gaussian:0.1,1000000"'
    ),
    "smeared links": EXAMPLE[EXAMPLE.index("[[source]]") :].replace(
        "kappa = 0.12\n", 'kappa = 0.12\nsmear_links = "stout:0.01,1000000"\n'
    ),
    "flow": PLAQUETTE.partition("\n[[")[2].join(["[[", "step = 1e-5\ntime = 9\n"]).replace("plaquette", "flow"),
}


@pytest.mark.parametrize("work", ENDLESS)
def test_time_limits_hold_in_all_work(quarksmith, tmp_path, work):
    """And signals."""
    lattice = "16,8,8,8" if work == "gauge fixing" else "4,4,4,8"
    write(tmp_path, f'[configurations]\nfiles = ["hot:{lattice}:1"]\n' + ENDLESS[work].replace(",1e-3", ",1e-300"))
    start = time.monotonic()
    error = quarksmith.refuses("measure", "run.toml", "--out", "r.h5", "--time-limit", 1, status=1)
    assert time.monotonic() - start < 20
    assert "no configuration was measured" in error
    assert [p.name for p in tmp_path.iterdir()] == ["run.toml"]
    line = [BUILD / "bin" / "quarksmith", "measure", "run.toml", "--out", "r.h5"]
    run = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    run.send_signal(signal.SIGTERM)
    _, error = run.communicate(timeout=20)
    assert run.returncode == 128 + signal.SIGTERM and "ended by SIGTERM" in error
    assert [p.name for p in tmp_path.iterdir()] == ["run.toml"]


def test_unconverged_solves_end_the_run(quarksmith, tmp_path):
    text = EXAMPLE.replace("kappa = 0.12\n", 'kappa = 0.12\nmax_iterations = 3\nsolver = "bicgstab"\n')
    error = quarksmith.refuses("measure", write(tmp_path, text), "--out", "r.h5", status=1)
    assert "configuration 1: propagator 'l': spin 0 colour 0: not converged" in error and "max_iterations" in error
    assert not (tmp_path / "r.h5").exists()
    assert os.listdir(tmp_path) == ["run.toml"]
