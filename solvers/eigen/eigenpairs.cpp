#include "solvers/eigen/eigenpairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/error.hpp"
#include "solvers/eigen/chebyshev.hpp"
#include "solvers/eigen/krylov_space.hpp"
#include "solvers/eigen/rayleigh_ritz.hpp"

namespace quarksmith {
namespace {

constexpr int most_cycles = 500, bound_steps = 24, range_rounds = 10;
/// The filter at the lowest eigenvalue: while the range is looked for, and then. A larger one would take the accuracy
/// from the highest of those wanted, where it is small.
constexpr double first_growth = 50, last_growth = 500;

long long dimension_of(const LinearOperator& a) {
  const Components c = a.components();
  return a.domain()->lattice().half_sites() * a.domain()->lattice().ranks() * parities(a.subset()) * c.spins *
         c.colours * a.slices();
}

/// A, counted, and left when the search is to end.
class WatchedOperator final : public LinearOperator {
 public:
  WatchedOperator(const LinearOperator& a, const EigenOptions& options) : a_(&a), options_(&options) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    if (options_->most_applications > 0 && applications_ >= options_->most_applications) throw EndSearch{};
    if (options_->look) options_->look();
    a_->apply(out, in, dagger);
    applications_ += in.rhs();
  }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  Components components() const override { return a_->components(); }
  int slices() const override { return a_->slices(); }
  double flops() const override { return a_->flops(); }
  /// Applications counted per right-hand side.
  long long applications() const { return applications_; }

 private:
  const LinearOperator* a_;
  const EigenOptions* options_;
  mutable long long applications_ = 0;
};

/// The Krylov spaces of a filter, or of A for the largest eigenvalues, until enough pairs are locked.
class Search {
 public:
  Search(const LinearOperator& a, const EigenOptions& options)
      : options_(options),
        a_(a, options_),
        filter_(a_, options.block),
        space_(options.largest ? a_ : static_cast<const LinearOperator&>(filter_), size_of(a, options), options.seed) {}

  /// Locks the pairs that are wanted. \param limit of estimated residuals; times the square root of the lowest
  /// eigenvalue where a root is diagonalised after this. \return false: too many cycles, or ended; what is nearest to
  /// them is locked then.
  bool operator()(double limit, bool of_root) {
    bool found = false;
    try {
      found = search(limit, of_root);
    } catch (const EndSearch&) {
      ended_ = true;
    }
    if (!found) space_.lock_best(options_.count - space_.locked());
    return found;
  }
  KrylovSpace& space() { return space_; }
  long long applications() const { return a_.applications(); }
  bool ended() const { return ended_; }

 private:
  bool search(double limit, bool of_root) {
    upper_ = upper_bound();
    options_.largest ? space_.begin() : find_range();
    const double scale = of_root && !options_.largest ? std::min(1.0, std::sqrt(lowest_)) : 1;
    limit_ = scale * limit;
    apart_ = scale * options_.tolerance;
    if (!converge()) return false;
    // A space that began with few vectors may have missed some of a multiple eigenvalue, and taken others instead.
    const bool complete = space_.is_complete();
    for (int n = 0; n < most_cycles && !complete && finds_missing(); ++n) leave_surplus();
    return true;
  }

  static SpaceSize size_of(const LinearOperator& a, const EigenOptions& o) {
    const long long all = dimension_of(a), some = 2LL * o.count + std::max(32, 8 * o.block);
    // A small space is spanned at once; of a large one there is memory for the better part.
    const int basis = static_cast<int>(std::min(all + o.block, some));
    return {basis, o.block, some < all ? 2 * basis / 3 + o.block : basis};
  }
  double upper_bound() {
    const int steps = static_cast<int>(std::min<long long>(bound_steps, dimension_of(a_)));
    KrylovSpace space(a_, {steps, 1, 1}, options_.seed);
    space.begin();
    const KrylovSpace::Ritz ritz = space.fill();
    return 1.02 * (ritz.values[0] + ritz.residuals[0]);
  }

