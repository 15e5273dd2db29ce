/// \file
/// Columns of quark propagators, and the correlators that are made of them.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runtime/listed.hpp"
#include "solvers/measure/propagator.hpp"
#include "solvers/measure/smearing.hpp"
#include "solvers/solve/slice_solver.hpp"

namespace quarksmith {

/// Columns of a quark's propagators, from which correlators are contracted.
struct QuarkColumns {
  /// \param masses of staggered quarks; none: Dirac quarks.
  QuarkColumns(const DomainPointer& domain, std::vector<double> masses);

  /// Takes column n = 3 a + colour, `a` a spin or the number of a mass.
  void take(int n, const HostSpinor& column);
  /// Sets column n from a field on the device. \param basis of the field.
  void take(int n, const SpinorField& column, const BasisInfo& basis);
  /// Column n in the basis of files.
  void give(int n, HostSpinor& column) const;
  /// Smears what was taken. \param links of the columns' lattice and device; null without a sink.
  void smear(int n, const QuarkSmearing& sink, const std::shared_ptr<const LinkField>& links);
  bool staggered() const { return !masses.empty(); }
  bool has_midpoints() const { return norms.size() == 12; }
  const Lattice& lattice() const { return quarks[0].lattice(); }

  std::vector<Propagator> quarks;  ///< one for Dirac quarks; for staggered quarks one for each mass
  std::vector<double> masses;
  /// slice_norms of columns of domain-wall quarks before a sink: half-way in the fifth dimension, and on the walls.
  struct Norms {
    std::vector<double> midpoint, wall;
  };
  std::map<int, Norms> norms;
  int source_t = 0;          ///< t of the source, from which t is counted in correlators
  Complex64 time_phase = 1;  ///< of the boundary

 private:
  /// Propagator and column within it of column n.
  std::pair<int, int> place(int n) const { return staggered() ? std::pair(n / 3, n % 3) : std::pair(0, n); }
};

/// All columns as right-hand sides of a field, in the order spin, colour; for several masses one mass after the other.
/// \param domain of that lattice. \param basis of the field.
SpinorField all_columns(const QuarkColumns& quark, const DomainPointer& domain, const BasisInfo& basis);

/// Numbers by t, counted from the source over the whole lattice, and their key in files.
struct Correlator {
  std::string group, name;  ///< key [group][name]; empty group: [name] at the top
  std::variant<std::vector<double>, std::vector<Complex64>> values;
};

/// A kind of correlators with its documentation, which a file of solvers/measure/correlators/ defines.
struct CorrelatorKind {
  std::string_view keys;     ///< of its results
  std::string_view quarks;   ///< kinds of quarks that it is made of
  std::string_view formula;  ///< with its source
  /// Contracts the columns; nothing for quarks of another kind. Collective; all ranks get the same numbers.
  std::vector<Correlator> (*contract)(const QuarkColumns& quark);
};
template <>
std::span<const CorrelatorKind* const> listed<CorrelatorKind>();

}  // namespace quarksmith
