#include "solvers/measure/sequential.hpp"

#include <algorithm>
#include <numbers>

#include "runtime/fields/expression.hpp"
#include "runtime/text.hpp"
#include "solvers/measure/baryons.hpp"

namespace quarksmith {
namespace {

/// Sets row by row what `make` gives for each, [12 column + row].
template <class Make>
void fill_rows(Propagator& to, const Make& make) {
  const int length = to.lattice.extent(0);
  const long long rows = to.lattice.sites() / length;
#pragma omp parallel for schedule(static)
  for (long long row = 0; row < rows; ++row)
    for (int x = 0; x < length; x += row_sites) {
      const int sites = std::min(row_sites, length - x);
      std::vector<RowNumber> values(144);
      make(row * length + x, sites, values.data());
      for (int w = 0; w < sites; ++w)
        for (int n = 0; n < 144; ++n)
          to.site[static_cast<std::size_t>(row * length + x + w)][n / 12][n % 12] = {values[n].re[w], values[n].im[w]};
    }
}

/// What the terms of a baryon give by one line: for each pair of the other two, the Dirac components of the third.
struct DerivativeTerms {
  BaryonElements elements;
  std::map<std::array<int, 2>, std::vector<std::pair<int, Complex64>>> pairs;  ///< 4 source + sink, and the weight

  DerivativeTerms(std::span<const Propagator* const> lines, const BaryonTerms& baryon, int line) : elements(lines) {
    for (const BaryonTerm& term : baryon)
      for (int k = 0; k < 3; ++k) {
        const QuarkElement& e = term.quarks[k];
        if (e.line != line) continue;
        std::array<int, 2> pair = {elements.number_of(term.quarks[(k + 1) % 3]),
                                   elements.number_of(term.quarks[(k + 2) % 3])};
        std::sort(pair.begin(), pair.end());
        pairs[pair].emplace_back(4 * e.source + e.sink, term.weight);
      }
  }
};

void derive_baryon(const DerivativeTerms& terms, long long first, int sites, RowNumber* f) {
  const std::vector<RowColours> elements = terms.elements.load(first, sites);
  std::vector<RowColours> dirac(16);
  RowColours k;
  for (const auto& [pair, weights] : terms.pairs) {
    cofactors(elements[pair[0]], elements[pair[1]], k);
    for (const auto& [spins, weight] : weights)
      for (int c = 0; c < 9; ++c) add_scaled(weight, k[c], dirac[spins][c]);
  }
  const Spin4& r = dirac_rotation();
  for (int source = 0; source < 4; ++source)
    for (int sink = 0; sink < 4; ++sink)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          const double weight = r[i][sink].real() * r[j][source].real();
          if (weight == 0) continue;
          for (int c = 0; c < 9; ++c)
            add_scaled(weight, dirac[4 * source + sink][c], f[12 * (3 * j + c / 3) + 3 * i + c % 3]);
        }
}

/// sum over source spins, colours of conj(X_s) S_t, spins s and t at y: [4 s + t].
void add_spin_pairs(const RowNumber* x, const RowNumber* s, RowNumber* pairs) {
  for (int column = 0; column < 12; ++column)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        for (int c = 0; c < 3; ++c)
          add_conjugated(s[12 * column + 3 * b + c], x[12 * column + 3 * a + c], pairs[4 * a + b]);
}

/// values += weight * sum of M_ab times pairs
void add_matrix(Complex64 weight, const Spin4& m, const RowNumber* pairs, RowNumber& value) {
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (m[a][b] != 0.0) add_scaled(weight * m[a][b], pairs[4 * a + b], value);
}

const std::vector<Current>& all_currents() {
  static const std::vector<Current> table = [] {
    constexpr int g5 = 15;
    std::vector<Current> all = {{"S", 0}, {"P", g5}};
    const auto number = [](int mu) { return std::to_string(mu + 1); };
    for (int mu = 0; mu < directions; ++mu) all.push_back({"V" + number(mu), 1 << mu});
    for (int mu = 0; mu < directions; ++mu)  // gamma_mu gamma_5 is the product of the others in order, times a sign
      all.push_back({"A" + number(mu), g5 ^ (1 << mu), mu % 2 == 0 ? 1.0 : -1.0});
    for (int mu = 0; mu < directions; ++mu)
      for (int nu = mu + 1; nu < directions; ++nu) all.push_back({"T" + number(mu) + number(nu), 1 << mu | 1 << nu});
    for (int mu = 0; mu < directions; ++mu) all.push_back({"conserved_V" + number(mu), mu, 1, true});
    return all;
  }();
  return table;
}

}  // namespace

Propagator meson_derivative(const Propagator& s2, const GammaPair& gammas) {
  const Spin4 g5 = gamma_product(15);
  const Spin4 sink = product(g5, gamma_product(gammas.sink)), source = product(gamma_product(gammas.source), g5);
  Propagator f(s2.lattice);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < f.lattice.sites(); ++i)
    for (int n = 0; n < 256; ++n) {
      const int b = n & 3, c = n >> 2 & 3, d = n >> 4 & 3, e = n >> 6;
      const Complex64 weight = source[c][d] * sink[e][b];
      if (weight == 0.0) continue;
      for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 3; ++to)
          f.site[i][3 * c + from][3 * b + to] += weight * std::conj(s2.site[i][3 * d + from][3 * e + to]);
    }
  return f;
}

