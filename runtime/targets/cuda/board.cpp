#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include "runtime/targets/cuda/names.hpp"
#include "runtime/targets/gpu/board.hpp"

#if defined(QUARKSMITH_MPI)
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif
#endif

namespace quarksmith::cuda {

Architecture architecture(const cudaDeviceProp& p) {
  const std::string number = fmt::format("{}.{}", p.major, p.minor);
  return {"compute_capability", number, "compute capability " + number};
}

int units_of(const cudaDeviceProp& p, int real_bytes) {
  struct Units {
    int major, minor, single, double_;
  };
  // CUDA C++ Programming Guide, throughput of arithmetic instructions
  static constexpr Units known[] = {{7, 0, 64, 32}, {7, 5, 64, 2},   {8, 0, 64, 32},   {8, 6, 128, 2},
                                    {8, 9, 128, 2}, {9, 0, 128, 64}, {10, 0, 128, 64}, {12, 0, 128, 2}};
  for (const Units& u : known)
    if (u.major == p.major && u.minor == p.minor) return real_bytes == 8 ? u.double_ : u.single;
  return 0;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

cudaError_t allocate_for_peers(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }

bool in_reach_of_mpi() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

void begin_range(const char* name) { nvtxRangePushA(name); }
void end_range() { nvtxRangePop(); }

}  // namespace quarksmith::cuda
