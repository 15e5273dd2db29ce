/// \file
/// A model of the time of the hopping term and of solver iterations on many ranks, with few parameters, each of which
/// has a meaning and can be measured.
///
/// Device: T(V) = t0 + V tau(V), see HoppingTimes. All kernels are limited by memory bandwidth, so that a vector update
/// takes t0 + bytes / B, where B = bytes(V) / (T(V) - t0) is the bandwidth of the hopping term on this volume: fields
/// in cache speed up both.
///
/// Hopping term on a local lattice of V sites, a share e of them at boundaries to other ranks:
///
///     t = 3 t0 + pack + max(interior, transfer) + boundary
///     interior = (1 - e)(T - t0)      sites that need no halo; meanwhile spinors are transferred
///     boundary = g e (T - t0)         the others, which wait for the halo; g = 1.25 on a GPU with one right-hand side
///     pack     = bytes (spins / half_spins + 1) / B    whole spinors of the faces are read, projected ones written
///     transfer = messages latency + bytes / bandwidth
///
/// Packing, interior and boundary are three stages, as three launches or within one (policy fused), and each waits for
/// the one before. t0 therefore includes, besides the launch, the latency from the first load of a stage to its last
/// store, which the next stage cannot hide. The transfer costs time only as far as it is longer than the interior.
/// Stores into the memory of other ranks go out together and count as one message; MPI sends one message after the
/// other for each face, and all must have arrived.
/// If x is divided among ranks every row has sites at a boundary. Within one launch all blocks of sites wait then, and
/// nothing hides the transfer: interior = 0, boundary = g (T - t0). Three launches read whole rows, interior = T - t0,
/// and their ends again, boundary = g s e (T - t0): for these few sites a GPU loads s times the bytes needed, also in
/// packing (scatter() of scaling_model.cpp). Faces to ranks of the same host use links, those to other hosts the
/// network, both at the same time: the longer one counts. Ranks are assigned to hosts in order, x fastest. The slowest
/// rank counts, as its neighbours wait for it.
///
/// All-reduce of a few numbers: on a host each rank stores into all others and waits, which takes one latency of the
/// link. Between hosts it takes ceil(log2 ranks) latencies of the network, and two launches, as the host passes the
/// numbers from one kernel to the next.
///
/// Iterations are those of solvers/ on the symmetric even-odd form: the launches that `iterate` enqueues, each with the
/// bytes of its kernel's record, and an all-reduce for each that has sums. Steps of the Schwarz preconditioner are
/// launches without transfers or all-reduces. The model does not predict the number of iterations of a solve.
#pragma once

#include <cstdint>
#include <optional>

#include "runs/hopping_times.hpp"

namespace quarksmith::runs {

/// A connection between ranks: bandwidth and latency for one rank in one direction, while all ranks use it.
struct Link {
  double bytes_per_second, latency;
};

/// What the ranks run on.
struct Machine {
  Link link;                    ///< between ranks of a host
  std::optional<Link> network;  ///< between hosts
  int ranks_per_host = 0;       ///< 0: all ranks are on one host
  bool gpu = true;              ///< decides how fields are stored, and whether one kernel can do all stages
};

/// Kernels that the model is asked about.
struct Work {
  std::string precision, links = "12", basis = "non_relativistic";
  int rhs = 1;
};

/// The Schwarz preconditioner of GCR: steps of MR on the local lattice, perhaps in another precision.
struct SchwarzSteps {
  int steps;
  std::string precision;
};

/// Seconds of one application of the hopping term.
struct HopTime {
  std::string_view policy;
  int stages = 1;
  double launch = 0, pack = 0, interior = 0, transfer = 0, boundary = 0;
  std::uint64_t bytes = 0;            ///< sent by the slowest rank
  std::uint64_t scattered_bytes = 0;  ///< of these across faces in x
  std::uint64_t network_bytes = 0;    ///< of these to other hosts
  double kernels() const { return pack + interior + boundary; }
  /// The part of the transfer that the interior does not hide.
  double exposed() const { return transfer > interior ? transfer - interior : 0; }
  double total() const { return stages * launch + kernels() + exposed(); }
};

/// One iteration of a solver.
struct IterationTime {
  std::string method;
  double seconds = 0;
  double hops = 0, exchanges = 0, sums = 0;  ///< hopping terms, those that exchange spinors, all-reduces
  double bytes = 0;                          ///< sent by the slowest rank
};

class ScalingModel {
 public:
  /// \param measured must outlive this. \param lattice local lattice of rank 0.
  /// \param slower time of a site in kernels for several ranks, relative to the tuned kernel for one rank.
  /// \throws UsageError the number of ranks does not fit the machine.
  ScalingModel(const HoppingTimes& measured, const Machine& machine, const Lattice& lattice, const Work& work,
               double slower = 1);

  HopTime hop() const;
  double all_reduce() const;
  /// \param method `cg` (normal equations) or `bicgstab`. \throws UnknownName it is another one.
  IterationTime iteration(const std::string& method) const;
  /// An outer iteration of GCR(restart), the mean of a cycle, with local steps of MR as preconditioner.
  IterationTime schwarz_iteration(const SchwarzSteps& schwarz, int restart = 10) const;

  /// GFLOP/s of all ranks, if `hops` hopping terms take `seconds`.
  double gflops(double seconds, double hops = 1) const;
  /// Parallel efficiency: the time on one device, divided by the time and number of all.
  double efficiency(double seconds) const;

 private:
  class Tally;
  std::string_view policy() const;
  void faces(HopTime& t) const;
  int hosts() const;

  const HoppingTimes* measured_;
  Machine machine_;
  Lattice lattice_;
  Work work_;
  double slower_;
  const Kernel* plain_;
};

/// Mean ratio of measured kernel times on several ranks to those of the model; 1 if there are none that it describes.
double slowness(const HoppingTimes& measured, const Machine& machine, const Work& work);

}  // namespace quarksmith::runs
