#include "runtime/sha256.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace quarksmith {
namespace {

constexpr std::size_t block_bytes = 64;
using Words = std::array<std::uint32_t, 64>;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes; square roots start the state.
struct Constants {
  Words cube{};
  std::array<std::uint32_t, 8> square{};
  Constants() {
    int found = 0;
    for (int n = 2; found < 64; ++n) {
      bool prime = true;
      for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      const auto bits = [](long double root) {
        return static_cast<std::uint32_t>(std::ldexp(root - std::floor(root), 32));
      };
      cube[found] = bits(std::cbrt(static_cast<long double>(n)));
      if (found < 8) square[found] = bits(std::sqrt(static_cast<long double>(n)));
      ++found;
    }
  }
};
const Constants& constants() {
  static const Constants all;
  return all;
}

void add_block(std::array<std::uint32_t, 8>& state, const unsigned char* block) {
  const Words& k = constants().cube;
  Words w;
  for (int t = 0; t < 16; ++t)
    w[t] = std::uint32_t(block[4 * t]) << 24 | block[4 * t + 1] << 16 | block[4 * t + 2] << 8 | block[4 * t + 3];
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t one = h + s1 + ((e & f) ^ (~e & g)) + k[t] + w[t];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t two = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const std::uint32_t sums[] = {a, b, c, d, e, f, g, h};
  for (int n = 0; n < 8; ++n) state[n] += sums[n];
}

void add_blocks(std::array<std::uint32_t, 8>& state, std::string_view bytes) {
  for (std::size_t at = 0; at + block_bytes <= bytes.size(); at += block_bytes)
    add_block(state, reinterpret_cast<const unsigned char*>(bytes.data()) + at);
}

}  // namespace

Sha256::Sha256() : state_(constants().square) {}

void Sha256::add(std::string_view bytes) {
  size_ += bytes.size();
  rest_ += bytes;
  add_blocks(state_, rest_);
  rest_.erase(0, rest_.size() / block_bytes * block_bytes);
}

std::string Sha256::text() const {
  std::array<std::uint32_t, 8> state = state_;
  std::string last = rest_ + '\x80';
  last.resize(last.size() <= 56 ? 56 : 120);
  for (int shift = 56; shift >= 0; shift -= 8) last += static_cast<char>(size_ * 8 >> shift);
  add_blocks(state, last);
  std::string text;
  for (const std::uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.text();
}

}  // namespace quarksmith
