/// \file
/// The HIP target: what the instructions of AMD's GPUs are called. Built-in functions of clang
/// (https://llvm.org/docs/AMDGPUUsage.html) stand where HIP's own headers would take many instructions.
#pragma once

#include "runtime/targets/gpu/attributes.hpp"
#include "runtime/targets/hip/names.hpp"

/// Threads of a block at most, and how many wavefronts of a SIMD unit, of which a compute unit has four, a thread's
/// registers suffice for.
#define QUARKSMITH_BOUNDS(Block, MinBlocks) __launch_bounds__(Block, waves_of_unit(Block* MinBlocks))
#define QUARKSMITH_CONSTANT

namespace quarksmith::QUARKSMITH_TARGET {

/// A kernel's parameter, which follows others of types Before, where the launch has put it. Clang would have each
/// thread copy it into its own memory as soon as an index or an address is computed at run time.
template <class... Before, class Parameter>
QUARKSMITH_INLINE const Parameter& as_launched(const Parameter&) {
  unsigned at = 0;  // they lie as members of a record do
  ((at = (at + alignof(Before) - 1) / alignof(Before) * alignof(Before) + sizeof(Before)), ...);
  at = (at + alignof(Parameter) - 1) / alignof(Parameter) * alignof(Parameter);
  const auto* const parameters = (const char*)__builtin_amdgcn_kernarg_segment_ptr();  // leaves its address space
  return *reinterpret_cast<const Parameter*>(parameters + at);
}

/// Threads that work in step, and as many as that are on any GPU of the target: host code does not know for which one
/// it launches.
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

/// Wavefronts of each SIMD unit where a compute unit has so many threads; there are eight at most.
constexpr int waves_of_unit(int threads) {
  const int waves = (threads + 4 * widest_warp - 1) / (4 * widest_warp);
  return waves > 8 ? 8 : waves;
}

// --- arithmetic: the hardware's approximations -----------------------------------------------------------------------

/// To one unit in the last place; in double to 2^-24.
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
/// The compiler forgets how the number was computed. It stays in a vector register: it is another one in each thread.
QUARKSMITH_INLINE void hide(int& number) { asm volatile("" : "+v"(number)); }
QUARKSMITH_INLINE void hide(long long& number) { asm volatile("" : "+v"(number)); }

// --- threads of a wavefront ------------------------------------------------------------------------------------------

/// v of the thread whose number differs by `distance`, a power of two below Count, in groups of that many threads.
template <int Count, class T>
QUARKSMITH_INLINE T of_partner(T v, int distance) {
  return __shfl_xor(v, distance);
}
/// v of the thread `shift` further on; all threads come here.
QUARKSMITH_INLINE double of_later(double v, int shift) { return __shfl_down(v, shift); }
/// The compiler moves no load across.
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
/// A packet that will not be used again: the first to leave the caches.
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

/// A packet that caches need not keep; no hint was measured here.
template <class P>
QUARKSMITH_INLINE void store_last(P* to, const P& packet) {
  *to = packet;
}

/// There is no such instruction on gfx90a and gfx942.
QUARKSMITH_INLINE void prefetch(const void*) {}

/// Copies Bytes bytes to shared memory, by way of registers; done after `wait_for_copies`.
template <int Bytes>
QUARKSMITH_INLINE void copy_to_shared(void* shared, const void* global) {
  __builtin_memcpy(__builtin_assume_aligned(shared, Bytes), __builtin_assume_aligned(global, Bytes), Bytes);
}
/// For the copies of this thread, which it alone may then read: the compiler waits for what it needs.
QUARKSMITH_INLINE void wait_for_copies() {}

// --- memory of several GPUs ------------------------------------------------------------------------------------------

/// A word that arrives as a whole, and one that others may have changed.
QUARKSMITH_INLINE void store_for_peer(unsigned long long* to, unsigned long long word) {
  __hip_atomic_store(to, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
QUARKSMITH_INLINE unsigned long long load_of_peer(const unsigned long long* from) {
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// Adds to a counter in any GPU's memory; what this thread has stored is visible to whoever reads the sum.
QUARKSMITH_INLINE void add_released(unsigned* counter, unsigned value) {
  __hip_atomic_fetch_add(counter, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// A counter that other GPUs change.
QUARKSMITH_INLINE unsigned load_counter(const unsigned* counter) {
  return __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// Before a block adds to a counter, its other threads' stores must have left the caches; after a counter has come,
/// what was in them may be old.
QUARKSMITH_INLINE void before_signal() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, ""); }
QUARKSMITH_INLINE void after_signal() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, ""); }

}  // namespace quarksmith::QUARKSMITH_TARGET

#include "runtime/targets/gpu/kernel.hpp"
#include "runtime/targets/hip/warp.hpp"
