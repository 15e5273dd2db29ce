/// \file
/// The random numbers of a trajectory: momenta and pseudofermion noise.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Random fields of a trajectory.
class Noise {
 public:
  virtual ~Noise() = default;
  /// P = i p_a T_a with independent p_a of variance 1. \param p double, 18 reals.
  virtual void momenta(LinkField& p) = 0;
  /// Complex numbers with <|eta|^2> = 1 on the sites of a double field, for all of its right-hand sides.
  /// \param number index of the monomial among all.
  virtual void pseudofermion(const std::string& monomial, int number, SpinorField& eta, const BasisInfo& basis) = 0;
};

/// Gaussian fields from random streams of sites: the same on any number of ranks.
class GaussianNoise final : public Noise {
 public:
  GaussianNoise(std::uint64_t seed, std::uint64_t trajectory) : seed_(seed), trajectory_(trajectory) {}
  void momenta(LinkField& p) override;
  void pseudofermion(const std::string& monomial, int number, SpinorField& eta, const BasisInfo& basis) override;
  /// Uniform in (0, 1), for the Metropolis decision.
  double uniform() const;

  /// Largest numbers of monomials and trajectories, for which the counter of the generator has room.
  static constexpr int most_monomials = 200;
  static constexpr std::uint64_t most_trajectories = 1 << 24;

 private:
  std::uint64_t stream(int number) const { return trajectory_ << 8 | static_cast<std::uint64_t>(number); }
  std::uint64_t seed_, trajectory_;
};

}  // namespace quarksmith
