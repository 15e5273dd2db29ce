/// \file
/// Work on files on which a library may crash, in a child process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace quarksmith {

/// What `work` returns, computed by a child of this process with limits on its time and memory. The child shares open
/// files, but no threads and no ranks: `work` must not use either.
/// \param most bytes that it may return.
/// \throws Error (or UsageError) as `work` does; Error with `failure` if the child crashes or exceeds its limits.
std::string isolated(const std::function<std::string()>& work, std::uint64_t most, const std::string& failure);

}  // namespace quarksmith
