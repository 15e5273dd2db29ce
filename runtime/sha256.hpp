/// \file
/// SHA-256 (FIPS 180-4), by which a module of kernels is recognised.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace quarksmith {

/// SHA-256 of bytes that are added one after the other.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// 64 hexadecimal digits.
  std::string text() const;

 private:
  std::array<std::uint32_t, 8> state_;
  std::string rest_;  ///< less than a block
  std::uint64_t size_ = 0;
};

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace quarksmith
