"""The profile of docs/howto-profile.md: a build of it serves every command."""

import json
import re
import shutil
import textwrap

import pytest
from conftest import BUILD, ROOT, built_for_cpus
from relink import compiled, own_command

from generator.__main__ import main
from generator.emit.build import read_build
from generator.profile import load_profile
from generator.targets import HOST

DOCUMENT = ROOT / "docs" / "howto-profile.md"
GAUGE = ("--gauge", "weak:0.3:4,4,4,4:1", "--mass", "0.5", "--correlators", "c.json", "--overwrite")
PROPAGATOR = ("propagator", *GAUGE, "--device", "cpu", "--quiet")


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """The profile as the document states it."""
    text = DOCUMENT.read_text()
    row = text.index("    include = [")
    path = tmp_path_factory.mktemp("profile") / "my.toml"
    path.write_text(textwrap.dedent(text[row : text.index("\n\n    .venv/bin/python", row)]))
    return path


def command_of(profile, folder):
    """The command that knows the kernels of a profile alone: their code is that of the build."""
    assert {s.name for s in load_profile(str(profile)).kernels} <= {s.name for s in load_profile("default").kernels}
    assert main(["generate", "--profile", str(profile), "--devices", "none", "--out", str(folder / "generated")]) == 0
    objects = []
    for table in read_build(BUILD).host_tables:  # each instruction set has a registry of its own
        source = folder / f"{table}.cpp"
        shutil.copy(folder / "generated" / "cpu" / "registry.cpp", source)
        objects.append(compiled(source, "/cpu/registry.cpp", command=f"quarksmith_{HOST.tables[table]}.dir"))
    for name in ("tables.cpp", "tuned.cpp"):
        objects.append(compiled(folder / "generated" / name, f"/{name}"))
    return own_command(folder, objects)


@pytest.fixture(scope="module")
def own(profile, tmp_path_factory):
    """The command of that profile."""
    return command_of(profile, tmp_path_factory.mktemp("own"))


def test_it_lists_what_it_holds(own, profile):
    kernels = re.search(r"(\d+) kernels", own("devices").stdout)
    assert kernels and int(kernels[1]) == len(built_for_cpus(str(profile)))


def test_configurations_are_made_looked_at_and_smeared(own):
    own("heatbath", "--lattice", "4,4,4,8", "--sweeps", "2", "--overrelax", "1", "--out", "q")
    own("info", "q_00002.ildg")
    for kind in ("stout", "ape", "hyp"):
        own("smear", kind, "q_00002.ildg", f"{kind}.ildg")
    own("smear", "stout", "q_00002.ildg", "space.ildg", "--links", "space")
    own("flow", "q_00002.ildg", "--step", "0.02", "--time", "0.04")


@pytest.mark.parametrize("precision", ["double", "single", "double-single"])
def test_every_solver_runs_in_every_precision(precision, own):
    tolerance = "1e-4" if precision == "single" else "1e-9"
    for solver in ("cg", "cgne", "bicgstab", "bicgstab-l", "gcr", "mr", "block-cg", "eigcg", "gmres-dr"):
        own(*PROPAGATOR, "--solver", solver, "--precision", precision, "--tol", tolerance)


def test_sources_forms_and_batches(own):
    for options in (
        ("--source", "gaussian:0,0,0,0:2,4", "--sink", "gaussian:2,4"),
        ("--source", "jacobi:0,0,0,0:0.1,3", "--sink", "wuppertal:0.2,2"),
        ("--smear-links", "stout:0.1,1"),
        ("--even-odd", "asymmetric"),
        ("--even-odd", "none", "--batch", "4"),
        ("--solver", "gcr", "--preconditioner", "mr:2"),
    ):
        own(*PROPAGATOR, "--tol", "1e-6", *options)
    own("solve-bench", *GAUGE[:4], "--solver", "multishift", "--precision", "double,double-single", "--repeat", "1")


def test_kernels_are_timed_and_certified(own):
    out = own("bench", "--device", "cpu", "--lattice", "4,4,4,8", "--seconds", "0.001", "--json", "b.json").stdout
    assert "wilson_single_r12_nr_n4" in out and "skipped" not in out
    assert "wilson_single_r12_nr_n1" in own("accuracy", "--device", "cpu", "--lattice", "4,4,4,4").stdout


def test_kernels_that_lack_others_are_skipped_by_name(tmp_path):
    rows = '[[kernel]]\noperator = "scale"\nprecision = ["double"]\n[[kernel]]\noperator = "wilson"\n'
    axes = 'precision = ["double"]\nlinks = [18, 12]\nbasis = ["non_relativistic"]\ntile = [1]\n'
    (tmp_path / "bare.toml").write_text("include = []\n" + rows + axes)
    bare = command_of(tmp_path / "bare.toml", tmp_path)
    small = ("--device", "cpu", "--lattice", "4,4,4,4", "--json", "b.json", "--overwrite")
    out = bare("bench", *small, "--seconds", "0.001").stdout
    assert 'skipped: wilson_double_r12_nr_n1, for lack of operator = "encode_links"' in out
    assert "scale_double  " in out and "wilson_double_r18_nr_n1  " in out
    assert [k["name"] for k in json.loads((tmp_path / "b.json").read_text())["skipped"]] == ["wilson_double_r12_nr_n1"]
    refused = bare("bench", *small, "--only", "r12", status=1)
    assert "no kernel could be timed" in refused.stderr and "encode_links" in refused.stderr


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    """The command of the smallest profile, which has no kernel for links with 18 reals."""
    return command_of("dev", tmp_path_factory.mktemp("dev"))


def test_dev_solves_on_links_in_su3_and_says_what_others_need(dev):
    dev("heatbath", "--lattice", "4,4,4,8", "--sweeps", "2", "--out", "q")
    dev("convert", "q_00002.ildg", "q.milc")  # 32 bits
    job = ("--mass", "0.5", "--correlators", "c.json", "--overwrite")
    dev("propagator", "--gauge", "q_00002.ildg", *job)
    said = dev("propagator", "--gauge", "q.milc", *job, status=2).stderr
    assert re.search(
        r"12 reals miss these links by up to \S+: residuals are computed with all 18; this build has no", said
    )
    assert 'operator = "wilson"' in said
    assert 'links = ["18"]' in said or "links = [18]" in said


def test_links_in_32_bits_are_solved_with_what_include_adds(own):
    own("heatbath", "--lattice", "4,4,4,8", "--sweeps", "2", "--out", "r")
    own("convert", "r_00002.ildg", "r.milc")
    job = ("--gauge", "r.milc", "--mass", "0.5", "--solver", "cg", "--tol", "1e-12", "--overwrite")
    own("propagator", *job, "--precision", "double-single", "--correlators", "r.json")
    solves = own.json("r.json")["solves"]
    assert {s["links"] for s in solves} == {"r18-r12"}
    assert max(s["residual"] for s in solves) <= 1e-12
