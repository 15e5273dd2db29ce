#!/usr/bin/env bash
# Measures how a host scales, from one GPU to all: tools/measure_host.sh BUILD FOLDER [GPUS...]. Hopping terms, CG and
# BiCGstab, multigrid, trajectories, on 32^3x64 or that lattice on each GPU. Every step leaves a file in FOLDER when it is
# done, and is skipped where that is there: an interrupted run goes on. STEPS="hops solves" makes some alone.
# tools/scaling_tables.py FOLDER prints the tables of docs/performance.md.
set -u
cd "$(dirname "$0")/.."
. tools/mpi.sh
if [ $# -lt 2 ]; then
  echo "usage: tools/measure_host.sh BUILD FOLDER [GPUS...]" >&2
  exit 2
fi
run=$(realpath "$1")/bin/quarksmith
if [ ! -x "$run" ]; then
  echo "tools/measure_host.sh: $run is missing; make library BUILD=$1 builds it" >&2
  exit 2
fi
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
here=$(nvidia-smi --list-gpus 2>/dev/null | wc -l)
if [ "$here" = 0 ]; then
  echo "tools/measure_host.sh: nvidia-smi lists no GPU" >&2
  exit 1
fi
[ $# -gt 0 ] || for ((n = 1; n <= here; n *= 2)); do set -- "$@" $n; done
steps=${STEPS:-hops solves hmc multigrid}
seconds=${SECONDS_EACH:-0.1}
lattice=32,32,32,64
failed=0

# step NAME GPUS COMMAND...: with its JSON in NAME.json, and what it says in NAME.log.
step() {
  local name=$1 gpus=$2
  shift 2
  [ ! -e "$folder/$name.json" ] || return 0
  echo "$name: $*"
  local launch=()
  [ "$gpus" = 1 ] || launch=(mpirun "${mpi_options[@]}" -n "$gpus")
  if ! (cd "$folder" && "${launch[@]}" "$run" "$@" --json "$name.json" --overwrite > "$name.log" 2>&1); then
    tail -n 3 "$folder/$name.log" >&2
    failed=1
  fi
}

# Grids that split t, z, and x, and of four ranks also two directions.
grids_of() {
  case $1 in
    1) echo 1,1,1,1 ;;
    2) echo 1,1,1,2 1,1,2,1 2,1,1,1 ;;
    4) echo 1,1,1,4 1,1,2,2 2,2,1,1 ;;
    *) echo 1,1,2,$(($1 / 2)) ;;
  esac
}

heatbath() {  # FILE SWEEPS BETA
  [ -e "$folder/$1.ildg" ] && return 0
  (cd "$folder" && "$run" heatbath --lattice $lattice --beta "$3" --start hot --sweeps "$2" --overrelax 4 --seed 11 \
    --out part --overwrite --quiet && mv part_*.ildg "$1.ildg") || failed=1
}

for n in "$@"; do
  main=$(grids_of "$n" | cut -d' ' -f1)
  for what in $steps; do
    case $what in
      hops)
        for grid in $(grids_of "$n"); do
          step "strong_${n}_${grid//,/}" "$n" scaling --lattice $lattice --grid "$grid" --batch 1,12 --seconds "$seconds"
        done
        [ "$n" = 1 ] || step "weak_$n" "$n" scaling --local --lattice $lattice --grid "$main" --seconds "$seconds"
        ;;
      solves)
        step "cg_$n" "$n" solve-bench --gauge peer-random:$lattice:1 --mass -0.85 --tol 1e-8 --criterion normal \
          --solver cg --precision double-half --batch 1,12 --grid "$main"
        step "bicgstab_$n" "$n" solve-bench --gauge peer-random:$lattice:1 --mass -0.85 --tol 1e-8 \
          --solver bicgstab --precision double-half --batch 1,12 --grid "$main"
        ;;
      multigrid)
        heatbath quenched 600 6.0
        step "multigrid_$n" "$n" solve-bench --gauge quenched.ildg --action clover --csw 1.769 --boundary antiperiodic \
          --kappa 0.1350 --tol 1e-10 --solver multigrid --precision double-single --batch 1,12 --repeat 2 --grid "$main"
        ;;
      hmc)
        heatbath links 200 5.6
        for quarks in clover hisq; do
          [ -e "$folder/hmc_$quarks.toml" ] || cp examples/timing/hmc_$quarks.toml "$folder"
          step "${quarks}_$n" "$n" hmc hmc_$quarks.toml --grid "$main"
        done
        ;;
      *)
        echo "tools/measure_host.sh: STEPS has $what; hops, solves, hmc and multigrid exist" >&2
        exit 2
        ;;
    esac
  done
done
exit $failed
