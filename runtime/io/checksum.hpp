/// \file
/// Checksums that gauge formats carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace quarksmith {

class Communicator;
class Lattice;

/// A checksum of a field, computed from its sites in any order: by each rank from those of its local lattice.
class SiteChecksum {
 public:
  virtual ~SiteChecksum() = default;
  /// A site as stored; `number` counts the sites of the file.
  virtual void add(std::uint64_t number, const void* site, std::size_t bytes) = 0;
  /// An empty checksum of the same kind.
  virtual std::unique_ptr<SiteChecksum> empty() const = 0;
  /// Adds the sites of another checksum of the same kind.
  virtual void take(const SiteChecksum& other) = 0;
  /// Adds the sites of all ranks. Collective; to be called once, at the end.
  virtual void combine(Communicator& communicator) = 0;
  /// Hexadecimal, as files record it.
  virtual std::string text() const = 0;
};

/// Two words that are combined by exclusive or.
struct PairChecksum : SiteChecksum {
  std::uint32_t a = 0, b = 0;  ///< words rotated left by their number mod 29 (a) and mod 31 (b)
  PairChecksum(std::uint32_t first, std::uint32_t second) : a(first), b(second) {}
  void take(const SiteChecksum& other) override;
  void combine(Communicator& communicator) override;
  std::string text() const override;

 protected:
  void add_word(std::uint32_t word, std::uint64_t number);
};

/// SciDAC: crc32 of the bytes of each site, rotated left by the number of the site mod 29 and mod 31, combined by
/// exclusive or (QIO of USQCD, file QIO_checksum).
struct ScidacChecksum final : PairChecksum {
  ScidacChecksum(std::uint32_t first = 0, std::uint32_t second = 0) : PairChecksum(first, second) {}
  std::unique_ptr<SiteChecksum> empty() const override { return std::make_unique<ScidacChecksum>(); }
  void add(std::uint64_t number, const void* site, std::size_t bytes) override;
};

/// Adds consecutive sites of a part, by all threads. \param first lexicographic in the part.
void add_sites(SiteChecksum& checksum, const Lattice& local, long long first, long long count, const void* sites,
               std::size_t bytes);

/// SciDAC checksum of a field on the host, with `bytes` of each site as they are in memory, and lexicographic numbers
/// in the whole lattice: the same on any grid of ranks. Collective.
ScidacChecksum checksum_of(const Lattice& local, const void* sites, std::size_t bytes, Communicator& communicator);

/// MILC v5: 32-bit words, rotated left by their number mod 29 and mod 31, combined by exclusive or.
struct MilcChecksum final : PairChecksum {
  bool swap = false;  ///< the words are in the other byte order
  explicit MilcChecksum(bool swap_words = false) : PairChecksum(0, 0), swap(swap_words) {}
  MilcChecksum(std::uint32_t first, std::uint32_t second) : PairChecksum(first, second) {}
  std::unique_ptr<SiteChecksum> empty() const override { return std::make_unique<MilcChecksum>(swap); }
  void add(std::uint64_t number, const void* site, std::size_t bytes) override;
};

/// NERSC: sum of the 32-bit words; the order of the two halves of a double does not matter.
struct NerscChecksum final : SiteChecksum {
  std::uint32_t sum = 0;
  bool swap = false;  ///< the words are in the other byte order
  explicit NerscChecksum(bool swap_words = false, std::uint32_t value = 0) : sum(value), swap(swap_words) {}
  std::unique_ptr<SiteChecksum> empty() const override { return std::make_unique<NerscChecksum>(swap); }
  void add(std::uint64_t number, const void* site, std::size_t bytes) override;
  void take(const SiteChecksum& other) override;
  void combine(Communicator& communicator) override;
  std::string text() const override;
};

}  // namespace quarksmith
