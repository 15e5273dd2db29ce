/// \file
/// Kernels that a build lacks, compiled when a program first asks for them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/registry.hpp"

namespace quarksmith {

/// Result of a compilation: the modules that hold the kernels, or why there are none.
struct OnDemand {
  std::vector<std::filesystem::path> modules;  ///< one a row, or none
  std::string reason;                          ///< why, as the end of a sentence; empty if nothing was tried
};

/// Compiles the kernels of a profile's rows side by side with the compilers of the build that this library comes from,
/// tests them against the reference and keeps them (`python -m generator kernel --row ROW --row ...`); those that were
/// kept are taken. One line tells which before, one how long it took after. Nothing is tried where the build's folder
/// or its sources are gone, or QUARKSMITH_ON_DEMAND is `off`. \param instruction_set the one of the CPU's for which
/// they are compiled (all devices of the build get them). \throws UsageError QUARKSMITH_ON_DEMAND is neither on nor
/// off; Error a signal ended it.
OnDemand compile_on_demand(std::vector<std::string> rows, std::string_view instruction_set);

/// The name of an action: as given, or that of the one that a Python file states (`FILE.py`, `FILE.py:NAME`), which is
/// compiled, added to those of the build, and known to what compiles kernels from here on.
/// \throws UsageError the file states none, what it states is wrong, or nothing can be compiled here.
std::string stated_action(const std::string& text);

/// Compiles kernels by other means, if these are there; without an answer they are compiled as above.
using Compiler =
    std::function<std::optional<OnDemand>(const std::vector<std::string>& rows, std::string_view instruction_set)>;
/// Sets the compiler from now on: the generator within the process of a program that has it.
void compile_with(Compiler compiler);

/// Kernels of a library take the place of those that were compiled before.
/// \throws Error it is not what was built, or of another version.
void use_kernels(const std::string& file);

/// The kernels of a library that was compiled for this build.
/// \throws Error it is not what was built, or of another version.
const KernelModule& load_module(const std::string& file);

}  // namespace quarksmith
