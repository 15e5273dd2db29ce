#include "tests/dense.hpp"

namespace dense {

DenseAction::DenseAction(const Action& action, const HostGauge& near, std::optional<HostGauge> far)
    : near_(near),
      far_(std::move(far)),
      action_(action),
      hops_(*reference::hops_of(action.info().hopping)),
      size_(12 * action.info().flavours) {
  const double nu = parameter("nu", 1), xi0 = parameter("xi0", 1), mass = parameter("mass", 0);
  coefficients_.phase = action.setting().boundary;
  double diagonal = mass + 1 + 3 * nu / xi0;
  if (action.info().hopping == "naive") {
    h = 0.5;
    diagonal = mass;
    for (const int back : {0, 1})
      hops_.matrix[3][back] = Complex64(std::exp((1 - 2 * back) * parameter("mu", 0))) * hops_.matrix[3][back];
  } else if (action.spins() == 1) {
    h = 1;
    diagonal = 2 * mass;
  } else {
    coefficients_.bulk = {nu / xi0, nu / xi0, nu / xi0, 1};
  }
  if (action.info().chain.empty()) make_term(diagonal);
}

Vectors DenseAction::hop(const Vectors& psi, bool dagger) const {
  const reference::Hops hops = dagger ? reference::conjugate(hops_) : hops_;
  Vectors out;
  for (const HostSpinor& one : psi) {
    out.push_back(reference::hopping(near_, one, hops.matrix, coefficients_, hops.masks));
    if (far_)
      out.back() = reference::combine(1, out.back(), 1,
                                      reference::hopping(*far_, one, hops.matrix, coefficients_, hops.masks, 3));
  }
  return out;
}

Vectors DenseAction::multiply(const Vectors& psi, bool dagger) const {
  Vectors out(psi.size(), HostSpinor(near_.lattice));
  for (std::size_t x = 0; x < t_.size(); ++x)
    for (int i = 0; i < size_; ++i)
      for (int j = 0; j < size_; ++j)
        out[i / 12].site[x][i % 12] += element(x, i, j, dagger) * psi[j / 12].site[x][j % 12];
  return out;
}

Vectors DenseAction::divide(const Vectors& psi, bool dagger, double* log_det) const {
  Vectors out = psi;
  for (std::size_t x = 0; x < t_.size(); ++x) {
    std::vector<Complex64> m(t_[x].size()), b(size_);
    for (int i = 0; i < size_; ++i) {
      b[i] = psi[i / 12].site[x][i % 12];
      for (int j = 0; j < size_; ++j) m[size_ * i + j] = element(x, i, j, dagger);
    }
    for (int k = 0; k < size_; ++k) {
      const int parity = int(Lattice::parity(near_.lattice.coordinates(static_cast<long long>(x))));
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

Vectors DenseAction::matrix(const Vectors& psi, bool dagger) const {
  if (!action_.info().chain.empty()) return reference::domain_wall(near_, psi, walls(), dagger);
  return combine(1, multiply(psi, dagger), h, hop(psi, dagger));
}

Vectors DenseAction::even_odd(const Vectors& psi, EvenOddForm form, bool dagger) const {
  if (form == EvenOddForm::symmetric && dagger)  // 1 - h^2 D^+ T_oo^-+ D^+ T_ee^-+
    return combine(1, psi, -h * h, hop(divide(hop(divide(psi, true), true), true), true));
  const Vectors twice = hop(divide(hop(psi, dagger), dagger), dagger);
  if (form == EvenOddForm::symmetric) return combine(1, psi, -h * h, divide(twice));
  return combine(1, multiply(psi, dagger), -h * h, twice);
}

reference::Moebius DenseAction::walls() const {
  const bool shamir = action_.name() == "domain-wall";
  const std::size_t slices = std::size_t(action_.slices());
  const auto each = [&](const char* name, double of_shamir) {
    return shamir ? std::vector<Complex64>(slices, of_shamir) : action_.values().all(name);
  };
  return {parameter("m5", 0), parameter("mass", 0), each("b5", 1), each("c5", 0), coefficients_};
}

double DenseAction::parameter(const char* name, double without) const {
  return action_.values().has(name) ? action_.values()[name] : without;
}

void DenseAction::make_term(double diagonal) {
  const double xi0 = parameter("xi0", 1), mu = is_naive() ? 0 : parameter("mu", 0);
  reference::SiteMatrices c(near_.site.size());
  for (auto& block : c)
    for (int i = 0; i < 12; ++i) block[13 * i] = diagonal;
  if (action_.values().has("csw_t"))
    c = reference::clover(near_, diagonal, parameter("csw_r", 0) / xi0, parameter("csw_t", 0));
  const reference::SpinMatrix g5 = reference::gamma5();
  for (const auto& block : c) {
    std::vector<Complex64> t(static_cast<std::size_t>(size_) * size_);
    for (int f = 0; 12 * f < size_; ++f)
      for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
          Complex64& z = t[size_ * (12 * f + i) + 12 * f + j];
          z = block[12 * i + j];
          if (i % 3 == j % 3) z += Complex64(0, f == 0 ? mu : -mu) * g5[i / 3][j / 3];
        }
        if (size_ > 12) t[size_ * (12 * f + i) + 12 * (1 - f) + i] = parameter("epsilon", 0);
      }
    t_.push_back(std::move(t));
  }
}

}  // namespace dense