  double value_of(double ritz) const { return options_.largest ? ritz : filter_.eigenvalue(ritz); }
  /// Whether a Ritz value is one of those outside the unwanted part of the spectrum.
  bool stands_out(double ritz) const { return options_.largest || ritz > 1 + 1e-6; }
  /// Estimated |A v - lambda v| of a Ritz vector.
  double estimate(const KrylovSpace::Ritz& ritz, int n) const {
    if (!stands_out(ritz.values[n])) return INFINITY;
    return options_.largest ? ritz.residuals[n] : ritz.residuals[n] / filter_.slope(ritz.values[n]);
  }
  bool comes_before(double a, double b) const { return options_.largest ? a > b : a < b; }

  void restart(const KrylovSpace::Ritz& ritz, int lock, int wanted) {
    const int left = ritz.size() - lock;
    int keep = wanted + (left - wanted) / 2;
    keep = std::clamp(keep, 0, std::max(0, std::min(left - options_.block, space_.most_taken() - lock)));
    for (int n = 0; n < lock; ++n) values_.push_back(value_of(ritz.values[n]));
    space_.restart(lock, keep);
  }

  void find_range();
  bool converge();
  bool finds_missing();
  void leave_surplus();

  EigenOptions options_;
  WatchedOperator a_;
  ChebyshevFilter filter_;
  double upper_ = 0, lowest_ = 0, limit_ = 0;
  double apart_ = 0;  ///< eigenvalues that differ by less are equal
  KrylovSpace space_;
  bool ended_ = false;
  std::vector<double> values_;  ///< of the locked vectors
};

/// The lower end of what the filter damps: somewhat above the last pair that is wanted, as the Ritz values of better
/// and better filters have it, each above the eigenvalue that it stands for.
void Search::find_range() {
  const int beyond = options_.count + std::max(options_.block, options_.count / 4);
  double lower = upper_ / 4;
  bool raised = false;
  for (int round = 0, best = 0; round < range_rounds; ++round) {
    filter_.set_range(lowest_, lower, upper_, first_growth);
    best > 0 ? space_.begin_from_best(best) : space_.begin();
    const KrylovSpace::Ritz ritz = space_.fill();
    space_.set_aside(options_.count);
    int below = 0;
    while (below < ritz.size() && stands_out(ritz.values[below])) ++below;
    best = std::max(1, std::min(below, beyond));
    if (below > 0) lowest_ = std::max(0.0, filter_.eigenvalue(ritz.values[0]));
    if (below < std::min(beyond, ritz.size())) {
      if (lower >= 0.9 * upper_ || (raised && below >= options_.count)) break;
      lower = std::min(1.5 * lower, 0.9 * upper_);
      raised = true;
      continue;
    }
    const double wanted = filter_.eigenvalue(ritz.values[std::min(beyond, ritz.size()) - 1]);
    if (raised || wanted - lowest_ > 0.7 * (lower - lowest_)) break;
    lower = wanted;
  }
  filter_.set_range(lowest_, lower, upper_, last_growth);
  space_.begin();
}

bool Search::converge() {
  for (int cycle = 0; cycle < most_cycles; ++cycle) {
    const KrylovSpace::Ritz ritz = space_.fill();
    const int wanted = std::min(options_.count - space_.locked(), ritz.size());
    int lock = 0;
    while (lock < wanted && (space_.is_complete() || estimate(ritz, lock) <= limit_)) ++lock;
    restart(ritz, lock, wanted - lock);
    if (options_.observer) options_.observer(space_.locked(), lock < wanted ? estimate(ritz, lock) : limit_);
    if (space_.locked() == options_.count) return true;
  }
  return false;
}

/// Whether vectors orthogonal to the locked ones have pairs that come before the last of these, which are locked then.
bool Search::finds_missing() {
  space_.begin();
  bool found = false;
  for (int cycle = 0; cycle < most_cycles; ++cycle) {
    const KrylovSpace::Ritz ritz = space_.fill();
    if (ritz.size() == 0 || !stands_out(ritz.values[0])) return found;
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end(), [&](double a, double b) { return comes_before(a, b); });
    const double last = sorted[std::size_t(options_.count) - 1];
    const double sign = options_.largest ? -1 : 1;
    const auto is_missing = [&](int n, double error) {
      return sign * value_of(ritz.values[n]) - error < sign * last - apart_;
    };
    int lock = 0;
    while (lock < std::min(ritz.size(), options_.block) && estimate(ritz, lock) <= limit_ && is_missing(lock, 0))
      ++lock;
    found = found || lock > 0;
    const bool open = estimate(ritz, 0) > limit_ && is_missing(0, estimate(ritz, 0));
    if (lock == 0 && !open) return found;
    restart(ritz, lock, options_.block);
    if (lock > 0 && space_.is_complete()) return found;
  }
  return found;
}

