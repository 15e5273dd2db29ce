// MILC version 5: binary header with two rotated checksums, then single precision links; either byte order.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "runtime/checksum.hpp"
#include "runtime/error.hpp"
#include "runtime/io_gauge.hpp"

namespace quarksmith {
namespace {

constexpr std::uint32_t milc_magic = 20103;

/// Header as it lies in the file.
struct MilcHeader {
  std::uint32_t magic;
  std::int32_t extent[4];
  char time_stamp[64];
  std::int32_t order;
  std::uint32_t sum29, sum31;
};
static_assert(sizeof(MilcHeader) == 96);

void swap_header(MilcHeader& h) {
  swap_bytes(&h.magic, 4 + 16, 4);
  swap_bytes(&h.order, 12, 4);
}

}  // namespace

GaugeFile read_milc(const InputFile& file) {
  MilcHeader header;
  file.read(0, &header, sizeof header, "the MILC header");
  const bool swap = header.magic != milc_magic;
  if (swap) swap_header(header);
  if (header.order != 0)
    throw Error(fmt::format("{}: MILC site order {} is not supported; only lexicographic order (0) is", file.name(),
                            header.order));
  const Lattice lattice =
      agreed_lattice(file, {header.extent[0], header.extent[1], header.extent[2], header.extent[3]}, {});
  LinkLayout layout;
  layout.offset = sizeof header;
  layout.bits = 32;
  layout.big_endian = swap == (std::endian::native == std::endian::little);
  if (file.size() < layout.offset + link_bytes(lattice, layout))
    throw Error(fmt::format("{}: truncated: a {} MILC field has {} bytes, the file {}", file.name(), lattice.text(),
                            layout.offset + link_bytes(lattice, layout), file.size()));
  GaugeFile result{HostGauge(lattice), "MILC", 32, layout.big_endian ? "big" : "little", {}, {}, false};
  MilcChecksum checksum;
  read_links(file, layout, result.gauge, [&](std::uint64_t site, const void* data, std::size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes / 4; ++i) {
      std::uint32_t word;
      std::memcpy(&word, p + 4 * i, 4);
      checksum.add(swap ? __builtin_bswap32(word) : word, site * (bytes / 4) + i);
    }
  });
  result.checks.push_back({"MILC checksum", fmt::format("{:08x} {:08x}", header.sum29, header.sum31),
                           fmt::format("{:08x} {:08x}", checksum.sum29, checksum.sum31),
                           checksum == MilcChecksum{header.sum29, header.sum31}});
  result.notes["time stamp"] = std::string(header.time_stamp, strnlen(header.time_stamp, sizeof header.time_stamp));
  return result;
}

void write_milc(OutputFile& file, const HostGauge& gauge) {
  MilcHeader header{};
  header.magic = milc_magic;
  for (int mu = 0; mu < directions; ++mu) header.extent[mu] = gauge.lattice.extent(mu);
  std::strncpy(header.time_stamp, "written by Quarksmith", sizeof header.time_stamp - 1);
  LinkLayout layout;
  layout.bits = 32;
  layout.big_endian = std::endian::native == std::endian::big;
  MilcChecksum checksum;
  file.write(&header, sizeof header);
  write_links(file, layout, gauge, [&](std::uint64_t site, const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / 4; ++i) {
      std::uint32_t word;
      std::memcpy(&word, static_cast<const unsigned char*>(data) + 4 * i, 4);
      checksum.add(word, site * (bytes / 4) + i);
    }
  });
  header.sum29 = checksum.sum29;
  header.sum31 = checksum.sum31;
  file.seek(0);
  file.write(&header, sizeof header);
}

}  // namespace quarksmith
