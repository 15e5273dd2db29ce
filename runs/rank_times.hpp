/// \file
/// What communication between ranks takes: kernels that all of them run, sums, copies and messages.
#pragma once

#include <functional>

#include "runtime/fields/field.hpp"

namespace quarksmith::runs {

/// Seconds of one application, the slowest rank's; all ranks start the same number. \param recorded as a graph
/// \param budget seconds to spend
double time_on_ranks(const Domain& domain, const std::function<void()>& apply, bool recorded, double budget);

/// A sum over ranks in a kernel with its program.
struct AllReduceTime {
  int numbers;
  double kernel;   ///< seconds of the kernel on a few sites alone
  double seconds;  ///< what the sum over the ranks adds
};
AllReduceTime time_all_reduce(const DomainPointer& domain, double budget);

/// Times data that goes from each rank to another. All calls are collective.
class LinkBench {
 public:
  explicit LinkBench(DomainPointer domain);

  /// Where a rank's data goes and whose it gets; none: it takes no part.
  struct Route {
    int to = -1, from = -1;
    bool active() const { return to >= 0; }
  };
  /// Two ranks with each other, the others waiting.
  Route pair(int a, int b) const;
  /// All ranks of each host at once, each to the next.
  Route ring_of_host() const;
  /// All ranks at once, each to the one `step` further.
  Route shift(int step) const;

  /// Whether the ranks can store into each other's memory.
  bool reachable() const { return shared_ != nullptr; }
  /// Bytes a second, the slowest rank's, of copies into the other's memory; they must be reachable.
  double stores(const Route& route);
  /// Messages of MPI, both ways at once; by way of host memory where MPI cannot read that of GPUs.
  struct MessageTime {
    double latency, bytes_per_second;
  };
  MessageTime messages(const Route& route);
  /// Whether messages go by way of host memory.
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
