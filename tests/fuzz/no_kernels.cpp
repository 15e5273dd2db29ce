// The tables of a build without kernels: reading files takes none.
#include "runtime/action_info.hpp"
#include "runtime/registry.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

#if defined(QUARKSMITH_CPU_V3)
namespace cpu_v3 {
std::span<const Kernel> kernels();
std::span<const Kernel> kernels() { return {}; }
}  // namespace cpu_v3
#endif
#if defined(QUARKSMITH_CPU_V4)
namespace cpu_v4 {
std::span<const Kernel> kernels();
std::span<const Kernel> kernels() { return {}; }
}  // namespace cpu_v4
#endif

void add_tables(KernelModule& module);
void add_tables(KernelModule&) {}
std::string_view name_of(Epilogue) { return ""; }

std::span<const TunedDevice> tuned_devices() { return {}; }
std::span<const ActionInfo> actions() { return {}; }

}  // namespace quarksmith
