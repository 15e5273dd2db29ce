#include <cuda_runtime_api.h>

#include "runtime/targets/cuda/names.hpp"
#include "runtime/targets/gpu/device.hpp"

namespace quarksmith::cuda {

const Target target = gpus("cuda");

}  // namespace quarksmith::cuda
