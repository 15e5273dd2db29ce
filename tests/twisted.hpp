/// \file
/// Twisted-mass operators written densely: a matrix of all flavours, spins and colours at each site.
#pragma once

#include <cmath>

#include "solvers/actions/wilson.hpp"
#include "tests/reference/reference.hpp"

namespace twisted {

using namespace quarksmith;
using reference::operator*;

/// A field for each flavour.
using Flavours = std::vector<HostSpinor>;

inline Flavours random(const Lattice& lattice, int flavours, unsigned seed) {
  Flavours psi;
  for (int f = 0; f < flavours; ++f) psi.push_back(reference::random_spinor(lattice, seed + unsigned(f)));
  return psi;
}
inline Flavours combine(Complex64 a, const Flavours& x, Complex64 b, const Flavours& y) {
  Flavours out;
  for (std::size_t f = 0; f < x.size(); ++f) out.push_back(reference::combine(a, x[f], b, y[f]));
  return out;
}
inline Complex64 dot(const Flavours& x, const Flavours& y) {
  Complex64 sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) sum += reference::dot(x[f], y[f]);
  return sum;
}
/// |x - y| / |y|
inline double deviation(const Flavours& x, const Flavours& y) {
  const Flavours d = combine(1, x, -1, y);
  return std::sqrt(dot(d, d).real() / dot(y, y).real());
}
inline Flavours gamma5(const Flavours& psi) {
  Flavours out;
  for (const HostSpinor& one : psi) out.push_back(reference::multiply(reference::gamma5(), one));
  return out;
}
/// The sites of one parity, zero elsewhere.
inline Flavours half(Flavours psi, Parity parity) {
  for (HostSpinor& one : psi)
    for (std::size_t x = 0; x < one.site.size(); ++x)
      if (Lattice::parity(one.lattice.coordinates(static_cast<long long>(x))) != parity) one.site[x].fill(0);
  return psi;
}

/// D, T = C + i mu gamma_5 tau_3 + epsilon tau_1 and M = T - D/2 of an action on links that the kernels see.
class Dense {
 public:
  Dense(const HostGauge& gauge, const WilsonParameters& p) : gauge_(gauge), p_(p), size_(12 * p.twist.flavours) {
    const auto c = reference::clover(gauge, p.mass + 1 + 3 * p.nu / p.xi0, p.csw_r / p.xi0, p.csw_t);
    const reference::SpinMatrix g5 = reference::gamma5();
    for (const auto& block : c) {
      std::vector<Complex64> t(static_cast<std::size_t>(size_) * size_);
      for (int f = 0; f < p.twist.flavours; ++f)
        for (int i = 0; i < 12; ++i) {
          for (int j = 0; j < 12; ++j) {
            Complex64& z = t[size_ * (12 * f + i) + 12 * f + j];
            z = block[12 * i + j];
            if (i % 3 == j % 3) z += Complex64(0, f == 0 ? p.twist.mu : -p.twist.mu) * g5[i / 3][j / 3];
          }
          if (p.twist.flavours == 2) t[size_ * (12 * f + i) + 12 * (1 - f) + i] = p.twist.epsilon;
        }
      t_.push_back(std::move(t));
    }
  }

  Flavours hop(const Flavours& psi, bool dagger = false) const {
    reference::Coefficients c;
    c.bulk = {p_.nu / p_.xi0, p_.nu / p_.xi0, p_.nu / p_.xi0, 1};
    c.phase = p_.boundary;
    Flavours out;
    for (const HostSpinor& one : psi) out.push_back(reference::hopping(gauge_, one, reference::wilson_hops(dagger), c));
    return out;
  }
  /// T psi or T^+ psi
  Flavours multiply(const Flavours& psi, bool dagger = false) const {
    Flavours out(psi.size(), HostSpinor(gauge_.lattice));
    for (std::size_t x = 0; x < t_.size(); ++x)
      for (int i = 0; i < size_; ++i)
        for (int j = 0; j < size_; ++j)
          out[i / 12].site[x][i % 12] += element(x, i, j, dagger) * psi[j / 12].site[x][j % 12];
    return out;
  }
  /// T^-1 psi by Gaussian elimination; T is dominated by its diagonal. Adds log |det T| of each parity to log_det.
  Flavours divide(const Flavours& psi, bool dagger = false, double* log_det = nullptr) const {
    Flavours out = psi;
    for (std::size_t x = 0; x < t_.size(); ++x) {
      std::vector<Complex64> m(t_[x].size()), b(size_);
      for (int i = 0; i < size_; ++i) {
        b[i] = psi[i / 12].site[x][i % 12];
        for (int j = 0; j < size_; ++j) m[size_ * i + j] = element(x, i, j, dagger);
      }
      for (int k = 0; k < size_; ++k) {
        const int parity = int(Lattice::parity(gauge_.lattice.coordinates(static_cast<long long>(x))));
        if (log_det != nullptr) log_det[parity] += std::log(std::abs(m[size_ * k + k]));
        for (int i = k + 1; i < size_; ++i) {
          const Complex64 factor = m[size_ * i + k] / m[size_ * k + k];
          for (int j = k; j < size_; ++j) m[size_ * i + j] -= factor * m[size_ * k + j];
          b[i] -= factor * b[k];
        }
      }
      for (int i = size_ - 1; i >= 0; --i) {
        for (int j = i + 1; j < size_; ++j) b[i] -= m[size_ * i + j] * b[j];
        b[i] /= m[size_ * i + i];
        out[i / 12].site[x][i % 12] = b[i];
      }
    }
    return out;
  }
  Flavours matrix(const Flavours& psi, bool dagger = false) const {
    return combine(1, multiply(psi, dagger), -0.5, hop(psi, dagger));
  }
  /// The even-odd form, or its conjugate, of a field on even sites.
  Flavours even_odd(const Flavours& psi, Reduction form, bool dagger) const {
    if (form == Reduction::symmetric && dagger)  // 1 - D^+ T_oo^-+ D^+ T_ee^-+ / 4
      return combine(1, psi, -0.25, hop(divide(hop(divide(psi, true), true), true), true));
    const Flavours twice = hop(divide(hop(psi, dagger), dagger), dagger);
    if (form == Reduction::symmetric) return combine(1, psi, -0.25, divide(twice));
    return combine(1, multiply(psi, dagger), -0.25, twice);
  }

 private:
  Complex64 element(std::size_t x, int i, int j, bool dagger) const {
    return dagger ? std::conj(t_[x][size_ * j + i]) : t_[x][size_ * i + j];
  }
  HostGauge gauge_;
  WilsonParameters p_;
  int size_;
  std::vector<std::vector<Complex64>> t_;
};

/// Flavours to and from the slices of a vector.
inline void upload_all(const Flavours& psi, SpinorField& to, const BasisInfo& basis, int rhs = 0) {
  SpinorField slices = to.by_slice();
  for (int f = 0; f < to.slices(); ++f) upload(psi[f], slices, basis, rhs * to.slices() + f);
}
inline Flavours download_all(const SpinorField& from, const BasisInfo& basis, int rhs = 0) {
  const SpinorField slices = from.by_slice();
  Flavours psi(from.slices(), HostSpinor(from.domain().lattice()));
  for (int f = 0; f < from.slices(); ++f) download(slices, psi[f], basis, rhs * from.slices() + f);
  return psi;
}

}  // namespace twisted
