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

void ExpressionValues::set_gammas(const std::string& name, int number) {
  const Complex64 i(0, 1);
  // The blocks above the diagonal; those below are their conjugates.
  const Complex64 block[4][4] = {{0, i, i, 0}, {0, -1, 1, 0}, {i, 0, 0, -i}, {1, 0, 0, 1}};
  std::vector<Complex64> product(16);
  for (int n = 0; n < 4; ++n) product[5 * n] = 1;
  for (int mu = 0; mu < 4; ++mu) {
    if ((number >> mu & 1) == 0) continue;
    std::vector<Complex64> next(16);
    for (int r = 0; r < 4; ++r)
      for (int k = 0; k < 4; ++k)
        for (int c = 0; c < 4; ++c)
          if ((k < 2) != (c < 2))
            next[4 * r + c] +=
                product[4 * r + k] * (k < 2 ? block[mu][2 * k + c - 2] : std::conj(block[mu][2 * c + k - 2]));
    product = next;
  }
  SiteValues v{4, 4, {}, true, false};
  for (long long x = 0; x < lattice.sites(); ++x) v.element.insert(v.element.end(), product.begin(), product.end());
  value[name] = std::move(v);
}

void ExpressionValues::set_propagator(const std::string& name, const std::vector<quarksmith::HostSpinor>& columns) {
  const int n = static_cast<int>(columns.size());
  SiteValues v{n, n, std::vector<Complex64>(lattice.sites() * n * n), n == 12, false};
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int c = 0; c < n; ++c)
      for (int r = 0; r < n; ++r) v.at(i, r, c) = columns[c].site[i][r];
  value[name] = std::move(v);
}

void ExpressionValues::set_numbers(const std::string& name, const quarksmith::HostSpinor& numbers) {
  SiteValues v;
  for (long long i = 0; i < lattice.sites(); ++i) v.element.push_back(numbers.site[i][0]);
  value[name] = std::move(v);
}

}  // namespace reference
