/// \file
/// HIP's runtime library, for compilers of the host.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "runtime/targets/hip/names.hpp"
