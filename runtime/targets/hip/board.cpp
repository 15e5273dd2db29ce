#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "runtime/targets/hip/api.hpp"

#include "runtime/targets/gpu/board.hpp"

#if defined(QUARKSMITH_MPI)
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif
#endif

namespace quarksmith::hip {
namespace {

/// ROCm's library of ranges, which comes with its profiler; loaded at first use, if it is there.
struct Roctx {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
  Roctx() {
    void* const library = dlopen("libroctx64.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    push = reinterpret_cast<int (*)(const char*)>(dlsym(library, "roctxRangePushA"));
    pop = reinterpret_cast<int (*)()>(dlsym(library, "roctxRangePop"));
  }
};
const Roctx& roctx() {
  static const Roctx loaded;
  return loaded;
}

}  // namespace

Architecture architecture(const hipDeviceProp_t& p) {
  const std::string_view name = p.gcnArchName;  // with features: gfx90a:sramecc+:xnack-
  const std::string number(name.substr(0, name.find(':')));
  return {"architecture", number, number};
}

int units_of(const hipDeviceProp_t& p, int real_bytes) {
  struct Units {
    std::string_view name;
    int single, double_;
  };
  // Peak rates on vectors in AMD's white papers on CDNA, CDNA 2 and CDNA 3, over compute units and clock; without
  // packed arithmetic on two numbers at once.
  static constexpr Units known[] = {{"gfx906", 64, 32}, {"gfx908", 64, 32}, {"gfx90a", 64, 64}, {"gfx942", 128, 64}};
  for (const Units& u : known)
    if (u.name == architecture(p).number) return real_bytes == 8 ? u.double_ : u.single;
  return 0;
}

std::string version_text(int version) {  // HIP_VERSION
  return fmt::format("{}.{}", version / 10000000, version / 100000 % 100);
}

/// Memory that no cache keeps from others while a kernel runs.
hipError_t allocate_for_peers(void** memory, std::size_t bytes) {
  return hipExtMallocWithFlags(memory, bytes, hipDeviceMallocFinegrained);
}

bool in_reach_of_mpi() {
#if defined(OMPI_HAVE_MPI_EXT_ROCM) && OMPI_HAVE_MPI_EXT_ROCM
  return MPIX_Query_rocm_support() == 1;
#else
  return false;
#endif
}

bool puts() { return false; }
std::unique_ptr<SymmetricMemory> allocate_symmetric(std::size_t, int, Communicator&, hipStream_t) { return nullptr; }

void begin_range(const char* name) {
  if (roctx().push != nullptr) roctx().push(name);
}
void end_range() {
  if (roctx().pop != nullptr) roctx().pop();
}

std::string link_between(const std::string& a, const std::string& b, std::string& why) {
  int one = 0, other = 0;
  std::uint32_t type = 0, hops = 0;
  hipError_t status = hipDeviceGetByPCIBusId(&one, a.c_str());
  if (status == hipSuccess) status = hipDeviceGetByPCIBusId(&other, b.c_str());
  if (status == hipSuccess) status = hipExtGetLinkTypeAndHopCount(one, other, &type, &hops);
  if (status != hipSuccess) {
    why = hipGetErrorString(status);
    return "unknown";
  }
  constexpr std::uint32_t pcie = 2, xgmi = 4;  // HSA_AMD_LINK_INFO_TYPE_*
  const char* const name = type == xgmi ? "Infinity Fabric" : type == pcie ? "PCIe" : "a link";
  return fmt::format("{}, {} hop{}", name, hops, hops == 1 ? "" : "s");
}

}  // namespace quarksmith::hip
