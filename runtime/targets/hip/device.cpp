#include "runtime/targets/hip/api.hpp"

#include "runtime/targets/gpu/device.hpp"

namespace quarksmith::hip {

const Target target = gpus("hip");

}  // namespace quarksmith::hip
