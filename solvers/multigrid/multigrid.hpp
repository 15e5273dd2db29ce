/// \file
/// Adaptive multigrid for any operator (J. Brannick et al., Phys. Rev. Lett. 100 (2008) 041601; A. Frommer et al., SIAM
/// J. Sci. Comput. 36 (2014) A1581).
#pragma once

#include <functional>

#include "solvers/krylov/preconditioner.hpp"
#include "solvers/multigrid/coarse_operator.hpp"
#include "solvers/multigrid/parameters.hpp"

namespace quarksmith {

/// An approximate inverse of M: near-null vectors are made, and improved by the cycle that they give, until it
/// converges no faster.
class Multigrid final : public Preconditioner {
 public:
  using MakeSystem = std::function<std::unique_ptr<EvenOddSystem>(const PrecisionInfo& precision, int rhs)>;
  /// Makes all levels. \param make M and its even-odd form for so many right-hand sides, in single and in the precision
  /// of the smoother.
  /// \param basis of its spinors. \param outer precision of the fields that `apply` is given.
  /// \throws UsageError it couples blocks that do not touch, or the lattice allows no such levels.
  Multigrid(MakeSystem make, const BasisInfo& basis, const MultigridParameters& parameters, const PrecisionInfo& outer);
  ~Multigrid() override;

  /// Fields of all sites that a right-hand side needs on the finest level; the others need little beside these.
  static constexpr int fields = 8;

  /// Work space for so many right-hand sides.
  void reserve(int rhs);
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override;

  /// By what a step of GCR with the cycle reduces the residual, after each round of adaptation.
  const std::vector<double>& factors() const { return factors_; }
  double setup_seconds() const { return seconds_; }
  const MultigridParameters& parameters() const { return parameters_; }

 private:
  struct Level;

  void make_systems(int rhs);
  const EvenOddSystem& system(std::size_t level) const;
  const BasisInfo& basis(std::size_t level) const;
  std::unique_ptr<Preconditioner> relaxation(std::size_t level, int steps, int rhs) const;
  std::unique_ptr<Preconditioner> cycle(std::size_t level, int rhs) const;
  void begin(std::size_t level);
  void build(std::size_t level, bool adapt);
  void separate(std::size_t level);
  void improve(std::size_t level);
  void through(Preconditioner& k, SpinorField& v) const;
  double factor();

  MakeSystem make_;
  const BasisInfo* basis_;
  MultigridParameters parameters_;
  const PrecisionInfo* outer_;
  std::unique_ptr<EvenOddSystem> fine_, smooth_;  ///< the second in the smoother's precision, if that is another
  std::vector<std::unique_ptr<Level>> levels_;
  std::unique_ptr<Preconditioner> cycle_;
  std::unique_ptr<Converter> convert_;
  std::optional<SpinorField> in_, out_;
  int rhs_ = 0;
  std::vector<double> factors_;
  double seconds_ = 0;
};

}  // namespace quarksmith
