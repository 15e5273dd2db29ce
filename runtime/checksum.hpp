/// \file
/// Checksums that gauge formats carry.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quarksmith {

/// SciDAC checksum of a field: crc32 of the bytes of each site as stored, rotated left by the lexicographic number of
/// the site mod 29 and mod 31, combined by exclusive or (QIO of USQCD, file QIO_checksum).
struct ScidacChecksum {
  std::uint32_t a = 0, b = 0;
  void add(const void* site, std::size_t bytes, std::uint64_t number);
  friend bool operator==(const ScidacChecksum&, const ScidacChecksum&) = default;
};

/// MILC v5 checksum: 32-bit words as stored, rotated left by their number mod 29 and mod 31, combined by exclusive or.
struct MilcChecksum {
  std::uint32_t sum29 = 0, sum31 = 0;
  void add(std::uint32_t word, std::uint64_t number);
  friend bool operator==(const MilcChecksum&, const MilcChecksum&) = default;
};

}  // namespace quarksmith
