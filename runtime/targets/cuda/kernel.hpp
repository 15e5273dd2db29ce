/// \file
/// The CUDA target: what the instructions of NVIDIA's GPUs are called, from compute capability 8.0 on.
#pragma once

#include "runtime/targets/cuda/names.hpp"
#include "runtime/targets/gpu/attributes.hpp"

/// Threads of a block at most, and for how many blocks of a multiprocessor a thread's registers suffice.
#define QUARKSMITH_BOUNDS(Block, MinBlocks) __launch_bounds__(Block, MinBlocks)
/// Of a kernel's parameter: it is read where the launch has put it.
#define QUARKSMITH_CONSTANT __grid_constant__

namespace quarksmith::QUARKSMITH_TARGET {

/// A kernel's parameter, which follows others of types Before, where the launch has put it.
template <class... Before, class Parameter>
QUARKSMITH_INLINE const Parameter& as_launched(const Parameter& given) {
  return given;
}

/// Threads that work in step, and as many as that are on any GPU of the target.
inline constexpr int warp_threads = 32, widest_warp = 32;
/// Bytes of shared memory that a block may have.
inline constexpr int most_memory = 227 << 10;

// --- arithmetic: the hardware's approximations -----------------------------------------------------------------------

QUARKSMITH_INLINE float approximate_reciprocal(float a) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
QUARKSMITH_INLINE double approximate_reciprocal(double a) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  return y;
}
QUARKSMITH_INLINE float approximate_root(float a) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
QUARKSMITH_INLINE double approximate_inverse_root(double a) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  return y;
}
/// Byte n of the result is number (selector >> 4 n) % 8 of the bytes of a, then b.
QUARKSMITH_INLINE unsigned choose_bytes(unsigned a, unsigned b, unsigned selector) {
  return __byte_perm(a, b, selector);
}
/// The compiler forgets how the number was computed.
QUARKSMITH_INLINE void hide(int& number) { asm volatile("" : "+r"(number)); }
QUARKSMITH_INLINE void hide(long long& number) { asm volatile("" : "+l"(number)); }

// --- threads of a warp -----------------------------------------------------------------------------------------------

/// v of the thread whose number differs by `distance`, a power of two below Count, in groups of that many threads.
template <int Count, class T>
QUARKSMITH_INLINE T of_partner(T v, int distance) {
  const unsigned group = (~0u >> (32 - Count)) << (threadIdx.x % 32 / Count * Count);
  return __shfl_xor_sync(group, v, distance);
}
/// v of the thread `shift` further on; all threads come here.
QUARKSMITH_INLINE double of_later(double v, int shift) { return __shfl_down_sync(0xffffffffu, v, shift); }
/// The assembler moves no load across.
QUARKSMITH_INLINE void barrier_of_warp() { __syncwarp(__activemask()); }

// --- memory ----------------------------------------------------------------------------------------------------------

/// Shared memory that the launch provides.
QUARKSMITH_INLINE void* launched_memory() {
  extern __shared__ uint4 shared[];
  return shared;
}

/// A packet that will not be used again: not kept in L1.
QUARKSMITH_INLINE uint4 load_once(const uint4* p) {
  uint4 v;
  asm("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
QUARKSMITH_INLINE uint2 load_once(const uint2* p) {
  uint2 v;
  asm("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}
QUARKSMITH_INLINE unsigned load_once(const unsigned* p) {
  unsigned v;
  asm("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
template <class P>
QUARKSMITH_INLINE P load_once(const P* p) {
  return *p;
}

/// A packet that leaves L2 before others do.
template <class P>
QUARKSMITH_INLINE void store_last(P* to, const P& packet) {
  __stcs(to, packet);
}

/// Into L2.
QUARKSMITH_INLINE void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

/// Copies Bytes bytes to shared memory without passing through registers; done after `wait_for_copies`. Without a hint
/// for L2: with a policy, nvcc 13.0 makes an illegal instruction of it in kernels whose bodies for boundaries branch.
template <int Bytes>
QUARKSMITH_INLINE void copy_to_shared(void* shared, const void* global) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes) : "memory");
}
/// For the copies of this thread, which it alone may then read.
QUARKSMITH_INLINE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// --- memory of several GPUs ------------------------------------------------------------------------------------------

/// A word that arrives as a whole, and one that others may have changed.
QUARKSMITH_INLINE void store_for_peer(unsigned long long* to, unsigned long long word) {
  *static_cast<volatile unsigned long long*>(to) = word;
}
QUARKSMITH_INLINE unsigned long long load_of_peer(const unsigned long long* from) {
  return *static_cast<const volatile unsigned long long*>(from);
}
/// Adds to a counter in any GPU's memory; what this block has stored is visible to whoever reads the sum.
QUARKSMITH_INLINE void add_released(unsigned* counter, unsigned value) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}
/// A counter that other GPUs change. Not an acquiring load, which would empty the L1 cache of the multiprocessor again
/// and again: ghost zones cannot be in it, since nothing reads them in this launch before their counter says that they
/// are full, and a load is not issued before the branch that it depends on is decided.
QUARKSMITH_INLINE unsigned load_counter(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}
/// What a thread does besides, before its block adds to a counter, and after a counter has come: nothing.
QUARKSMITH_INLINE void before_signal() {}
QUARKSMITH_INLINE void after_signal() {}

}  // namespace quarksmith::QUARKSMITH_TARGET

#include "runtime/targets/gpu/kernel.hpp"
#include "runtime/targets/cuda/warp.hpp"
