#!/usr/bin/env bash
# Runs all tests of a build folder; the last line counts those that need data that are not here.
set -u
cd "$(dirname "$0")/.."
build=$1
status=0
"$build/bin/quarksmith_tests" --gtest_brief=1 > "$build/tests.log" 2>&1 || status=1
grep -vE "^DATA|Skipped|^$|set QUARKSMITH_DATA|SKIPPED" "$build/tests.log"
# Several OpenMP teams share the processors there: waiting threads must not spin.
(cd "$build" && OMP_WAIT_POLICY=passive bin/quarksmith_c_tests) || status=1
# Ranks share the processors too: those that wait give way, and each computes with one thread.
if command -v mpirun >/dev/null; then
  for ranks in 1 2 4 8; do
    OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none -n $ranks \
      "$build/bin/quarksmith_ranks_tests" --gtest_brief=1 > "$build/ranks.log" 2>&1 ||
      { status=1; cat "$build/ranks.log"; }
    grep -E "^ranks:" "$build/ranks.log"
  done
else
  echo "ranks: not tested on several processes: mpirun is missing (openmpi-bin)"
fi
QUARKSMITH_BUILD=$build .venv/bin/python -m pytest || status=1
skipped=$(grep -c "^\[  SKIPPED \] [A-Z]" "$build/tests.log")
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$build/tests.log")
echo "tests: C++ ${passed:-0} passed; $skipped skipped for want of data (QUARKSMITH_DATA); full output in $build/tests.log"
exit $status
