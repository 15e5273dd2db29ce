#!/usr/bin/env bash
# Runs all tests of a build folder. The last lines say what skipped tests want and count all of them together: C++, C,
# on several ranks, Python.
set -u
cd "$(dirname "$0")/.."
. tools/mpi.sh
build=$1
runs=()
# Tests start make on their own, with the variables that they are about.
unset MAKEFLAGS MAKELEVEL MFLAGS PROFILE CPU CUDA HIP BUILD PREFIX DEVICES CMAKE_FLAGS CUDA_FLAGS SHARED TESTS
export QUARKSMITH_ON_DEMAND=off   # a test that lacks a kernel is to fail

rm -f "$build"/tests*.xml
processors=$(nproc)
wide=$(grep "^QUARKSMITH_PROFILE:STRING=wide$" "$build/CMakeCache.txt" 2>/dev/null)

# start NAME RESULT COMMAND...: runs it beside others, with its output in NAME.log. Threads and ranks that spin while
# they wait would take each other's processors.
start() {
  local name=$1 result=$2
  shift 2
  OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=1000 "$@" > "$build/$name.log" 2>&1 &
  started+=("$!:$name:$result")
}

# Waits for all of them.
finish() {
  local job pid name result
  for job in "${started[@]}"; do
    IFS=: read -r pid name result <<< "$job"
    wait "$pid"
    runs+=("$?:$result")
  done
}

