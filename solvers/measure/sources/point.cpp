// A source at one site.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

Complex64 of_point(const ChoiceValues& v, const Lattice&, long long, const Coordinates& x) {
  for (int mu = 0; mu < directions; ++mu)
    if (x[mu] != static_cast<long long>(v[mu].whole)) return 0;
  return 1;
}

}  // namespace

extern constinit const SourceKind point = {.name = "point",
                                           .contents = "1 at one site",
                                           .parameters = {{coordinate(0), coordinate(1), coordinate(2), coordinate(3)}},
                                           .at = of_point};

}  // namespace quarksmith::sources
