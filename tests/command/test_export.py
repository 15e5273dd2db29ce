"""Exported kernels compile with the line that they state and agree with their own reference, unless they are wrong."""

import os
import re
import shlex
import shutil
import subprocess

import pytest

from generator.__main__ import main

AS_STATED = ("wilson_single_r8_nr_n1__rows", "residual_half")
"""What is compiled with the very line of its file."""
THREADS = os.environ | {"OMP_NUM_THREADS": "2"}


def exported(folder, name, *options):
    """The file that the command wrote."""
    path = folder / f"{name}.cpp"
    assert main(["export", name, "--out", str(path), *options]) == 0
    return path


def build(path, optimised=True):
    """Compiles a file with the line at its top, in its folder; returns the program."""
    line = re.search(r"^//   ((?:g\+\+|nvcc) .*)$", path.read_text(), flags=re.M)[1]
    if not optimised:  # takes half the time
        line, found = re.subn(" -O3 ", " -O1 ", line)
        assert found == 1
    done = subprocess.run(shlex.split(line), cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return path.parent / "kernel"


def run(program, lattice):
    return subprocess.run([program, lattice], capture_output=True, text=True, env=THREADS)


def test_updates_of_one_colour_vector_agree_with_their_reference(tmp_path):
    program = build(exported(tmp_path, "norm2_double_s1", "--profile", "default"), optimised=False)
    done = run(program, "4,4,4,4")
    assert done.returncode == 0 and done.stdout.endswith("PASSED\n"), done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "wilson_double_r18_nr_n1",
        "staggered_bits20_r18_n1__complex",
        "wilson_taxpby_quarter_r12t_rotated_n1",
        "twisted_mass_taxpby_half_r12_nr_n1",
        "twisted_clover_doublet_tinv_double_r12_rotated_n2",
        "residual_half",
    ],
)
def test_an_exported_kernel_agrees_with_its_reference(name, tmp_path):
    program = build(exported(tmp_path, name), optimised=name in AS_STATED)
    for lattice in ("4,4,4,4", "4,8,4,12"):
        done = run(program, lattice)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{name} on" in done.stdout and "GFLOP/s" in done.stdout and done.stdout.endswith("PASSED\n")
    refused = run(program, "4,4,4,5")
    assert refused.returncode == 2 and "even extents" in refused.stderr


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("wilson_double_r18_nr_n1", "value(psi[0] - times_i(psi[3]))", "value(psi[0] + times_i(psi[3]))"),
        ("caxpby_double", "a * x[s] + ", "a * x[s] - "),
        ("wilson_tinv_single_r12_nr_n1", "y[j] = y[j] + conj(e)", "y[j] = y[j] - conj(e)"),
    ],
)
def test_a_wrong_sign_is_found(name, right, wrong, tmp_path):
    path = exported(tmp_path, name)
    text = path.read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    done = run(build(path, optimised=False), "4,4,4,4")
    assert done.returncode == 1 and "WRONG" in done.stdout and done.stdout.endswith("FAILED\n")


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("name", ["wilson_axpby_tinv_half_r12_nr_n1__box_stream_b256m2", "norm2_double"])
def test_the_cuda_form_compiles(name, tmp_path):
    path = tmp_path / "kernel.cu"
    assert main(["export", name, "--out", str(path), "--lattice", "8,8,8,8"]) == 0
    assert "__launch_bounds__" in path.read_text() and '"8,8,8,8"' in path.read_text()
    build(path)


def test_an_exported_file_stands_alone(tmp_path):
    text = exported(tmp_path, "axpby_single").read_text()
    assert not re.search(r'#include "|#pragma once', text)
    assert max(map(len, text.splitlines())) <= 120
    text = exported(tmp_path, "wilson_tinv_half_r12_rotated_n1", "--lattice", "8,4,4,4").read_text()
    assert max(map(len, text.splitlines())) <= 120 and "make generate" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plaquette_double_r18"], "families hopping and update can be exported"),
        (["cg_residual_double"], "takes its coefficients from the scalars of a solver"),
        (["wilson_triple_r12_nr_n1"], "is not in profile full"),
        (["wilson_half_r12_nr_n1__b64m12_tfirst"], "no variant of wilson_half_r12_nr_n1"),
        (["wilson_half_r12_nr_n1__tfirst_b64m12", "--target", "cpu"], "use --target cuda"),
        (["wilson_half_r12_nr_n1__rows", "--target", "cuda"], "use --target cpu"),
        (["wilson_half_r12_nr_n1__box", "--target", "cuda"], "as in wilson_half_r12_nr_n1__box_b128m3"),
        (["wilson_half_r12_nr_n1__rows_b128m3"], "as in wilson_half_r12_nr_n1__box_b128m3"),
        (["wilson_half_r12_nr_n1", "--lattice", "8,8,8"], "four even extents"),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
