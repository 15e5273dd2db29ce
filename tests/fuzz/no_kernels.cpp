// The tables of a build without kernels: reading files takes none.
#include "runtime/action_info.hpp"
#include "runtime/registry.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

namespace QUARKSMITH_CPU_NAMESPACE {
std::span<const Kernel> kernels();
std::span<const Kernel> kernels() { return {}; }
}  // namespace QUARKSMITH_CPU_NAMESPACE
namespace QUARKSMITH_CPU_ONE_LANE_NAMESPACE {
std::span<const Kernel> kernels();
std::span<const Kernel> kernels() { return {}; }
}  // namespace QUARKSMITH_CPU_ONE_LANE_NAMESPACE

void add_tables(KernelModule& module);
void add_tables(KernelModule&) {}
std::string_view name_of(Epilogue) { return ""; }

std::span<const TunedDevice> tuned_devices() { return {}; }
std::span<const ActionInfo> actions() { return {}; }

}  // namespace quarksmith
