#include "solvers/multigrid/multigrid.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov/batch.hpp"
#include "solvers/krylov/block_blas.hpp"
#include "solvers/multigrid/cycle.hpp"
#include "solvers/multigrid/noise.hpp"
#include "solvers/multigrid/polynomial.hpp"

namespace quarksmith {
namespace {

/// Steps of GCR before and while the convergence factor is taken: the first ones reduce what every smoother does.
constexpr int first_steps = 2, factor_steps = 4;
/// Rounds are not given up above the first, for the first ones of light quarks gain little and a later one much; they
/// end below the second, for another one costs more than it saves.
constexpr double good_factor = 0.5, best_factor = 0.35;

/// Steps of a method from zero, with a preconditioner or none.
/// \param outer precision of the fields that it is given, if that is another than a's.
std::unique_ptr<Preconditioner> steps_of(Method method, const LinearOperator& a, int steps, int rhs,
                                         std::unique_ptr<Preconditioner> k = nullptr,
                                         const PrecisionInfo* outer = nullptr) {
  MethodParameters parameters;
  parameters.restart = std::min(steps, 10);
  parameters.omega = 0.85;  // of MR
  return std::make_unique<FixedSteps>(a, InnerMethod{.method = method, .steps = steps}, parameters,
                                      outer != nullptr ? *outer : a.precision(), rhs, std::move(k));
}

}  // namespace

/// Operators and prolongation between a level and the next.
struct Multigrid::Level {
  Transfer transfer;
  SpinorField vectors;  ///< near-null, before they are orthonormalised on blocks
  std::unique_ptr<CoarseOperator> coarse;
  std::shared_ptr<DirectSolve> inverse;  ///< of the coarse operator, once it is asked for

