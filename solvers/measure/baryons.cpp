#include "solvers/measure/baryons.hpp"

#include <algorithm>

namespace quarksmith {
namespace {

/// What the terms of several baryons come to: products of three elements.
struct BaryonProducts {
  BaryonElements elements;
  std::vector<std::array<int, 3>> triples;  ///< numbers of elements; those with the same first two follow each other
  std::vector<std::vector<std::pair<int, Complex64>>> baryons;  ///< number of a triple, and its weight

  BaryonProducts(std::span<const Propagator* const> lines, std::span<const BaryonTerms> all) : elements(lines) {
    std::map<std::array<int, 3>, int> places;
    const auto triple_of = [&](const BaryonTerm& term) {
      std::array<int, 3> of;
      for (int k = 0; k < 3; ++k) of[k] = elements.number_of(term.quarks[k]);
      std::sort(of.begin(), of.end());
      return of;
    };
    for (const BaryonTerms& terms : all)
      for (const BaryonTerm& term : terms) places.try_emplace(triple_of(term), 0);
    for (auto& [of, place] : places) {
      place = static_cast<int>(triples.size());
      triples.push_back(of);
    }
    for (const BaryonTerms& terms : all) {
      auto& sums = baryons.emplace_back();
      for (const BaryonTerm& term : terms) sums.emplace_back(places[triple_of(term)], term.weight);
    }
  }
};

/// The colour matrix of Dirac components from a row of DeGrand-Rossi ones; the rotation is real.
void turn_element(const QuarkElement& e, const RowNumber* row, RowColours& to) {
  const Spin4& r = dirac_rotation();
  to = {};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const double weight = r[i][e.sink].real() * r[j][e.source].real();
      if (weight == 0) continue;
      for (int source = 0; source < 3; ++source)
        for (int sink = 0; sink < 3; ++sink)
          add_scaled(weight, row[12 * (3 * j + source) + 3 * i + sink], to[3 * source + sink]);
    }
}

void contract_baryons(const BaryonProducts& products, long long first, int sites, RowNumber* values) {
  const std::vector<RowColours> elements = products.elements.load(first, sites);
  std::vector<RowNumber> triples(products.triples.size());
  RowColours pair;
  for (std::size_t n = 0; n < triples.size(); ++n) {
    const auto& of = products.triples[n];
    const bool same = n > 0 && of[0] == products.triples[n - 1][0] && of[1] == products.triples[n - 1][1];
    if (!same) cofactors(elements[of[0]], elements[of[1]], pair);
    for (int c = 0; c < 9; ++c) add_product(pair[c], elements[of[2]][c], triples[n]);
  }
  for (std::size_t k = 0; k < products.baryons.size(); ++k)
    for (const auto& [n, weight] : products.baryons[k]) add_scaled(weight, triples[n], values[k]);
}

}  // namespace

void cofactors(const RowColours& a, const RowColours& b, RowColours& k) {
  k = {};
  for (int source = 0; source < 3; ++source)
    for (int sink = 0; sink < 3; ++sink) {
      const int r1 = (sink + 1) % 3, r2 = (sink + 2) % 3, c1 = 3 * ((source + 1) % 3), c2 = 3 * ((source + 2) % 3);
      RowNumber& z = k[3 * source + sink];
      add_product(a[c1 + r1], b[c2 + r2], z);
      add_product(a[c2 + r2], b[c1 + r1], z);
      subtract_product(a[c2 + r1], b[c1 + r2], z);
      subtract_product(a[c1 + r2], b[c2 + r1], z);
    }
}

BaryonElements::BaryonElements(std::span<const Propagator* const> lines) {
  for (const Propagator* s : lines) {
    const auto found = std::find(propagators_.begin(), propagators_.end(), s);
    propagator_of_.push_back(static_cast<int>(found - propagators_.begin()));
    if (found == propagators_.end()) propagators_.push_back(s);
  }
}

int BaryonElements::number_of(QuarkElement e) {
  e.line = propagator_of_[e.line];
  const auto [found, is_new] = numbers_.try_emplace(e, static_cast<int>(elements_.size()));
  if (is_new) elements_.push_back(e);
  return found->second;
}

std::vector<RowColours> BaryonElements::load(long long first, int sites) const {
  std::vector<RowNumber> rows(144 * propagators_.size());
  for (std::size_t n = 0; n < propagators_.size(); ++n) load_row(*propagators_[n], first, sites, &rows[144 * n]);
  std::vector<RowColours> all(elements_.size());
  for (std::size_t n = 0; n < all.size(); ++n) turn_element(elements_[n], &rows[144 * elements_[n].line], all[n]);
  return all;
}

std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const BaryonTerms> baryons,
                                   const MomentumPhases& phases, Communicator& communicator) {
  const BaryonProducts products(lines, baryons);
  return momentum_sums(
      lines[0]->lattice, phases, static_cast<int>(baryons.size()),
      [&](long long first, int sites, RowNumber* to) { contract_baryons(products, first, sites, to); }, communicator);
}

}  // namespace quarksmith
