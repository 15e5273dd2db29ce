// MILC version 5: binary header with two rotated checksums, then single precision links; either byte order.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr std::uint32_t milc_magic = 20103;
/// The checksum does not see extents that have changed places: where our files have their date, they say them again.
constexpr std::string_view stamp = "written by Quarksmith, lattice ";

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

bool is_milc(const InputFile& file) {
  const std::string head = file.head(4);
  return head == std::string("\x87\x4e\0\0", 4) || head == std::string("\0\0\x4e\x87", 4);
}

std::vector<GaugeHead> milc_heads(const InputFile& file, const std::optional<Coordinates>&) {
  MilcHeader header;
  file.read(0, &header, sizeof header, "the MILC header");
  const bool swap = header.magic != milc_magic;
  if (swap) swap_header(header);
  if (header.order != 0)
    throw Error(fmt::format("{}: MILC site order {} is not supported; only lexicographic order (0) is", file.name(),
                            header.order));
  GaugeHead head;
  head.format = "MILC";
  head.bits = 32;
  head.extent = checked_extent(file, {header.extent[0], header.extent[1], header.extent[2], header.extent[3]});
  const std::string time_stamp(header.time_stamp, strnlen(header.time_stamp, sizeof header.time_stamp));
  const bool ours =
      time_stamp.find("Quarksmith") != std::string::npos || time_stamp.find("lattice ") != std::string::npos;
  if (ours && time_stamp != std::string(stamp) + extent_text(head.extent))
    throw Error(fmt::format("{}: the header gives extents {} and '{}': it is damaged; fetch the file again",
                            file.name(), extent_text(head.extent), printable(time_stamp)));
  LinkLayout layout;
  layout.offset = sizeof header;
  layout.bits = 32;
  layout.big_endian = swap == (std::endian::native == std::endian::little);
  head.byte_order = layout.big_endian ? "big" : "little";
  const std::uint64_t bytes = layout.offset + link_bytes(head.extent, layout);
  if (file.size() != bytes)
    throw Error(
        fmt::format("{}: a {} MILC field has {} bytes, the file {}: it is truncated, or its extents are wrong; "
                    "fetch it again",
                    file.name(), extent_text(head.extent), bytes, file.size()));
  head.checksum = std::make_shared<MilcChecksum>(swap);
  head.checksum_name = "MILC checksum";
  head.recorded = MilcChecksum(header.sum29, header.sum31).text();
  head.read_links = link_reader(layout, head.checksum);
  head.notes["time stamp"] = time_stamp;
  return {std::move(head)};
}

void write_milc(Output& output, const HostGauge& gauge, int, const std::vector<ExtraRecord>&) {
  const Coordinates& extent = gauge.lattice.global_extent();
  MilcHeader header{};
  header.magic = milc_magic;
  std::copy(extent.begin(), extent.end(), header.extent);
  std::strncpy(header.time_stamp, (std::string(stamp) + extent_text(extent)).c_str(), sizeof header.time_stamp - 1);
  LinkLayout layout;
  layout.offset = sizeof header;
  layout.bits = 32;
  layout.big_endian = std::endian::native == std::endian::big;
  NewFile file(output, layout.offset + link_bytes(extent, layout));
  MilcChecksum checksum;
  write_links(file, layout, gauge, &checksum);
  header.sum29 = checksum.a;
  header.sum31 = checksum.b;
  file.put(0, {reinterpret_cast<const char*>(&header), sizeof header});
  file.commit();
}

}  // namespace

namespace formats {
extern constinit const GaugeFormat milc = {
    {.title = "MILC v5", .name = "milc", .endings = {".milc"}, .bits = 32}, is_milc, milc_heads, write_milc};
}

}  // namespace quarksmith
