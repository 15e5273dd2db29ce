// The tables of a build without kernels: reading files takes none.
#include "runtime/action_info.hpp"
#include "runtime/processor.hpp"
#include "runtime/registry.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

CpuKernels built_cpu_kernels() { return {}; }
void add_tables(KernelModule& module);
void add_tables(KernelModule&) {}
std::string_view name_of(Epilogue) { return ""; }

std::span<const TunedDevice> tuned_devices() { return {}; }
std::span<const ActionInfo> actions() { return {}; }

}  // namespace quarksmith
