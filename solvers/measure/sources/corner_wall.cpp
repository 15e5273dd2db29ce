// A source on one corner of the hypercubes of a time slice.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

Complex64 of_corner_wall(const ChoiceValues&, const Lattice&, long long, const Coordinates& x) {
  return (x[0] | x[1] | x[2]) % 2 == 0 ? 1 : 0;
}

}  // namespace

extern constinit const SourceKind corner_wall = {
    .name = "corner-wall",
    .contents = "1 on the sites of a time slice whose x, y and z are even, for staggered quarks",
    .parameters = {{coordinate(3)}},
    .at = of_corner_wall};

}  // namespace quarksmith::sources
