// A source at one site.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

void fill_point(const ChoiceValues& v, HostSpinor& source, int component) {
  Coordinates origin, here;
  for (int mu = 0; mu < directions; ++mu) origin[mu] = static_cast<int>(v[mu].whole);
  if (source.lattice.find(origin, here)) source.site[source.lattice.index(here)][component] = 1;
}

}  // namespace

extern constinit const SourceKind point = {.name = "point",
                                           .contents = "1 at one site",
                                           .parameters = {{coordinate(0), coordinate(1), coordinate(2), coordinate(3)}},
                                           .fill = fill_point};

}  // namespace quarksmith::sources
