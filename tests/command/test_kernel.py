"""Kernels compiled on demand: python -m generator kernel."""

import dataclasses
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT
from tree import program

from generator.__main__ import main
from generator.algebra.projector import factorise
from generator.emit import ondemand
from generator.emit.build import read_build
from generator.operators import hopping
from generator.profile import load_profile

needs_build = pytest.mark.skipif(not (BUILD / "bin" / "quarksmith_tests").exists(), reason="the tests were not built")
FULL = load_profile("full")


@needs_build
@pytest.mark.parametrize(
    "name",
    [
        "wilson_taxpby_quarter_r8_rotated_n2__complex",
        "staggered_dagger_bits24_r18_n4",
        "scale_bits20",
    ],
)
def test_any_kernel_is_compiled_and_tested(name, capsys):
    assert main(["kernel", name, "--build", str(BUILD)]) == 0
    first = capsys.readouterr().out
    assert re.search(rf"kernel {name}: (compiled|found).*; [1-9]\d* tests passed", first)
    assert main(["kernel", name, "--build", str(BUILD)]) == 0
    assert "found in the cache" in capsys.readouterr().out


SIGNS = {
    "laplace4_single_r12_n1": ("laplace4.hpp", "+= h[0]", "-= h[0]"),  # of one hop
    "wilson_tinv_double_r8_nr_n1": (
        "wilson_nr.hpp",
        "psi[0] + times_i(psi[3])",
        "psi[0] - times_i(psi[3])",
    ),
    "set_staple_double": ("set_staple.hpp", "walk<+1, -1>(a, x, mu, nu)", "walk<+1, +1>(a, x, mu, nu)"),
    "plaquette_double_r18": ("plaquette.hpp", "adj(u_y_5 * u_x_at_py_5)", "(u_y_5 * u_x_at_py_5)"),
}
"""Kernels, and an error in the text of each."""
LEAF = {
    "set_clover_double": (
        "set_clover.hpp",
        "s1 = m1_mu * m2_nu_at_pmu * adj(m1_mu_at_pnu) * adj(m2_nu);",
        "s1 = m2_nu * m1_mu_at_pnu * adj(m2_nu_at_pmu) * adj(m1_mu);",
    )
}
"""One leaf turned round: +y +x -y -x instead of +x +y -x -y."""
TABLES = {
    "laplace4_single_r12_n1": (1, lambda hop: {"matrix": -hop.matrix, "factors": factorise(-hop.matrix)}),
    "staggered_single_r18_n1": (4, lambda hop: {"phase": hop.phase[1:]}),
}
"""Kernels, and an error in one of their hops, which the tables beside them have, too."""


def plant(texts, monkeypatch):
    """Errors in what is rendered."""
    rendered = ondemand._render

    def planted(specs, build):
        files = rendered(specs, build)
        for file, right, wrong in texts:
            path = next(p for p in files if p.name == file)
            assert right in files[path]
            files[path] = files[path].replace(right, wrong, 1)
        return files

    monkeypatch.setattr(ondemand, "_render", planted)


def failures(names):
    """Which of these kernels fail their tests, compiled together."""
    build, specs = read_build(BUILD), [FULL.find(name) for name in names]
    needed = [s for spec in specs for s in ondemand.support(spec) if s.name not in build.kernels]
    module, _ = ondemand.compile_module(list(dict.fromkeys([*specs, *needed])), build)
    try:
        results = {spec.name: ondemand.run_tests(module, spec, build)[1] for spec in specs}
    finally:
        ondemand.discard(module)
    return {name for name, failure in results.items() if "Failure" in failure}


@needs_build
def test_planted_errors_fail_the_tests(monkeypatch):
    plant(SIGNS.values(), monkeypatch)
    assert failures(SIGNS) == SIGNS.keys()


@needs_build
def test_a_kernel_that_fails_its_tests_is_not_kept(monkeypatch, capsys):
    (name,) = LEAF
    plant(LEAF.values(), monkeypatch)
    assert main(["kernel", name, "--build", str(BUILD)]) == 1
    message = capsys.readouterr().err
    assert "Failure" in message and f"kernel {name} " in message
    assert not Path(re.search(r"\((.*/module.so)\) fails", message)[1]).exists()


@needs_build
def test_errors_that_kernels_and_tables_share_fail_the_tests(monkeypatch):
    """What the reference multiplies by comes from the tests, not from the generator."""
    monkeypatch.setattr("generator.emit.render._bodies", {})  # bodies that other tests rendered are right
    right = hopping._hops

    def wrong(operator, basis, dagger):
        hops = list(right(operator, basis, dagger))
        for name, (number, change) in TABLES.items():
            if name.startswith(operator.name):
                hops[number] = dataclasses.replace(hops[number], **change(hops[number]))
        return hops

    monkeypatch.setattr(hopping, "_hops", wrong)
    assert failures(TABLES) == TABLES.keys()


def test_what_cannot_be_made_is_refused(capsys, tmp_path, monkeypatch):
    assert main(["kernel", "wilson_triple_r12_nr_n1", "--build", str(BUILD)]) == 2
    assert "is not in profile full" in capsys.readouterr().err
    assert main(["kernel", "axpby_quarter", "--build", str(tmp_path)]) == 2
    assert "holds no build" in capsys.readouterr().err


