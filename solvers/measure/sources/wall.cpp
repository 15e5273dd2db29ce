// A source on a time slice.
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {

Complex64 of_wall(const ChoiceValues&, const Lattice&, long long, const Coordinates&) { return 1; }

}  // namespace

extern constinit const SourceKind wall = {
    .name = "wall", .contents = "1 on all sites of a time slice", .parameters = {{coordinate(3)}}, .at = of_wall};

}  // namespace quarksmith::sources
