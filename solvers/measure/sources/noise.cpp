// Noise on all sites.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

/// The numbers depend on seed and site of the whole lattice alone.
Complex64 of_noise(const ChoiceValues& v, const Lattice& local, long long site, const Coordinates&) {
  Random random = random_at(local, site, {v[0].whole, 0});
  return drawn_root(random, v[1].whole == 0 ? 2 : 4);
}

}  // namespace

extern constinit const SourceKind noise = {
    .name = "noise",
    .contents =
        "a root of unity, of order 2 or 4, at every site, the same for all spins and colours (S.-J. Dong and "
        "K.-F. Liu, Phys. Lett. B 328 (1994) 130)",
    .parameters = {{{.name = "SEED", .upper = 0x1p64, .whole = true},
                    {.name = "group", .words = "z2|z4", .fallback = 0}}},
    .at = of_noise};

}  // namespace quarksmith::sources
