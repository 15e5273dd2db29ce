#!/usr/bin/env bash
# Fuzzes the readers of a build with sanitizers for FUZZ_SECONDS on all processors, going on where the last run ended;
# then, if there is a command, kills its runs twenty times each. Files that were not refused as they must be are kept.
set -u
cd "$(dirname "$0")/.."
readers=$1
build=$2
seconds=${FUZZ_SECONDS:-3600}
status=0
QUARKSMITH_FUZZ_SECONDS=$((seconds / 20 + 1)) .venv/bin/python -m pytest tests/generator/test_fuzz.py || status=1
"$readers/bin/quarksmith_fuzz" --seconds "$seconds" --workers "$(nproc)" --keep "$readers/kept" --resume || status=1
if [ -x "$build/bin/quarksmith" ]; then
  QUARKSMITH_BUILD=$build .venv/bin/python -m pytest -m slow tests/command || status=1
else
  echo "fuzz: runs are not killed: $build/bin/quarksmith is missing (make library)"
fi
exit $status
