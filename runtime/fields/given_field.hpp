/// \file
/// Fields that callers give to actions by their names.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/fields/gauge_links.hpp"

namespace quarksmith {

/// Numbers of a field of an action, on all sites in lexicographic order.
struct FieldNumbers {
  std::vector<Complex64> numbers;
  int hop = 0;  ///< of links whose phases across the boundary were divided out, the sites of their hops; 0: of any
  std::optional<GaugeLinks> links = {};  ///< in place of `numbers`: matrices of all directions, wherever they are

  std::span<const Complex64> all() const {
    if (!links) return numbers;
    const auto& site = links->host().site;
    return {site.at(0), site.size() * site.each()};
  }
};

/// A field on the host, links and matrices also on a device; each rank has its part.
struct GivenField {
  std::string kind;  ///< of ActionField: links, matrices, scalars, phases; spinor, fermion; term
  GaugeLinks links;  ///< links and matrices; numbers are stored in the first element of each, one number per site in
                     ///< that of direction x; of a term 36 reals for each block (runtime/kernels/term.hpp)
  std::optional<HostSpinor> spinor = {};
  bool unitary = false;  ///< matrices are one real number times unitary ones, as far as is known
};
using GivenFields = std::map<std::string, std::shared_ptr<const GivenField>, std::less<>>;

/// The name of the field that is added to the site term of an action, and its kind: two Hermitian 6x6 blocks, index 3 s
/// + c, on the spins where gamma_5 = diag(1, 1, -1, -1) is 1 and -1.
inline constexpr std::string_view given_term = "term";

/// Extents of a site of an array of this kind: numbers of directions, rows and columns, or spins and colours.
std::vector<int> extents_of(std::string_view kind);
/// A field from its numbers, site by site, x fastest, in the order of extents_of: double (re, im). Spinors are in the
/// DeGrand-Rossi basis.
/// \throws UsageError the kind is unknown, phases deviate from modulus 1 or a term from its adjoint by more than 1e-6.
GivenField given_field(std::string_view kind, const Lattice& lattice, std::span<const Complex64> numbers);
/// Unit links, numbers and terms of the kind of another field, on another lattice.
GivenField unit_field(const GivenField& like, const Lattice& lattice);

}  // namespace quarksmith
