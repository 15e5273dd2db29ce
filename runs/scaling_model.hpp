/// \file
/// What the hopping term and iterations of solvers take on many ranks: a model with few parameters, each of which has a
/// meaning and can be measured.
///
/// Device: T(V) = t0 + V tau(V), see Measured. All kernels are bound by memory, so that a vector update takes
/// t0 + bytes / B, with B = bytes(V) / (T(V) - t0) being what the hopping term reaches on that volume: one in cache
/// speeds up both.
///
/// Hopping term of a part of V sites with a share e of them at boundaries that are split:
///
///     t = 3 t0 + pack + max(interior, transfer) + boundary
///     interior = (1 - e)(T - t0)      sites that need nothing of neighbours; meanwhile spinors are on their way
///     boundary = g e (T - t0)         the others, which wait for these; g = 1.25 on a GPU with one right-hand side
///     pack     = bytes (spins / half_spins + 1) / B    whole spinors of the faces are read, projected ones written
///     transfer = messages latency + bytes / bandwidth
///
/// Packing, interior and boundary are three stages each of which waits for the one before, as three launches or within
/// one (policy fused): it is not the launch alone that t0 stands for, but also what passes from the first load of a
/// stage to its last store, with nothing of the next to hide it. A transfer that is longer than the interior shows.
/// Stores into the memory of other ranks go out together and are one message; MPI starts one for each face after the
/// other, and all must have come.
/// Where x is split every row has sites at a boundary. Within one launch all blocks of sites wait then, so that nothing
/// hides the transfer: interior = 0, boundary = g (T - t0). Three launches read the rows as a whole, interior = T - t0,
/// and their ends again, boundary = g s e (T - t0): a GPU's memory gives s times what is asked for there, and packing
/// reads s times as much (scatter() of scaling_model.cpp). A rank's faces to ranks of its host cross links, those to
/// other hosts the network: both at once, so that the longer one counts. Ranks are laid on hosts in the order of their
/// numbers, x fastest. The slowest rank counts, for its neighbours wait for it.
///
/// All-reduce of a few numbers: on a host every rank stores into all others and waits, one latency of the link. Between
/// hosts ceil(log2 ranks) latencies of the network, and two launches, since the host takes the numbers from one kernel
/// and gives them to the next.
///
/// Iterations are those of solvers/ on the symmetric even-odd system: the launches that `iterate` enqueues, each with
/// the bytes of its kernel's record, and an all-reduce for each that has sums. The Schwarz preconditioner's steps are
/// launches without transfers or all-reduces. How many iterations a solve takes is no matter of this model.
#pragma once

#include <cstdint>
#include <optional>

#include "runs/hopping_times.hpp"

namespace quarksmith::runs {

/// One way between ranks, as one rank sees it in one direction while all others use it too.
struct Link {
  double bytes_per_second, latency;
};

/// What the ranks run on.
struct Machine {
  Link link;                    ///< between ranks of a host
  std::optional<Link> network;  ///< between hosts
  int ranks_per_host = 0;       ///< 0: all ranks are on one host
  bool gpu = true;              ///< how fields are stored, and whether one kernel can do all
};

/// What the model is asked for.
struct Work {
  std::string precision, links = "12", basis = "non_relativistic";
  int rhs = 1;
};

/// The preconditioner of GCR: local steps of MR, perhaps in another precision.
struct SchwarzSteps {
  int steps;
  std::string precision;
};

/// One application of the hopping term; seconds.
struct HopTime {
  std::string_view policy;
  int stages = 1;
  double launch = 0, pack = 0, interior = 0, transfer = 0, boundary = 0;
  std::uint64_t bytes = 0;            ///< that the slowest rank sends
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
  double bytes = 0;                          ///< that the slowest rank sends
};

class ScalingModel {
 public:
  /// \param measured outlives this. \param lattice the part of the first rank
  /// \param slower time of a site in kernels of several ranks, in units of that in the tuned one of one rank
  /// \throws UsageError the machine cannot hold so many ranks.
  ScalingModel(const HoppingTimes& measured, const Machine& machine, const Lattice& lattice, const Work& work,
               double slower = 1);

  HopTime hop() const;
  double all_reduce() const;
  /// `cg` (normal equations) or `bicgstab`.
  /// \throws UnknownName another method.
  IterationTime iteration(const std::string& method) const;
  /// An outer iteration of GCR(restart), the mean of a cycle, with local steps of MR as preconditioner.
  IterationTime schwarz_iteration(const SchwarzSteps& schwarz, int restart = 10) const;

  /// GFLOP/s of all ranks, of which `hops` hopping terms take so long.
  double gflops(double seconds, double hops = 1) const;
  /// Time on one device over the time on all, times their number.
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

/// Mean over the times on several ranks of what the kernels took in units of the model; 1 if there are none that the
/// model can tell.
double slowness(const HoppingTimes& measured, const Machine& machine, const Work& work);

}  // namespace quarksmith::runs
