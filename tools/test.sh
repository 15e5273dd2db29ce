#!/usr/bin/env bash
# Runs all tests of a build folder. The last lines say what skipped tests want and count all of them together: C++, C,
# on several ranks, Python.
set -u
cd "$(dirname "$0")/.."
build=$1
runs=()
unset MAKEFLAGS MAKELEVEL MFLAGS  # tests start make on their own
export QUARKSMITH_ON_DEMAND=off   # a test that lacks a kernel is to fail

rm -f "$build"/tests*.xml
# In three parts side by side, since references compute with one thread: two of kernels and actions, which have all
# threads, and methods, of many steps on few sites, where these would only wait for each other. On a machine that is
# busy otherwise, threads that spin while they wait would take each other's processors.
kernels="Kernels/*:Devices/*:Actions/*"
for part in 0 1 2; do
  (
    export GOMP_SPINCOUNT=1000 OMP_WAIT_POLICY=passive GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$part
    tests=$kernels
    [ $part != 2 ] || { tests="-$kernels" && export OMP_NUM_THREADS=1 GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0; }
    exec "$build/bin/quarksmith_tests" --gtest_brief=1 "--gtest_filter=$tests" \
      "--gtest_output=xml:$build/tests$part.xml"
  ) > "$build/tests$part.log" 2>&1 &
  parts[part]=$!
done
for part in 0 1 2; do
  wait "${parts[part]}"
  runs+=("$?:$build/tests$part.xml")
done
cat "$build"/tests[012].log > "$build/tests.log" && rm "$build"/tests[012].log
grep -vE "^DATA|Skipped|^$|set QUARKSMITH_DATA|SKIPPED" "$build/tests.log"
# Damaged files, the same ones each time; `make fuzz` goes on from where it was.
"$build/bin/quarksmith_fuzz" --seconds 25 --workers 2 --seed 20261123 --keep "$build/fuzz"
runs+=("$?:quarksmith_fuzz")
# Several OpenMP teams share the processors there: waiting threads must not spin.
(cd "$build" && OMP_WAIT_POLICY=passive bin/quarksmith_c_tests)
runs+=("$?:quarksmith_c_tests")
# Ranks share the processors too: those that wait give way, and each computes with one thread.
if command -v mpirun >/dev/null && ldd "$build/bin/quarksmith" | grep -q libmpi; then
  options=()
  if mpirun --version 2>/dev/null | grep -q "Open MPI\|OpenRTE"; then
    options=(--allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none)
  fi
  for ranks in 1 2 4 8; do
    OMP_NUM_THREADS=1 mpirun "${options[@]}" -n $ranks \
      "$build/bin/quarksmith_ranks_tests" --gtest_brief=1 "--gtest_output=xml:$build/tests_ranks$ranks.xml" \
      > "$build/ranks.log" 2>&1
    status=$?
    runs+=("$status:$build/tests_ranks$ranks.xml")
    [ $status = 0 ] || cat "$build/ranks.log"
    grep -E "^ranks:" "$build/ranks.log"
  done
else
  echo "ranks: not tested on several processes: that needs mpirun and a build with MPI (openmpi-bin, libopenmpi-dev)"
fi
# Python tests, two or more at once where pytest-xdist is there; programs that they start have threads of their own.
# Those that measure times, and jobs of several ranks, follow one by one.
processors=$(nproc)
together=()
if [ "$processors" -gt 1 ] && .venv/bin/python -c "import xdist" 2>/dev/null; then
  together=(-n $((processors < 4 ? 2 : processors < 16 ? processors / 2 : 8)) --dist worksteal)
fi
export QUARKSMITH_BUILD=$build
.venv/bin/python -m pytest -m "not alone and not slow" "${together[@]}" "--junitxml=$build/tests_python.xml"
runs+=("$?:$build/tests_python.xml")
.venv/bin/python -m pytest -m "alone and not slow" "--junitxml=$build/tests_python_alone.xml"
runs+=("$?:$build/tests_python_alone.xml")
echo "logs: $build/tests.log, $build/tests*.xml"
exec .venv/bin/python tools/count_tests.py "${runs[@]}"
