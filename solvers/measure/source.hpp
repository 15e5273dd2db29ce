/// \file
/// Sources of quark propagators.
#pragma once

#include <string>

#include "runtime/fields/site_random.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith {

/// A kind of source: what a file of solvers/measure/sources/ defines, and all that is said of it.
struct SourceKind {
  std::string_view name;      ///< as options spell it
  std::string_view contents;  ///< in words
  ChoiceParameters parameters;
  /// Sets component 3 spin + colour of a field that is zero, of a part of a lattice. Coordinates of the parameters are
  /// those of the whole lattice, and inside it.
  void (*fill)(const ChoiceValues& values, HostSpinor& source, int component);
};
template <>
std::span<const SourceKind* const> listed<SourceKind>();
/// `noise:SEED[,z2|z4]`; of a smeared point `gaussian:x,y,z,t:w,N`.
std::string form_of(const SourceKind& kind);
std::string source_form_of(const SmearingKind& kind);

/// A source as options describe it; coordinates are those of the whole lattice.
struct SourceSettings {
  const SourceKind* kind = nullptr;
  ChoiceValues values{};
  QuarkSmearing smearing;  ///< of a point, to be done on a device

  /// Time slice from which correlators count.
  int time() const;
};

/// `point:x,y,z,t`, `wall:t`, ...: what SourceKind says, or a smeared point: `gaussian:x,y,z,t:w,N`, ...
/// \throws UsageError any other text, or a coordinate outside the lattice.
SourceSettings source_of(const std::string& text, const Lattice& lattice);
/// What source_of reads. \param spins 1: of staggered quarks, which are not smeared.
std::string source_forms(int spins = 4);

/// The source in one spin and colour, before smearing, in place of what the field holds. A part of a lattice gets its
/// part.
void fill_source(const SourceSettings& settings, int spin, int colour, HostSpinor& source);
HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour);

/// A root of unity of order 2 or 4.
inline Complex64 drawn_root(Random& random, int order) {
  constexpr Complex64 roots[] = {1, -1, {0, 1}, {0, -1}};
  return roots[static_cast<int>(order * random.uniform())];
}

/// Calls visit(site, its coordinates in this part) for the sites of a time slice of the whole lattice.
template <class Visit>
void for_each_site_at(int time, const Lattice& lattice, const Visit& visit) {
  const long long space = lattice.space_sites(), t = time - lattice.origin(3);
  if (t < 0 || t >= lattice.extent(3)) return;
  for (long long i = t * space; i < (t + 1) * space; ++i) visit(i, lattice.coordinates(i));
}

}  // namespace quarksmith
