"""Kernels of profile wide that the default profile leaves out: some of them, others with each commit.

`make test-full` builds and tests all of them.
"""

import random
import subprocess

import pytest
from conftest import BUILD, ROOT

from generator.emit import ondemand
from generator.emit.build import read_build
from generator.profile import load_profile

COUNT = 2
pytestmark = pytest.mark.skipif(not (BUILD / "bin" / "quarksmith_tests").exists(), reason="the tests were not built")


def outside():
    """Names that the default profile lacks, in an order that the last commit chooses."""
    default = {spec.name for spec in load_profile("default").kernels}
    left = [spec for spec in load_profile("wide").kernels if spec.name not in default]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return random.Random(commit).sample(left, len(left))


def test_a_sample_agrees_with_the_reference():
    build = read_build(BUILD)
    specs = [spec for spec in outside() if spec.name not in build.kernels][:COUNT]
    if not specs:
        pytest.skip("the build has all kernels of profile wide")
    with ondemand.exclusive(build):
        module, _ = ondemand.compile_expressions(specs, build)
        try:
            for spec in specs:
                passed, failure = ondemand.run_tests(module, spec, build)
                assert passed > 0 and not failure, f"{spec.name}: {failure}"
        finally:
            ondemand.discard(module)
