/// \file
/// The Wilson action as quarksmith.h states it.
#pragma once

#include "interface/handle.hpp"

namespace quarksmith::interface {

/// \throws StatusError numbers that are impossible or contradict each other.
WilsonParameters parameters_of(const quarksmith_wilson_parameters* parameters, const HostGauge& gauge);

/// The storage of links that is asked for, or the default of the links where that is NULL.
std::string links_of(const char* asked, const HostGauge& gauge);

}  // namespace quarksmith::interface
