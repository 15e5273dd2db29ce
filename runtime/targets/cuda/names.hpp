/// \file
/// Names of CUDA's runtime library.
#pragma once

#define QUARKSMITH_TARGET cuda
#define QUARKSMITH_GPU(name) cuda##name
#include "runtime/targets/gpu/names.hpp"

#define gpuDeviceProp cudaDeviceProp
#define gpuDevAttrClockRate cudaDevAttrClockRate
#define gpuDevAttrMemoryPoolsSupported cudaDevAttrMemoryPoolsSupported
#define gpuHostFree cudaFreeHost
#define gpuHostMalloc cudaMallocHost
#define gpuLaunchKernel(function, grid, block, shared, stream, ...) \
  function<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define gpuPointerAttributes cudaPointerAttributes
