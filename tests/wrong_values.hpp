/// \file
/// Values that are wrong for a member of a description, and by what kind of refusal each is answered.
#pragma once

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "runs/command.hpp"

namespace quarksmith {

/// A value, and what is said of it.
struct WrongValue {
  runs::Value value;
  runs::Refusal::Kind kind;
};

/// Whether a door knows types: others give words.
inline bool is_typed(runs::Door door) { return door == runs::Door::toml || door == runs::Door::python; }

/// The line of a file from which values of these tests come.
constexpr int line_of_values = 7;

/// A number, or a text, as a door gives it.
template <class T>
runs::Value given(const T& x, runs::Door door) {
  runs::Value value{x, line_of_values};
  if (!is_typed(door)) value.value = runs::Word{word_of(value)};
  return value;
}

inline bool takes_number(const runs::Member& m) { return m.is_number() || m.type() == "FLOAT"; }
/// Whether it takes whole numbers alone.
inline bool takes_whole(const runs::Member& m) { return takes_number(m) && m.type() != "FLOAT"; }

inline runs::Value number_for(const runs::Member& m, double x, runs::Door door) {
  return takes_whole(m) ? given(static_cast<long long>(x), door) : given(x, door);
}

/// A value that a member takes as such, whatever it means beside others.
inline runs::Value right_value(const runs::Member& m, runs::Door door) {
  if (m.is_flag()) return {true, line_of_values};
  if (!m.words().empty()) return takes_whole(m) ? given(std::stoll(m.words()[0]), door) : given(m.words()[0], door);
  if (m.name() == "preconditioner") return given(std::string("mr:4"), door);
  if (m.name() == "smear_links") return given(std::string("ape:0.5,1"), door);
  if (!takes_number(m)) return given(m.offered().empty() ? std::string("1") : m.offered()[0], door);
  const bool low = std::isfinite(m.lower()), high = std::isfinite(m.upper());
  if (m.lower_allowed()) return number_for(m, low ? m.lower() : 1, door);
  return number_for(m, low && high ? (m.lower() + m.upper()) / 2 : low ? m.lower() + 1 : 1, door);
}

/// Values of other types, beyond both ends of the range, and words that are none.
inline std::vector<WrongValue> wrong_values(const runs::Member& m, runs::Door door) {
  using Kind = runs::Refusal::Kind;
  std::vector<WrongValue> all;
  const auto add = [&](const auto& x, Kind kind) { all.push_back({given(x, door), kind}); };
  if (is_typed(door)) {
    if (!m.is_repeated()) all.push_back({{runs::Table(), line_of_values}, Kind::type});  // NAME=VALUE of others
    if (m.is_flag())
      add(1LL, Kind::type), add(std::string("true"), Kind::type);
    else
      add(true, Kind::type);
  }
  if (m.is_flag()) return all;
  add(std::string(), Kind::no_value);
  if (takes_number(m)) {
    add(std::string("x1"), Kind::type);
    if (takes_whole(m))
      add(2.5, Kind::type);
    else
      add(std::numeric_limits<double>::quiet_NaN(), Kind::type), add(HUGE_VAL, Kind::type);
    for (const double sign : {-1., 1.}) {
      const double bound = sign < 0 ? m.lower() : m.upper();
      if (!std::isfinite(bound)) continue;
      const double beyond = takes_whole(m) ? bound + sign : std::nextafter(bound, sign * HUGE_VAL);
      const bool allowed = sign < 0 ? m.lower_allowed() : m.upper_allowed();
      all.push_back({number_for(m, allowed ? beyond : bound, door), Kind::range});
    }
  }
  if (m.words().empty()) return all;
  if (takes_whole(m))
    add(7LL, Kind::word);
  else
    add(std::string("xyzzy"), Kind::word);
  return all;
}

/// A name with its last letter twice: nearly right.
inline std::string misspelt(const std::string& name) { return name + name.back(); }

}  // namespace quarksmith
