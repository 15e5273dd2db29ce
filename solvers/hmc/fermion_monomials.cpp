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
    draw(noise, number, links);
  });
}

void FermionMonomial::solve_for_force(SpinorField& x, SpinorField& y, const SpinorField& b) {
  const double begun = now();
  earlier_.guess(x, b, operator_.matrix());
  solves_.seconds += now() - begun;
  operator_.solve_normal(x, b, term_.tol_force, solves_);
  earlier_.keep(x);
  operator_.matrix().apply(y, x, Dagger::no);
}

double FermionMonomial::action(const EvolvingLinks& links) {
  double s = 0;
  recorded([&] {
    operator_.follow(links);
    s = value(links);
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

void TwoFlavourMonomial::draw(Noise& noise, int number, const EvolvingLinks&) {
  const SpinorField eta = drawn(noise, name(), number, operator_);
  phi_.emplace(eta.like());
  operator_.matrix().apply(*phi_, eta, Dagger::yes);
}

double TwoFlavourMonomial::value(const EvolvingLinks&) {
  SpinorField y = phi_->like();
  operator_.solve_adjoint(y, *phi_, term_.tol_action, solves_);
  return Blas(y).norm2(y) - (term_.log_det ? 2 * operator_.log_det() : 0);
}

void TwoFlavourMonomial::add_force(const EvolvingLinks&, FermionForce& sum) {
  SpinorField x = phi_->like(), y = phi_->like();
  solve_for_force(x, y, *phi_);
  sum.add(x, y, 1);
  if (term_.log_det) sum.add_log_det(2);
}

void RatioMonomial::draw(Noise& noise, int number, const EvolvingLinks& links) {
  denominator_.follow(links);
  const SpinorField eta = drawn(noise, name(), number, operator_);
  SpinorField b = eta.like();
  operator_.matrix().apply(b, eta, Dagger::yes);
  phi_.emplace(eta.like());
  denominator_.solve_adjoint(*phi_, b, term_.tol_action, solves_);
}

double RatioMonomial::value(const EvolvingLinks& links) {
  denominator_.follow(links);
  SpinorField b = phi_->like(), y = phi_->like();
  denominator_.matrix().apply(b, *phi_, Dagger::yes);
  operator_.solve_adjoint(y, b, term_.tol_action, solves_);
  return Blas(y).norm2(y) - (term_.log_det ? 2 * (operator_.log_det() - denominator_.log_det()) : 0);
}

void RatioMonomial::add_force(const EvolvingLinks& links, FermionForce& sum) {
  denominator_.follow(links);
  SpinorField b = phi_->like(), x = phi_->like(), y = phi_->like();
  denominator_.matrix().apply(b, *phi_, Dagger::yes);
  solve_for_force(x, y, b);
  sum.add(x, y, 1);
  if (term_.log_det) sum.add_log_det(2);
  sum.go_on_with(denominator_);
  sum.add(x, *phi_, -1);
  if (term_.log_det) sum.add_log_det(-2);
}

void RationalMonomial::apply(const RationalFunction& r, SpinorField& out, const SpinorField& in, double tolerance) {
  const Blas blas(in);
  blas.scale(r.constant, in, out);
  if (r.poles.empty()) return;
  SpinorField x = operator_.field(static_cast<int>(r.poles.size()));
  operator_.solve_shifted(x, in, r.poles, tolerance, solves_);
  for (std::size_t k = 0; k < r.poles.size(); ++k) blas.axpby(r.residues[k], x.columns(int(k), 1), 1, out);
}

void RationalMonomial::draw(Noise& noise, int number, const EvolvingLinks& links) {
  const SpinorField eta = drawn(noise, name(), number, operator_, fields_);
  phi_.emplace(eta.like());
  if (functions_.range) require_covered(eta.columns(0, 1));
  drawn_ = {links.version(), 0};
  for (int n = 0; n < fields_; ++n) {
    SpinorField phi = phi_->columns(n, 1), noise = eta.columns(n, 1);
    apply(functions_.heatbath, phi, noise, term_.tol_action);
    drawn_.second += Blas(noise).norm2(noise);
  }
}

/// Looks for the extreme eigenvalues of A by power and inverse iteration: Rayleigh quotients are within the spectrum.
void RationalMonomial::require_covered(const SpinorField& start) {
  constexpr int powers = 30, inverses = 4;
  constexpr double tolerance = 1e-4;
  const Blas blas(start);
  SpinorField x = start.like(), y = start.like(), z = start.like();
  const auto normal = [&](SpinorField& out, const SpinorField& in) {
    operator_.matrix().apply(operator_.is_squared() ? out : z, in, Dagger::no);
    if (!operator_.is_squared()) operator_.matrix().apply(out, z, Dagger::yes);
  };
  const auto quotient = [&](int steps, const auto& step) {
    x.copy_from(start);
    for (int n = 0; n < steps; ++n) {
      step(y, x);
      blas.scale(1 / std::sqrt(blas.norm2(y)), y, x);
    }
    normal(y, x);
    return blas.dot(x, y).real();
  };
  const double largest = quotient(powers, normal), least = quotient(inverses, [&](SpinorField& out, const auto& in) {
                                                     out.fill(0);
                                                     operator_.solve_normal(out, in, tolerance, solves_);
                                                   });
  if (KernelRehearsal::under_way()) return;
  if (least < functions_.range->lower || largest > functions_.range->upper)
    throw Error(fmt::format("M^+ M has eigenvalues from {:.4g} to {:.4g}, but range = [{}, {}]; widen it", least,
                            largest, functions_.range->lower, functions_.range->upper));
}

double RationalMonomial::value(const EvolvingLinks& links) {
  double sum = 0;
  SpinorField y = operator_.field();
  for (int n = 0; n < fields_; ++n) {
    apply(functions_.action, y, phi_->columns(n, 1), term_.tol_action);
    sum += Blas(y).norm2(y);
  }
  if (const auto& [version, eta] = drawn_;
      version == links.version() && !KernelRehearsal::under_way() && !(std::abs(sum - eta) <= most_unequal * eta))
    throw Error(
        fmt::format("its heat bath is not the inverse of its action: noise with |eta|^2 = {:.6g} gave pseudofermions "
                    "with the action {:.6g}; give functions whose product is 1 on the eigenvalues of M^+ M",
                    eta, sum));
  return sum - (term_.log_det ? flavours_ * operator_.log_det() : 0);
}

void RationalMonomial::add_force(const EvolvingLinks&, FermionForce& sum) {
  const RationalFunction& r = functions_.force;
  if (!r.poles.empty()) {
    SpinorField x = operator_.field(static_cast<int>(r.poles.size())), y = x.like();
    for (int n = 0; n < fields_; ++n) {
      operator_.solve_shifted(x, phi_->columns(n, 1), r.poles, term_.tol_force, solves_);
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

double LogDetMonomial::value(const EvolvingLinks&) {
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
