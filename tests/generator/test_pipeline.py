"""Records, names, profiles, cost and rendered text."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import jinja2
import numpy as np
import pytest
from tree import ROOT, tracked

from generator.__main__ import main
from generator.algebra.gamma import BASES
from generator.cpp.expressions import accumulation, combination
from generator.emit.render import TemplateError, body_path, render, render_profile
from generator.emit.tables import tables
from generator.emit.write import OWNED, READ, write_files
from generator.errors import SpecError
from generator.operators import OPERATORS, find_operator, kernel
from generator.operators.blas import UPDATES, Update
from generator.profile import load_profile, row_for
from generator.spec import KernelSpec
from generator.targets import TARGETS
from generator.tune.policies import tuning_of

PROFILES = sorted(p.stem for p in tracked("generator/profiles/*.toml"))
IN_GIT = bool(tracked("generated/README.md")) and (ROOT / ".git").exists()
NR, DR = BASES["non_relativistic"], BASES["degrand_rossi"]


def wilson(**axes):
    return kernel(**{"operator": "wilson", "precision": "double", "links": "r18", "basis": NR, "tile": 1} | axes)


def test_the_name_states_every_axis():
    spec = wilson(dagger=True, epilogue="axpby", precision="half", links="r12")
    assert spec.name == "wilson_dagger_axpby_half_r12_nr_n1"
    assert wilson(coefficient="complex", tile=4).name == "wilson_double_r18_nr_n4__complex"


def test_a_module_of_conjugates_alone_says_what_their_hops_are():
    (alone,) = tables([wilson(dagger=True)])["operators"]
    assert [alone] == tables([wilson()])["operators"] and len(alone["hops"]) == 8


def test_wilson_costs_1320_flops_in_degrand_rossi():
    operator = find_operator("wilson")
    assert operator.cost(wilson(basis=DR)).flops == 1320
    assert operator.cost(wilson(basis=NR)).reported == 1320
    assert operator.cost(wilson(basis=DR)).reals == 360
    assert operator.cost(wilson(basis=DR, links="r12")).reals == 312


@pytest.mark.parametrize(
    ("precision", "links", "tile", "gflops"),
    [("double", "r18", 1, 3650), ("single", "r12", 1, 9740), ("half", "r8", 1, 24180), ("single", "r12", 4, 19480)],
)
def test_the_floor_is_that_of_the_performance_notes(precision, links, tile, gflops):
    cost = find_operator("wilson").cost(wilson(precision=precision, links=links, tile=tile))
    assert cost.floor_gflops(4.25e12) == pytest.approx(gflops, rel=2e-3)


def test_updates_count_their_terms():
    cost = {u.name: u.cost(KernelSpec(u, "double")) for u in UPDATES}
    assert cost["axpby"].flops == 3 * 24
    assert cost["caxpby"].flops == (3 + 3 + 1) * 24
    assert cost["norm2"].bytes == 192
    assert cost["cg_direction"].bytes == 5 * 192


def test_a_formula_knows_its_operands():
    update = Update("test", "y = x + a*(y - b*z); norm(y); dot(w, y)")
    assert update.inputs == ["w", "x", "y", "z"]
    assert update.outputs == ["y"]
    assert update.scalars == ["a", "b"]
    assert update.sums == 3


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"precision": "triple"}, "precision = 'triple'"),
        ({"links": "r14"}, "links = 'r14'"),
        ({"tile": 3}, "tile = 3"),
        ({"epilogue": "xpay"}, "epilogue = 'xpay'"),
        ({"block": 100}, "block = 100"),
        ({"block": 1024, "min_blocks": 4}, "min_blocks = 4"),
    ],
)
def test_impossible_records_are_refused(axes, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        wilson(**axes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[kernel]]\noperator = "wilson"\n', "needs precision, links, basis, tile"),
        ('[[kernel]]\noperator = "axpby"\nprecision = ["double"]\nlinks = [18]\n', "has no axis links"),
        ('[[kernel]]\noperator = "wilsonn"\n', "operator 'wilsonn' is unknown"),
        ('[[kernels]]\noperator = "wilson"\n', "unknown table kernels"),
        ("[[kernel]\n", "bad.toml"),
    ],
)
def test_impossible_profiles_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(SpecError, match=re.escape(message)):
        load_profile(str(path))


@pytest.mark.parametrize("name", PROFILES)
def test_names_are_unique_and_rows_reproduce_their_kernels(name, tmp_path):
    profile = load_profile(name)
    assert len({s.name for s in profile.kernels}) == len(profile.kernels)
    for spec in profile.kernels[:: max(len(profile.kernels) // 20, 1)]:
        path = tmp_path / "row.toml"
        path.write_text(row_for(spec))
        assert spec in load_profile(str(path)).kernels


@cache
def rendered(name):
    """The files of a profile with all tuned variants; of the kernels of profile full some in each group."""
    profile = load_profile(name)
    if name == "full":
        return render_profile(replace(profile, kernels=profile.kernels[::20]))
    return render_profile(profile, tuning_of(profile.kernels))


@pytest.mark.parametrize("name", PROFILES)
def test_rendered_text_is_well_formed_and_within_the_budget_of_the_profile(name):
    files, profile = rendered(name), load_profile(name)
    for path, text in files.items():
        assert text.startswith("// Generated by `python -m generator generate"), path
        assert text.endswith("\n") and "\n\n\n" not in text, path
        assert "#if" not in text, path
        assert set(re.findall(r'^#include "(\w+)/', text, flags=re.M)) <= {"runtime", "generated"}, path
        for number, line in enumerate(text.splitlines(), start=1):
            assert line == line.rstrip() and (len(line) <= 120 or path.name == "tuned.cpp"), f"{path}:{number}"

    def lines(begin: str) -> int:
        return sum(len(text.splitlines()) for path, text in files.items() if str(path).startswith(begin))

    assert len(profile.kernels) <= profile.budget.get("kernels", len(profile.kernels))
    gpus = [lines(f"{t.name}/") for t in TARGETS.values() if t.threads]  # alike but for variants: one is counted
    for_kernels = lines("") - lines("actions.cpp") - lines("tuned.cpp") - sum(gpus) + min(gpus)
    assert for_kernels <= profile.budget.get("lines", for_kernels)


def test_git_keeps_what_a_person_reads_as_it_is_rendered():
    read = {f"generated/{path}": text for path, text in rendered("default").items() if path.parts[0] in READ}
    stale = [path for path, text in read.items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text]
    assert not stale, f"generated/ is out of date ({', '.join(stale[:3])} ...). To accept: make generate"
    kept = {p.relative_to(ROOT).as_posix() for p in tracked("generated/*")} - {"generated/README.md"}
    names = {n for n in kept if not n.startswith("generated/tuned/")} if IN_GIT else set()
    assert names <= set(read), "commit the folders of READ (generator/emit/write.py) and nothing else of generated/"


@pytest.mark.skipif(not IN_GIT, reason="not in the folder of a tarball")
def test_git_keeps_little_of_generated():
    kept = [p for p in tracked("generated/*") if p.is_file()]
    assert sum(len(p.read_text().splitlines()) for p in kept) <= 8000
    bodies, kernels = {p.stem for p in kept if p.parent.name == "bodies"}, load_profile("default").kernels
    shown = {(k.operator.family, k.operator.template) for k in kernels if k.body in bodies}
    assert shown == {(k.operator.family, k.operator.template) for k in kernels if body_path(k)}


def test_writing_touches_only_what_changed(tmp_path):
    files = render_profile(load_profile("dev"))
    assert write_files(files, tmp_path).changed == len(files)
    for folder in OWNED:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "left_over.hpp").write_text("")
    again = write_files(files, tmp_path)
    assert (again.changed, again.removed) == (0, len(OWNED))


def test_a_misspelt_name_in_a_template_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "broken.j2").write_text("one\n{{ spek }}\n")
    monkeypatch.setattr("generator.emit.render.TEMPLATES", tmp_path)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(tmp_path), undefined=jinja2.StrictUndefined)
    monkeypatch.setattr("generator.emit.render.environment", lambda: environment)
    with pytest.raises(TemplateError, match=r"line 2: 'spek' is undefined"):
        render("broken.j2", "command")


def test_combinations_read_like_mathematics():
    names = ["psi[0]", "psi[3]"]
    assert combination([1, -1j], names) == "psi[0] - times_i(psi[3])"
    assert combination([-1, 0], names) == "-psi[0]"
    assert combination([0.5, 0.25 - 0.5j], names) == "times(0.5, psi[0]) + times(0.25, -0.5, psi[3])"
    assert accumulation("sum", np.array([-1, 0]), names, first=False) == "sum -= psi[0];"
    assert accumulation("sum", np.array([0, 0]), names, first=True) == ""


@pytest.mark.parametrize(
    "arguments", [["list"], ["explain"], ["explain", "wilson_half_r12_nr_n1"], ["cost", "axpby_single"]]
)
def test_commands_answer(arguments, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out


def test_commands_refuse_with_status_2(capsys):
    assert main(["cost", "wilson_half"]) == main(["generate", "--profile", "nothing"]) == 2
    assert capsys.readouterr().err.count("generator: error: ") == 2


def test_an_unwritable_folder_is_status_1(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["generate", "--profile", "dev", "--out", str(tmp_path / "file")]) == 1
    assert "file" in capsys.readouterr().err


def test_the_module_runs():
    run = subprocess.run(
        [sys.executable, "-m", "generator", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "generate" in run.stdout
    assert set(OPERATORS) >= {"wilson", "laplace3", "axpby", "heatbath"}


def test_what_a_user_adds_hits_no_budget(tmp_path, capsys):
    (tmp_path / "my.toml").write_text(
        'include = []\n[budget]\nkernels = 0\n[[kernel]]\noperator = "axpby"\nprecision = ["double"]\n'
    )
    assert main(["generate", "--profile", str(tmp_path / "my.toml"), "--out", str(tmp_path / "out")]) == 0
    assert "profile my: 1 kernels" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["import", "export", "scale"])
def test_rows_without_spins_have_fields_of_four_colour_vectors(name):
    spec, stated = (kernel(name, "half", **axes) for axes in ({}, {"spins": 4}))
    assert spec.operator.arguments(spec) == stated.operator.arguments(stated)
    assert spec.operator.cost(spec) == stated.operator.cost(stated)
