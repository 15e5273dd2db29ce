// A source on a time slice.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

void fill_wall(const ChoiceValues& v, HostSpinor& source, int component) {
  for_each_site_at(static_cast<int>(v[0].whole), source.lattice,
                   [&](long long i, const Coordinates&) { source.site[i][component] = 1; });
}

}  // namespace

extern constinit const SourceKind wall = {
    .name = "wall", .contents = "1 on all sites of a time slice", .parameters = {{coordinate(3)}}, .fill = fill_wall};

}  // namespace quarksmith::sources
