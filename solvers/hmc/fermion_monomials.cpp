#include "solvers/hmc/fermion_monomials.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "solvers/hmc/fermion_force.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

/// Between the action of fresh pseudofermions and |eta|^2, relative: ten times the largest error of a function.
constexpr double most_unequal = 1e-3;
/// Differences of energies below this do not matter.
constexpr double invisible = 1e-3;

/// Noise for the vectors of an operator.
SpinorField drawn(Noise& noise, const std::string& name, int number, const FermionOperator& a, int fields = 1) {
  SpinorField eta = a.field(fields);
  noise.pseudofermion(name, number, eta, find_basis("non_relativistic"));
  return eta;
}

}  // namespace

template <class Work>
void FermionMonomial::recorded(const Work& work) {
  try {
    work();
    work_.iterations += solves_.iterations;
    work_.solve_seconds += solves_.seconds;
    work_.fallbacks += solves_.fallbacks;
    work_.refreshes += solves_.refreshes;
    solves_ = {};
  } catch (const UsageError&) {
    throw;
  } catch (const Error& e) {
    throw Error(fmt::format("monomial '{}': {}", name(), e.what()));
  }
}

void FermionMonomial::refresh(Noise& noise, int number, const EvolvingLinks& links) {
  recorded([&] {
    operator_.follow(links);
    earlier_.forget();
    operator_.forget();
    image_version_.reset();
    const double eta = draw(noise, number, links);
    drawn_ = {links.version(), eta};
  });
}

const SpinorField& FermionMonomial::solve_for_force(SpinorField& x, const SpinorField& b, const EvolvingLinks& links) {
  const double begun = now();
  earlier_.guess(x, b, operator_.matrix());
  solves_.seconds += now() - begun;
  if (!image_) image_.emplace(x.like());
  image_version_.reset();
  operator_.solve_normal(x, *image_, b, term_.tol_force, solves_);
  image_version_ = links.version();
  earlier_.keep(x);
  return *image_;
}

double FermionMonomial::solve_for_action(const SpinorField& b, const EvolvingLinks& links) {
  SpinorField y = b.like();
  if (image_version_ == links.version())
    y.copy_from(*image_);
  else
    y.fill(0);
  operator_.solve_adjoint(y, b, term_.tol_action, solves_);
  return Blas(y).norm2(y);
}

double FermionMonomial::action(const EvolvingLinks& links) {
  double s = 0;
  recorded([&] {
    operator_.follow(links);
    const auto eta = KernelRehearsal::under_way() ? std::nullopt : noise_on(links);
    s = (eta && miss() * *eta <= invisible ? *eta : norm2(links)) + determinants(links);
  });
  return s;
}

void FermionMonomial::force(const EvolvingLinks& links, double step, LinkField& out) {
  std::unique_ptr<FermionForce> sum;
  join(links, sum);
  take_back(*sum, step, out);
}

bool FermionMonomial::joins(const FermionMonomial& other) const {
  return FermionForce::alike(operator_, other.operator_);
}

void FermionMonomial::join(const EvolvingLinks& links, std::unique_ptr<FermionForce>& sum) {
  recorded([&] {
    operator_.follow(links);
    if (sum == nullptr)
      sum = std::make_unique<FermionForce>(operator_, links);
    else
      sum->go_on_with(operator_);
    add_force(links, *sum);
  });
}

void FermionMonomial::take_back(FermionForce& sum, double step, LinkField& out) {
  recorded([&] { work_.damped += sum.finish(out, step); });
}

double TwoFlavourMonomial::draw(Noise& noise, int number, const EvolvingLinks&) {
  const SpinorField eta = drawn(noise, name(), number, operator_);
  phi_.emplace(eta.like());
  operator_.matrix().apply(*phi_, eta, Dagger::yes);
  return Blas(eta).norm2(eta);
}

double TwoFlavourMonomial::norm2(const EvolvingLinks& links) { return solve_for_action(*phi_, links); }

