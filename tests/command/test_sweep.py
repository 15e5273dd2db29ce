"""The sweep on the CPU target: what is wrong, racy, foreign or outdated is never chosen."""

import dataclasses
import json
import os
import re
import subprocess

import pytest
from conftest import BUILD
from relink import compiled, linked
from test_documented_keys import others

from generator.__main__ import main
from generator.emit import ondemand
from generator.emit.build import read_build
from generator.emit.render import render, render_group
from generator.profile import load_profile
from generator.targets import GPU, HOST
from generator.tune import sweep
from generator.tune.candidates import Chosen, digest
from generator.tune.tuned import Choice, choices, write_evidence

NAME = "laplace4_double_r18_n1"
RACE = """
    // Planted: a counter that threads share. What a site finds depends on the order of threads and, where one comes
    // after the other, on the launches before, since 97 does not divide the number of blocks.
    static volatile long shared = 0;
    const long before = shared;
    long yielded = 24;  // sched_yield
    asm volatile("syscall" : "+a"(yielded) : : "rcx", "r11", "memory");
    shared = before + 1;
    for (int r = 0; r < Tile; ++r) sum[r][0] = broadcast<R>(before / 97 % 2 == 0 ? 1.0 : 1 + 2.3e-16) * sum[r][0];
"""


SWEEP = ("sweep", "--device", "cpu", "--build", str(BUILD))
QUICK = ("--device", "cpu", "--seconds", "0.01")


def packed(folder, name=NAME, lattice=(4, 4, 4, 8)):
    """A folder of the candidates of a kernel, to be measured on a small lattice alone."""
    assert main([*SWEEP, "--pack", str(folder), "--only", name, "--lattice", ",".join(map(str, lattice))]) == 0
    candidates = json.loads((folder / "candidates.json").read_text())
    assert candidates["sizes"]["large"] == {"lattice": list(lattice), "rhs": 1}
    candidates["sizes"] = {"small": candidates["sizes"]["large"]}
    (folder / "candidates.json").write_text(json.dumps(candidates))
    return folder


def ends_of(folder) -> list[dict]:
    """How each candidate ended."""
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [line for line in lines if line["status"] != "started"]


def swept(quarksmith, folder, **more) -> list[dict]:
    """Packs candidates, measures them, and returns how each ended."""
    threads = os.environ | {"OMP_NUM_THREADS": "4"}
    quarksmith("sweep", "--measure", packed(folder, **more), *QUICK, env=threads)
    return ends_of(folder)


def planted(monkeypatch, change, body="laplace4.hpp"):
    rendered = ondemand._render

    def render(specs, build):
        files = rendered(specs, build)
        path = next(p for p in files if p.name == body)
        files[path] = change(files[path])
        return files

    monkeypatch.setattr(ondemand, "_render", render)


def test_good_candidates_are_timed_within_a_budget_collected_and_measured_once(quarksmith, tmp_path):
    folder = packed(tmp_path / "packed")
    quarksmith("sweep", "--measure", folder, *QUICK, "--budget", "1e-9")
    assert not (folder / "results.jsonl").exists()
    assert "the budget is spent" not in quarksmith("sweep", "--measure", folder, *QUICK, "--budget", "10m").stderr
    ends = ends_of(folder)
    assert len(ends) >= 2 and all(e["status"] == "ok" and e["microseconds"] > 0 for e in ends)
    assert all(set(e) == others("sweep")[0] for e in ends)
    size = (folder / "results.jsonl").stat().st_size
    quarksmith("sweep", "--measure", folder, *QUICK)  # everything has an end: nothing is measured again
    assert (folder / "results.jsonl").stat().st_size == size
    path = write_evidence(folder, load_profile("default"), tmp_path / "tuned")
    table, _ = choices(load_profile("default").kernels, (tmp_path / "tuned",))
    (rows,) = table.values()
    assert [row.kernel for row in rows] == [NAME] and not rows[0].stale
    assert json.loads(path.read_text())["device"]


@pytest.mark.parametrize("budget", ["90", "90s", "1.5m", "0.025h"])
def test_a_budget_has_the_same_spelling_in_both(budget, quarksmith, tmp_path):
    assert sweep.seconds_of(budget) == 90
    assert "candidates.json" in quarksmith.refuses("sweep", "--measure", tmp_path, "--budget", budget)
    assert "--budget" in quarksmith.refuses("sweep", "--measure", tmp_path, "--budget", f"{budget}x")


