#!/usr/bin/env bash
# All C++ tests of a build on the GPUs of this machine: tools/test_gpu.sh BUILD [SHARDS] [FILTER]. Most of a test is a
# reference that computes on the host with one thread: as many parts run beside each other as there are processors, in
# turn on the GPUs; then the tests of ranks, one rank a GPU.
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
  for ((ranks = 1; ranks <= gpus; ranks *= 2)); do
    start=$SECONDS
    mpirun "${mpi_options[@]}" -n "$ranks" "$build/bin/quarksmith_ranks_tests" --gtest_brief=1 \
      "--gtest_filter=$filter" "--gtest_output=xml:$build/gpu_ranks$ranks.xml" > "$build/gpu_ranks$ranks.log" 2>&1
    status=$?
    runs+=("$status:$build/gpu_ranks$ranks.xml")
    [ $status = 0 ] || cat "$build/gpu_ranks$ranks.log"
    echo "tests of ranks on $ranks GPU(s): $((SECONDS - start)) s"
  done
fi
python=.venv/bin/python
[ -x $python ] || python=python3
exec $python tools/count_tests.py "${runs[@]}"
