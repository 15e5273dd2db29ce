/// \file
/// Results as text and as JSON; included only by sources of runs, so that public headers need neither library.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "runs/session.hpp"

namespace quarksmith::runs {

using Json = nlohmann::ordered_json;

/// JSON as text; bytes of file names that are not UTF-8 are replaced.
inline std::string json_text(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

inline void report(Session& session, const Json& result) {
  if (session.reports_wanted()) session.report(json_text(result));
}

/// Formats text as fmt::print does, for the output of a session.
template <class... T>
void print(Session& session, fmt::format_string<T...> format, T&&... values) {
  session.print(fmt::format(format, std::forward<T>(values)...));
}

}  // namespace quarksmith::runs
