#include "tests/reference/lattice_expression.hpp"

namespace reference {

using quarksmith::Complex64;

void ExpressionValues::set(const std::string& name, Complex64 number) {
  SiteValues v;
  v.element.assign(lattice.sites(), number);
  value[name] = std::move(v);
}

void ExpressionValues::set(const std::string& name, const quarksmith::HostSpinor& psi, int spins, bool fermion) {
  SiteValues v{3, spins, std::vector<Complex64>(lattice.sites() * 3 * spins), false, fermion};
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int s = 0; s < spins; ++s)
      for (int c = 0; c < 3; ++c) v.at(i, c, s) = psi.site[i][3 * s + c];
  value[name] = std::move(v);
}

void ExpressionValues::set(const std::string& name, const quarksmith::HostGauge& u) {
  for (int mu = 0; mu < 4; ++mu) {
    SiteValues v{3, 3, std::vector<Complex64>(lattice.sites() * 9), false, false};
    for (long long i = 0; i < lattice.sites(); ++i)
      for (int n = 0; n < 9; ++n) v.element[9 * i + n] = u.site[i][mu][n];
    value[name + "[" + "xyzt"[mu] + "]"] = std::move(v);
  }
}

}  // namespace reference
