"""Kernels compiled on demand: python -m generator kernel."""

import dataclasses
import os
import re

import pytest
from conftest import BUILD

from generator import ondemand
from generator.__main__ import main
from generator.profile import load_profile

needs_build = pytest.mark.skipif(not (BUILD / "bin" / "quarksmith_tests").exists(), reason="the tests were not built")
FULL = load_profile("full")


@needs_build
@pytest.mark.parametrize(
    "name", ["wilson_taxpby_quarter_r8_rotated_n2__complex", "staggered_dagger_bits24_r18_n4", "scale_bits20"]
)
def test_any_kernel_is_compiled_and_tested(name, capsys):
    assert main(["kernel", name, "--build", str(BUILD)]) == 0
    first = capsys.readouterr().out
    assert re.search(rf"kernel {name}: (compiled|found).*; [1-9]\d* tests passed", first)
    assert main(["kernel", name, "--build", str(BUILD)]) == 0
    assert "found in the cache" in capsys.readouterr().out


@needs_build
@pytest.mark.parametrize(
    ("name", "file", "right", "wrong"),
    [
        ("laplace4_single_r12_n1", "laplace4.hpp", "+= h0", "-= h0"),  # sign of one hop
        ("wilson_tinv_double_r8_nr_n1", "wilson_nr.hpp", "psi[0] + times_i(psi[3])", "psi[0] - times_i(psi[3])"),
        ("clover_term_double_r18", "clover_term.hpp", "space * plane_xy", "-space * plane_xy"),  # sign of a plane
        # One leaf turned round: +y +x -y -x instead of +x +y -x -y.
        (
            "clover_term_double_r18",
            "clover_term.hpp",
            "p = forward<0, Links>(a, at);\n      p = p * forward<1, Links>(a, at);\n"
            "      p = p * backward<0, Links>(a, at);\n      p = p * backward<1, Links>(a, at);",
            "p = forward<1, Links>(a, at);\n      p = p * forward<0, Links>(a, at);\n"
            "      p = p * backward<1, Links>(a, at);\n      p = p * backward<0, Links>(a, at);",
        ),
    ],
)
def test_a_planted_error_fails_the_tests(name, file, right, wrong, monkeypatch, capsys):
    rendered = ondemand._render

    def planted(specs, build):
        files = rendered(specs, build)
        path = next(p for p in files if p.name == file)
        assert right in files[path]
        files[path] = files[path].replace(right, wrong, 1)
        return files

    monkeypatch.setattr(ondemand, "_render", planted)
    assert main(["kernel", name, "--build", str(BUILD)]) == 1
    assert name in capsys.readouterr().err


def test_what_cannot_be_made_is_refused(capsys, tmp_path, monkeypatch):
    assert main(["kernel", "wilson_triple_r12_nr_n1", "--build", str(BUILD)]) == 2
    assert "is not in profile full" in capsys.readouterr().err
    assert main(["kernel", "axpby_quarter", "--build", str(tmp_path)]) == 2
    assert "holds no build" in capsys.readouterr().err


@needs_build
def test_a_compiler_error_is_reported_and_leaves_no_module(monkeypatch, tmp_path):
    build = dataclasses.replace(ondemand.read_build(BUILD), folder=tmp_path)
    spec = FULL.find("axpby_quarter")
    monkeypatch.setattr(ondemand, "render_group", lambda *_: "this is no C++\n")
    with pytest.raises(ondemand.CompileError, match="does not name a type|error"):
        ondemand.compile_kernel(spec, build)
    assert not list((tmp_path / "kernels").glob("*"))


def test_every_kernel_of_full_has_its_support_and_its_tests():
    names = {s.name for s in FULL.kernels}
    for spec in FULL.kernels:
        assert {s.name for s in ondemand.support(spec)} <= names
        assert ondemand.tests_of(spec)


@needs_build
def test_a_file_that_is_no_module_is_refused(quarksmith, tmp_path):
    (tmp_path / "module.so").write_text("no library")
    environment = {**os.environ, "QUARKSMITH_KERNELS": "./module.so"}
    assert "make kernel" in quarksmith.refuses("bench", "--lattice", "4,4,4,4", status=1, env=environment)
