// The tables of a build without kernels: reading files takes none.
#include "runtime/action_info.hpp"
#include "runtime/registry.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

namespace cpu {
extern const Target target;
}
std::span<const Target* const> targets() {
  static constexpr const Target* all[] = {&cpu::target};
  return all;
}
std::span<const std::string_view> target_names() { return {&cpu::target.name, 1}; }
std::span<const KernelTable> built_kernels() { return {}; }
void add_tables(KernelModule& module);
void add_tables(KernelModule&) {}
std::string_view name_of(Epilogue) { return ""; }

std::span<const TunedDevice> tuned_devices() { return {}; }
std::span<const ActionInfo> built_actions() { return {}; }
std::span<const ActionInfo> stated_smearings() { return {}; }
std::span<const RefusedAction> refused_actions() { return {}; }

}  // namespace quarksmith
