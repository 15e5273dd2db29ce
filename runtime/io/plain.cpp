// The header that DDalphaAMG and openQCD share: binary, little-endian, without checksums.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"

namespace quarksmith {
namespace {

/// Four extents, time first, and three times the plaquette.
struct PlainHeader {
  std::int32_t extent[4];
  double plaquette;
};

PlainHeader read_plain_header(const InputFile& file) {
  PlainHeader h;
  file.read(0, h.extent, sizeof h.extent, "the header");
  file.read(sizeof h.extent, &h.plaquette, sizeof h.plaquette, "the header");
  return h;
}

}  // namespace

bool looks_like_plain_binary(const InputFile& file) {
  if (file.size() < plain_header_bytes) return false;
  const PlainHeader h = read_plain_header(file);
  std::uint64_t sites = 1;
  for (const int n : h.extent) {
    if (n < 1 || n > 4096) return false;
    sites *= static_cast<std::uint64_t>(n);
  }
  // The plaquette stands there as the only other witness: sizes of truncated files are reported by the reader.
  return h.plaquette >= -3 && h.plaquette <= 3 && file.size() <= plain_header_bytes + sites * directions * 18 * 8;
}

GaugeHead plain_head(const InputFile& file, const char* format, const std::array<int, 4>& axes) {
  const PlainHeader h = read_plain_header(file);
  Coordinates extent;
  for (int n = 0; n < directions; ++n) extent[axes[n]] = h.extent[n];
  GaugeHead head;
  head.format = format;
  head.byte_order = "little";
  head.extent = checked_extent(file, extent);
  const std::uint64_t bytes = plain_header_bytes + sites_of(extent) * directions * 18 * 8;
  if (file.size() != bytes)
    throw Error(fmt::format("{}: truncated: a {} {} field has {} bytes, the file {}", file.name(), extent_text(extent),
                            format, bytes, file.size()));
  head.averages.push_back({"plaquette", &GaugeAverages::plaquette, fmt::format("{:.17g}", h.plaquette / 3), true});
  return head;
}

}  // namespace quarksmith
