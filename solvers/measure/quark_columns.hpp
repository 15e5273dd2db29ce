/// \file
/// Quark propagators on the host, and the correlators that are made of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/listed.hpp"

namespace quarksmith {

/// S(x; source): at each site a 12x12 matrix; element [3 s + c][3 s' + c'] is sink spin s, colour c, source spin s',
/// colour c'. DeGrand-Rossi basis, lexicographic sites.
struct Propagator {
  Lattice lattice;
  std::vector<std::array<HostSite, 12>> site;  ///< site[x][column][row], column = 3 s' + c'
  explicit Propagator(const Lattice& l) : lattice(l), site(static_cast<std::size_t>(l.sites())) {}
  /// Takes the solution for one source spin and colour.
  void set_column(int spin, int colour, const HostSpinor& solution);
  void get_column(int column, HostSpinor& solution) const;
};

/// The same of staggered quarks: at each site three columns, the solutions for the colours of the source.
struct StaggeredPropagator {
  using Column = std::array<Complex64, 3>;
  Lattice lattice;
  std::vector<std::array<Column, 3>> site;  ///< site[x][source colour][sink colour]
  explicit StaggeredPropagator(const Lattice& l) : lattice(l), site(static_cast<std::size_t>(l.sites())) {}
  /// Takes the solution for a source colour: the first colour vector of each site.
  void set_column(int colour, const HostSpinor& solution);
};

/// Sums of |psi|^2 over the sites of each t of the whole lattice. The ranks that hold its parts call this together.
std::vector<double> slice_norms(const HostSpinor& column, Communicator& communicator = *Communicator::self());

/// What correlators are made of.
struct QuarkColumns {
  /// \param masses of staggered quarks; none: Dirac quarks.
  QuarkColumns(const Lattice& lattice, std::vector<double> masses);

  /// Takes column n = 3 a + colour, `a` a spin or the number of a mass, as the sink leaves it.
  void take(int n, const HostSpinor& column);
  bool has_midpoints() const { return norms.size() == 12; }

  Lattice lattice;
  std::optional<Propagator> dirac;
  std::vector<StaggeredPropagator> staggered;  ///< by mass
  std::vector<double> masses;
  /// slice_norms of columns of domain-wall quarks before a sink: half-way in the fifth dimension, and on the walls.
  struct Norms {
    std::vector<double> midpoint, wall;
  };
  std::map<int, Norms> norms;
  int source_t = 0;          ///< from where t counts
  Complex64 time_phase = 1;  ///< of the boundary
  Communicator* communicator = Communicator::self().get();
};

/// Numbers by t, counted from the source over the whole lattice, and the key under which files have them.
struct Correlator {
  std::string group, name;  ///< without a group the key is that of the file
  std::variant<std::vector<double>, std::vector<Complex64>> values;
};

/// A kind of correlators: what a file of solvers/measure/correlators/ defines, and all that is said of it.
struct CorrelatorKind {
  std::string_view keys;     ///< of its results
  std::string_view quarks;   ///< of which it is made
  std::string_view formula;  ///< with its source
  /// None for other quarks. Collective; all ranks get the same numbers.
  std::vector<Correlator> (*contract)(const QuarkColumns& quark);
};
template <>
std::span<const CorrelatorKind* const> listed<CorrelatorKind>();

}  // namespace quarksmith