@needs_build
def test_a_compiler_error_is_reported_and_leaves_no_module(monkeypatch, tmp_path):
    build = dataclasses.replace(read_build(BUILD), folder=tmp_path)
    spec = FULL.find("axpby_quarter")
    monkeypatch.setattr(ondemand, "render_group", lambda *_: "this is no C++\n")
    with pytest.raises(ondemand.CompileError, match="does not name a type|error"):
        ondemand.compile_kernel(spec, build)
    assert not list((tmp_path / "kernels").glob("*"))


@needs_build
def test_the_cache_gives_only_what_was_built_and_two_that_build_do_not_disturb_each_other(monkeypatch, tmp_path):
    build = dataclasses.replace(read_build(BUILD), folder=tmp_path)
    spec, compiled, other = FULL.find("scale_bits20"), ondemand._compile, []

    def compile_late(work, build):
        compiled(work, build)
        if not other:  # another process is quicker; programs have its module open
            other.append(None)
            other[0] = ondemand.compile_kernel(spec, build)[0].stat().st_ino

    monkeypatch.setattr(ondemand, "_compile", compile_late)
    module, _ = ondemand.compile_kernel(spec, build)
    assert module.stat().st_ino == other[0]
    assert [p.name for p in (tmp_path / "kernels").iterdir()] == [module.parent.name]
    assert not ondemand.compile_kernel(spec, build)[1], "the cache has it"
    module.write_bytes(b"planted")
    with pytest.raises(ondemand.CompileError, match="not what was built.*; delete"):
        ondemand.compile_kernel(spec, build)
    ondemand.record_module(module)
    module.chmod(0o666)
    with pytest.raises(ondemand.CompileError, match="written by others"):
        ondemand.compile_kernel(spec, build)


def test_every_kernel_of_full_has_its_support_and_its_tests():
    names = {s.name for s in FULL.kernels}
    for spec in FULL.kernels:
        assert {s.name for s in ondemand.support(spec)} <= names
        assert ondemand.tests_of(spec)


MEASURE = ("bench", "--lattice", "4,4,4,4", "--only", "scale_bits20", "--seconds", "0.001", "--device", "cpu")


def built(folder, text=""):
    """A shared library in `folder` with its digest, as `make kernel` leaves it; without text that of a real kernel."""
    module = folder / "module.so"
    if text:
        (folder / "module.cpp").write_text(text)
        words = ["g++", "-std=c++20", "-shared", "-fPIC", f"-I{ROOT}", folder / "module.cpp", "-o", module]
        subprocess.run(words, check=True)
    else:
        made, _ = ondemand.compile_kernel(FULL.find("scale_bits20"), read_build(BUILD))
        module.write_bytes(made.read_bytes())
    ondemand.record_module(module)
    return module


def refusal(quarksmith, module):
    message = quarksmith.refuses(*MEASURE, status=1, env={**os.environ, "QUARKSMITH_KERNELS": str(module)})
    assert "make kernel" in message and str(module) in message
    return message


@needs_build
def test_a_module_is_loaded_as_it_was_built_and_not_otherwise(quarksmith, tmp_path):
    module = built(tmp_path)
    environment = {**os.environ, "QUARKSMITH_KERNELS": str(module)}
    assert "scale_bits20" in quarksmith(*MEASURE, env=environment).stdout
    with module.open("ab") as file:
        file.write(b"x")
    assert "not what was built" in refusal(quarksmith, module)
    ondemand.record_module(module)
    quarksmith(*MEASURE, env=environment)
    module.chmod(0o664)
    assert "can be written by others" in refusal(quarksmith, module)
    module.chmod(0o644)
    tmp_path.chmod(0o777)
    assert "can be written by others" in refusal(quarksmith, module)
    tmp_path.chmod(0o755)
    tmp_path.parent.chmod(0o777)
    assert "can be written by others" in refusal(quarksmith, module)
    tmp_path.parent.chmod(0o700)
    (tmp_path / "module.so.sha256").unlink()
    assert "is missing" in refusal(quarksmith, module)
    if os.geteuid() == 0:
        ondemand.record_module(module)
        os.chown(module, 12345, -1)
        assert "belongs to user 12345" in refusal(quarksmith, module)


@needs_build
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int nothing;", "no module of this version"),
        ('extern "C" const void* quarksmith_kernel_module() { return nullptr; }', "no module of this version"),
        (
            '#include "runtime/registry.hpp"\nusing quarksmith::KernelModule;\n'
            'extern "C" const KernelModule* quarksmith_kernel_module() {\n'
            "  static const KernelModule none{KernelModule::current_layout, {}, {}, {}, {}, {}};\n"
            "  return &none;\n}\n",
            "holds no kernels",
        ),
    ],
)
def test_a_library_without_kernels_is_refused(text, message, quarksmith, tmp_path):
    assert message in refusal(quarksmith, built(tmp_path, text))