# cpp_tests NAME FILTER VARIABLE=VALUE...: with its result in NAME.xml.
cpp_tests() {
  local name=$1 filter=$2
  shift 2
  [ $# = 0 ] || export "$@"
  exec "$build/bin/quarksmith_tests" --gtest_brief=1 "--gtest_filter=$filter" "--gtest_output=xml:$build/$name.xml"
}

# Files are flushed to the disk, which takes most of the time of small ones: in memory, where there is enough.
in_memory=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || [ "$(df -m --output=avail /dev/shm | tail -1)" -lt 512 ] || in_memory=/dev/shm
fuzz() {
  export TMPDIR=$in_memory
  exec "$build/bin/quarksmith_fuzz" --files 48000 --workers 2 --seed 20261123 --keep "$build/fuzz"
}

c_tests() { cd "$build" && OMP_NUM_THREADS=1 exec bin/quarksmith_c_tests; }

# Each rank computes with one thread, and gives way while it waits.
on_ranks() {
  local ranks=$1 name=${3:-ranks$1} options=("${mpi_options[@]}")
  [ ${#options[@]} = 0 ] || options+=(--oversubscribe --mca mpi_yield_when_idle 1)
  TMPDIR=$in_memory OMP_NUM_THREADS=1 mpirun "${options[@]}" -n "$ranks" "$build/bin/quarksmith_ranks_tests" \
    --gtest_brief=1 "--gtest_filter=${2:-*}" "--gtest_output=xml:$build/tests_$name.xml"
}

# Two hosts of so many ranks, in namespaces where these can be made, else by the library's variable for tests.
on_hosts() {
  export OMP_NUM_THREADS=1 QUARKSMITH_TEST_HOSTS=2 TMPDIR=$in_memory
  tools/hosts.sh "$1" "$build/bin/quarksmith_ranks_tests" --gtest_brief=1 "--gtest_filter=$2" \
    "--gtest_output=xml:$build/tests_hosts2x$1.xml"
  local status=$?
  [ $status = 77 ] || return $status
  QUARKSMITH_HOSTS=2 on_ranks $((2 * $1)) "$2" "hosts2x$1"
}

several=""
if command -v mpirun >/dev/null && ldd "$build/bin/quarksmith" | grep -q libmpi; then several=yes; fi
# In three parts, with one thread each: more of them would only wait for each other's processors. Some of the kernels
# follow with all threads. Damaged files are the same ones each time; `make fuzz` goes on from where it was.
kernels="Kernels/*:Devices/*:Actions/*"
long=":MultigridSolve.ALightBrillouin*" one="*-Lattices/ExpressionsOnParts*"  # what profile wide has as well
[ -z "$wide" ] || long="" one="*"
started=()
for part in 0 1; do
  start tests$part "$build/tests$part.xml" \
    cpp_tests tests$part "$kernels" OMP_NUM_THREADS=1 GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$part
done
start tests2 "$build/tests2.xml" cpp_tests tests2 "-$kernels$long" OMP_NUM_THREADS=1
start fuzz quarksmith_fuzz fuzz
start c_tests quarksmith_c_tests c_tests
[ -z "$several" ] || start ranks1 "$build/tests_ranks1.xml" on_ranks 1 "$one"
finish
started=()
start tests3 "$build/tests3.xml" cpp_tests tests3 "Kernels/*" GTEST_TOTAL_SHARDS=16 GTEST_SHARD_INDEX=7
finish
cat "$build"/tests[0123].log > "$build/tests.log" && rm "$build"/tests[0123].log
grep -vE "^DATA|Skipped|^$|set QUARKSMITH_DATA|SKIPPED" "$build/tests.log"
cat "$build/fuzz.log" "$build/c_tests.log"
if [ -n "$several" ]; then
  # What is made of hops, expressions and sums is left to two ranks where four and eight share few processors: its parts
  # are tested on them. Of several hosts, too, what exchanges and adds up (docs/howto-ranks.md has the commands of all).
  exchange="Communicator.*:Halos.*:Hopping.Parts*:Hopping.Several*:Solvers.*AnyGrid:RankFiles.PropagatorsHold*"
  parts="SmearingOfParts*:ForcesOnParts*:Staggered*:DomainWallOnRanks*:CorrelatorsOfParts*:Solvers.*TwistedMass:\
Solvers.HaveTheResidual*:RankFiles.Damage*:RankFiles.Propagators*:MultigridOnRanks*:Lattices/ExpressionsOnParts*"
  filters=([2]="*" [4]="*" [8]="*") shapes=2
  [ "$processors" -ge 8 ] || filters[4]="-Lattices/ExpressionsOnParts*/4x8x4x8:Staggered*:DomainWallOnRanks*"
  [ "$processors" -ge 8 ] || filters[8]="-$parts"
  [ -z "$wide" ] || exchange="*" shapes="1 2"
  for ranks in 2 4 8; do
    started=()
    start ranks$ranks "$build/tests_ranks$ranks.xml" on_ranks $ranks "${filters[ranks]}"
    finish
  done
  for ranks in $shapes; do
    started=()
    start hosts2x$ranks "$build/tests_hosts2x$ranks.xml" on_hosts $ranks "$exchange"
    finish
  done
  for run in "${runs[@]}"; do
    case $run in
      0:*) ;;
      *tests_ranks* | *tests_hosts*) log=${run##*tests_} && cat "$build/${log%.xml}.log" ;;
    esac
  done
  grep -hE "^ranks:" "$build"/ranks[1248].log "$build"/hosts*.log
else
  echo "ranks: not tested on several processes: that needs mpirun and a build with MPI (openmpi-bin, libopenmpi-dev)"
fi
# Python tests, several at once where pytest-xdist is there; programs that they start have threads of their own, and
# many wait: for files, for signals, for the start of ranks. Those that measure times follow one by one.
together=()
# pytest-xdist before 3.2, as Debian 12 has it, knows no worksteal.
how="import xdist; print('worksteal' if tuple(map(int, xdist.__version__.split('.')[:2])) >= (3, 2) else 'load')"
if [ "$processors" -gt 1 ] && how=$(.venv/bin/python -c "$how" 2>/dev/null); then
  together=(-n $((processors < 4 ? processors + 1 : processors < 16 ? processors / 2 : 8)) --dist "$how")
fi
export QUARKSMITH_BUILD=$build
export OPENBLAS_NUM_THREADS=1  # NumPy's matrices are small: its threads would only wait for each other
# Whole runs, of which one part shows the same, are left to profile wide (make test-full).
few="not slow and not full"
[ -z "$wide" ] || few="not slow"
.venv/bin/python -m pytest -m "not alone and $few" "${together[@]}" "--junitxml=$build/tests_python.xml"
runs+=("$?:$build/tests_python.xml")
mapfile -t files < <(grep -rl --include="test_*.py" "mark\.alone" tests)
.venv/bin/python -m pytest -m "alone and $few" "${files[@]}" "--junitxml=$build/tests_python_alone.xml"
runs+=("$?:$build/tests_python_alone.xml")
echo "logs: $build/tests.log, $build/tests*.xml"
exec .venv/bin/python tools/count_tests.py "${runs[@]}"
