"""Lattice expressions of a user's file, compiled on demand: python -m generator expression, quarksmith apply."""

import dataclasses
import json
import os
import re
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

from generator.__main__ import main
from generator.emit import ondemand
from generator.emit.build import read_build

needs_build = pytest.mark.skipif(not (BUILD / "bin" / "quarksmith_tests").exists(), reason="the tests were not built")
DATA = Path(os.environ.get("QUARKSMITH_DATA", ROOT.parent / "shared" / "data"))


pytestmark = pytest.mark.usefixtures("forget_expressions")


@needs_build
@pytest.mark.parametrize("axes", [(), ("--precision", "single", "--links", "12", "--spins", "1")])
def test_the_example_of_the_docs_is_compiled_once_and_tested(axes, capsys):
    arguments = ["expression", str(ROOT / "examples" / "jacobi.py"), "--build", str(BUILD), *axes, "--test"]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert re.search(r"jacobi_\w+: (compiled in|found).*\njacobi_\w+: [1-9]\d* tests passed", first)
    assert main(arguments) == 0
    assert "found in the cache" in capsys.readouterr().out


@needs_build
def test_an_expression_is_applied(tmp_path, capfd):
    file = tmp_path / "mine.py"
    file.write_text(
        "from generator.language import *\n\n\n@expression\ndef energy_of(psi: Spinor, weight: Real) -> Sum:\n"
        "    return total(weight * re(dot(psi, shift(psi, +x))))\n"
    )
    result = tmp_path / "result.json"
    run = ["energy_of", "--gauge", "unit:4,4,4,4", "psi=wall:1", "weight=0.5", "--json", str(result), "--overwrite"]
    assert main(["expression", str(file), "--build", str(BUILD), "--run", *run]) == 0
    assert json.loads(result.read_text())["sums"] == [0.5 * 64]
    run[3] = "mass=1"
    assert main(["expression", str(file), "--build", str(BUILD), "--run", *run]) == 2
    assert "energy_of has no mass; it takes psi weight" in capfd.readouterr().err


@needs_build
def test_a_planted_error_fails_the_tests(monkeypatch, capsys):
    rendered = ondemand._render

    def planted(specs, build):
        files = rendered(specs, build)
        path = next(p for p in files if p.name == "jacobi.hpp" and p.parent.name == "bodies")
        assert "s2 += mul_adj(u_y_at_my" in files[path]
        files[path] = files[path].replace("s2 += mul_adj(u_y_at_my", "s2 -= mul_adj(u_y_at_my", 1)
        return files

    monkeypatch.setattr(ondemand, "_render", planted)
    file = str(ROOT / "examples" / "jacobi.py")
    assert main(["expression", file, "--build", str(BUILD), "--test"]) == 1
    assert "jacobi_double_r18_s4" in capsys.readouterr().err


@needs_build
def test_without_a_compiler_one_line_says_so(monkeypatch, tmp_path, capsys):
    build = read_build(BUILD)
    commands = {t: ["/nowhere/c++", *c[1:]] for t, c in build.commands.items()}
    monkeypatch.setattr(
        "generator.commands.read_build", lambda _: dataclasses.replace(build, folder=tmp_path, commands=commands)
    )
    assert main(["expression", str(ROOT / "examples" / "jacobi.py")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "/nowhere/c++ is not on this machine" in error
    assert not list((tmp_path / "kernels").glob("*"))


def test_errors_point_at_the_expression(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(
        "from generator.language import *\n\n\n@expression\ndef wrong_order(u: Links, psi: Spinor) -> Spinor:\n"
        "    return sum(shift(psi, +mu) * u[mu] for mu in space)\n"
    )
    assert main(["expression", str(file), "--build", str(BUILD)]) == 2
    error = capsys.readouterr().err
    assert f"{file}:6: shift(psi, +x) * u[x]: cannot multiply a spinor by a matrix" in error


STOUT_IN_A_PLANE = """
from generator.language import *
from generator.operators.smearing import stout


@expression
def stout_in_xy(u: Links, rho: Real) -> Links:
    return stout(u, rho, (x, y))
"""


@needs_build
@pytest.mark.skipif(not DATA.is_dir(), reason="set QUARKSMITH_DATA to the folder of reference data")
def test_stout_in_one_plane_as_chroma(quarksmith, tmp_path):
    """Entry 4 of Chroma's link smearing: directions x and y alone, which no built-in kernel does."""
    file = tmp_path / "plane.py"
    file.write_text(STOUT_IN_A_PLANE)
    assert main(["expression", str(file), "--build", str(BUILD)]) == 0
    module = max((BUILD / "kernels").glob("stout_in_xy_double_r18-*/module.so"), key=lambda p: p.stat().st_mtime)
    environment = {**os.environ, "QUARKSMITH_KERNELS": str(module)}
    links = DATA / "chroma" / "weak_field_b.qio"
    for n in range(16):
        quarksmith(
            "apply", "stout_in_xy", "rho=0.15625", "--gauge", links, "--out", f"{n}.ildg", "--json", f"{n}.json",
            env=environment,
        )  # fmt: skip
        links = tmp_path / f"{n}.ildg"
    ours = quarksmith.json("15.json")["out"]
    peer = json.loads((DATA / "chroma" / "reference" / "link_smearing_weak_field_b.json").read_text())
    theirs = peer["measurements"][4]["Link_observables"]
    for name, key in [("plaquette", "w_plaq"), ("space_plaquette", "s_plaq"), ("time_plaquette", "t_plaq")]:
        print(f"DATA | chroma stout xy | {key} | {theirs[key]} | {ours[name]:.15g}")
        assert abs(ours[name] - float(theirs[key])) < 3e-7


EVERYTHING = """
from generator.language import *


@expression
def everything(u: Links, psi: Fermion, chi: Spinor, mass: Real, c: Complex) -> Fermion:
    corner = shift(adj(shift(u[y], +x)) * adj(u[x]) * gamma5 * psi, -x - y)
    far = sign(x, t) * (u[t] * shift(u[t], +t) * shift(u[t], +2 * t) * shift(psi, 3 * t))
    turned = spin_matrix([[0, 1, 0, 0], [1j, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0.25, 1]]) * chi
    block = (mass + c * gamma[z] + sigma[x, t] * (u[x] * adj(u[z]))) * psi
    return (1 - gamma[x]) * corner + far / (2 + mass) + turned + block + outer(psi, chi) * shift(chi, +y) - psi / 3


@expression
def force_like(u: Links, x_: Fermion, y_: Fermion) -> Algebra:
    return {mu: ta(u[mu] * outer((1 - gamma[mu]) * shift(x_, +mu), y_)) for mu in directions}


@expression
def numbers(u: Links, psi: Spinor, c: Real) -> Spinor:
    z = dot(psi, shift(psi, +x)) + trace(u[y])
    return (c + z) * psi + (z - 1) * (u[x] * shift(psi, +x)) - (im(z) - z * (1 + 2j)) * psi
"""


@needs_build
def test_spins_signs_corners_and_phases_in_both_bases(tmp_path, capsys):
    file = tmp_path / "all.py"
    file.write_text(EVERYTHING)
    for axes in (("double",), ("single", "--basis", "degrand_rossi", "--links", "12")):
        assert main(["expression", str(file), "--build", str(BUILD), "--test", "--precision", *axes]) == 0
        report = capsys.readouterr().out
        for name in ("everything", "force_like", "numbers"):
            assert re.search(rf"{name}_\w+: [1-9]\d* tests passed", report), report
