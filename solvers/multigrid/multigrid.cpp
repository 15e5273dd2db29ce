#include "solvers/multigrid/multigrid.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov/batch.hpp"
#include "solvers/krylov/block_blas.hpp"
#include "solvers/multigrid/cycle.hpp"
#include "solvers/multigrid/noise.hpp"

namespace quarksmith {
namespace {

/// Steps of GCR before and while the convergence factor is taken: the first ones reduce what every smoother does.
constexpr int first_steps = 3, factor_steps = 5;
/// Rounds are not given up above the first, for the first ones of light quarks gain little and a later one much; they
/// end below the second, for another one costs more than it saves.
constexpr double good_factor = 0.5, best_factor = 0.4;

/// GCR from zero, with a preconditioner or none.
std::unique_ptr<Preconditioner> steps_of_gcr(const LinearOperator& a, int steps, int rhs,
                                             std::unique_ptr<Preconditioner> k = nullptr) {
  MethodParameters parameters;
  parameters.restart = std::min(steps, 10);
  return std::make_unique<FixedSteps>(a, InnerMethod{.method = Method::gcr, .steps = steps}, parameters, a.precision(),
                                      rhs, std::move(k));
}

}  // namespace

/// What leads from a level to the next.
struct Multigrid::Level {
  Transfer transfer;
  SpinorField vectors;  ///< near-null, before they are orthonormalised on blocks
  std::unique_ptr<CoarseOperator> coarse;
  std::shared_ptr<DirectSolve> inverse;  ///< of the coarse operator, once it is asked for

