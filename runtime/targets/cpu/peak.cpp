#include "runtime/targets/cpu/peak.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/processors.hpp"

namespace quarksmith::cpu {
namespace {

/// They hide the latency of two units, and leave room for x and y among sixteen registers.
constexpr int chains = 12;

// The same loop again for each width of registers: vectors are cut where a function lacks the instructions for them,
// before it is inlined into one that has them.
#if defined(__x86_64__)
template <class Real>
__attribute__((target("avx512f,fma"))) Real multiply_adds_64(long rounds, Real factor) {
  typedef Real Vector __attribute__((vector_size(64)));
  const Vector x = Vector{} + factor, y = Vector{} + (1 - factor);
  Vector chain[chains], sum = {};
  for (int k = 0; k < chains; ++k) chain[k] = y + Real(k);
  for (long n = 0; n < rounds; ++n)
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) chain[k] = chain[k] * x + y;
  for (int k = 0; k < chains; ++k) sum += chain[k];
  return sum[0];
}
template <class Real>
__attribute__((target("avx2,fma"))) Real multiply_adds_32(long rounds, Real factor) {
  typedef Real Vector __attribute__((vector_size(32)));
  const Vector x = Vector{} + factor, y = Vector{} + (1 - factor);
  Vector chain[chains], sum = {};
  for (int k = 0; k < chains; ++k) chain[k] = y + Real(k);
  for (long n = 0; n < rounds; ++n)
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) chain[k] = chain[k] * x + y;
  for (int k = 0; k < chains; ++k) sum += chain[k];
  return sum[0];
}
#else
template <class Real>
Real multiply_adds_16(long rounds, Real factor) {
  typedef Real Vector __attribute__((vector_size(16)));
  const Vector x = Vector{} + factor, y = Vector{} + (1 - factor);
  Vector chain[chains], sum = {};
  for (int k = 0; k < chains; ++k) chain[k] = y + Real(k);
  for (long n = 0; n < rounds; ++n)
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) chain[k] = chain[k] * x + y;
  for (int k = 0; k < chains; ++k) sum += chain[k];
  return sum[0];
}
#endif

template <class Real>
using Loop = Real (*)(long rounds, Real factor);

template <class Real>
Loop<Real> loop_of(int register_bytes) {
#if defined(__x86_64__)
  return register_bytes == 64 ? multiply_adds_64<Real> : register_bytes == 32 ? multiply_adds_32<Real> : nullptr;
#else
  return register_bytes == 16 ? multiply_adds_16<Real> : nullptr;
#endif
}

/// Of each thread the best of some runs of less than a millisecond: what else runs only takes time away.
template <class Real>
double measured(int register_bytes) {
  const Loop<Real> loop = loop_of<Real>(register_bytes);
  if (loop == nullptr) return 0;
  constexpr double flops = 2;
  constexpr long rounds = 1 << 17;
  constexpr int runs = 40;
  double rate = 0;
#pragma omp parallel reduction(+ : rate)
  {
    double best = INFINITY;
    for (int n = 0; n < runs; ++n) {
      const double begun = now();
      volatile Real seen = loop(rounds, Real(0.5));  // so that the sum is needed
      static_cast<void>(seen);
      best = std::min(best, now() - begun);
    }
    rate += chains * flops * (register_bytes / double(sizeof(Real))) * rounds / best;
  }
  return rate;
}

std::string line_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

double peak(int register_bytes, int real_bytes) {
  return real_bytes == 8 ? measured<double>(register_bytes) : measured<float>(register_bytes);
}

std::size_t last_cache_bytes() {
  std::set<std::string> seen;  // processors that share one
  std::size_t bytes = 0;
  for (const int cpu : bound_processors()) {
    const std::filesystem::path caches = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
    int level = 0;
    std::filesystem::path last;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(caches, none))
      if (const int l = std::atoi(line_of(entry.path() / "level").c_str()); l > level) level = l, last = entry.path();
    if (level < 2 || !seen.insert(line_of(last / "shared_cpu_list")).second) continue;
    const std::string size = line_of(last / "size");  // 32768K
    bytes += std::strtoull(size.c_str(), nullptr, 10) << (size.ends_with('M') ? 20 : 10);
  }
  return bytes;
}

}  // namespace quarksmith::cpu
