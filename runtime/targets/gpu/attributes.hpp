/// \file
/// How functions of GPUs are marked. Part of kernel.hpp.
#pragma once

#define QUARKSMITH_ANYWHERE __host__ __device__ __forceinline__
#define QUARKSMITH_INLINE __device__ __forceinline__
#define QUARKSMITH_HOST_DEVICE __host__ __device__
#define QUARKSMITH_FUNCTION __device__ inline
#define QUARKSMITH_OUTLINED __device__ __forceinline__
#define QUARKSMITH_UNROLL _Pragma("unroll")
#define QUARKSMITH_ROLLED _Pragma("unroll 1")
#define QUARKSMITH_UNROLL_TILE _Pragma("unroll")
