/// \file
/// Adaptive multigrid for any operator (J. Brannick et al., Phys. Rev. Lett. 100 (2008) 041601; A. Frommer et al., SIAM
/// J. Sci. Comput. 36 (2014) A1581).
#pragma once

#include <functional>
#include <map>

#include "solvers/krylov/preconditioner.hpp"
#include "solvers/multigrid/coarse_operator.hpp"
#include "solvers/multigrid/parameters.hpp"

namespace quarksmith {

/// Near-null vectors of the finest level that a setup begins with, in place of noise.
struct NearNullVectors {
  SpinorField vectors;    ///< right-hand sides of a field of M in any precision; more than a level has are left out
  bool of_other = false;  ///< of another M: a round of adaptation at least comes first
};

/// Extent of an update after M has changed.
enum class Refresh {
  none,    ///< the finest level alone is that of the new M
  coarse,  ///< coarse operators, of the prolongations that are there
  vectors  ///< near-null vectors too: these, and a round of adaptation
};

/// A step of a cycle on one level, to be timed by itself.
struct CyclePart {
  int level;              ///< 0 is the finest
  std::string_view what;  ///< `operator`, `even-odd`, `restrict`, `prolong`, `smoother`, `cycle` with all levels below,
                          ///< `coarsest` solve
  double bytes;           ///< of matrices and vectors, each once; 0: not counted
  std::function<void()> run;
};

/// An approximate inverse of M, or of its even-odd form: near-null vectors are made, and improved by the cycle that
/// they give, until it converges no faster.
class Multigrid final : public Preconditioner {
 public:
  using MakeSystem = std::function<std::unique_ptr<EvenOddSystem>(const PrecisionInfo& precision, int rhs)>;
  /// Makes all levels. \param make M and its even-odd form for so many right-hand sides, in single and in the precision
  /// of the smoother; null where there is none in that: single serves then.
  /// \param basis of its spinors. \param outer precision of the fields that `apply` is given.
  /// \param begin null: noise is relaxed. \param look called often during the setup: what it throws ends it.
  /// \throws UsageError it couples blocks that do not touch, or hops over more than half of one, or the lattice allows
  /// no such levels.
  Multigrid(MakeSystem make, const BasisInfo& basis, const MultigridParameters& parameters, const PrecisionInfo& outer,
            const NearNullVectors* begin = nullptr, std::function<void()> look = {});
  ~Multigrid() override;

  /// Work space for so many right-hand sides.
  void reserve(int rhs);
  /// M^-1 of fields of all sites, that of the even-odd form of others.
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override;

  /// M has become another on the same lattice, and what `make` was given for before is not there any more.
  void follow(MakeSystem make, Refresh refresh);
  /// The near-null vectors of the finest level, to the rounding of 16 bits.
  SpinorField vectors() const;
  /// Applications of M, or of its even-odd form, to a vector that are made on the finest level by such a refresh.
  double applications(Refresh refresh) const;

  /// Rounds of adaptation of the setup, and by what a step of GCR with the cycle reduces the residual after each, or
  /// where there is none.
  int rounds() const { return rounds_; }
  const std::vector<double>& factors() const { return factors_; }
  double setup_seconds() const { return seconds_; }
  const MultigridParameters& parameters() const { return parameters_; }
  /// The parts of a cycle with so many right-hand sides; this outlives them.
  std::vector<CyclePart> parts(int rhs);
  /// Neighbours to which blocks of the finest level are coupled.
  const CoarseStencil& stencil() const;
  /// The lattice of a level.
  const Lattice& lattice(int level) const { return system(std::size_t(level)).full().domain()->lattice(); }

 private:
  struct Level;

  void make_systems(int rhs);
  const EvenOddSystem& system(std::size_t level) const;
  const BasisInfo& basis(std::size_t level) const;
  const LinearOperator& smoothed(std::size_t level) const;
  std::unique_ptr<Preconditioner> relaxation(std::size_t level, Method method, int steps, int rhs) const;
  std::unique_ptr<Preconditioner> smoother(std::size_t level, int rhs) const;
  std::unique_ptr<Preconditioner> coarsest(int rhs) const;
  /// An approximate inverse on all sites from one of the even-odd form.
  std::unique_ptr<Preconditioner> whole(std::size_t level, std::unique_ptr<Preconditioner> reduced, int rhs) const;
  std::unique_ptr<Preconditioner> cycle(std::size_t level, int rhs) const;
  Preconditioner& path(Subset subset);
  SpinorField& room(std::size_t level);
  void begin(std::size_t level, const SpinorField* given = nullptr);
  void build_coarse(std::size_t level);
  void build(std::size_t level, bool adapt);
  void separate(std::size_t level);
  void improve(std::size_t level);
  void through(Preconditioner& k, SpinorField& v) const;
  void keep_vectors();
  double factor();

  MakeSystem make_;
  std::function<void()> look_;
  const BasisInfo* basis_;
  MultigridParameters parameters_;
  const PrecisionInfo* outer_;
  std::unique_ptr<EvenOddSystem> fine_, smooth_;  ///< the second in the smoother's precision, if that is another
  std::vector<std::unique_ptr<Level>> levels_;
  std::shared_ptr<Preconditioner> cycle_;  ///< on the even-odd form
  std::map<Subset, std::shared_ptr<Preconditioner>> paths_;
  std::optional<SpinorField> kept_;  ///< the near-null vectors of the finest level, restricted: they are in its span
  int rhs_ = 0, rounds_ = 0;
  std::vector<double> factors_;
  double seconds_ = 0;
};

}  // namespace quarksmith
