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
QUARKSMITH_BUILD=$build .venv/bin/python -m pytest || status=1
skipped=$(grep -c "^\[  SKIPPED \] [A-Z]" "$build/tests.log")
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$build/tests.log")
echo "tests: C++ ${passed:-0} passed; $skipped skipped for want of data (QUARKSMITH_DATA); full output in $build/tests.log"
exit $status