@pytest.mark.parametrize(
    ("option", "message"),
    [(["--budget", "soon"], "use a number of seconds"), (["--lattice", "8,8,8,7"], "four even extents")],
)
def test_a_budget_and_a_lattice_that_are_none_are_refused(option, message, tmp_path, capsys):
    assert main([*SWEEP, "--pack", str(tmp_path / "p"), "--only", NAME, *option]) == 2
    assert message in capsys.readouterr().err


def test_a_sweep_says_what_it_takes_and_keeps_to_its_time(monkeypatch, tmp_path, capsys):
    made = []

    def compiled(variants, build):
        made.append(variants[0].operator.name)
        return tmp_path / "module.so", True

    monkeypatch.setattr(sweep, "compile_module", compiled)
    monkeypatch.setattr("generator.tune.plan.processors", lambda: 2)
    build = dataclasses.replace(read_build(BUILD), folder=tmp_path)
    everything = len(sweep.pack_for_build(HOST, load_profile("default"), tmp_path, Chosen(), build, quick=True))
    assert f"{everything} candidates, 2 processor(s): about" in capsys.readouterr().out
    made.clear()
    few = sweep.pack_for_build(HOST, load_profile("default"), tmp_path, Chosen(), build, quick=True, within=60)
    out = capsys.readouterr().out
    assert 0 < len(few) < everything / 4 and "more for lack of time" in out and set(made) == {"wilson"}
    assert few[0].base == "wilson_double_r12_nr_n1"
    seconds = re.search(r"about (\d+) s to compile and (\d+) s to measure", out)
    assert seconds and sum(map(int, seconds.groups())) <= 61
    # A machine that is slower than estimated: compiling ends when its share is spent.
    ticks = iter(range(0, 100000, 20))
    monkeypatch.setattr(sweep.time, "monotonic", lambda: next(ticks))
    assert len(
        sweep.pack_for_build(HOST, load_profile("default"), tmp_path, Chosen(), build, quick=True, within=60)
    ) < len(few)
    assert "longer than estimated" in capsys.readouterr().out


def swept_plane(quarksmith, monkeypatch, folder, change) -> list[str]:
    """Measures candidates for an expression of planes with `change` planted and returns how they ended."""
    planted(monkeypatch, change, "plane_staples.hpp")
    return swept_twice(quarksmith, monkeypatch, folder, "plane_staples_double_r18")


def swept_twice(quarksmith, monkeypatch, folder, name) -> list[str]:
    """Measures two candidates of an expression, which has no shapes on this target, and returns how they ended."""
    spec = load_profile("default").find(name)
    monkeypatch.setattr(sweep, "candidates", lambda *_, **__: [spec.as_variant((), block, 1) for block in (64, 128)])
    return [end["status"] for end in swept(quarksmith, folder, name=name)]  # two of the same: one alone is not swept


def test_expressions_with_numbers_at_sites_and_propagators_are_compared(quarksmith, tmp_path, monkeypatch):
    assert set(swept_twice(quarksmith, monkeypatch, tmp_path, "turned_propagator_double_s4")) == {"ok"}


def test_a_candidate_that_writes_nothing_is_wrong(quarksmith, tmp_path, monkeypatch):
    """What it is compared on held the right result of the kernel before."""
    emptied = r"Matrices::store\(.*\);"
    ends = swept_plane(quarksmith, monkeypatch, tmp_path / "packed", lambda text: re.sub(emptied, "", text))
    assert set(ends) == {"wrong"}


def test_an_expression_is_timed_along_all_directions(quarksmith, tmp_path, monkeypatch):
    def noted(text: str) -> str:
        mark = "const int nu = a.direction >> 2 & 3;\n"
        assert mark in text
        names = ", ".join(f'"{tmp_path}/{plane}"' for plane in ("xy", "yz", "zt", "tx"))
        return text.replace(
            mark,
            f"""{mark}
    static const char* const names[] = {{{names}}};
    if (nu == (mu + 1) % 4) {{  // Planted: a folder for each plane.
      long made = 83;  // mkdir
      asm volatile("syscall" : "+a"(made) : "D"(names[mu]), "S"(0700L) : "rcx", "r11", "memory");
    }}
""",
        )

    assert set(swept_plane(quarksmith, monkeypatch, tmp_path / "packed", noted)) == {"ok"}
    assert {p.name for p in tmp_path.iterdir()} == {"packed", "xy", "yz", "zt", "tx"}


