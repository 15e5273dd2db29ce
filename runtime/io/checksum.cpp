#include "runtime/io/checksum.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <cstring>

#include "runtime/communicator.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {
namespace {

/// Calls visit(word, place) for the 32-bit words of a site.
template <class Visit>
void for_each_word(const void* site, std::size_t bytes, bool swap, const Visit& visit) {
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    std::uint32_t word;
    std::memcpy(&word, static_cast<const unsigned char*>(site) + 4 * i, 4);
    visit(swap ? __builtin_bswap32(word) : word, i);
  }
}

}  // namespace

void PairChecksum::add_word(std::uint32_t word, std::uint64_t number) {
  a ^= std::rotl(word, static_cast<int>(number % 29));
  b ^= std::rotl(word, static_cast<int>(number % 31));
}

void PairChecksum::take(const SiteChecksum& other) {
  const auto& pair = dynamic_cast<const PairChecksum&>(other);
  a ^= pair.a;
  b ^= pair.b;
}

void PairChecksum::combine(Communicator& communicator) {
  a = communicator.exclusive_or(a);
  b = communicator.exclusive_or(b);
}

std::string PairChecksum::text() const { return fmt::format("{:08x} {:08x}", a, b); }

void ScidacChecksum::add(std::uint64_t number, const void* site, std::size_t bytes) {
  add_word(static_cast<std::uint32_t>(crc32(0, static_cast<const Bytef*>(site), static_cast<uInt>(bytes))), number);
}

void add_sites(SiteChecksum& checksum, const Lattice& local, long long first, long long count, const void* sites,
               std::size_t bytes) {
#pragma omp parallel
  {
    const std::unique_ptr<SiteChecksum> mine = checksum.empty();
#pragma omp for schedule(static) nowait
    for (long long i = 0; i < count; ++i)
      mine->add(local.global_index(first + i), static_cast<const unsigned char*>(sites) + i * bytes, bytes);
#pragma omp critical(quarksmith_checksum)
    checksum.take(*mine);
  }
}

ScidacChecksum checksum_of(const Lattice& local, const void* sites, std::size_t bytes, Communicator& communicator) {
  ScidacChecksum sum;
  add_sites(sum, local, 0, local.sites(), sites, bytes);
  sum.combine(communicator);
  return sum;
}

void MilcChecksum::add(std::uint64_t number, const void* site, std::size_t bytes) {
  for_each_word(site, bytes, swap,
                [&](std::uint32_t word, std::size_t i) { add_word(word, number * (bytes / 4) + i); });
}

void NerscChecksum::add(std::uint64_t, const void* site, std::size_t bytes) {
  for_each_word(site, bytes, swap, [&](std::uint32_t word, std::size_t) { sum += word; });
}

void NerscChecksum::take(const SiteChecksum& other) { sum += dynamic_cast<const NerscChecksum&>(other).sum; }

void NerscChecksum::combine(Communicator& communicator) {
  sum = static_cast<std::uint32_t>(communicator.sum_integers(sum));
}

std::string NerscChecksum::text() const { return fmt::format("{:08x}", sum); }

}  // namespace quarksmith
