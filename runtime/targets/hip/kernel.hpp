/// \file
/// The HIP target: names for the instructions of AMD's GPUs. Built-in functions of clang
/// (https://llvm.org/docs/AMDGPUUsage.html) are used where HIP's own headers would take many instructions.
#pragma once

#include "runtime/targets/gpu/attributes.hpp"
#include "runtime/targets/hip/names.hpp"

/// Bounds for the compiler: most threads of a block, and the number of wavefronts of a SIMD unit (a compute unit has
/// four) for which registers must suffice.
#define QUARKSMITH_BOUNDS(Block, MinBlocks) __launch_bounds__(Block, waves_of_unit(Block* MinBlocks))
#define QUARKSMITH_CONSTANT

namespace quarksmith::QUARKSMITH_TARGET {

/// A parameter of a kernel, after others of types Before, in the memory where the launch has put it. Without this,
/// clang copies it to each thread's memory as soon as an index or an address is computed at run time.
template <class... Before, class Parameter>
QUARKSMITH_INLINE const Parameter& as_launched(const Parameter&) {
  unsigned at = 0;  // offset, as of members of a struct
  ((at = (at + alignof(Before) - 1) / alignof(Before) * alignof(Before) + sizeof(Before)), ...);
  at = (at + alignof(Parameter) - 1) / alignof(Parameter) * alignof(Parameter);
  const auto* const parameters = (const char*)__builtin_amdgcn_kernarg_segment_ptr();  // leaves its address space
  return *reinterpret_cast<const Parameter*>(parameters + at);
}

/// Threads of a wavefront, and the most on any GPU of the target, for host code, which does not know the GPU.
inline constexpr int widest_warp = 64;
#if defined(__AMDGCN_WAVEFRONT_SIZE__)
inline constexpr int warp_threads = __AMDGCN_WAVEFRONT_SIZE__;
#elif defined(__AMDGCN_WAVEFRONT_SIZE)
inline constexpr int warp_threads = __AMDGCN_WAVEFRONT_SIZE;
#else
inline constexpr int warp_threads = widest_warp;
#endif
/// Bytes of shared memory (LDS) that a block may have.
inline constexpr int most_memory = 64 << 10;

/// Wavefronts of each SIMD unit if a compute unit has `threads` threads; at most eight.
constexpr int waves_of_unit(int threads) {
  const int waves = (threads + 4 * widest_warp - 1) / (4 * widest_warp);
  return waves > 8 ? 8 : waves;
}

// --- arithmetic: the hardware's approximations -----------------------------------------------------------------------

/// 1 / a to one unit in the last place; in double to 2^-24.
QUARKSMITH_INLINE float approximate_reciprocal(float a) { return __builtin_amdgcn_rcpf(a); }
QUARKSMITH_INLINE double approximate_reciprocal(double a) { return __builtin_amdgcn_rcp(a); }
QUARKSMITH_INLINE float approximate_root(float a) { return __builtin_amdgcn_sqrtf(a); }
QUARKSMITH_INLINE double approximate_inverse_root(double a) { return __builtin_amdgcn_rsq(a); }
/// Byte n of the result is number (selector >> 4 n) % 8 of the bytes of a, then b. The instruction has a byte for each
/// of these numbers, and counts those of its second operand first.
QUARKSMITH_INLINE unsigned choose_bytes(unsigned a, unsigned b, unsigned selector) {
  const unsigned pairs = (selector & 0xffu) | (selector & 0xff00u) << 8;
  return __builtin_amdgcn_perm(b, a, (pairs & 0x00070007u) | (pairs & 0x00700070u) << 4);
}
/// Makes the compiler forget how a number was computed. It is kept in a vector register, as threads may differ in it.
QUARKSMITH_INLINE void hide(int& number) { asm volatile("" : "+v"(number)); }
QUARKSMITH_INLINE void hide(long long& number) { asm volatile("" : "+v"(number)); }

// --- threads of a wavefront ------------------------------------------------------------------------------------------

/// v of the thread whose number differs by `distance`, a power of two below Count, in groups of that many threads.
template <int Count, class T>
QUARKSMITH_INLINE T of_partner(T v, int distance) {
  return __shfl_xor(v, distance);
}
/// v of the thread whose number is larger by `shift`; all threads of the wavefront must call this.
QUARKSMITH_INLINE double of_later(double v, int shift) { return __shfl_down(v, shift); }
/// A barrier across which the compiler moves no loads.
QUARKSMITH_INLINE void barrier_of_warp() { __builtin_amdgcn_wave_barrier(); }

// --- memory ----------------------------------------------------------------------------------------------------------

/// Shared memory that the launch provides.
QUARKSMITH_INLINE void* launched_memory() {
  HIP_DYNAMIC_SHARED(uint4, shared)
  return shared;
}

/// Words of a packet, as the compiler's built-in functions know them.
using FourWords = unsigned __attribute__((vector_size(16)));
using TwoWords = unsigned __attribute__((vector_size(8)));
/// Loads a packet that will not be used again, so that it is the first to leave the caches.
QUARKSMITH_INLINE uint4 load_once(const uint4* p) {
  const FourWords v = __builtin_nontemporal_load(reinterpret_cast<const FourWords*>(p));
  return make_uint4(v[0], v[1], v[2], v[3]);
}
QUARKSMITH_INLINE uint2 load_once(const uint2* p) {
  const TwoWords v = __builtin_nontemporal_load(reinterpret_cast<const TwoWords*>(p));
  return make_uint2(v[0], v[1]);
}
template <class P>
QUARKSMITH_INLINE P load_once(const P* p) {
  return __builtin_nontemporal_load(p);
}

/// Stores a packet that caches need not keep; on this target without a hint, as none was measured.
template <class P>
QUARKSMITH_INLINE void store_last(P* to, const P& packet) {
  *to = packet;
}

/// Does nothing: gfx90a and gfx942 have no prefetch instruction.
QUARKSMITH_INLINE void prefetch(const void*) {}

/// Copies Bytes bytes to shared memory, by way of registers; done after `wait_for_copies`.
template <int Bytes>
QUARKSMITH_INLINE void copy_to_shared(void* shared, const void* global) {
  __builtin_memcpy(__builtin_assume_aligned(shared, Bytes), __builtin_assume_aligned(global, Bytes), Bytes);
}
/// Waits for this thread's copies, which only this thread may read then. Does nothing here: the compiler waits.
QUARKSMITH_INLINE void wait_for_copies() {}

// --- memory of several GPUs ------------------------------------------------------------------------------------------

/// Stores a word for other GPUs, or loads one that they may have changed; a word is never seen half-written.
QUARKSMITH_INLINE void store_for_peer(unsigned long long* to, unsigned long long word) {
  __hip_atomic_store(to, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
QUARKSMITH_INLINE unsigned long long load_of_peer(const unsigned long long* from) {
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// Adds to a counter in any GPU's memory; whoever reads the sum also sees this thread's earlier stores.
QUARKSMITH_INLINE void add_released(unsigned* counter, unsigned value) {
  __hip_atomic_fetch_add(counter, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// Loads a counter that other GPUs change.
QUARKSMITH_INLINE unsigned load_counter(const unsigned* counter) {
  return __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// Fences: before a block adds to a counter, to flush its threads' stores from the caches; after a counter has reached
/// its value, to drop old content of the caches.
QUARKSMITH_INLINE void before_signal() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, ""); }
QUARKSMITH_INLINE void after_signal() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, ""); }

}  // namespace quarksmith::QUARKSMITH_TARGET

#include "runtime/targets/gpu/kernel.hpp"
#include "runtime/targets/hip/warp.hpp"
