/** \file
 * Contexts of quarksmith.h on ranks of MPI. */
#ifndef QUARKSMITH_MPI_H
#define QUARKSMITH_MPI_H

#include <mpi.h>

#include "quarksmith.h"

/** Makes `communicator` that of `ranks`. */
static inline void quarksmith_ranks_use(quarksmith_ranks* ranks, MPI_Comm communicator) {
  ranks->communicator = (int)MPI_Comm_c2f(communicator);
}

#endif