def test_a_faster_candidate_with_a_wrong_sign_is_rejected(quarksmith, tmp_path, monkeypatch):
    planted(monkeypatch, lambda text: text.replace("+= h[0]", "-= h[0]", 1))
    assert {e["status"] for e in swept(quarksmith, tmp_path / "packed")} == {"wrong"}
    write_evidence(tmp_path / "packed", load_profile("default"), tmp_path / "tuned")
    assert choices(load_profile("default").kernels, (tmp_path / "tuned",))[1] == {}


def test_a_racy_candidate_is_rejected(quarksmith, tmp_path, monkeypatch):
    def race(text: str) -> str:
        mark = "    QUARKSMITH_UNROLL_TILE\n    for (int r = 0; r < Tile; r += Epilogue::vectors) Epilogue"
        assert mark in text
        return text.replace(mark, "    using R = typename Spinors::Real;" + RACE + mark)

    planted(monkeypatch, race)
    large = (8, 8, 8, 8)  # chunks of blocks for every thread, whatever the lanes
    assert "racy" in {e["status"] for e in swept(quarksmith, tmp_path / "packed", lattice=large)}


def wrong_in_rows(specs, build, rendered=ondemand._render):
    """The files of a module whose `__rows` candidate alone has a wrong sign."""
    files = rendered(specs, build)
    body = next(p for p in files if p.name == "laplace4.hpp")
    wrong = files[body].replace("+= h[0]", "-= h[0]", 1).replace("laplace4_", "laplace4_wrong_")
    files[body] += wrong.replace("#pragma once", "")
    rows = next(p for p in files if p.name == "kernels.cpp")
    start = files[rows].index(f"{NAME}__rows_row")
    files[rows] = files[rows][:start] + files[rows][start:].replace("laplace4_body", "laplace4_wrong_body", 1)
    return files


def tuned_program(folder, device):
    """The command linked as in the build, but with an earlier sweep that chose `__rows` on this device."""
    folder.mkdir()
    rows = [Choice(NAME, size, f"{NAME}__rows", False) for size in ("tiny", "small", "large", "batch")]
    here = {"name": device, "slug": "here", "architecture": "", "rows": rows, "policies": []}
    text = render("tuned.cpp.j2", "a test", devices=[here])
    (folder / "tuned.cpp").write_text(text)
    return linked(folder, [compiled(folder / "tuned.cpp", "/tuned.cpp")])


def test_a_tuned_build_compares_with_the_kernel_itself(quarksmith, tmp_path, monkeypatch):
    monkeypatch.setattr(ondemand, "_render", wrong_in_rows)
    folder = tmp_path / "packed"
    expected = {f"{NAME}__plain": "ok", f"{NAME}__rows": "wrong", f"{NAME}__noprefetch": "ok"}
    assert {e["kernel"]: e["status"] for e in swept(quarksmith, folder)} == expected
    program = tuned_program(tmp_path / "bin", quarksmith.json("packed/device.json")["device"])
    module = next(folder.glob("kernels/*/module.so"))
    environment = os.environ | {"QUARKSMITH_KERNELS": str(module)}
    devices = subprocess.run([program, "devices"], env=environment, capture_output=True, text=True, check=True)
    assert "1 tuned" in devices.stdout
    # To that program the wrong candidate is the winner of an earlier sweep: still it is wrong, and the plain one right.
    (folder / "results.jsonl").unlink()
    subprocess.run([program, "sweep", "--measure", folder, *QUICK], check=True)
    assert {e["kernel"]: e["status"] for e in ends_of(folder)} == expected


def evidence(tmp_path, entry, target="cuda") -> tuple:
    folder = tmp_path / "tuned"
    folder.mkdir(parents=True)
    (folder / "x.json").write_text(json.dumps({"device": "Some GPU", "target": target, "kernels": entry}))
    return (folder,)


def row(us, shape=(), block=64, min_blocks=4, status="ok"):
    return {"shape": list(shape), "block": block, "min_blocks": min_blocks, "status": status, "microseconds": us}


