// Noise on all sites.
#include "runtime/fields/site_random.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

/// The numbers depend on seed and site of the whole lattice alone.
void fill_noise(const ChoiceValues& v, HostSpinor& source, int component) {
  constexpr Complex64 roots[] = {1, -1, {0, 1}, {0, -1}};
  const int count = v[1].whole == 0 ? 2 : 4;
  for (long long i = 0; i < source.lattice.sites(); ++i)
    source.site[i][component] = roots[int(count * random_at(source.lattice, i, {v[0].whole, 0}).uniform())];
}

}  // namespace

extern constinit const SourceKind noise = {
    .name = "noise",
    .contents =
        "a root of unity, of order 2 or 4, at every site, the same for all spins and colours (S.-J. Dong and "
        "K.-F. Liu, Phys. Lett. B 328 (1994) 130)",
    .parameters = {{{.name = "SEED", .upper = 0x1p64, .whole = true},
                    {.name = "group", .words = "z2|z4", .fallback = 0}}},
    .fill = fill_noise};

}  // namespace quarksmith::sources
