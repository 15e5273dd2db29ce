#include "runtime/checksum.hpp"

#include <zlib.h>

#include <bit>

namespace quarksmith {

void ScidacChecksum::add(const void* site, std::size_t bytes, std::uint64_t number) {
  const auto crc = static_cast<std::uint32_t>(crc32(0, static_cast<const Bytef*>(site), static_cast<uInt>(bytes)));
  a ^= std::rotl(crc, static_cast<int>(number % 29));
  b ^= std::rotl(crc, static_cast<int>(number % 31));
}

void MilcChecksum::add(std::uint32_t word, std::uint64_t number) {
  sum29 ^= std::rotl(word, static_cast<int>(number % 29));
  sum31 ^= std::rotl(word, static_cast<int>(number % 31));
}

}  // namespace quarksmith
