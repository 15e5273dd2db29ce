"""What is said of kernels that a program asked for."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from generator.emit import asked
from generator.emit.ondemand import CompileError
from generator.operators import kernel

NONE_RAN = "Note: Google Test filter = x\n[==========] 0 tests from 0 test suites ran.\n[  PASSED  ] 0 tests."


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no test ran", "is untested, as no test of it ran"),
        (NONE_RAN, "is untested, as no test of it ran"),
        ("[  FAILED  ] 1 test, listed below:\n[  PASSED  ] 0 tests.", "fails its tests"),
        ("Segmentation fault", "fails its tests"),
    ],
)
def test_a_kernel_without_a_test_does_not_fail_tests(monkeypatch, tmp_path: Path, output, said):
    module, spec = tmp_path / "module.so", kernel("wilson", "double", "r18")
    monkeypatch.setattr(asked, "run_tests", lambda *given: (0, output))
    monkeypatch.setattr(asked, "discard", lambda module: None)
    with pytest.raises(CompileError) as refused:
        asked._test([(module, spec)], SimpleNamespace(tests=module))
    assert str(refused.value) == f"{output}\nkernel {spec.name} ({module}) {said}"
