/// \file
/// Instruction sets of the CPU: those for which a build has kernels, and the one that a process uses.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace quarksmith {

enum class Architecture { x86_64, arm64 };
/// One for which kernels can be compiled.
struct InstructionSet {
  std::string_view name;
  std::string_view short_name;  ///< in namespaces, and as a build is asked for it (`CPU=`)
  int register_bytes;
  Architecture architecture;
};
/// Those of an architecture from the narrowest, which all its processors are expected to have, to the widest.
inline constexpr auto all_instruction_sets = std::to_array<InstructionSet>({
    {"x86-64-v3", "v3", 32, Architecture::x86_64},  // AVX2
    {"x86-64-v4", "v4", 64, Architecture::x86_64},  // AVX-512
    {"neon", "neon", 16, Architecture::arm64},
    {"sve256", "sve256", 32, Architecture::arm64},  // SVE, vectors of 256 bits
    {"sve512", "sve512", 64, Architecture::arm64},
});
inline constexpr int instruction_sets = all_instruction_sets.size();
/// The place of one in that list, by its short name.
consteval int instruction_set(std::string_view short_name) {
  int set = 0;
  while (all_instruction_sets.at(set).short_name != short_name) ++set;
  return set;
}

/// The widest for which this build has kernels and which this processor has, or the one that the environment variable
/// QUARKSMITH_CPU names: its place in all_instruction_sets. If the processor has none, the narrowest of this build:
/// its kernels can be listed, no device opens. \throws UsageError this build or processor lacks what is named.
int chosen_instruction_set();
/// Why kernels of an instruction set cannot run here; empty if they can.
std::string lacks(int instruction_set);
/// Model name that the operating system reports.
std::string processor_model();

}  // namespace quarksmith
