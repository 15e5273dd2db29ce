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

/// An even-odd form by name: `none`, `symmetric` or `asymmetric`. \throws UnknownName the message lists those that
/// exist.
EvenOddForm even_odd_form_of(const std::string& name);
/// Updates by name: `reliable`, `replacement` or `defect`.
Updates updates_of(const std::string& name);
/// Names of even-odd forms, and of updates.
std::vector<std::string_view> even_odd_form_names();
std::vector<std::string_view> updates_names();
/// A criterion by name: `residual` or `normal`.
Criterion criterion_of(const std::string& name);

/// The precisions in a text such as `double-single-half`, in descending order; omitted ones are equal to the last.
struct Precisions {
  const PrecisionInfo *outer, *inner, *lowest;  ///< of residuals, of iterations, of a preconditioner
  bool mixed() const { return lowest != outer; }
};
/// Reads precisions; `auto` is read as double-half, with which it begins.
/// \param most number of precisions that the text may have: 3 with a preconditioner.
/// \throws UnknownName a precision is unknown; UsageError there are too many, or one is higher than the one before.
Precisions precisions_of(const std::string& text, int most);

class Deflation;
class Multigrid;
struct NearNullVectors;

constexpr const char* automatic_precision = "auto";

/// Settings of a solve.
struct SolveSettings {
  Method method = Method::automatic;
  MethodParameters parameters;
  EvenOddForm even_odd_form = EvenOddForm::symmetric;
  Parity kept = Parity::even;  ///< sites of the even-odd form; of shifted systems alone
  /// `double`, `single`: of all fields and kernels; `double-half`, `single-half`, `double-bits20`, ...: iterations run
  /// in the second precision, with residual replacement in the first; `double-single-half`: the preconditioner works in
  /// the third. `auto`: double-half or double-single, if this build has their kernels, else double; once half has
  /// failed, later solves of a Solver begin with single. The reported residual is recomputed in double with the given
  /// links: if `links` deviates from them by more than rounding, the outer level of a solve in double keeps all 18
  /// reals.
  std::string precision = "double";
  std::string links = "r12";
  std::string basis = "non_relativistic";
  /// tolerance: |b - M x| / |b| of the full system; with Criterion::normal |A^+ (b - A x)| / |A^+ b| of the even-odd
  /// form.
  SolverOptions options;
  /// Largest |b - M x| / |x| on each time slice, in addition to the tolerance; 0: no criterion (slice_solver.hpp).
  double slice_tolerance = 0;
  /// Eigenvectors for first guesses; Method::automatic is then CG, which profits most from them.
  std::shared_ptr<const Deflation> deflation = nullptr;
  std::optional<MultigridParameters> multigrid;  ///< of Method::multigrid; none: chosen for the lattice
  /// First near-null vectors of multigrid; null: noise.
  std::shared_ptr<const NearNullVectors> near_null = nullptr;
  /// Total number of right-hand sides, if known: Method::automatic switches to multigrid if its setup pays for them
  /// (solvers/solve/automatic.hpp). 0: it never does.
  int sources = 0;
  /// Whether solves take x as first guess, for all right-hand sides; else they start from zero. With solve_sources only
  /// for actions without a fifth dimension.
  bool from_guess = false;
  std::string on_all_sites = "even-odd none";         ///< EvenOddForm::none in messages of the door
  std::function<void(const std::string& line)> tell;  ///< called with lines about automatic choices and their results
};

/// Replaces precision `auto` by the lowest for which the build has all kernels that a rehearsal asks for.
SolveSettings with_chosen_precision(SolveSettings settings, const std::function<void(const SolveSettings&)>& rehearse);

/// \throws UsageError a number is out of the range that the message names.
void check(const SolverOptions& options);

