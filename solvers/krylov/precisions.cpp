#include "solvers/krylov/precisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "runtime/error.hpp"

namespace quarksmith {

Precisions precisions_of(const std::string& text, int most) {
  std::vector<const PrecisionInfo*> parts;
  std::istringstream words(text + "-");  // a dash at the end is a part without a name
  for (std::string name; std::getline(words, name, '-');) parts.push_back(&find_precision(name));
  if (static_cast<int>(parts.size()) > most)
    throw UsageError(fmt::format("precision '{}': {} parts; {}", text, parts.size(),
                                 most < 3 ? "use one or two, of residuals and of iterations"
                                          : "use up to three, the third of a preconditioner"));
  for (std::size_t n = 1; n < parts.size(); ++n)
    if (parts[n]->bits > parts[n - 1]->bits)
      throw UsageError(fmt::format("precision '{}': {} must not be higher than {}, which stands before it", text,
                                   parts[n]->name, parts[n - 1]->name));
  const auto part = [&](std::size_t n) { return parts[std::min(n, parts.size() - 1)]; };
  return {part(0), part(1), part(2)};
}

}  // namespace quarksmith
