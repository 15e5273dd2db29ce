/// \file
/// Sources of quark propagators.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "runtime/fields/site_random.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith {

/// A kind of source with its documentation, defined by a file of solvers/measure/sources/.
struct SourceKind {
  std::string_view name;        ///< as in options
  std::string_view contents;    ///< description of the source
  ChoiceParameters parameters;  ///< if a time slice is among them, the source is zero on the others
  /// The source at a site. \param site local lexicographic number. \param x global coordinates, as parameters have
  /// them.
  Complex64 (*at)(const ChoiceValues& values, const Lattice& local, long long site, const Coordinates& x);
};
template <>
std::span<const SourceKind* const> listed<SourceKind>();
/// The form of the text for a kind, such as `noise:SEED[,z2|z4]`, or for a smeared point `gaussian:x,y,z,t:w,N`.
std::string form_of(const SourceKind& kind);
std::string source_form_of(const SmearingKind& kind);

/// A source as options describe it; coordinates are those of the whole lattice.
struct SourceSettings {
  const SourceKind* kind = nullptr;
  ChoiceValues values{};
  QuarkSmearing smearing;  ///< smearing of a point source, to be done on a device

  /// Time slice of the source, from which correlators count t.
  int time() const;
  /// First and last time slice on which the source, before smearing, is not zero.
  std::pair<int, int> slices(const Lattice& lattice) const;
};

/// Reads a text such as `point:x,y,z,t` or `wall:t`, see SourceKind, or a smeared point such as `gaussian:x,y,z,t:w,N`.
/// \throws UsageError any other text, or a coordinate outside the lattice.
SourceSettings source_of(const std::string& text, const Lattice& lattice);
/// The same for any lattice.
SourceSettings source_of(const std::string& text);
/// Texts that source_of reads. \param spins 1: of staggered quarks, which are not smeared.
std::string source_forms(int spins = 4);

/// A factor of a source, as a function of local coordinates.
using SourcePhase = std::function<Complex64(const Coordinates&)>;
/// The source in one spin and colour, before smearing, on the local lattice.
HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour);
/// Sets a source in a right-hand side of a field whose kernels use `basis`.
void set_source(const SourceSettings& settings, int spin, int colour, SpinorField& to, const BasisInfo& basis, int rhs,
                const SourcePhase& phase = {});

/// A root of unity of order 2 or 4.
inline Complex64 drawn_root(Random& random, int order) {
  constexpr Complex64 roots[] = {1, -1, {0, 1}, {0, -1}};
  return roots[static_cast<int>(order * random.uniform())];
}

}  // namespace quarksmith