  /// Null unless it is `wanted`.
  std::shared_ptr<DirectSolve> direct(int rhs) {
    if (!inverse) inverse = std::make_shared<DirectSolve>(coarse->even_odd_operator());
    inverse->reserve(rhs);
    return inverse;
  }
};

Multigrid::Multigrid(MakeSystem make, const BasisInfo& basis, const MultigridParameters& parameters,
                     const PrecisionInfo& outer, const NearNullVectors* given, std::function<void()> look)
    : make_(std::move(make)), look_(std::move(look)), basis_(&basis), parameters_(parameters), outer_(&outer) {
  if (parameters.levels.empty()) throw UsageError("multigrid with no level; use at least one");
  const double start = now();
  make_systems(parameters_.width);
  begin(0, given != nullptr ? &given->vectors : nullptr);
  const bool of_this = given != nullptr && !given->of_other;
  build(0, of_this);
  const int rounds = of_this ? 0 : parameters_.most_rounds;
  if (rounds == 0) factors_.push_back(factor());
  const auto good = [this] {  // not asked before the first round: vectors that were only relaxed hardly ever are
    const double now = factors_.back();
    return now < best_factor || (now < good_factor && factors_.size() > 1 &&
                                 now > (1 - parameters_.least_gain) * factors_[factors_.size() - 2]);
  };
  for (; rounds_ < rounds && (rounds_ == 0 || !good()); ++rounds_) {
    improve(0);
    factors_.push_back(factor());
  }
  keep_vectors();
  seconds_ = now() - start;
}

/// The vectors of the finest level are kept as its coarse level sees them, those of others not at all.
void Multigrid::keep_vectors() {
  Level& fine = *levels_[0];
  const int count = parameters_.levels[0].vectors;
  kept_.emplace(fine.transfer.coarse_field(count));
  fine.transfer.restrict_to(*kept_, fine.vectors.columns(0, count));
  for (auto& level : levels_) level->vectors = level->vectors.columns(0, 1).like();
}

SpinorField Multigrid::vectors() const {
  SpinorField v = levels_[0]->transfer.fine_field(kept_->rhs());
  levels_[0]->transfer.prolong(v, *kept_);
  return v;
}

double Multigrid::applications(Refresh refresh) const {
  const MultigridLevel& p = parameters_.levels[0];
  const double probes = 2.0 * p.vectors * applications_of(levels_[0]->coarse->stencil()),
               cycles = p.vectors * (2.0 + p.smoother_steps);
  return refresh == Refresh::none ? 0 : refresh == Refresh::coarse ? probes : probes + cycles;
}

void Multigrid::follow(MakeSystem make, Refresh refresh) {
  paths_.clear();
  cycle_.reset();
  rhs_ = 0;
  make_ = std::move(make);
  fine_.reset();  // made again for as many right-hand sides as the next cycle has
  smooth_.reset();
  if (refresh == Refresh::none) return;
  const double start = now();
  make_systems(parameters_.width);
  for (std::size_t n = 0; n < levels_.size(); ++n) build_coarse(n);
  if (refresh == Refresh::vectors) {
    SpinorField v = room(0).columns(0, kept_->rhs());
    levels_[0]->transfer.prolong(v, *kept_);
    improve(0);
    keep_vectors();
  }
  seconds_ += now() - start;
}

Multigrid::~Multigrid() = default;

void Multigrid::make_systems(int rhs) {
  const PrecisionInfo& single = find_precision("single");
  fine_ = make_(single, rhs);
  std::string low = parameters_.smoother_precision;
  if (low.empty()) low = rows_apart(fine_->full().domain()->device()) ? "half" : std::string(single.name);
  if (low != single.name) smooth_ = make_(find_precision(low), rhs);
}

const EvenOddSystem& Multigrid::system(std::size_t level) const {
  return level == 0 ? *fine_ : *levels_[level - 1]->coarse;
}

/// The even-odd form of a level in the precision of its smoother.
const LinearOperator& Multigrid::smoothed(std::size_t level) const {
  return (level == 0 && smooth_ ? *smooth_ : system(level)).even_odd_operator();
}

/// Steps of a method on the even-odd form of a level: what smooths, and leaves of noise what is near-null.
std::unique_ptr<Preconditioner> Multigrid::relaxation(std::size_t level, Method method, int steps, int rhs) const {
  return steps_of(method, smoothed(level), steps, rhs, nullptr, &system(level).even_odd_operator().precision());
}

/// The smoother of a level.
std::unique_ptr<Preconditioner> Multigrid::smoother(std::size_t level, int rhs) const {
  const MultigridLevel& p = parameters_.levels[level];
  if (p.smoother) return relaxation(level, *p.smoother, p.smoother_steps, rhs);
  const LinearOperator &a = system(level).even_odd_operator(), &low = smoothed(level);
  auto k = std::make_unique<PolynomialSmoother>(low, smoothing_roots(a, basis(level), p.smoother_steps), rhs);
  if (&low.precision() == &a.precision()) return k;
  return std::make_unique<Converted>(std::move(k), low, a.precision(), rhs);
}

std::unique_ptr<Preconditioner> Multigrid::coarsest(int rhs) const {
  const EvenOddSystem& last = *levels_.back()->coarse;
  int steps = coarsest_steps_for(parameters_, last.full().domain()->lattice().global_sites());
  if (steps == 0 && DirectSolve::unknowns(last.even_odd_operator()) > most_unknowns) steps = steps_without_inverse;
  if (steps > 0)
    return whole(levels_.size(), steps_of(parameters_.coarsest, last.even_odd_operator(), steps, rhs), rhs);
  return std::make_unique<EvenOddSolve>(last, levels_.back()->direct(rhs), rhs);
}

std::unique_ptr<Preconditioner> Multigrid::whole(std::size_t level, std::unique_ptr<Preconditioner> reduced,
                                                 int rhs) const {
  return std::make_unique<EvenOddSolve>(system(level), std::move(reduced), rhs);
}

std::unique_ptr<Preconditioner> Multigrid::cycle(std::size_t level, int rhs) const {
  const auto below = [&] {
    return steps_of(Method::gcr, system(level + 1).even_odd_operator(), parameters_.levels[level].coarse_steps, rhs,
                    cycle(level + 1, rhs));
  };
  return std::make_unique<Cycle>(system(level), levels_[level]->transfer,
                                 level + 1 == levels_.size() ? coarsest(rhs) : whole(level + 1, below(), rhs),
                                 smoother(level, rhs), rhs);
}

/// v becomes K v, and is scaled to unit length.
void Multigrid::through(Preconditioner& k, SpinorField& v) const {
  SpinorField out = v.columns(0, std::min(parameters_.width, v.rhs())).like();
  const Blas blas(v);
  for (int first = 0; first < v.rhs(); first += out.rhs()) {
    const int count = std::min(out.rhs(), v.rhs() - first);
    if (look_) look_();
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

/// The field of near-null vectors of a level, with room for all of them.
SpinorField& Multigrid::room(std::size_t n) {
  Level& level = *levels_[n];
  if (const int count = parameters_.levels[n].vectors; level.vectors.rhs() < count)
    level.vectors = level.transfer.fine_field(BlockBlas::padded(count)), level.vectors.fill(0);
  return level.vectors;
}

/// Near-null vectors of a level: those that are given, or of the finer one as this one sees them and relaxed; and
/// noise, relaxed.
void Multigrid::begin(std::size_t n, const SpinorField* given) {
  const MultigridLevel& p = parameters_.levels[n];
  if (levels_.size() == n) {
    Transfer transfer(system(n).full(), basis(n), p.block, p.vectors, p.packed, Parts::gathered);
    SpinorField v = transfer.fine_field(BlockBlas::padded(p.vectors));
    levels_.push_back(std::make_unique<Level>(Level{std::move(transfer), std::move(v), nullptr, nullptr}));
  }
  SpinorField v = room(n).columns(0, p.vectors);
  int known = 0, ready = 0;
  if (n > 0) {
    known = std::min(p.vectors, parameters_.levels[n - 1].vectors);
    SpinorField part = v.columns(0, known);
    levels_[n - 1]->transfer.restrict_to(part, levels_[n - 1]->vectors.columns(0, known));
  } else if (given != nullptr) {
    known = ready = std::min(p.vectors, given->rhs());
    SpinorField part = v.columns(0, known);
    const SpinorField from = given->columns(0, known);
    &from.precision() == &part.precision() ? part.copy_from(from) : convert(from, part);
  }
  if (known < p.vectors) {
    SpinorField rest = v.columns(known, p.vectors - known);
    draw(rest, basis(n), 1000 * (n + 1));
  }
  if (ready == p.vectors) return;
  SpinorField raw = v.columns(ready, p.vectors - ready);
  // Vectors of a finer level are near-null here too, but for what its blocks have cut.
  const int steps = known == p.vectors ? std::max(1, parameters_.relaxations / 5) : parameters_.relaxations;
  through(*whole(n, relaxation(n, Method::mr, steps, parameters_.width), parameters_.width), raw);
  separate(n);
}

void Multigrid::build_coarse(std::size_t n) {
  Level& level = *levels_[n];
  level.coarse.reset();
  level.inverse.reset();
  if (look_) look_();
  level.coarse = std::make_unique<CoarseOperator>(level.transfer, system(n).full(), parameters_.width,
                                                  parameters_.levels[n].packed);
}

/// P and the coarse operator from the near-null vectors of a level, and all levels that follow.
void Multigrid::build(std::size_t n, bool adapt) {
  Level& level = *levels_[n];
  level.transfer.keep(level.vectors.columns(0, level.transfer.vectors()));
  build_coarse(n);
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
  SpinorField v = levels_[n]->vectors.columns(0, parameters_.levels[n].vectors);
  through(*whole(n, cycle(n, parameters_.width), parameters_.width), v);
  separate(n);  // where one mode is by far the lowest, a cycle leaves little else of all of them
  build(n, true);
}

double Multigrid::factor() {
  const LinearOperator& a = system(0).even_odd_operator();
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
  paths_.clear();
  cycle_.reset();
  make_systems(std::max(rhs, parameters_.width));
  for (auto& level : levels_) level->coarse->reserve(rhs);
  cycle_ = cycle(0, rhs);
  rhs_ = rhs;
}

/// The cycle for fields of the even-odd form, or of all sites.
Preconditioner& Multigrid::path(Subset subset) {
  std::shared_ptr<Preconditioner>& made = paths_[subset];
  if (made) return *made;
  const EvenOddSystem& fine = system(0);
  const bool reduced = subset == fine.even_odd_operator().subset();
  const LinearOperator& a = reduced ? fine.even_odd_operator() : fine.full();
  made = cycle_;
  if (!reduced) made = std::make_shared<EvenOddSolve>(fine, cycle_, rhs_);
  if (&a.precision() != outer_) made = std::make_shared<Converted>(made, a, *outer_, rhs_);
  return *made;
}

void Multigrid::apply(SpinorField& out, const SpinorField& in, int width) {
  reserve(width);
  path(in.subset()).apply(out, in, width);
}

std::vector<CyclePart> Multigrid::parts(int rhs) {
  reserve(rhs);
  std::vector<CyclePart> all;
  for (std::size_t n = 0; n <= levels_.size(); ++n) {
    const EvenOddSystem& s = system(n);
    const auto in = std::make_shared<SpinorField>(s.full().field(rhs)), out = std::make_shared<SpinorField>(in->like()),
               half_in = std::make_shared<SpinorField>(s.even_odd_operator().field(rhs)),
               half_out = std::make_shared<SpinorField>(half_in->like());
    draw(*in, basis(n), 1);
    s.prepare(*half_in, *in);
    const auto add = [&](std::string_view what, double bytes, std::function<void()> run) {
      all.push_back({static_cast<int>(n), what, bytes, std::move(run)});
    };
    const auto apply = [=](std::shared_ptr<Preconditioner> k) { return [=] { k->apply(*half_out, *half_in, rhs); }; };
    add("operator", n > 0 ? levels_[n - 1]->coarse->bytes(rhs) : 0, [=, &s] { s.full().apply(*out, *in, Dagger::no); });
    add("even-odd", 0, [=, &s] { s.even_odd_operator().apply(*half_out, *half_in, Dagger::no); });
    if (n == levels_.size()) {
      add("coarsest", 0, [=, k = std::shared_ptr<Preconditioner>(coarsest(rhs))] { k->apply(*out, *in, rhs); });
      continue;
    }
    const Transfer& t = levels_[n]->transfer;
    const auto below = std::make_shared<SpinorField>(t.coarse_field(rhs));
    const double bytes = t.bytes(rhs, s.even_odd_operator().subset());
    add("restrict", bytes, [=, &t] { t.restrict_to(*below, *half_in); });
    add("prolong", bytes, [=, &t] { t.prolong(*half_out, *below); });
    add("smoother", 0, apply(smoother(n, rhs)));
    add("cycle", 0, apply(cycle(n, rhs)));
  }
  return all;
}

const CoarseStencil& Multigrid::stencil() const { return levels_[0]->coarse->stencil(); }

int Multigrid::applications() const { return cycle_ ? cycle_->applications() : 1; }

}  // namespace quarksmith
