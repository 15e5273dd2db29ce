// Takes the place of device_cuda.cpp in builds without CUDA.
#include <fmt/format.h>

#include "runtime/device.hpp"
#include "runtime/error.hpp"

namespace quarksmith {

std::shared_ptr<Device> Device::cuda(int index) {
  throw Error(fmt::format(
      "cuda:{}: this library was built without CUDA; install nvcc and build again, or use device cpu", index));
}

int Device::cuda_devices() { return 0; }
bool Device::cuda_reaches(int, int) { return false; }

std::span<const Kernel> built_cuda_kernels();
std::span<const Kernel> built_cuda_kernels() { return {}; }

}  // namespace quarksmith
