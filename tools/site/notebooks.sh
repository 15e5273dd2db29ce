#!/usr/bin/env bash
# Executes the notebooks whose results are older than they are, for the site: build/notebooks/NAME.md with pictures.
set -eu
cd "$(dirname "$0")/../.."
build=$1
if ! ls "$build"/python/quarksmith/_quarksmith*.so >/dev/null 2>&1; then
  echo "docs: notebooks are shown without results: these need the Python package (make python, then make docs)"
  exit 0
fi
export PATH="$(realpath "$build")/bin:$PATH" PYTHONPATH="$(realpath "$build")/python" OMPI_ALLOW_RUN_AS_ROOT=1 \
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for notebook in examples/notebooks/*.ipynb; do
  name=$(basename "$notebook" .ipynb)
  [ "build/notebooks/$name.md" -nt "$notebook" ] && continue
  echo "docs: executing $notebook"
  rm -rf "build/notebooks/run/$name" && mkdir -p "build/notebooks/run/$name"
  cp "$notebook" "build/notebooks/run/$name"
  .venv/bin/python -m nbconvert --execute --ExecutePreprocessor.timeout=3600 --CoalesceStreamsPreprocessor.enabled=True --to markdown \
    --output-dir build/notebooks "build/notebooks/run/$name/$name.ipynb" > build/notebooks/log 2>&1 || {
    cat build/notebooks/log
    exit 1
  }
  rm -rf "build/notebooks/run/$name"
done
