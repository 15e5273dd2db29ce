// Noise on a time slice.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

/// The numbers depend on seed and site of the whole lattice alone.
Complex64 of_noise_wall(const ChoiceValues& v, const Lattice& local, long long site, const Coordinates&) {
  Random random = random_at(local, site, {v[1].whole, 0});
  return drawn_root(random, v[2].whole == 0 ? 2 : 4);
}

}  // namespace

extern constinit const SourceKind noise_wall = {
    .name = "noise-wall",
    .contents =
        "a root of unity, of order 2 or 4, at every site of a time slice, the same for all spins and colours: the "
        "one-end trick (M. Foster and C. Michael, Phys. Rev. D 59 (1999) 074503)",
    .parameters = {{coordinate(3),
                    {.name = "SEED", .upper = 0x1p64, .whole = true},
                    {.name = "group", .words = "z2|z4", .fallback = 0}}},
    .at = of_noise_wall};

}  // namespace quarksmith::sources
