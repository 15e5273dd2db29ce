"""An installed library is found and used by another project."""

import subprocess

from conftest import BUILD, ROOT


def test_a_consumer_finds_the_installed_package(tmp_path):
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    assert (prefix / "bin" / "quarksmith").exists()
    configure = ["cmake", "-S", ROOT / "tests/consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    for command in (configure, ["cmake", "--build", build]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
    run = subprocess.run([build / "consumer"], capture_output=True, text=True, check=True)
    assert "iterations, |b - M x| / |b| =" in run.stdout
