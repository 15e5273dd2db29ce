/// \file
/// Baryons by name: which kernel contracts them (generator/operators/contractions.py), of which quarks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "solvers/measure/momenta.hpp"
#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// A two-point function: a combination of what a kernel gives.
struct Baryon {
  std::string name, spin;  ///< `proton`, `up`; Chroma's have no spin
  std::string_view kernel;
  /// The propagators of the kernel, by their numbers among the lines of a call.
  std::vector<int> lines;
  /// How often each of these occurs.
  std::vector<int> quarks;
  double parity = 0;  ///< 1 for upper components, -1 for lower ones; 0 for kernels without the choice
  std::vector<double> weights;

  std::string label() const { return spin.empty() ? name : name + "/" + spin; }
};

/// Names of all interpolators.
std::vector<std::string> baryon_names();
/// The quark lines of one of them, by letters: `ud` of the proton, `12` of Chroma's.
/// \throws UnknownName there is none of this name.
std::string lines_of_baryon(const std::string& name);
/// Two-point functions of a baryon, of all spins.
/// \param lines letters of all lines, whose places are the numbers in `lines`. \throws UnknownName
std::vector<Baryon> baryons_of(const std::string& name, const std::string& lines);

/// sum_x exp(i p.(x - x0)) of each two-point function, in the order of momentum_sums. \param lines the propagator of
/// each line. What one kernel gives of the same propagators is contracted once. Collective; all ranks get the same.
std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const Baryon> baryons,
                                   const MomentumPhases& phases);

/// gamma_5 conj(F phase), F the derivative by the propagator of a line: of all quarks of that line.
/// \param phase as of phases_at, of the conjugate.
Propagator baryon_source(std::span<const Propagator* const> lines, const Baryon& baryon, int line,
                         const LinkField& phase);

}  // namespace quarksmith
