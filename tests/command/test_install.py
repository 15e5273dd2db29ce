"""An installed library is found and used by other projects, in C++ and C."""

import re
import subprocess

import pytest
from conftest import BUILD, ROOT


def test_a_consumer_finds_the_installed_package(tmp_path):
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    assert (prefix / "bin" / "quarksmith").exists()
    assert (prefix / "include" / "quarksmith.h").exists()
    configure = ["cmake", "-S", ROOT / "tests/consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    for command in (configure, ["cmake", "--build", build]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
    for program, solves in (("consumer", 1), ("consumer_c", 2)):
        run = subprocess.run([build / program], capture_output=True, text=True, check=True)
        assert run.stdout.count("iterations, |b - M x| / |b| =") == solves, program
    run = subprocess.run([build / "consumer_kick"], capture_output=True, text=True, check=True)
    assert re.match(r"action -\d+\.\d+, momenta \d", run.stdout)


@pytest.mark.parametrize(("name", "page"), [("solve.c", "howto-c.md"), ("kick.c", "howto-forces.md")])
def test_the_example_of_the_docs_is_what_is_compiled(name, page):
    source = (ROOT / "tests/consumer" / name).read_text()
    shown = re.search(rf"/\* --- docs/{page} shows what follows --- \*/\n(.*)/\* --- end --- \*/", source, re.S)
    example = re.search(r"```c\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
    assert example.group(1) == shown.group(1)