  std::shared_ptr<DirectSolve> direct(int rhs) {
    if (!inverse) inverse = std::make_shared<DirectSolve>(coarse->reduced());
    inverse->reserve(rhs);
    return inverse;
  }
};

Multigrid::Multigrid(MakeSystem make, const BasisInfo& basis, const MultigridParameters& parameters,
                     const PrecisionInfo& outer)
    : make_(std::move(make)), basis_(&basis), parameters_(parameters), outer_(&outer) {
  if (parameters.levels.empty()) throw UsageError("multigrid with no level; use at least one");
  const double start = now();
  make_systems(parameters_.width);
  begin(0);
  build(0, false);
  factors_.push_back(factor());
  const auto good = [this] {
    const double now = factors_.back();
    return now < best_factor || (now < good_factor && factors_.size() > 1 &&
                                 now > (1 - parameters_.least_gain) * factors_[factors_.size() - 2]);
  };
  for (int round = 0; round < parameters_.most_rounds && !good(); ++round) {
    improve(0);
    factors_.push_back(factor());
  }
  for (auto& level : levels_) level->vectors = level->vectors.columns(0, 1).like();  // not needed any more
  seconds_ = now() - start;
}

Multigrid::~Multigrid() = default;

void Multigrid::make_systems(int rhs) {
  const PrecisionInfo& single = find_precision("single");
  fine_ = make_(single, rhs);
  const std::string& asked = parameters_.smoother_precision;
  const PrecisionInfo& low =
      !asked.empty() ? find_precision(asked) : rows_apart(fine_->full().domain()->device()) ? find_precision("half") : single;
  if (&low != &single) smooth_ = make_(low, rhs);
}

const EvenOddSystem& Multigrid::system(std::size_t level) const {
  return level == 0 ? *fine_ : *levels_[level - 1]->coarse;
}

/// Steps of MR on the even-odd form of a level: what smooths, and leaves of noise what is near-null.
std::unique_ptr<Preconditioner> Multigrid::relaxation(std::size_t level, int steps, int rhs) const {
  const LinearOperator& a = (level == 0 && smooth_ ? *smooth_ : system(level)).reduced();
  return std::make_unique<EvenOddSolve>(
      system(level),
      std::make_unique<FixedSteps>(a, InnerMethod{.method = Method::mr, .steps = steps},
                                   MethodParameters{.omega = 0.85}, system(level).reduced().precision(), rhs),
      rhs);
}

std::unique_ptr<Preconditioner> Multigrid::cycle(std::size_t level, int rhs) const {
  const EvenOddSystem& next = system(level + 1);
  std::unique_ptr<Preconditioner> coarse;
  if (level + 1 < levels_.size())
    coarse = steps_of_gcr(next.full(), parameters_.levels[level].coarse_steps, rhs, cycle(level + 1, rhs));
  else if (const int steps = coarsest_steps_for(parameters_, next.full().domain()->lattice().sites()); steps > 0)
    coarse = std::make_unique<EvenOddSolve>(next, steps_of_gcr(next.reduced(), steps, rhs), rhs);
  else
    coarse = std::make_unique<EvenOddSolve>(next, levels_[level]->direct(rhs), rhs);
  return std::make_unique<Cycle>(system(level), levels_[level]->transfer, std::move(coarse),
                                 relaxation(level, parameters_.levels[level].smoother_steps, rhs), rhs);
}

/// v becomes K v, and is scaled to unit length.
void Multigrid::through(Preconditioner& k, SpinorField& v) const {
  SpinorField out = v.columns(0, std::min(parameters_.width, v.rhs())).like();
  const Blas blas(v);
  for (int first = 0; first < v.rhs(); first += out.rhs()) {
    const int count = std::min(out.rhs(), v.rhs() - first);
    SpinorField part = v.columns(first, count);
    k.apply(out, part, count);
    for (int n = 0; n < count; ++n) {
      SpinorField one = part.columns(n, 1);
      const SpinorField from = out.columns(n, 1);
      const double norm = std::sqrt(blas.norm2(from));
      if (!(norm > 0) || !std::isfinite(norm)) throw Error("multigrid: a near-null vector vanished or overflowed");
      blas.scale(1 / norm, from, one);
    }
  }
}

const BasisInfo& Multigrid::basis(std::size_t level) const {
  return level == 0 ? *basis_ : find_basis("degrand_rossi");
}

/// Near-null vectors of a level: those of the finer one as this one sees them, and noise, both relaxed.
void Multigrid::begin(std::size_t n) {
  const MultigridLevel& p = parameters_.levels[n];
  if (levels_.size() == n) {
    Transfer transfer(system(n).full(), basis(n), p.block, p.vectors, parameters_.packed);
    SpinorField v = transfer.fine_field(BlockBlas::padded(p.vectors));
    levels_.push_back(std::make_unique<Level>(Level{std::move(transfer), std::move(v), nullptr, nullptr}));
  }
  SpinorField v = levels_[n]->vectors.columns(0, p.vectors);
  const int known = n > 0 ? std::min(p.vectors, parameters_.levels[n - 1].vectors) : 0;
  if (known > 0) {
    SpinorField part = v.columns(0, known);
    levels_[n - 1]->transfer.restrict_to(part, levels_[n - 1]->vectors.columns(0, known));
  }
  if (known < p.vectors) {
    SpinorField rest = v.columns(known, p.vectors - known);
    draw(rest, basis(n), 1000 * (n + 1));
  }
  through(*relaxation(n, parameters_.relaxations, parameters_.width), v);
}

/// P and the coarse operator from the near-null vectors of a level, and all levels that follow.
void Multigrid::build(std::size_t n, bool adapt) {
  Level& level = *levels_[n];
  level.transfer.keep(level.vectors.columns(0, level.transfer.vectors()));
  level.coarse.reset();
  level.inverse.reset();
  level.coarse =
      std::make_unique<CoarseOperator>(level.transfer, system(n).full(), parameters_.width, parameters_.packed);
  if (n + 1 == parameters_.levels.size()) return;
  begin(n + 1);
  build(n + 1, false);
  if (adapt) improve(n + 1);
}

/// Near-null vectors become orthonormal: cycles make all of them more and more the lowest modes. What is lost by
/// rounding is replaced by noise.
void Multigrid::separate(std::size_t n) {
  SpinorField& v = levels_[n]->vectors;
  const int count = parameters_.levels[n].vectors;
  SpinorField work = v.like();
  BlockBlas blas(system(n).full(), static_cast<std::size_t>(v.rhs()) * v.rhs());
  Dense s;
  int width = count;
  blas.orthonormalise(v, work, width, s, 1e-5, true);
  if (width == count) return;
  SpinorField lost = v.columns(width, count - width);
  draw(lost, basis(n), 500);
}

/// A round of adaptation: the cycle takes the place of relaxation, from the finest level to the coarsest.
void Multigrid::improve(std::size_t n) {
  separate(n);
  SpinorField v = levels_[n]->vectors.columns(0, parameters_.levels[n].vectors);
  through(*cycle(n, parameters_.width), v);
  build(n, true);
}

double Multigrid::factor() {
  const LinearOperator& a = system(0).full();
  const std::unique_ptr<Preconditioner> k = cycle(0, 1);
  MethodParameters parameters;
  parameters.restart = first_steps + factor_steps;
  parameters.given = k.get();
  KrylovBatch batch(a, a, Method::gcr, 1, parameters);
  SpinorField b = a.field(1), x = b.like();
  draw(b, *basis_, 1);
  x.fill(0);
  std::vector<double> r = {1};
  SolverOptions options;
  options.tolerance = 1e-6;
  options.max_iterations = parameters.restart;
  options.observer = [&](int, double residual) { r.push_back(residual); };
  batch.solve(x, b, options, {options.tolerance});
  const std::size_t from = std::min<std::size_t>(first_steps, (r.size() - 1) / 2);
  return std::pow(r.back() / r[from], 1.0 / static_cast<double>(r.size() - 1 - from));
}

void Multigrid::reserve(int rhs) {
  if (rhs_ >= rhs) return;
  cycle_.reset();
  make_systems(std::max(rhs, parameters_.width));
  for (auto& level : levels_) level->coarse->reserve(rhs);
  cycle_ = cycle(0, rhs);
  const LinearOperator& a = system(0).full();
  if (&a.precision() != outer_) {
    convert_ = std::make_unique<Converter>(a, a.precision(), *outer_, rhs);
    in_.emplace(a.field(rhs));
    out_.emplace(a.field(rhs));
  }
  rhs_ = rhs;
}

void Multigrid::apply(SpinorField& out, const SpinorField& in, int width) {
  reserve(width);
  if (!convert_) return cycle_->apply(out, in, width);
  SpinorField low = in_->columns(0, width), result = out_->columns(0, width), to = out.columns(0, width);
  (*convert_)(in.columns(0, width), low);
  cycle_->apply(result, low, width);
  (*convert_)(result, to);
}

int Multigrid::applications() const { return cycle_ ? cycle_->applications() : 1; }

}  // namespace quarksmith
