#include "runtime/fork.hpp"

#include <omp.h>
#include <pthread.h>

namespace quarksmith {

ForkSafety::ForkSafety() {
  // Of no effect within a parallel region, where OpenMP allows no fork. Threads of other callers have pools of their
  // own, which the child never asks for.
  static const int registered =
      pthread_atfork([] { omp_pause_resource(omp_pause_soft, omp_get_initial_device()); }, nullptr, nullptr);
  static_cast<void>(registered);
}

}  // namespace quarksmith
