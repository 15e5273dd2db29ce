#!/usr/bin/env bash
# All C++ tests of a build on the GPUs of this machine: tools/test_gpu.sh BUILD [SHARDS] [FILTER]. Most of a test is a
# reference that computes on the host with one thread: as many parts run beside each other as there are processors, in
# turn on the GPUs; then the tests of ranks, one rank a GPU, and on several also as two hosts; at last two ranks a GPU as
# two hosts, the tests of hopping terms alone, since kernels of such ranks wait for each other's turn.
set -u
cd "$(dirname "$0")/.."
. tools/mpi.sh
if [ $# = 0 ]; then
  echo "usage: tools/test_gpu.sh BUILD [SHARDS] [FILTER]" >&2
  exit 2
fi
build=$1
shards=${2:-$(nproc)}
filter=${3:-*}
gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l)
if [ "$gpus" = 0 ]; then
  echo "tools/test_gpu.sh: nvidia-smi lists no GPU; tools/test.sh $build runs all tests without one" >&2
  exit 1
fi
# A test that lacks a kernel is to fail.
export QUARKSMITH_ON_DEMAND=off QUARKSMITH_TEST_DEVICE=cuda OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
runs=()
rm -f "$build"/gpu_*.xml "$build"/gpu_*.log
start=$SECONDS
export GTEST_TOTAL_SHARDS=$shards
for ((part = 0; part < shards; ++part)); do
  CUDA_VISIBLE_DEVICES=$((part % gpus)) GTEST_SHARD_INDEX=$part "$build/bin/quarksmith_tests" --gtest_brief=1 \
    "--gtest_filter=$filter" "--gtest_output=xml:$build/gpu_$part.xml" > "$build/gpu_$part.log" 2>&1 &
  started[part]=$!
done
for ((part = 0; part < shards; ++part)); do
  wait "${started[part]}"
  status=$?
  runs+=("$status:$build/gpu_$part.xml")
  [ $status = 0 ] || grep -vE "^DATA|Skipped|SKIPPED|^$" "$build/gpu_$part.log"
done
unset GTEST_TOTAL_SHARDS
echo "tests in $shards parts on $gpus GPU(s): $((SECONDS - start)) s"
if ldd "$build/bin/quarksmith" | grep -q libmpi && command -v mpirun > /dev/null; then
  # on_ranks RANKS HOSTS FILTER
  on_ranks() {
    local start=$SECONDS name=gpu_ranks$1_hosts$2
    QUARKSMITH_HOSTS=$2 QUARKSMITH_TEST_HOSTS=$2 mpirun "${mpi_options[@]}" ${mpi_options:+--oversubscribe} -n "$1" \
      "$build/bin/quarksmith_ranks_tests" --gtest_brief=1 "--gtest_filter=$3" "--gtest_output=xml:$build/$name.xml" \
      > "$build/$name.log" 2>&1
    local status=$?
    runs+=("$status:$build/$name.xml")
    [ $status = 0 ] || cat "$build/$name.log"
    echo "tests of $1 rank(s) on $2 host(s): $((SECONDS - start)) s"
  }
  for ((ranks = 1; ranks <= gpus; ranks *= 2)); do
    on_ranks $ranks 1 "$filter"
    [ $ranks = 1 ] || on_ranks $ranks 2 "$filter"
  done
  [ "$gpus" = 1 ] || on_ranks $((2 * gpus)) 2 "Communicator.*:Halos.*:Hopping.SeveralRightHandSides"
fi
python=.venv/bin/python
[ -x $python ] || python=python3
exec $python tools/count_tests.py "${runs[@]}"