double TwoFlavourMonomial::determinants(const EvolvingLinks&) { return term_.log_det ? -2 * operator_.log_det() : 0; }

void TwoFlavourMonomial::add_force(const EvolvingLinks& links, FermionForce& sum) {
  SpinorField x = phi_->like();
  const SpinorField& y = solve_for_force(x, *phi_, links);
  sum.add(x, y, 1);
  if (term_.log_det) sum.add_log_det(2);
}

double RatioMonomial::draw(Noise& noise, int number, const EvolvingLinks& links) {
  denominator_.follow(links);
  denominator_.forget();
  const SpinorField eta = drawn(noise, name(), number, operator_);
  SpinorField b = eta.like();
  operator_.matrix().apply(b, eta, Dagger::yes);
  phi_.emplace(eta.like());
  phi_->fill(0);
  denominator_.solve_adjoint(*phi_, b, term_.tol_action, solves_);
  return Blas(eta).norm2(eta);
}

double RatioMonomial::norm2(const EvolvingLinks& links) {
  denominator_.follow(links);
  SpinorField b = phi_->like();
  denominator_.matrix().apply(b, *phi_, Dagger::yes);
  return solve_for_action(b, links);
}

double RatioMonomial::determinants(const EvolvingLinks& links) {
  if (!term_.log_det) return 0;
  denominator_.follow(links);
  return -2 * (operator_.log_det() - denominator_.log_det());
}

void RatioMonomial::add_force(const EvolvingLinks& links, FermionForce& sum) {
  denominator_.follow(links);
  SpinorField b = phi_->like(), x = phi_->like();
  denominator_.matrix().apply(b, *phi_, Dagger::yes);
  const SpinorField& y = solve_for_force(x, b, links);
  sum.add(x, y, 1);
  if (term_.log_det) sum.add_log_det(2);
  sum.go_on_with(denominator_);
  sum.add(x, *phi_, -1);
  if (term_.log_det) sum.add_log_det(-2);
}

std::vector<double> RationalMonomial::tolerances(const RationalFunction& r, double tolerance, int order) const {
  if (!functions_.range) return std::vector<double>(r.poles.size(), tolerance);
  return pole_tolerances(r, functions_.range->lower, tolerance, order);
}

void RationalMonomial::apply(const RationalFunction& r, SpinorField& out, const SpinorField& in, double tolerance) {
  const Blas blas(in);
  blas.scale(r.constant, in, out);
  if (r.poles.empty()) return;
  SpinorField x = operator_.field(static_cast<int>(r.poles.size()));
  operator_.solve_shifted(x, in, r.poles, tolerances(r, tolerance, 1), solves_);
  for (std::size_t k = 0; k < r.poles.size(); ++k) blas.axpby(r.residues[k], x.columns(int(k), 1), 1, out);
}

double RationalMonomial::draw(Noise& noise, int number, const EvolvingLinks&) {
  const SpinorField eta = drawn(noise, name(), number, operator_, fields_);
  phi_.emplace(eta.like());
  double sum = 0;
  for (int n = 0; n < fields_; ++n) {
    SpinorField phi = phi_->columns(n, 1), one = eta.columns(n, 1);
    apply(functions_.heatbath, phi, one, term_.tol_action);
    if (functions_.range) require_covered();
    sum += Blas(one).norm2(one);
  }
  return noise_ = sum;
}

void RationalMonomial::require_covered() const {
  const auto seen = operator_.ritz_values();
  if (!seen) return;
  const auto& [least, largest] = *seen;
  const double rounding = 3e-7 * largest;  // of single precision
  if (least + rounding < functions_.range->lower || largest - rounding > functions_.range->upper)
    throw Error(fmt::format("M^+ M has eigenvalues from {:.4g} to {:.4g}, but range = [{}, {}]; widen it", least,
                            largest, functions_.range->lower, functions_.range->upper));
}

double RationalMonomial::miss() const { return functions_.range ? term_.tol_action + functions_.error : 1; }

