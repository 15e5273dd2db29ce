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

/// Near-null vectors of the finest level with which a setup begins, instead of noise.
struct NearNullVectors {
  SpinorField vectors;    ///< right-hand sides of a field of M in any precision; surplus ones are ignored
  bool of_other = false;  ///< whether they are of another M, so that at least one round of adaptation is needed
};

/// Extent of an update after M has changed.
enum class Refresh {
  none,    ///< only the finest level has the new M
  coarse,  ///< also coarse operators, with the present prolongations
  vectors  ///< also near-null vectors, by a round of adaptation of the present ones
};

/// A step of a cycle on one level, for timing.
struct CyclePart {
  int level;              ///< 0 is the finest
  std::string_view what;  ///< `operator`, `even-odd`, `restrict`, `prolong`, `smoother`, `cycle` with all levels below,
                          ///< `coarsest` solve
  double bytes;           ///< of matrices and vectors, each once; 0: not counted
  std::function<void()> run;
};

/// An approximate inverse of M, or of its even-odd form. The setup makes near-null vectors, and improves them by the
/// cycle itself until its convergence no longer improves.
class Multigrid final : public Preconditioner {
 public:
  using MakeSystem = std::function<std::unique_ptr<EvenOddSystem>(const PrecisionInfo& precision, int rhs)>;
  /// Makes all levels. \param make makes M and its even-odd form for a number of right-hand sides, in single and in the
  /// precision of the smoother; if it returns null for the latter, single is used.
  /// \param basis of its spinors. \param outer precision of the fields of `apply`.
  /// \param begin near-null vectors; null: they are made from noise. \param look called often during the setup; an
  /// exception ends it.
  /// \throws UsageError M couples blocks that do not touch, or hops over more than half a block, or the lattice does
  /// not allow these levels.
  Multigrid(MakeSystem make, const BasisInfo& basis, const MultigridParameters& parameters, const PrecisionInfo& outer,
            const NearNullVectors* begin = nullptr, std::function<void()> look = {});
  ~Multigrid() override;

  /// Allocates work space for `rhs` right-hand sides.
  void reserve(int rhs);
  /// Applies the approximate inverse: of M for fields on all sites, else of the even-odd form.
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override;

  /// Updates levels after M has changed on the same lattice. \param make for the new M; the old operators need not
  /// exist any more.
  void follow(MakeSystem make, Refresh refresh);
  /// The near-null vectors of the finest level, to the rounding of 16 bits.
  SpinorField vectors() const;
  /// Cost of a refresh: applications of M, or of its even-odd form, to a vector on the finest level.
  double applications(Refresh refresh) const;

  /// Rounds of adaptation of the setup, and the factor by which a step of GCR with the cycle reduces the residual after
  /// each round (or without any).
  int rounds() const { return rounds_; }
  const std::vector<double>& factors() const { return factors_; }
  double setup_seconds() const { return seconds_; }
  const MultigridParameters& parameters() const { return parameters_; }
  /// The steps of a cycle with `rhs` right-hand sides; this must outlive them.
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
  std::unique_ptr<EvenOddSystem> fine_, smooth_;  ///< smooth_ has the precision of the smoother, if that differs
  std::vector<std::unique_ptr<Level>> levels_;
  std::shared_ptr<Preconditioner> cycle_;  ///< on the even-odd form
  std::map<Subset, std::shared_ptr<Preconditioner>> paths_;
  /// Near-null vectors of the finest level, restricted to the coarse one, in whose span they are.
  std::optional<SpinorField> kept_;
  int rhs_ = 0, rounds_ = 0;
  std::vector<double> factors_;
  double seconds_ = 0;
};

}  // namespace quarksmith
