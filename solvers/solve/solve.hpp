/// \file
/// Solves M x = b to a true residual, with the settings of users.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "solvers/krylov/batch.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/multigrid/parameters.hpp"

namespace quarksmith {

/// \throws UnknownName the name is unknown; the message lists those that exist.
EvenOddForm even_odd_form_of(const std::string& name);
/// `reliable`, `replacement` or `defect`.
Updates updates_of(const std::string& name);
/// The names that these two know.
std::vector<std::string_view> even_odd_form_names();
std::vector<std::string_view> updates_names();
/// `residual` or `normal`.
Criterion criterion_of(const std::string& name);

/// Precisions of a text such as `double-single-half`, none higher than the one before; those not named are as the one
/// before.
struct Precisions {
  const PrecisionInfo *outer, *inner, *lowest;  ///< of residuals, of iterations, of a preconditioner
  bool mixed() const { return lowest != outer; }
};
/// `auto` is what it begins with, double-half.
/// \param most parts that the text may have: 3 where there is a preconditioner.
/// \throws UnknownName a part is no precision; UsageError more parts, or one that is higher than the one before.
Precisions precisions_of(const std::string& text, int most);

class Deflation;
class Multigrid;
struct NearNullVectors;

constexpr const char* automatic_precision = "auto";

/// Choices of a solve.
struct SolveSettings {
  Method method = Method::automatic;
  MethodParameters parameters;
  EvenOddForm even_odd_form = EvenOddForm::symmetric;
  /// `double`, `single`: of all fields and kernels; `double-half`, `single-half`, `double-bits20`, ...: iterations run
  /// in the second, and are kept to the residual in the first; `double-single-half`: the preconditioner works in the
  /// third. `auto`: double-half or double-single, if this build has their kernels, else double; once half has been left
  /// for single, a Solver begins with that. The residual reported is recomputed in double, with the links as they were
  /// given: where `links` misses them by more than rounding, the outermost level of a solve in double keeps all 18
  /// reals.
  std::string precision = "double";
  std::string links = "r12";
  std::string basis = "non_relativistic";
  /// tolerance: |b - M x| / |b| of the full system; with Criterion::normal |A^+ (b - A x)| / |A^+ b| of the reduced
  /// one.
  SolverOptions options;
  /// Eigenvectors for first guesses; Method::automatic is CG then, which they speed up as far as they can.
  std::shared_ptr<const Deflation> deflation = nullptr;
  std::optional<MultigridParameters> multigrid;  ///< of Method::multigrid; chosen by the lattice if there are none
  /// First near-null vectors of multigrid; null: noise.
  std::shared_ptr<const NearNullVectors> near_null = nullptr;
  /// Right-hand sides that are to come in all, if it is known: Method::automatic takes multigrid where its setup pays
  /// for them (solvers/solve/automatic.hpp). 0: it does not.
  int sources = 0;
  /// Solves start from what x holds, for all right-hand sides; else from zero. With solve_sources only for actions
  /// without a fifth dimension.
  bool from_guess = false;
  std::string on_all_sites = "even-odd none";         ///< Reduction::none in the words of the door
  std::function<void(const std::string& line)> tell;  ///< is told what was chosen, and what came of it
};

/// Replaces precision `auto` by the lowest for which the build has all kernels that a rehearsal asks for.
SolveSettings with_chosen_precision(SolveSettings settings, const std::function<void(const SolveSettings&)>& rehearse);

/// \throws UsageError a number is out of the range that the message names.
void check(const SolverOptions& options);

/// Report of a solve for one right-hand side.
struct SolveReport {
  Method method = Method::cg;  ///< that gave the solution: of Method::automatic `bicgstab` or `cg`
  std::string precision;       ///< that gave it: of iterations in half that were left for single `double-single`
  std::string links;           ///< storage of the links; `r18-r12`: those of residuals and those of iterations
  int iterations = 0;
  double residual = 0;  ///< |b - M x| / |b| of the full system in double
  double measured = 0;  ///< what the tolerance is compared with
  bool converged = false;
  double seconds = 0;               ///< of a batch: its share, by the operator applications
  double gflops = 0;                ///< of the operator applications, by the counts of the field
  double bytes_sent = 0;            ///< by this rank to others in hopping terms
  int replacements = 0;             ///< of the residual by the true one
  int vectors = 0;                  ///< that earlier right-hand sides have found for this one
  std::vector<SolverEvent> events;  ///< what went wrong and was answered
};

/// How an interface calls what can be changed about a solve.
struct ChoiceNames {
  std::string iterations = "a larger max_iterations", cg = "method cg", precision = "precision double",
              tolerance = "a larger tolerance";
};
/// Advice for a solve that missed its tolerance, as `use ... or ...`; never what it did already.
std::string remedy_of(const SolveSettings& settings, const SolveReport& report, const ChoiceNames& names = {});

/// An action on a device, ready to solve for many sources.
class Solver {
 public:
  /// \throws UsageError impossible settings or missing kernels; Error too little memory.
  Solver(const Action& action, const HostGauge& gauge, DomainPointer domain, const SolveSettings& settings);
  /// A solver with links that are on the device, in 18 doubles, in SU(3).
  Solver(const Action& action, std::shared_ptr<const LinkField> links, const SolveSettings& settings);
  ~Solver();

  /// x = M^-1 b for fields of double precision on all sites in the basis of the settings; x is overwritten
  /// (from_guess). If a solve fails x is the best iterate. \throws UsageError the fields have several right-hand sides.
  SolveReport solve(SpinorField& x, const SpinorField& b) const;
  /// As solve, for fields of several right-hand sides, which share the loads of links. Work space for that number is
  /// kept.
  std::vector<SolveReport> solve_all(SpinorField& x, const SpinorField& b) const;
  /// As solve_all, for sources and quark fields in four dimensions, of actions whose vectors are others
  /// (DiracOperator::embed and project).
  /// \param seen is called with the solutions before they are projected.
  std::vector<SolveReport> solve_sources(SpinorField& quark, const SpinorField& source,
                                         const std::function<void(const SpinorField& x)>& seen = {}) const;
  /// Whether right-hand sides of a batch are solved one after another, each with what those before have found.
  bool one_by_one() const;
  /// Discards what earlier right-hand sides have found.
  void forget() const;
  /// Makes what solves of so many right-hand sides begin with: work space, the levels of multigrid.
  void prepare(int rhs) const;
  /// Right-hand sides that are solved for together on processors: several where matrices are read for all of them.
  int together() const;
  /// Whether right-hand sides share more than links: levels of multigrid.
  bool shares() const;
  /// The near-null vectors of multigrid, as right-hand sides, once it is set up; none: there is no multigrid.
  std::optional<SpinorField> near_null_vectors() const;
  /// Multigrid once it is set up; null: there is none.
  Multigrid* multigrid() const;
  /// Bytes of device memory that each right-hand side of a batch needs beside x and b.
  std::size_t bytes_per_rhs() const;
  /// Share of the time of all iterations so far in which the host was busy; the rest it waited for the device.
  double host_share() const;
  /// |b - M x| / |b| in double.
  double residual(const SpinorField& x, const SpinorField& b) const;
  /// The operator in double, in the gauge in which the solver works.
  const DiracOperator& dirac() const;
  /// Deviation of the stored links from those given; see text_of(LinkDeviation).
  const LinkDeviation& link_deviation() const;
  /// Vectors of M on all sites in double, not initialised.
  SpinorField field(int rhs = 1) const { return dirac().matrix().field(rhs); }
  const BasisInfo& basis() const;
  const DomainPointer& domain() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
