// Gaussian noise of fields on GPUs.
#include "runtime/kernels/targets/sites_cuda.hpp"

namespace quarksmith::cuda {
namespace {

constexpr int threads = 128;

__global__ void draw(SiteDraws draws) {
  const int slot = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (slot < draws.slots) draw_site(draws, slot);
}

}  // namespace

void draw_sites(const SiteDraws& draws, cudaStream_t stream) {
  draw<<<(draws.slots + threads - 1) / threads, threads, 0, stream>>>(draws);
}

}  // namespace quarksmith::cuda
