/// \file
/// Kernels that a build lacks, compiled when a program first asks for them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace quarksmith {

/// What came of compiling: the module that holds the kernel, or why there is none.
struct OnDemand {
  std::filesystem::path module;  ///< empty if there is none
  std::string reason;            ///< why, as the end of a sentence; empty if nothing was tried
};

/// Compiles the kernel of a profile's row with the compilers of the build that this library comes from, tests it
/// against the reference and keeps it (`python -m generator kernel --row ROW`); one that was kept is taken. One line
/// tells which and how long. Nothing is tried where the build's folder or its sources are gone, or QUARKSMITH_ON_DEMAND
/// is `off`. \param instruction_set the one of the CPU's for which it is compiled (all devices of the build get it).
/// \throws UsageError QUARKSMITH_ON_DEMAND is neither on nor off.
OnDemand compile_on_demand(const std::string& row, std::string_view instruction_set);

}  // namespace quarksmith
