#!/usr/bin/env bash
# Format and lint of hand-written code, rules of the tree, generated/ up to date. With --fix: formats in place.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
$python -c "import ruff, mypy" 2>/dev/null && [ -x .venv/bin/clang-format ] ||
  $python -m pip install -q --disable-pip-version-check ruff==0.8.4 mypy==1.13.0 clang-format==18.1.8
sources=$(git ls-files 'runtime/*.?pp' 'solvers/*.?pp' 'interface/*.?pp' 'interface/*.h' 'runs/*.?pp' 'apps/*.?pp' 'python/*.?pp' 'tests/*.?pp' 'tests/*.[ch]')
if [ "${1:-}" = --fix ]; then
  .venv/bin/clang-format -i $sources
  .venv/bin/ruff format -q generator python tests tools examples
  .venv/bin/ruff check -q --fix generator python tests tools examples
  exit
fi
.venv/bin/clang-format --dry-run -Werror $sources
.venv/bin/ruff format -q --check generator python tests tools examples
.venv/bin/ruff check -q generator python tests tools examples
.venv/bin/mypy
$python -m pytest tests/generator
$python -m generator generate
changed=$(git status --porcelain generated docs/actions.md)
if [ -n "$changed" ]; then
  echo "check: generated/ or docs/actions.md differs from what is committed; commit the result of 'make generate':" >&2
  echo "$changed" >&2
  exit 1
fi
echo "check: passed"
