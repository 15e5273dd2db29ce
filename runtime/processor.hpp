/// \file
/// Instruction sets of the CPU: those for which a build has kernels, and the one that a process uses.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace quarksmith {

struct Kernel;

/// One for which kernels can be compiled.
struct InstructionSet {
  std::string_view name;  ///< as compilers call it
  int register_bytes;
};
inline constexpr int instruction_sets = 2;
inline constexpr std::array<InstructionSet, instruction_sets> all_instruction_sets = {
    {{"x86-64-v3", 32}, {"x86-64-v4", 64}}};  // AVX2, AVX-512

/// Kernels of one target, for each instruction set; empty if there are none.
using CpuKernels = std::array<std::span<const Kernel>, instruction_sets>;
/// Those of this build.
CpuKernels built_cpu_kernels();

/// The widest for which this build has kernels and which this processor has, or the one that the environment variable
/// QUARKSMITH_CPU names: its place in all_instruction_sets. If the processor has none, the narrowest of this build:
/// its kernels can be listed, no device opens. \throws UsageError this build or processor lacks what is named.
int chosen_instruction_set();
/// Why kernels of an instruction set cannot run here; empty if they can.
std::string lacks(int instruction_set);
/// Model name that the operating system reports.
std::string processor_model();

}  // namespace quarksmith