@needs_build
def test_a_file_that_is_no_module_is_refused(quarksmith, tmp_path):
    (tmp_path / "module.so").write_text("no library")
    assert "is missing" in refusal(quarksmith, tmp_path / "module.so")
    ondemand.record_module(tmp_path / "module.so")
    refusal(quarksmith, tmp_path / "module.so")
    refusal(quarksmith, tmp_path / "gone.so")


def test_the_lock_of_the_cache_is_no_way_to_other_files(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "kernels").mkdir(mode=0o700)
    (tmp_path / "kernels/lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), ondemand.exclusive(ondemand.Build(tmp_path, {}, frozenset())):
        pass
    (tmp_path / "kernels/lock").unlink()
    (tmp_path / "kernels/lock").hardlink_to(tmp_path / "precious")
    with ondemand.exclusive(ondemand.Build(tmp_path, {}, frozenset())):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_cache_in_which_others_write_is_not_used(tmp_path):
    shared, cache = tmp_path / "shared", tmp_path / "shared/mine/kernels"
    ondemand.open_cache(cache)
    shared.chmod(0o777)
    with pytest.raises(ondemand.CompileError, match=r"shared can be written by others \(chmod o-w\)"):
        ondemand.open_cache(cache)
    shared.chmod(0o1777)  # as /tmp: what lies there is its owner's
    ondemand.open_cache(cache)
    if os.geteuid() == 0:
        os.chown(shared, 12345, -1)  # who may rename what lies there
        with pytest.raises(ondemand.CompileError, match="shared belongs to user 12345"):
            ondemand.open_cache(cache)
        shared.chmod(0o755)  # of a project, say
        ondemand.open_cache(cache)
        os.chown(cache, 12345, -1)
        with pytest.raises(ondemand.CompileError, match="kernels belongs to user 12345"):
            ondemand.open_cache(cache)


@pytest.mark.parametrize(("value", "base"), [("relative", ".cache"), ("", ".cache"), ("{}/absolute", "absolute")])
def test_a_cache_of_the_user_lies_where_the_specification_says(value, base, tmp_path, monkeypatch):
    """XDG Base Directory Specification: relative paths are invalid and to be ignored."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", value.format(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    cache = ondemand.Build(tmp_path, {}, frozenset()).cache
    assert cache == tmp_path / base / "quarksmith/kernels"


PWNED = ["NAME=x; touch pwned", "NAME=`touch pwned`", "NAME=$(shell touch pwned)", "NAME=x\ntouch pwned", "NAME='x"]
PWNED += ["ONLY=a|touch pwned", "PROFILE=x;touch pwned", 'DEVICES=a"b', "BUILD=a&touch pwned", "BUDGET=1>pwned"]
PWNED += [
    "CUDA_FLAGS=-O2; touch pwned",
    "CUDA_FLAGS=$(shell touch pwned)",
    "CMAKE_FLAGS=`touch pwned`",
    "CMAKE_FLAGS=a\nb",
]
PWNED += [
    "OVERWRITE=1 touch pwned",
    "OVERWRITE=;touch pwned",
    "PYTHON=touch pwned",
    "PREFIX=/tmp/*",
    "CMAKE_FLAGS=a\nb",
]


@pytest.mark.parametrize("value", PWNED)
def test_make_hands_no_value_to_a_shell_that_would_take_it_apart(value):
    done = subprocess.run(["make", "-n", "kernel", value], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and re.search(r"ha(s|ve) no place there|several lines", done.stderr)
    assert not done.stdout and not (ROOT / "pwned").exists()


def test_kernels_are_tested_without_building_all_tests(tmp_path):
    line = ["make", "-n", "kernel", "NAME=x", f"BUILD={tmp_path}"]
    said = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = re.search(rf"cmake --build {tmp_path} --target (.*)", said)[1].split()
    assert targets == ["quarksmith", "quarksmith_kernel_tests"]


def test_flags_of_several_words_arrive_as_they_were_given(tmp_path):
    """CMake and the command print what they are called with: nothing runs in it, and quotes hold words together."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("bin/cmake", "build/bin/quarksmith"):
        program(tmp_path / name, '#!/bin/sh\necho "-- Targets"\nfor word; do echo "<$word>"; done\n')
    for name in ("tools/setup.sh", "python"):
        program(tmp_path / name, "#!/bin/sh\n")
    cuda = '-gencode=arch=compute_90,code=[sm_90,compute_90] -Xcompiler="-Wall -g"'
    given = [f"CUDA_FLAGS={cuda}", "CMAKE_FLAGS=-DA='b \"c\"' -DL=1;2", "BENCH=--only 'a; touch pwned' --rotate"]
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    command = ["make", "-C", tmp_path, "bench", "PYTHON=./python", *given]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    log = (tmp_path / "build/configure.log").read_text()
    assert f"<-DCMAKE_CUDA_FLAGS={cuda}>" in log and '<-DA=b "c">\n<-DL=1;2>\n' in log, done.stderr
    assert "<--only>\n<a; touch pwned>\n<--rotate>" in done.stdout and not (tmp_path / "pwned").exists(), done.stdout
