/// \file
/// Random fields of a trajectory from a file, to compare with other codes.
#pragma once

#include <filesystem>
#include <vector>

#include "solvers/hmc/noise.hpp"

namespace quarksmith {

/// Reads datasets `/momenta` (T, Z, Y, X, 4, 3, 3) and `/noise/MONOMIAL` (T, Z, Y, X, 4, 3), staggered (T, Z, Y, X, 3),
/// with slices of a fifth dimension (Ls, ...), several pseudofermions (fields, ...); complex128, spinors in the basis
/// of files. Several trajectories are in groups /trajectory/N/.
class ReplayNoise final : public Noise {
 public:
  /// \param trajectory 0 for the first of the run. \throws Error the file cannot be read or has no such trajectory.
  ReplayNoise(const std::filesystem::path& path, int trajectory, Communicator& communicator);
  void momenta(LinkField& p) override;
  void pseudofermion(const std::string& monomial, int number, SpinorField& eta, const BasisInfo& basis) override;

 private:
  std::vector<Complex64> read(const std::string& name, const std::vector<int>& before, const std::vector<int>& after,
                              const Lattice& local) const;

  std::string path_, group_;
  Communicator& communicator_;
};

}  // namespace quarksmith
