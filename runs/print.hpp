/// \file
/// Text of results, formatted: for sources of runs alone.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "runs/session.hpp"

namespace quarksmith::runs {

/// Formats text as fmt::print does, for the output of a session.
template <class... T>
void print(Session& session, fmt::format_string<T...> format, T&&... values) {
  session.print(fmt::format(format, std::forward<T>(values)...));
}

}  // namespace quarksmith::runs
