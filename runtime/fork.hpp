/// \file
/// Safe forks of processes that have computed with OpenMP, as by process pools of Python.
#pragma once

namespace quarksmith {

/// While one exists, a thread that forks ends its OpenMP threads first: the child has none of them and would wait for
/// them in its first parallel region. Both processes start new ones when they need them.
struct ForkSafety {
  ForkSafety();
};

}  // namespace quarksmith
