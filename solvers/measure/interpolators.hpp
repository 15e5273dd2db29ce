/// \file
/// Interpolating fields of baryons, as tables, and the terms of their two-point functions that follow from them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith {

/// The colour matrix of a quark line with these Dirac components: DeGrand-Rossi spins turned by dirac_rotation().
struct QuarkElement {
  int line, sink, source;
  auto operator<=>(const QuarkElement&) const = default;
};

/// weight * sum of eps_abc eps_a'b'c' A_aa' B_bb' C_cc' of three colour matrices, whose order is of no meaning.
struct BaryonTerm {
  Complex64 weight;
  std::array<QuarkElement, 3> quarks;
};
using BaryonTerms = std::vector<BaryonTerm>;

/// A two-point function.
struct Baryon {
  std::string name, spin;  ///< `proton`, `up`; Chroma's have no spin
  BaryonTerms terms;
};

/// S_D = R^+ S R with R = (gamma_5 gamma_t - 1) gamma_x gamma_z / sqrt(2), which is real: gamma_t becomes diag(1, 1,
/// -1, -1), component 0 has spin up, 1 down.
const Spin4& dirac_rotation();

/// Names of all interpolators.
std::vector<std::string> baryon_names();
/// The quark lines of one of them, by letters: `ud` of the proton, `12` of Chroma's.
/// \throws UnknownName there is none of this name.
std::string lines_of_baryon(const std::string& name);
/// Its two-point functions, of all spins. \param lines letters of all lines, whose places are the numbers in the terms.
/// \throws UnknownName
std::vector<Baryon> baryons_of(const std::string& name, const std::string& lines);

}  // namespace quarksmith
