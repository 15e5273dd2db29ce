#include "solvers/measure/baryons.hpp"

#include <algorithm>
#include <map>

#include "solvers/measure/row_matrices.hpp"

namespace quarksmith {
namespace {

/// The colour matrix of an element on the sites of a row: [3 source + sink].
using RowColours = std::array<RowNumber, 9>;

/// What the terms of several baryons come to: elements, and products of three of them.
struct BaryonProducts {
  struct Triple {
    std::array<int, 3> of;  ///< numbers of elements; those with the same first two follow each other
  };
  std::vector<QuarkElement> elements;  ///< `line` is a number of `propagators`
  std::vector<const Propagator*> propagators;
  std::vector<Triple> triples;
  std::vector<std::vector<std::pair<int, Complex64>>> baryons;  ///< number of a triple, and its weight

  BaryonProducts(std::span<const Propagator* const> lines, std::span<const BaryonTerms> all) {
    std::vector<int> propagator_of;
    for (const Propagator* s : lines) {
      const auto found = std::find(propagators.begin(), propagators.end(), s);
      propagator_of.push_back(static_cast<int>(found - propagators.begin()));
      if (found == propagators.end()) propagators.push_back(s);
    }
    std::map<QuarkElement, int> numbers;
    std::map<std::array<int, 3>, int> places;
    const auto triple_of = [&](const BaryonTerm& term) {
      std::array<int, 3> of;
      for (int k = 0; k < 3; ++k) {
        QuarkElement e = term.quarks[k];
        e.line = propagator_of[e.line];
        const auto [found, is_new] = numbers.try_emplace(e, static_cast<int>(elements.size()));
        if (is_new) elements.push_back(e);
        of[k] = found->second;
      }
      std::sort(of.begin(), of.end());
      return of;
    };
    for (const BaryonTerms& terms : all)
      for (const BaryonTerm& term : terms) places.try_emplace(triple_of(term), 0);
    for (auto& [of, place] : places) {
      place = static_cast<int>(triples.size());
      triples.push_back({of});
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

/// K_cc' = sum of eps_abc eps_a'b'c' A_aa' B_bb'
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

void contract_row(const BaryonProducts& products, long long first, int sites, RowNumber* values) {
  std::vector<RowNumber> rows(144 * products.propagators.size());
  for (std::size_t n = 0; n < products.propagators.size(); ++n)
    load_row(*products.propagators[n], first, sites, &rows[144 * n]);
  std::vector<RowColours> elements(products.elements.size());
  for (std::size_t n = 0; n < elements.size(); ++n)
    turn_element(products.elements[n], &rows[144 * products.elements[n].line], elements[n]);
  std::vector<RowNumber> triples(products.triples.size());
  RowColours pair;
  for (std::size_t n = 0; n < triples.size(); ++n) {
    const auto& of = products.triples[n].of;
    const bool same = n > 0 && of[0] == products.triples[n - 1].of[0] && of[1] == products.triples[n - 1].of[1];
    if (!same) cofactors(elements[of[0]], elements[of[1]], pair);
    for (int c = 0; c < 9; ++c) add_product(pair[c], elements[of[2]][c], triples[n]);
  }
  for (std::size_t k = 0; k < products.baryons.size(); ++k)
    for (const auto& [n, weight] : products.baryons[k]) add_scaled(weight, triples[n], values[k]);
}

}  // namespace

std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const BaryonTerms> baryons,
                                   const MomentumPhases& phases, Communicator& communicator) {
  const BaryonProducts products(lines, baryons);
  return momentum_sums(
      lines[0]->lattice, phases, static_cast<int>(baryons.size()),
      [&](long long first, int sites, RowNumber* to) { contract_row(products, first, sites, to); }, communicator);
}

}  // namespace quarksmith
