/// \file
/// MPI for a group of ranks. Part of builds with MPI.
#pragma once

#include <mpi.h>

#include "runtime/communicator.hpp"

namespace quarksmith {

/// A communicator of these ranks; of one that is alone, MPI_COMM_SELF.
MPI_Comm handle_of(const Communicator& ranks);

}  // namespace quarksmith
