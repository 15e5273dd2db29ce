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
  std::vector<std::filesystem::path> modules;  ///< one for each row, or none
  std::string reason;                          ///< why, as the end of a sentence; empty if nothing was tried
};

/// Compiles the kernels of profile rows in parallel with the compilers of this library's build, tests them against the
/// reference and caches them (`python -m generator kernel --row ROW --row ...`); cached ones are used at once. Logs the
/// kernels before, and the time afterwards. Nothing is tried if the folder of the build or its sources are gone, or
/// QUARKSMITH_ON_DEMAND is `off`. \param instruction_set of the CPU for which CPU kernels are compiled; other devices
/// of the build get theirs, too. \throws UsageError QUARKSMITH_ON_DEMAND is neither on nor off; Error a signal ended
/// it.
OnDemand compile_on_demand(std::vector<std::string> rows, std::string_view instruction_set);

/// Sends a signal to the compilation for which this process waits, which then removes its folders; whether there is
/// one. Handlers of signals may call it.
bool pass_to_compilation(int signal) noexcept;

/// The name of an action: the text itself, or the name of the action in a Python file (`FILE.py`, `FILE.py:NAME`),
/// which is compiled and added to those of the build, also for kernels that are compiled later.
/// \throws UsageError the file has no action, its statement is wrong, or nothing can be compiled here.
std::string stated_action(const std::string& text);

/// A function that compiles kernels in another way; if it returns nothing they are compiled as above.
using Compiler =
    std::function<std::optional<OnDemand>(const std::vector<std::string>& rows, std::string_view instruction_set)>;
/// Sets the compiler of all later requests, for programs that have the generator in their own process.
void compile_with(Compiler compiler);

/// Adds the kernels of a library; they replace those of the same name that were compiled before.
/// \throws Error it is not what was built, or of another version.
void use_kernels(const std::string& file);

/// The kernels of a library that was compiled for this build.
/// \throws Error it is not what was built, or of another version.
const KernelModule& load_module(const std::string& file);

}  // namespace quarksmith