Propagator baryon_derivative(std::span<const Propagator* const> lines, const BaryonTerms& baryon, int line) {
  const DerivativeTerms terms(lines, baryon, line);
  Propagator f(lines[0]->lattice);
  fill_rows(f, [&](long long first, int sites, RowNumber* to) { derive_baryon(terms, first, sites, to); });
  return f;
}

Complex64 make_sequential_source(Propagator& f, const Propagator& s, int time, const Momentum& p,
                                 const Coordinates& origin, Communicator& communicator) {
  const Lattice& l = f.lattice;
  double sum[2] = {};
  for (long long i = 0; i < l.sites(); ++i) {
    const Coordinates x = l.coordinates(i);
    auto& site = f.site[static_cast<std::size_t>(i)];
    if (x[3] + l.origin(3) != time) {
      site = {};
      continue;
    }
    const Complex64 phase = phase_at(l, x, p, origin);
    Complex64 here = 0;
    for (int column = 0; column < 12; ++column)
      for (int row = 0; row < 12; ++row) {
        Complex64& z = site[column][row];
        z *= phase;
        here += z * s.site[static_cast<std::size_t>(i)][column][row];
        z = (row < 6 ? 1.0 : -1.0) * std::conj(z);  // gamma_5 = diag(1, 1, -1, -1)
      }
    sum[0] += here.real();
    sum[1] += here.imag();
  }
  communicator.sum(sum);
  return {sum[0], sum[1]};
}

Current current_named(const std::string& name) {
  for (const Current& c : all_currents())
    if (c.name == name) return c;
  const auto& gammas = meson_names();
  if (const auto found = std::find(gammas.begin(), gammas.end(), name); found != gammas.end())
    return {name, static_cast<int>(found - gammas.begin())};
  const std::vector<std::string> all = current_names();
  unknown_name("current", name, std::vector<std::string_view>(all.begin(), all.end()));
}

std::vector<std::string> current_names() {
  std::vector<std::string> names;
  for (const Current& c : all_currents()) names.push_back(c.name);
  return names;
}

std::vector<Complex64> three_point_sums(const Propagator& x, const Propagator& s, std::span<const Current> currents,
                                        const MomentumPhases& phases, Communicator& communicator) {
  std::vector<Spin4> matrices;
  for (const Current& c : currents) matrices.push_back(product(gamma_product(15), gamma_product(c.gamma)));
  const auto values = [&](long long first, int sites, RowNumber* to) {
    std::vector<RowNumber> rows(288 + 16);
    load_row(x, first, sites, rows.data());
    load_row(s, first, sites, rows.data() + 144);
    add_spin_pairs(rows.data(), rows.data() + 144, rows.data() + 288);
    for (std::size_t k = 0; k < matrices.size(); ++k)
      add_matrix(currents[k].sign, matrices[k], rows.data() + 288, to[k]);
  };
  return momentum_sums(x.lattice, phases, static_cast<int>(currents.size()), values, communicator);
}

std::vector<Complex64> conserved_three_point_sums(const Propagator& x, const Propagator& s,
                                                  const AheadPropagators& ahead, int mu, const MomentumPhases& phases,
                                                  Communicator& communicator) {
  const Spin4 g5 = gamma_product(15), along = product(g5, gamma(mu));
  const auto values = [&](long long first, int sites, RowNumber* to) {
    std::vector<RowNumber> rows(288 + 32);
    RowNumber *left = rows.data(), *right = left + 144, *back = left + 288, *forth = back + 16;
    load_row(*ahead.x, first, sites, left);
    load_row(s, first, sites, right);
    add_spin_pairs(left, right, back);
    load_row(x, first, sites, left);
    load_row(*ahead.s, first, sites, right);
    add_spin_pairs(left, right, forth);
    add_matrix(0.5, g5, back, to[0]);
    add_matrix(0.5, along, back, to[0]);
    add_matrix(-0.5, g5, forth, to[0]);
    add_matrix(0.5, along, forth, to[0]);
  };
  return momentum_sums(x.lattice, phases, 1, values, communicator);
}

Propagator ahead_of(const Propagator& s, int mu, const std::shared_ptr<const LinkField>& links,
                    const std::array<Complex64, directions>& boundary) {
  const BasisInfo& basis = find_basis("degrand_rossi");
  SpinorField from(links->domain_pointer(), find_precision("double"), Subset::full, 12), zero = from.like(),
                                                                                         to = from.like();
  HostSpinor column(s.lattice);
  for (int n = 0; n < 12; ++n) {
    s.get_column(n, column);
    upload(column, from, basis, n);
  }
  zero.fill(0);
  evaluate("path_ahead", {*links, from, zero, LatticeDirection{mu}}, {to}, {.boundary = boundary});
  Propagator ahead(s.lattice);
  for (int n = 0; n < 12; ++n) {
    download(to, column, basis, n);
    ahead.set_column(n / 3, n % 3, column);
  }
  return ahead;
}

}  // namespace quarksmith
