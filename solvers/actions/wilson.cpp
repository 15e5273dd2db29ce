#include "solvers/actions/wilson.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/error.hpp"

namespace quarksmith {

ActionValues WilsonParameters::values() const {
  if (twist.flavours < 1 || twist.flavours > 2 || (twist.flavours == 1 && twist.epsilon != 0))
    throw UsageError(
        fmt::format("{} flavours with epsilon {}: use 1 without epsilon, or 2", twist.flavours, twist.epsilon));
  std::map<std::string, double> given{{"mass", mass}, {"xi0", xi0}, {"nu", nu}};
  std::string name = has_clover() ? "clover" : "wilson";
  if (has_clover()) given.insert({{"csw_r", csw_r}, {"csw_t", csw_t}});
  if (twist.any()) {
    name = has_clover() ? "twisted_clover" : twist.flavours == 2 ? "twisted" : "twisted_mass";
    given.emplace("mu", twist.mu);
  }
  if (twist.flavours == 2) {
    name += "_doublet";
    given.emplace("epsilon", twist.epsilon);
  }
  return {find_action(name), given};
}

Complex64 WilsonParameters::phase_of(double angle) {
  if (angle == std::floor(angle)) return std::fmod(angle, 2) == 0 ? 1 : -1;
  return std::polar(1.0, std::numbers::pi * angle);
}

}  // namespace quarksmith
