#include "solvers/actions/site_term.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {

SiteTerm::SiteTerm(double diagonal, const Twist& twist, std::shared_ptr<const CloverTerm> clover)
    : diagonal_(diagonal), twist_(twist), clover_(std::move(clover)) {
  if (!clover_ && twist.any() && diagonal * diagonal + twist.shift() == 0)
    throw UsageError(
        fmt::format("diagonal {}, mu {}, epsilon {}: the part of the Dirac operator that does not hop is "
                    "singular; use another mass",
                    diagonal, twist.mu, twist.epsilon));
}

void SiteTerm::set(Arguments& a, double factor, Dagger dagger) const {
  const double scale = clover_ ? clover_->term().scale() : diagonal_;
  if (clover_) a.term = clover_->term().operand();
  a.a.re = factor * scale;
  a.c.re = (dagger == Dagger::yes ? -1 : 1) * twist_.mu / scale;
  a.c.im = twist_.epsilon / scale;
}

void SiteTerm::set_inverse(Arguments& a, double factor, Dagger dagger) const {
  const double sign = dagger == Dagger::yes ? -1 : 1;
  if (!clover_) {
    a.b.re = factor * diagonal_ / (diagonal_ * diagonal_ + twist_.shift());
    a.c.re = -sign * twist_.mu / diagonal_;
    a.c.im = -twist_.epsilon / diagonal_;
    return;
  }
  a.term = clover_->inverse().operand();
  a.b.re = factor * clover_->inverse().scale();
  if (!twist_.any()) return;
  a.twist = clover_->factor().operand();
  const double scale = clover_->factor().scale() / clover_->inverse().scale();
  a.c.re = -sign * twist_.mu * scale;
  a.c.im = -twist_.epsilon * scale;
}

void SiteTerm::set_alone(Arguments& a) const {
  if (!clover_ || twist_.any()) throw UsageError("a site term that is no clover term alone has no kernel of its own");
  a.term = clover_->term().operand();
  a.b.re = clover_->term().scale();
}

double SiteTerm::log_det(Parity parity, long long sites) const {
  // |det(C + i mu gamma_5)|^2 = det(C^2 + mu^2); for two flavours det T = det(C^2 + mu^2 - epsilon^2).
  if (clover_) return clover_->log_det(parity) * (twist_.any() && twist_.flavours == 1 ? 0.5 : 1);
  return 6.0 * twist_.flavours * double(sites) * std::log(std::abs(diagonal_ * diagonal_ + twist_.shift()));
}

}  // namespace quarksmith
