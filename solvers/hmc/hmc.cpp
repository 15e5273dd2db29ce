#include "solvers/hmc/hmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "solvers/hmc/fermion_force.hpp"
#include "solvers/hmc/fermion_monomials.hpp"

namespace quarksmith {
namespace {

/// Largest |difference| of an element of the links, over all ranks.
double distance(const LinkField& a, const LinkField& b) {
  const HostGauge u = download(a), v = download(b);
  double largest = 0;
  for (std::size_t x = 0; x < u.site.size(); ++x)
    for (std::size_t n = 0; n < u.site.each(); ++n)
      largest = std::max(largest, std::abs(u.site.at(x)[n] - v.site.at(x)[n]));
  return a.domain().communicator().largest(largest);
}

}  // namespace

Hmc::Hmc(const GaugeLinks& start, const DomainPointer& domain, std::vector<std::unique_ptr<Monomial>> monomials,
         std::vector<IntegratorLevel> levels, double length, ForceNorms norms, double anisotropy,
         std::function<void()> look)
    : links_(start, domain),
      momenta_(zero_momenta(domain, start.colours())),
      force_(zero_momenta(domain, start.colours())),
      monomials_(std::move(monomials)),
      levels_(std::move(levels)),
      length_(length),
      norms_(norms),
      anisotropy_(anisotropy),
      look_(std::move(look)) {
  if (monomials_.size() > GaussianNoise::most_monomials)
    throw UsageError(fmt::format("{} monomials; use {} at most", monomials_.size(), GaussianNoise::most_monomials));
}

double Hmc::plaquette() const {
  const std::vector<double> sums = evaluate("plaquette", {links_.field()});  // of planes in space, of those with time
  return (sums[0] + sums[1]) /
         (6.0 * links_.field().colours() * static_cast<double>(links_.domain()->lattice().global_sites()));
}

/// Marks times on the device's queue instead of waiting for it, which would leave it idle.
void Hmc::timed(int monomial, const std::function<void(Monomial&)>& work) {
  WorkQueue& device = links_.domain()->device();
  auto begin = device.mark();
  work(*monomials_[monomial]);
  times_.push_back({monomial, std::move(begin), device.mark()});
}

std::vector<double> Hmc::seconds_of_monomials() {
  std::vector<double> seconds(monomials_.size(), 0.0);
  for (const Time& t : times_) seconds[t.monomial] += t.end->since(*t.begin);
  times_.clear();
  return seconds;
}

void Hmc::kick_with_norm(int monomial, double step, int count) {
  constexpr std::size_t most = 8;  // fields of one number per site
  std::vector<double>& norms = report_->forces[monomial];
  norms_due_.push_back(
      {monomial, norms.size(), count, site_sums("kick_with_norm", {momenta_, force_, step}, {momenta_})});
  norms.resize(norms.size() + count);
  if (norms_due_.size() >= most) add_up_norms();
}

void Hmc::add_up_norms() {
  for (const Norm& n : norms_due_)
    std::fill_n(report_->forces[n.monomial].begin() + long(n.first), n.count, n.sums.totals()[0]);
  norms_due_.clear();
}

bool Hmc::reports_norm(int monomial) const {
  return report_ != nullptr && (norms_ == ForceNorms::all || report_->forces[monomial].empty());
}

bool Hmc::join(int a, int b) const {
  const FermionMonomial *one = monomials_[a]->of_quarks(), *other = monomials_[b]->of_quarks();
  return one != nullptr && other != nullptr && one->joins(*other);
}

void Hmc::add_forces(const std::vector<int>& monomials, double step, LinkField& out) {
  std::vector<int> left = monomials;
  while (!left.empty()) {
    const int first = left.front();
    const auto apart = std::stable_partition(left.begin() + 1, left.end(), [&](int n) { return join(first, n); });
    if (apart == left.begin() + 1) {
      timed(first, [&](Monomial& m) { m.force(links_, step, out); });
    } else {
      std::unique_ptr<FermionForce> sum;
      std::for_each(left.begin(), apart,
                    [&](int n) { timed(n, [&](Monomial& m) { m.of_quarks()->join(links_, sum); }); });
      timed(first, [&](Monomial& m) { m.of_quarks()->take_back(*sum, step, out); });
    }
    left.erase(left.begin(), apart);
  }
}

std::shared_ptr<const LinkField> Hmc::stretched(const LinkField& p, double factor) const {
  if (factor == 1) return {std::shared_ptr<void>(), &p};
  auto result = links_.scratch().momenta(links_.domain(), p.colours());
  evaluate("stretch_time", {p, factor}, {*result});
  return result;
}

void Hmc::move(const LinkField& p, double step) { links_.move(*stretched(p, 1 / (anisotropy_ * anisotropy_)), step); }

void Hmc::kick(const std::vector<int>& monomials, double step, double displacement, int count) {
  if (look_) look_();
  const std::shared_ptr<const LinkField> here = links_.keep();
  if (displacement != 0) {
    force_.fill(0);
    add_forces(monomials, 1, force_);
    move(force_, displacement);
  }
  std::vector<int> others;
  for (const int n : monomials) {
    if (!reports_norm(n)) {
      others.push_back(n);
      continue;
    }
    force_.fill(0);
    timed(n, [&](Monomial& m) { m.force(links_, 1, force_); });
    kick_with_norm(n, step, count);
  }
  add_forces(others, step, momenta_);
  if (displacement != 0) links_.restore(here);
}

void Hmc::measure(TrajectoryReport& report) {
  report.kinetic.push_back(evaluate("algebra_norm2", {*stretched(momenta_, 1 / anisotropy_)})[0]);
  for (std::size_t n = 0; n < monomials_.size(); ++n)
    timed(int(n), [&](Monomial& m) { report.actions[n].push_back(m.action(links_)); });
}

/// H at the end minus H at the start, term by term: the differences are small compared with the terms.
double Hmc::difference(const TrajectoryReport& report) {
  double sum = report.kinetic[1] - report.kinetic[0];
  for (const auto& s : report.actions) sum += s[1] - s[0];
  return sum;
}

TrajectoryReport Hmc::begin(Noise& noise) {
  TrajectoryReport report;
  report.actions.resize(monomials_.size());
  report.forces.resize(monomials_.size());
  noise.momenta(momenta_);
  if (anisotropy_ != 1) evaluate("stretch_time", {momenta_, anisotropy_}, {momenta_});
  times_.clear();
  norms_due_.clear();
  for (std::size_t n = 0; n < monomials_.size(); ++n)
    timed(int(n), [&](Monomial& m) { m.refresh(noise, static_cast<int>(n), links_); });
  measure(report);
  report.plaquette = plaquette();
  return report;
}

void Hmc::or_restore(const std::function<void()>& work) {
  const auto before = links_.keep();
  try {
    work();
  } catch (...) {
    report_ = nullptr;
    links_.restore(before);
    throw;
  }
}

TrajectoryReport Hmc::trajectory(Noise& noise, std::optional<double> number) {
  const double begun = now();
  TrajectoryReport report = begin(noise);
  const auto before = links_.keep();
  or_restore([&] {
    report_ = &report;
    integrate(levels_, length_, *this);
    add_up_norms();
    report_ = nullptr;
    measure(report);
    report.dh = difference(report);
    if (!std::isfinite(report.dh))
      throw Error("the trajectory ended with an energy that is not finite; use smaller steps");
  });
  report.accepted = !number || *number < std::exp(-report.dh);
  if (report.accepted)
    links_.reunitarise();
  else
    links_.restore(before);
  report.plaquette = plaquette();
  const std::vector<double> seconds = seconds_of_monomials();
  for (std::size_t n = 0; n < monomials_.size(); ++n) {
    report.work.push_back(monomials_[n]->work());
    report.work.back().seconds = seconds[n];
  }
  report.seconds = now() - begun;
  return report;
}

Reversibility Hmc::reversibility(Noise& noise) {
  TrajectoryReport report = begin(noise);
  const auto before = links_.keep();
  or_restore([&] {
    integrate(levels_, length_, *this);
    evaluate("kick", {momenta_, momenta_, -2}, {momenta_});  // P -> -P
    integrate(levels_, length_, *this);
    measure(report);
  });
  const Reversibility found{distance(*before, links_.field()), difference(report)};
  links_.restore(before);
  return found;
}

}  // namespace quarksmith
