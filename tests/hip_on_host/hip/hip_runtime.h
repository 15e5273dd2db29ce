/// \file
/// As much of HIP as kernels and exported files use, on the host: blocks one after the other, threads of a block as
/// fibers that give way where they wait for each other. Wavefronts have __AMDGCN_WAVEFRONT_SIZE__ threads. Built-in
/// functions do what the manual of the instruction set says, with its accuracy.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define HIP_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(model::block.memory);

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

// --- threads of a block ----------------------------------------------------------------------------------------------

namespace model {

constexpr int wave = __AMDGCN_WAVEFRONT_SIZE__;
enum class Waits { no, for_wave, for_block, done };

struct Thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  Waits waits = Waits::no;
  char value[16];  ///< that others may ask for
  int flag = 0;
};

struct Block {
  std::vector<Thread> threads;
  ucontext_t scheduler;
  std::function<void()> work;
  alignas(64) char memory[65536];  ///< LDS that the launch provides
  void* parameters = nullptr;
  int switches = 0;

  Thread& current() { return threads[threadIdx.x]; }
  void wait(Waits what) {
    current().waits = what;
    swapcontext(&current().context, &scheduler);
  }
  static void begin();
  void start(int count) {
    constexpr int stack_bytes = 256 << 10;
    if (static_cast<int>(threads.size()) < count) threads.resize(count);
    for (int n = 0; n < static_cast<int>(threads.size()); ++n) {
      Thread& t = threads[n];
      t.flag = 0;
      t.waits = n < count ? Waits::no : Waits::done;
      if (n >= count) continue;
      if (!t.stack) t.stack = std::make_unique<char[]>(stack_bytes);
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = t.stack.get();
      t.context.uc_stack.ss_size = stack_bytes;
      t.context.uc_link = &scheduler;
      makecontext(&t.context, begin, 0);
    }
  }
  /// Whether any of the threads [from, to) waits so, and all of them do or wait for more or are done.
  bool all_wait(int from, int to, Waits what) const {
    bool some = false;
    for (int n = from; n < to; ++n) {
      if (threads[n].waits < what) return false;
      some = some || threads[n].waits == what;
    }
    return some;
  }
  void release(int from, int to, Waits what) {
    for (int n = from; n < to; ++n)
      if (threads[n].waits == what) threads[n].waits = Waits::no;
  }
  /// Runs all threads to their ends.
  void run(int count) {
    start(count);
    for (;;) {
      for (int n = 0; n < count; ++n) {
        threadIdx.x = static_cast<unsigned>(n);
        if (threads[n].waits == Waits::no) swapcontext(&scheduler, &threads[n].context);
      }
      bool released = false;
      for (int n = 0; n < count; n += wave) {
        const int end = std::min(n + wave, count);
        if (!all_wait(n, end, Waits::for_wave)) continue;
        release(n, end, Waits::for_wave);
        released = true;
      }
      if (released) continue;
      if (!all_wait(0, count, Waits::for_block)) return;
      release(0, count, Waits::for_block);
    }
  }
};
inline Block block;

inline void Block::begin() {
  block.work();
  block.current().waits = Waits::done;
}

/// v of thread `from` of the wavefront.
template <class T>
T of_lane(const T& v, int from) {
  static_assert(sizeof(T) <= sizeof(Thread::value));
  const int first = static_cast<int>(threadIdx.x) / wave * wave;
  std::memcpy(block.current().value, &v, sizeof(T));
  block.wait(Waits::for_wave);
  T found;
  std::memcpy(&found, block.threads[first + from].value, sizeof(T));
  block.wait(Waits::for_wave);
  return found;
}

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// A result of which the hardware promises 2^-24.
inline double rough(double exact) {
  int exponent = 0;
  const double mantissa = std::frexp(exact, &exponent);
  return std::ldexp(std::trunc(std::ldexp(mantissa, 24)), exponent - 24);
}

}  // namespace model

inline void __syncthreads() { model::block.wait(model::Waits::for_block); }
inline int __syncthreads_count(int predicate) {
  model::block.current().flag = predicate != 0;
  __syncthreads();
  int count = 0;
  for (const model::Thread& t : model::block.threads) count += t.flag;
  __syncthreads();
  return count;
}
template <class T>
T __shfl_xor(T v, int mask) {
  return model::of_lane(v, static_cast<int>(threadIdx.x) % model::wave ^ mask);
}
template <class T>
T __shfl_down(T v, int distance) {
  const int lane = static_cast<int>(threadIdx.x) % model::wave;
  return model::of_lane(v, lane + distance < model::wave ? lane + distance : lane);
}
inline void __threadfence() {}
template <class T>
T atomicAdd(T* to, T value) {
  const T before = *to;
  *to += value;
  return before;
}

