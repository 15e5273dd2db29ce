"""What one rank of a program refuses in a call of QUDA ends all ranks, by one line."""

import subprocess
import time

import pytest
from conftest import BUILD
from test_ranks import AT_ONCE, ENVIRONMENT, LAUNCH, several_ranks  # noqa: F401  (fixture)

TESTS = BUILD / "bin/quarksmith_ranks_tests"


@pytest.mark.skipif(not TESTS.exists(), reason="the tests of ranks are not built")
def test_what_one_rank_refuses_ends_all(several_ranks):  # noqa: F811
    only = ("--gtest_also_run_disabled_tests", "--gtest_filter=QudaOnRanks.DISABLED_OneRankRefuses")
    start = time.monotonic()
    run = subprocess.run(
        [*LAUNCH, "-n", "2", TESTS, *only], capture_output=True, text=True, timeout=100, env=ENVIRONMENT
    )
    errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR: ")]
    assert run.returncode != 0 and time.monotonic() - start < AT_ONCE
    assert len(errors) == 1 and "loadGaugeQuda: i_mu" in errors[0] and "rank 1" in errors[0], run.stderr