/// Locked pairs beyond those that are wanted.
void Search::leave_surplus() {
  while (space_.locked() > options_.count) {
    const auto last =
        std::max_element(values_.begin(), values_.end(), [&](double a, double b) { return comes_before(a, b); });
    space_.unlock(static_cast<int>(last - values_.begin()));
    *last = values_.back();
    values_.pop_back();
  }
}

void check(const LinearOperator& a, const EigenOptions& o) {
  if (o.block < 1 || o.block > 16) throw UsageError(fmt::format("blocks of {} vectors; use 1 to 16", o.block));
  if (!(o.tolerance > 0)) throw UsageError(fmt::format("tolerance {}; use a positive number", o.tolerance));
  const long long all = dimension_of(a);
  if (o.count < 1 || o.count > all)
    throw UsageError(
        fmt::format("{} eigenvectors of an operator on {} complex numbers; use 1 to {}", o.count, all, all));
}

bool is_better(const Eigenpairs& a, const Eigenpairs& b) {
  return a.values.size() != b.values.size() ? a.values.size() > b.values.size() : a.worst() < b.worst();
}

}  // namespace

double Eigenpairs::worst() const {
  return residuals.empty() ? 0 : *std::max_element(residuals.begin(), residuals.end());
}

Eigenpairs find_eigenpairs(const LinearOperator& a, const EigenOptions& options, const LinearOperator* root) {
  check(a, options);
  std::optional<Eigenpairs> best;
  long long applications = 0;
  double limit = 0.2 * options.tolerance;
  EigenOptions left = options;
  for (int attempt = 0; attempt < 3; ++attempt, limit /= 30) {
    if (options.most_applications > 0) left.most_applications = options.most_applications - applications;
    Search search(a, left);
    const bool found = search(limit, root != nullptr);
    applications += search.applications();
    Eigenpairs pairs = search.space().locked() == 0 ? Eigenpairs{{}, {}, a.field()}
                       : root != nullptr            ? rayleigh_ritz_of_root(*root, search.space(), options)
                                                    : rayleigh_ritz(a, search.space(), options);
    pairs.ended = search.ended();
    pairs.converged =
        found && pairs.worst() <= options.tolerance && static_cast<int>(pairs.values.size()) == options.count;
    const bool ended = pairs.ended;
    if (!best || is_better(pairs, *best)) best = std::move(pairs);
    best->ended = ended;
    // Of lambda and -lambda' that are close, the vector of H^2 may hold too little of the one that is wanted: with more
    // vectors both are found.
    const auto misses = std::ranges::count_if(best->residuals, [&](double r) { return r > options.tolerance; });
    if (root != nullptr) left.count = static_cast<int>(std::min<long long>(dimension_of(a), options.count + misses));
    if (best->converged || !found || applications == options.most_applications) break;
  }
  best->applications = applications;
  return std::move(*best);
}

}  // namespace quarksmith
