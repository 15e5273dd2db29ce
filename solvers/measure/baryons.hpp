/// \file
/// Baryons by name, with the kernel (generator/operators/contractions.py) and the quarks of their contraction.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "solvers/measure/momenta.hpp"
#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// A two-point function of a baryon, from the results of a kernel.
struct Baryon {
  std::string name, spin;  ///< `proton`, `up`; Chroma's have no spin
  std::string_view kernel;
  /// Indices, among the lines of a call, of the propagators that the kernel takes.
  std::vector<int> lines;
  /// How often each of these quarks occurs in the baryon.
  std::vector<int> quarks;
  double parity = 0;  ///< 1 for upper components, -1 for lower ones; 0 for kernels without the choice
  std::vector<double> weights;

  std::string label() const { return spin.empty() ? name : name + "/" + spin; }
};

/// Names of all interpolators.
std::vector<std::string> baryon_names();
/// The quark lines of an interpolator, by letters: `ud` for the proton, `12` for those of Chroma.
/// \throws UnknownName there is none of this name.
std::string lines_of_baryon(const std::string& name);
/// Two-point functions of a baryon for all its spins.
/// \param lines letters of all lines of a call; Baryon::lines has positions in it. \throws UnknownName
std::vector<Baryon> baryons_of(const std::string& name, const std::string& lines);

/// sum_x exp(i p.(x - x0)) of each two-point function, in the order of momentum_sums. \param lines the propagator of
/// each line. Kernels with the same propagators run once. Collective; all ranks get the same.
std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const Baryon> baryons,
                                   const MomentumPhases& phases);

/// gamma_5 conj(F phase), where F is the derivative by the propagator of a line, summed over all quarks of that line.
/// \param phase conjugate phases, in the form of phases_at.
Propagator baryon_source(std::span<const Propagator* const> lines, const Baryon& baryon, int line,
                         const LinkField& phase);

}  // namespace quarksmith
