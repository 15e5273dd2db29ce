/// \file
/// Options of methods that restart a search space from the best of its vectors.
#pragma once

#include "solvers/krylov/method.hpp"

namespace quarksmith {

inline constexpr MethodNumber search_number = {.option = "--search",
                                               .letter = "M",
                                               .help = "vectors M of the search space of eigcg, gmres-dr",
                                               .whole = &MethodParameters::search,
                                               .lower = 3,
                                               .upper = 400};
inline constexpr MethodNumber keep_number = {.option = "--keep",
                                             .letter = "K",
                                             .help = "of them K are kept, at a restart and for the next source",
                                             .whole = &MethodParameters::keep,
                                             .lower = 1,
                                             .upper = 100};

}  // namespace quarksmith