// --- arithmetic ------------------------------------------------------------------------------------------------------

inline float __builtin_amdgcn_rcpf(float a) { return std::nextafter(1.0f / a, 0.0f); }
inline double __builtin_amdgcn_rcp(double a) { return model::rough(1.0 / a); }
inline float __builtin_amdgcn_sqrtf(float a) { return std::nextafter(std::sqrt(a), 0.0f); }
inline double __builtin_amdgcn_rsq(double a) { return model::rough(1.0 / std::sqrt(a)); }
/// V_PERM_B32: byte n of the result is number selector[n] of the bytes of b, then a.
inline unsigned __builtin_amdgcn_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(a) << 32 | b;
  unsigned result = 0;
  for (int n = 0; n < 4; ++n) result |= static_cast<unsigned>(bytes >> 8 * (selector >> 8 * n & 0xff) & 0xff) << 8 * n;
  return result;
}
inline void __builtin_amdgcn_wave_barrier() {}
inline void __builtin_amdgcn_fence(int, const char*) {}
/// Where the first parameter is; no kernel that is run here looks for a second.
inline void* __builtin_amdgcn_kernarg_segment_ptr() { return model::block.parameters; }
#define __builtin_nontemporal_load(from) (*(from))
#define __HIP_MEMORY_SCOPE_SYSTEM 0
#define __hip_atomic_store(to, value, order, scope) __atomic_store_n(to, value, order)
#define __hip_atomic_load(from, order, scope) __atomic_load_n(from, order)
#define __hip_atomic_fetch_add(to, value, order, scope) __atomic_fetch_add(to, value, order)

inline int __float2int_rn(float a) { return static_cast<int>(std::nearbyint(a)); }
inline int __double2int_rn(double a) { return static_cast<int>(std::nearbyint(a)); }
inline float __uint_as_float(unsigned v) { return model::bits_as<float>(v); }
inline unsigned __float_as_uint(float v) { return model::bits_as<unsigned>(v); }
inline int __double2loint(double v) { return static_cast<int>(model::bits_as<unsigned long long>(v)); }
inline int __double2hiint(double v) { return static_cast<int>(model::bits_as<unsigned long long>(v) >> 32); }
inline double __hiloint2double(int high, int low) {
  return model::bits_as<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                                static_cast<unsigned>(low));
}
#define cospi(x) std::cos(3.14159265358979323846 * (x))
#define sinpi(x) std::sin(3.14159265358979323846 * (x))

// --- the runtime library ---------------------------------------------------------------------------------------------

enum hipError_t { hipSuccess, hipErrorMemoryAllocation };
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize };
using hipStream_t = void*;
using hipEvent_t = std::chrono::steady_clock::time_point;

inline hipError_t hipGetLastError() { return hipSuccess; }
inline const char* hipGetErrorString(hipError_t) { return "an error"; }
inline hipError_t hipDeviceSynchronize() { return hipSuccess; }
inline hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int) { return hipSuccess; }
inline hipError_t hipMalloc(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory != nullptr ? hipSuccess : hipErrorMemoryAllocation;
}
inline hipError_t hipFree(void* memory) { return std::free(memory), hipSuccess; }
inline hipError_t hipMemset(void* to, int byte, std::size_t bytes) { return std::memset(to, byte, bytes), hipSuccess; }
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind) {
  return std::memcpy(to, from, bytes), hipSuccess;
}
inline hipError_t hipEventCreate(hipEvent_t*) { return hipSuccess; }
inline hipError_t hipEventDestroy(hipEvent_t) { return hipSuccess; }
inline hipError_t hipEventSynchronize(hipEvent_t) { return hipSuccess; }
inline hipError_t hipEventRecord(hipEvent_t& event) {
  event = std::chrono::steady_clock::now();
  return hipSuccess;
}
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end - begin).count();
  return hipSuccess;
}

template <class... Parameters, class... Values>
void hipLaunchKernelGGL(void (*kernel)(Parameters...), dim3 grid, dim3 threads, std::size_t shared, hipStream_t,
                        const Values&... values) {
  if (shared > sizeof(model::block.memory) || threads.x > 1024 || grid.x == 0) {
    std::fprintf(stderr, "launch of %u blocks of %u threads with %zu bytes of LDS\n", grid.x, threads.x, shared);
    std::abort();
  }
  std::tuple<std::remove_cv_t<Parameters>...> given(values...);
  model::block.parameters = &std::get<0>(given);
  model::block.work = [&] { std::apply(kernel, given); };
  gridDim = grid;
  blockDim = threads;
  for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) model::block.run(static_cast<int>(threads.x));
}
