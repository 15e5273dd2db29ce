#include "apps/paths.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

/// However they are written: through links, `..`, or two names of one file.
bool same(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  if (std::filesystem::equivalent(a, b, ignored)) return true;
  const auto whole = [](const std::filesystem::path& p) { return weakly_canonical(std::filesystem::absolute(p)); };
  return whole(a) == whole(b);
}

}  // namespace

void require_distinct(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& out = outputs[i];
    // Devices and pipes keep all that is written to them.
    if (out.path.empty() || (std::filesystem::exists(out.path) && !std::filesystem::is_regular_file(out.path)))
      continue;
    for (std::size_t k = 0; k < i; ++k)
      if (!outputs[k].path.empty() && same(out.path, outputs[k].path))
        throw UsageError(fmt::format("{} and {} both write {}; give each a file of its own", outputs[k].option,
                                     out.option, out.path.string()));
    for (const NamedPath& in : inputs)
      if (!in.path.empty() && std::filesystem::exists(in.path) && same(out.path, in.path))
        throw UsageError(fmt::format("{} would replace {}, which {} reads; choose another name", out.option,
                                     in.path.string(), in.option));
  }
}

}  // namespace quarksmith::apps
