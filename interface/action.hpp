/// \file
/// Actions as quarksmith.h states them.
#pragma once

#include "interface/handle.hpp"

namespace quarksmith::interface {

/// \param phases that were found in the links.
/// \throws StatusError a member is impossible; UsageError, UnknownName as of ActionReader and GivenField.
Action action_of(const quarksmith_action* action, const std::array<Complex64, directions>& phases,
                 const Lattice& lattice);

/// The storage of links that is asked for, or the default of the action on these links where that is NULL.
std::string links_of(const char* asked, const Action& action, const HostGauge& gauge);

double require_finite(double number, std::string_view name);

}  // namespace quarksmith::interface
