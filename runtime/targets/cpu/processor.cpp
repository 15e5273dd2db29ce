#include "runtime/targets/cpu/processor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/registry.hpp"

namespace quarksmith {

namespace {

/// What a field of /proc/cpuinfo says of the first processor; empty if there is none.
std::string cpuinfo(std::string_view field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(':'); line.starts_with(field) && colon + 2 < line.size())
      return line.substr(colon + 2);
  return "";
}

#if defined(__x86_64__)
constexpr Architecture architecture = Architecture::x86_64;

bool has(int set) {
  if (set == instruction_set("v3")) return __builtin_cpu_supports("x86-64-v3") != 0;
  return set == instruction_set("v4") && __builtin_cpu_supports("x86-64-v4") != 0;
}
#elif defined(__aarch64__)
constexpr Architecture architecture = Architecture::arm64;

/// SVE kernels are compiled for one length of vectors, that of all threads of this process.
bool has(int set) {
  if (all_instruction_sets[set].architecture != architecture) return false;
  if (set == instruction_set("neon")) return true;
  const int length = (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 ? prctl(PR_SVE_GET_VL) : -1;
  return length >= 0 && (length & PR_SVE_VL_LEN_MASK) == all_instruction_sets[set].register_bytes;
}
#endif

std::vector<int> built() {
  std::vector<int> sets;
  for (int set = 0; set < instruction_sets; ++set)
    if (!kernels_in(built_kernels(), all_instruction_sets[set].name).empty()) sets.push_back(set);
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
    const auto elsewhere = [asked](const InstructionSet& s) {
      return s.name == asked && s.architecture != architecture;
    };
    throw UsageError(
        fmt::format("QUARKSMITH_CPU={}: this library has kernels for {}; use one of these{}", asked, names(sets),
                    std::ranges::any_of(all_instruction_sets, elsewhere) ? "; it is for other processors"
                                                                         : ", or build with `make library CPU=all`"));
  }
  for (auto set = sets.rbegin(); set != sets.rend(); ++set)
    if (has(*set)) return *set;
  return sets.empty() ? 0 : sets.front();
}

}  // namespace

std::string processor_model() {
  if (const std::string name = cpuinfo("model name"); !name.empty()) return name;
  const std::string maker = cpuinfo("CPU implementer"), part = cpuinfo("CPU part");  // ARM tells numbers
  return part.empty() ? "processor" : fmt::format("ARM {} {}", maker, part);
}

std::string lacks(int set) {
  if (has(set)) return "";
  const InstructionSet& narrowest =
      *std::ranges::find(all_instruction_sets, architecture, &InstructionSet::architecture);
  return fmt::format("this library was built for {} processors, which {} is not{}", all_instruction_sets[set].name,
                     processor_model(),
                     all_instruction_sets[set].name == narrowest.name
                         ? ""
                         : fmt::format("; build it with `make library CPU={}`", narrowest.short_name));
}

int chosen_instruction_set() {
  static const int set = choose();
  return set;
}

}  // namespace quarksmith