/// For x_k = (A + beta_k)^-1 phi with residual rho, phi^+ x_k is 2 Re phi^+ x_k - x_k^+ (A + beta_k) x_k up to rho^+ (A
/// + beta_k)^-1 rho: the error of the sum is at most 2 |rho|^2 action(lower end), where S was |eta|^2.
double RationalMonomial::whole_action(const SpinorField& phi) {
  const RationalFunction& r = functions_.action;
  const Blas blas(phi);
  const double size = blas.norm2(phi), share = noise_ / fields_ / (2 * r(functions_.range->lower) * size),
               tolerance = std::max(term_.tol_action, std::sqrt(term_.tol_action * std::min(share, 1.0)));
  SpinorField x = operator_.field(static_cast<int>(r.poles.size())), image = operator_.field();
  operator_.solve_shifted(x, phi, r.poles, tolerances(r, tolerance, 2), solves_);
  double sum = r.constant * size;
  for (std::size_t k = 0; k < r.poles.size(); ++k) {
    const SpinorField one = x.columns(static_cast<int>(k), 1);
    operator_.matrix().apply(image, one, Dagger::no);
    const double product = operator_.is_squared() ? blas.dot(one, image).real() : blas.norm2(image);
    sum += r.residues[k] * (2 * blas.dot(phi, one).real() - product - r.poles[k] * blas.norm2(one));
  }
  return sum;
}

double RationalMonomial::norm2(const EvolvingLinks& links) {
  double sum = 0;
  SpinorField y = operator_.field();
  for (int n = 0; n < fields_; ++n) {
    if (functions_.is_whole) {
      sum += whole_action(phi_->columns(n, 1));
      continue;
    }
    apply(functions_.action, y, phi_->columns(n, 1), term_.tol_action);
    sum += Blas(y).norm2(y);
  }
  const auto eta = KernelRehearsal::under_way() ? std::nullopt : noise_on(links);
  if (eta && !(std::abs(sum - *eta) <= most_unequal * *eta))
    throw Error(
        fmt::format("its heat bath is not the inverse of its action: noise with |eta|^2 = {:.6g} gave pseudofermions "
                    "with the action {:.6g}; give functions whose product is 1 on the eigenvalues of M^+ M",
                    *eta, sum));
  return sum;
}

double RationalMonomial::determinants(const EvolvingLinks&) {
  return term_.log_det ? -flavours_ * operator_.log_det() : 0;
}

void RationalMonomial::add_force(const EvolvingLinks&, FermionForce& sum) {
  const RationalFunction& r = functions_.force;
  if (!r.poles.empty()) {
    SpinorField x = operator_.field(static_cast<int>(r.poles.size())), y = x.like();
    for (int n = 0; n < fields_; ++n) {
      operator_.solve_shifted(x, phi_->columns(n, 1), r.poles, std::vector(r.poles.size(), term_.tol_force), solves_);
      if (operator_.is_squared()) {
        sum.add_squared(x, r.residues);
        continue;
      }
      for (int k = 0; k < x.rhs(); ++k) {
        SpinorField one = y.columns(k, 1);
        operator_.matrix().apply(one, x.columns(k, 1), Dagger::no);
        Blas(one).scale(r.residues[k], one, one);
      }
      sum.add(x, y, 1);
    }
  }
  if (term_.log_det) sum.add_log_det(flavours_);
}

double LogDetMonomial::determinants(const EvolvingLinks&) {
  double sum = 0;
  if (sites_ != Subset::odd) sum -= flavours_ * operator_.log_det(Parity::even);
  if (sites_ != Subset::even) sum -= flavours_ * operator_.log_det(Parity::odd);
  return sum;
}

void LogDetMonomial::add_force(const EvolvingLinks&, FermionForce& sum) {
  if (sites_ != Subset::odd) sum.add_log_det(Parity::even, flavours_);
  if (sites_ != Subset::even) sum.add_log_det(Parity::odd, flavours_);
}

}  // namespace quarksmith
