// A source on one corner of the hypercubes of a time slice.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

void fill_corner_wall(const ChoiceValues& v, HostSpinor& source, int component) {
  for_each_site_at(static_cast<int>(v[0].whole), source.lattice, [&](long long i, const Coordinates& x) {
    if ((x[0] | x[1] | x[2]) % 2 == 0) source.site[i][component] = 1;  // parts begin at even coordinates
  });
}

}  // namespace

extern constinit const SourceKind corner_wall = {
    .name = "corner-wall",
    .contents = "1 on the sites of a time slice whose x, y and z are even, for staggered quarks",
    .parameters = {{coordinate(3)}},
    .fill = fill_corner_wall};

}  // namespace quarksmith::sources
