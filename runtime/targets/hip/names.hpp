/// \file
/// Names of HIP's runtime library.
#pragma once

#if !defined(QUARKSMITH_TARGET)
#define QUARKSMITH_TARGET hip
#endif
#define QUARKSMITH_GPU(name) hip##name
#include "runtime/targets/gpu/names.hpp"

#define gpuDeviceProp hipDeviceProp_t
#define gpuDevAttrClockRate hipDeviceAttributeClockRate
#define gpuDevAttrMemoryPoolsSupported hipDeviceAttributeMemoryPoolsSupported
#define gpuHostFree hipHostFree
#define gpuHostMalloc hipHostMalloc
#define gpuLaunchKernel hipLaunchKernelGGL
#define gpuPointerAttributes hipPointerAttribute_t