def test_outdated_evidence_is_used_and_marked(tmp_path):
    profile = load_profile("default")
    spec = profile.find("wilson_double_r12_nr_n1")
    rows = {"large": [row(10), row(20, block=spec.block, min_blocks=spec.min_blocks)]}
    folders = evidence(tmp_path, {spec.name: {"digest": "older", "classes": rows}})
    table, variants = choices(profile.kernels, folders)
    found = {c.kernel: c for c in table["Some GPU"]}
    assert found[spec.name].variant == spec.name + "__b64m4" and found[spec.name].stale
    # The Hermitian conjugate takes the result of its partner.
    assert found["wilson_dagger_double_r12_nr_n1"].variant == "wilson_dagger_double_r12_nr_n1__b64m4"
    assert len(variants["cuda"]) == 2 and digest(spec, GPU) != "older"


def test_shapes_that_no_longer_exist_and_small_gains_are_passed_over(tmp_path):
    profile = load_profile("default")
    spec = profile.find("wilson_double_r12_nr_n1")
    rows = [row(5, ["gone"]), row(9.9, ["box"]), row(10, block=spec.block, min_blocks=spec.min_blocks)]
    folders = evidence(tmp_path, {spec.name: {"digest": digest(spec, GPU), "classes": {"large": rows}}})
    table, variants = choices(profile.kernels, folders)
    assert not any(variants.values())
    assert {c.variant for c in table["Some GPU"] if c.kernel == spec.name} == {spec.name}
    assert not any(c.stale for c in table["Some GPU"] if c.kernel == spec.name)


def test_evidence_outlives_what_leaves_the_kernel_as_it_is(monkeypatch):
    spec = load_profile("default").find("wilson_double_r12_nr_n1")
    alone = dataclasses.replace(spec, ranks=False)
    assert spec.ranks and digest(spec, GPU) == digest(alone, GPU) != digest(spec, HOST)
    before = digest(spec, GPU)
    monkeypatch.setattr(
        "generator.tune.candidates.render_group",
        lambda *given: "// Generated by another version\n" + render_group(*given),
    )
    assert digest(spec, GPU) == before
    monkeypatch.setattr("generator.tune.candidates.render_group", lambda *given: render_group(*given) + "\n// and more")
    assert digest(spec, GPU) != before


def test_what_was_measured_as_it_is_needs_no_further_sweep(monkeypatch, tmp_path, capsys):
    spec = load_profile("default").find(NAME)
    arguments = ["sweep", "--stale", "--only", NAME, "--pack", str(tmp_path / "p"), "--device", "cpu", "--build"]
    measured = {"digest": digest(spec, HOST), "classes": {"small": [row(10.0, ("rows",), 0, 0)]}}
    for known, done in ((measured, True), (measured | {"digest": "0" * 12}, False)):
        (folder,) = evidence(tmp_path / str(done), {NAME: known}, HOST.name)
        monkeypatch.setattr("generator.commands.FOLDER", folder)
        assert main([*arguments, str(BUILD)]) == 0
        assert ("nothing to sweep" in capsys.readouterr().out) is done
        assert (tmp_path / "p").exists() is not done


def test_bad_calls_are_refused(quarksmith, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("generator.tune.sweep.shutil.which", lambda name: None)  # wrong use, whatever is installed
    assert "candidates.json" in quarksmith.refuses("sweep", "--measure", tmp_path)
    assert main(["sweep", "--collect", str(tmp_path)]) == 2
    assert "results.jsonl" in capsys.readouterr().err
    for idle in (["--stale"], ["--part", "1/2"], ["--only", NAME], ["--quick"], ["--budget", "9s"], ["--pack", "p"]):
        assert main(["sweep", "--collect", str(tmp_path), *idle]) == 2
        assert f"{idle[0]} means nothing for --collect" in capsys.readouterr().err
    assert main(["sweep", "--pack", str(tmp_path / "p"), "--budget", "9s"]) == 2
    assert "--budget means nothing for --pack" in capsys.readouterr().err
    assert main(["sweep", "--only", "nothing", "--pack", str(tmp_path / "p")]) == 2
    assert "no kernel" in capsys.readouterr().err
    assert main(["sweep", "--only", NAME, "--pack", str(tmp_path / "p")]) == 1
    assert "nvcc and g++ must be on PATH" in capsys.readouterr().err
