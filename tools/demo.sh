#!/usr/bin/env bash
# The main job in one go: generate, build, thermalise, solve, plot. The build
# lies in a folder of its own within the build folder, whose host objects it shares with the full library.
set -eu
cd "$(dirname "$0")/.."
out=demo
build=${1:-build}/dev
if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then device=cuda; else device=cpu; fi
mkdir -p $out

step() { printf '\n== %s\n' "$*"; }
step "1. Generate kernels and build the library (profile dev)"
make --no-print-directory beside BESIDE=dev BUILD="${1:-build}"
quarksmith=$build/bin/quarksmith

step "2. Tune: which order of sites is fastest on this machine"
.venv/bin/python -m generator sweep --quick --profile dev --device $device --build $build --out $build/generated --only wilson_double
make --no-print-directory beside BESIDE=dev BUILD="${1:-build}" | tail -1
$quarksmith devices

step "3. Thermalise a quenched 8^3x16 lattice at beta 6.0"
$quarksmith heatbath --lattice 8,8,8,16 --beta 6.0 --start cold --sweeps 300 --overrelax 4 --seed 1 --out $out/quenched --json $out/heatbath.json --overwrite
gauge=$out/quenched_00300.ildg
$quarksmith info $gauge

step "4. Solve for the quark propagator, twelve columns"
$quarksmith propagator --gauge $gauge --kappa 0.150 --tol 1e-10 --source point:0,0,0,0 --out $out/propagator.h5 --correlators $out/correlators.json --overwrite

step "5. Plot"
.venv/bin/python tools/plots correlators $out/correlators.json --out $out/correlators.png
.venv/bin/python tools/plots history $out/heatbath.json --out $out/heatbath.png

step "Made in $out/"
ls -1 $out
cat <<END

Next:
  $quarksmith --help                                    all commands
  $quarksmith propagator --help                         sources, sinks, solvers, precisions
  make library                                          the full library (profile default) in build/
  make library PROFILE=my.toml                          your own set of kernels; see docs/howto-profile.md
  make test                                             prove it
END
