/// \file
/// Times of communication between ranks: kernels that all ranks run, sums, copies and messages.
#pragma once

#include <functional>

#include "runtime/fields/field.hpp"

namespace quarksmith::runs {

/// Seconds of one call of `apply` on the slowest rank; all ranks make the same number of calls. \param recorded whether
/// calls are recorded as a graph. \param budget seconds to spend.
double time_on_ranks(const Domain& domain, const std::function<void()>& apply, bool recorded, double budget);

/// The time of a sum over ranks by a kernel with a scalar program.
struct AllReduceTime {
  int numbers;
  double kernel;   ///< seconds of the kernel on a few sites without the sum over ranks
  double seconds;  ///< seconds that the sum over ranks adds
};
AllReduceTime time_all_reduce(const DomainPointer& domain, double budget);

/// Times data that goes from each rank to another. All calls are collective.
class LinkBench {
 public:
  explicit LinkBench(DomainPointer domain);

  /// The ranks to which a rank sends and from which it receives; -1: it takes no part.
  struct Route {
    int to = -1, from = -1;
    bool active() const { return to >= 0; }
  };
  /// A route for two ranks, while the others wait.
  Route pair(int a, int b) const;
  /// A route for all ranks at once, each to the next one of its host.
  Route ring_of_host() const;
  /// A route for all ranks at once, each to the one with a number larger by `step`.
  Route shift(int step) const;

  /// Whether the ranks can store into each other's memory.
  bool reachable() const { return shared_ != nullptr; }
  /// Bytes per second, on the slowest rank, of copies into another rank's memory; requires reachable().
  double stores(const Route& route);
  /// Latency and bandwidth of MPI messages in both directions at once, through host memory if MPI cannot read that of
  /// GPUs.
  struct MessageTime {
    double latency, bytes_per_second;
  };
  MessageTime messages(const Route& route);
  /// Whether messages go through host memory.
  bool staged() const { return staged_; }

 private:
  double exchange(const Route& route, std::size_t bytes, int count);
  int host_rank_of(int rank) const;

  DomainPointer domain_;
  Device& device_;
  Communicator& ranks_;
  bool staged_;
  Memory out_, in_;
  std::shared_ptr<void> host_;
  std::unique_ptr<SharedMemory> shared_;
};

}  // namespace quarksmith::runs