/// Report of a solve for one right-hand side.
struct SolveReport {
  Method method = Method::cg;  ///< method that gave the solution; with Method::automatic `bicgstab` or `cg`
  /// Precisions that gave the solution, such as `double-single` if iterations in half have failed.
  std::string precision;
  std::string links;  ///< storage of the links; `r18-r12`: of residuals, and of iterations
  int iterations = 0;
  double residual = 0;  ///< |b - M x| / |b| of the full system in double
  double measured = 0;  ///< what the tolerance is compared with
  bool converged = false;
  double seconds = 0;               ///< in a batch: its share, by operator applications
  double gflops = 0;                ///< of the operator applications, by the counts of the field
  double bytes_sent = 0;            ///< sent by this rank to others in hopping terms
  int replacements = 0;             ///< of the residual by the true one
  int vectors = 0;                  ///< eigenvectors from earlier right-hand sides that this one began with
  std::vector<SolverEvent> events;  ///< such as restarts, and changes of method or precision
  double slice_residual = 0;        ///< largest |b - M x| / |x| of a time slice, if that was a criterion
};

/// Names in an interface of the options that can be changed about a solve, for advice.
struct ChoiceNames {
  std::string iterations = "a larger max_iterations", cg = "method cg", precision = "precision double",
              tolerance = "a larger tolerance", slice_tolerance = "slice_tolerance";
};
/// Advice for a solve that missed its tolerance, as `use ... or ...`, without options that were used already.
std::string remedy_of(const SolveSettings& settings, const SolveReport& report, const ChoiceNames& names = {});

/// An action on a device, ready to solve for many sources.
class Solver {
 public:
  /// \throws UsageError impossible settings or missing kernels; Error too little memory.
  Solver(const Action& action, const GaugeLinks& links, DomainPointer domain, const SolveSettings& settings);
  /// \param links in 18 doubles, in SU(3).
  Solver(const Action& action, const std::shared_ptr<const LinkField>& links, const SolveSettings& settings)
      : Solver(action, GaugeLinks(links), links->domain_pointer(), settings) {}
  ~Solver();

  /// x = M^-1 b for fields of double precision on all sites in the basis of the settings; x is overwritten
  /// (from_guess). If a solve fails x is the best iterate. \throws UsageError the fields have several right-hand sides.
  SolveReport solve(SpinorField& x, const SpinorField& b) const;
  /// As solve, for fields of several right-hand sides, which share the loads of links. Work space for that number is
  /// kept.
  std::vector<SolveReport> solve_all(SpinorField& x, const SpinorField& b) const;
  /// As solve_all, but for sources and quark fields in four dimensions, also for actions with other vectors
  /// (DiracOperator::embed and project).
  /// \param seen called with the solutions before they are projected.
  std::vector<SolveReport> solve_sources(SpinorField& quark, const SpinorField& source,
                                         const std::function<void(const SpinorField& x)>& seen = {}) const;
  /// Whether right-hand sides of a batch are solved one after another, each with the eigenvectors that earlier ones
  /// have found.
  bool one_by_one() const;
  /// Discards what earlier right-hand sides have found.
  void forget() const;
  /// Other limits of later solves. \throws UsageError they are impossible.
  void limit(double tolerance, int max_iterations) const;
  /// Prepares solves of `rhs` right-hand sides: allocates work space, and sets up multigrid.
  void prepare(int rhs) const;
  /// Number of right-hand sides to solve together on CPUs: several if they share the loads of matrices.
  int together() const;
  /// Whether right-hand sides share more than links, such as the matrices of multigrid.
  bool shares() const;
  /// The near-null vectors of multigrid, as right-hand sides, once it is set up; none: there is no multigrid.
  std::optional<SpinorField> near_null_vectors() const;
  /// Multigrid once it is set up; null: there is none.
  Multigrid* multigrid() const;
  /// Bytes of device memory for each right-hand side of a batch, in addition to x and b.
  std::size_t bytes_per_rhs() const;
  /// Share of the time of all iterations so far in which the host was busy; the rest it waited for the device.
  double host_share() const;
  /// |b - M x| / |b| in double.
  double residual(const SpinorField& x, const SpinorField& b) const;
  /// The operator in double, in the gauge in which the solver works.
  const DiracOperator& dirac() const;
  /// Deviation of the stored links from the given ones; see text_of(LinkDeviation).
  const LinkDeviation& link_deviation() const;
  /// A field for M on all sites in double, not initialised.
  SpinorField field(int rhs = 1) const { return dirac().matrix().field(rhs); }
  const BasisInfo& basis() const;
  const DomainPointer& domain() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
