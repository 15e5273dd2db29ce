# What mpirun is told by the scripts that start ranks, which source this. Other launchers than Open MPI's need none of it.
mpi_options=()
if mpirun --version 2>/dev/null | grep -q "Open MPI\|OpenRTE"; then
  mpi_options=(--allow-run-as-root --bind-to none)
fi
