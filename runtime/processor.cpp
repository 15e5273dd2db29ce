#include "runtime/processor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/registry.hpp"

namespace quarksmith {

// Defined by the generated registries, one for each instruction set of the build.
#if defined(QUARKSMITH_CPU_V3)
namespace cpu_v3 {
std::span<const Kernel> kernels();
}
#endif
#if defined(QUARKSMITH_CPU_V4)
namespace cpu_v4 {
std::span<const Kernel> kernels();
}
#endif

CpuKernels built_cpu_kernels() {
  CpuKernels all;
#if defined(QUARKSMITH_CPU_V3)
  all[0] = cpu_v3::kernels();
#endif
#if defined(QUARKSMITH_CPU_V4)
  all[1] = cpu_v4::kernels();
#endif
  return all;
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "processor";
}

namespace {

bool has(int set) {
  if (set == 0) return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

std::vector<int> built() {
  std::vector<int> sets;
  const CpuKernels kernels = built_cpu_kernels();
  for (int set = 0; set < instruction_sets; ++set)
    if (!kernels[set].empty()) sets.push_back(set);
  return sets;
}

std::string names(const std::vector<int>& sets) {
  std::vector<std::string_view> all;
  for (const int set : sets) all.push_back(all_instruction_sets[set].name);
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, " and "));
}

int choose() {
  const std::vector<int> sets = built();
  if (const char* asked = std::getenv("QUARKSMITH_CPU"); asked != nullptr && *asked != '\0') {
    for (const int set : sets) {
      if (all_instruction_sets[set].name != asked) continue;
      if (const std::string why = lacks(set); !why.empty()) throw UsageError("QUARKSMITH_CPU: " + why);
      return set;
    }
    throw UsageError(
        fmt::format("QUARKSMITH_CPU={}: this library has kernels for {}; use one of these, or build "
                    "with `make library CPU=all`",
                    asked, names(sets)));
  }
  for (auto set = sets.rbegin(); set != sets.rend(); ++set)
    if (has(*set)) return *set;
  return sets.empty() ? 0 : sets.front();
}

}  // namespace

std::string lacks(int set) {
  if (has(set)) return "";
  return fmt::format("this library was built for {} processors, which {} is not{}", all_instruction_sets[set].name,
                     processor_model(), set > 0 ? "; build it with `make library CPU=v3`" : "");
}

int chosen_instruction_set() {
  static const int set = choose();
  return set;
}

}  // namespace quarksmith
