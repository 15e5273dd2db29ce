// Formats without checksums: DDalphaAMG (binary) and Bridge++ (text).
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/io_gauge.hpp"

namespace quarksmith {
namespace {

constexpr std::uint64_t ddalphaamg_header = 4 * 4 + 8;

/// T, Z, Y, X and three times the plaquette, little-endian.
struct DdalphaamgHeader {
  std::int32_t extent[4];
  double plaquette;
};

DdalphaamgHeader read_header(const InputFile& file) {
  DdalphaamgHeader h;
  file.read(0, h.extent, sizeof h.extent, "the DDalphaAMG header");
  file.read(sizeof h.extent, &h.plaquette, sizeof h.plaquette, "the DDalphaAMG header");
  return h;
}

}  // namespace

bool looks_like_ddalphaamg(const InputFile& file) {
  if (file.size() < ddalphaamg_header) return false;
  const DdalphaamgHeader h = read_header(file);
  std::uint64_t sites = 1;
  for (const int n : h.extent) {
    if (n < 1 || n > 4096) return false;
    sites *= static_cast<std::uint64_t>(n);
  }
  // The plaquette stands there as the only other witness: sizes of truncated files are reported by the reader.
  return h.plaquette >= -3 && h.plaquette <= 3 && file.size() <= ddalphaamg_header + sites * directions * 18 * 8;
}

GaugeFile read_ddalphaamg(const InputFile& file) {
  const DdalphaamgHeader h = read_header(file);
  const Lattice lattice = agreed_lattice(file, {h.extent[3], h.extent[2], h.extent[1], h.extent[0]}, {});
  LinkLayout layout;
  layout.offset = ddalphaamg_header;
  layout.big_endian = false;
  layout.link_order = {3, 2, 1, 0};  // t, z, y, x; sites as usual, x fastest
  if (file.size() != layout.offset + link_bytes(lattice, layout))
    throw Error(fmt::format("{}: truncated: a {} DDalphaAMG field has {} bytes, the file {}", file.name(),
                            lattice.text(), layout.offset + link_bytes(lattice, layout), file.size()));
  GaugeFile result{HostGauge(lattice), "DDalphaAMG", 64, "little", {}, {}, false};
  read_links(file, layout, result.gauge, {});
  result.notes["PLAQUETTE"] = fmt::format("{:.16g}", h.plaquette / 3);
  return result;
}

GaugeFile read_text(const InputFile& file, const Lattice& lattice) {
  GaugeFile result{HostGauge(lattice), "text", 64, "ascii", {}, {}, false};
  const Bytes content = file.read(0, file.size(), "the numbers");
  const char* at = reinterpret_cast<const char*>(content.data());
  const char* end = at + content.size();
  const std::uint64_t needed = static_cast<std::uint64_t>(lattice.sites()) * directions * 18;
  std::uint64_t found = 0;
  const auto next = [&]() {
    while (at != end && std::strchr(" \t\r\n,", *at) != nullptr) ++at;
    double value = 0;
    if (at != end && *at == '+') ++at;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc())
      throw Error(fmt::format("{}: a {} text field has {} numbers, this file {}{}", file.name(), lattice.text(), needed,
                              found,
                              at == end ? "; it is truncated or --lattice is wrong"
                                        : " before something that is no number: it is damaged"));
    at = rest;
    ++found;
    return value;
  };
  for (auto& site : result.gauge.site)
    for (Matrix3& u : site)
      for (Complex64& z : u) {
        const double re = next();
        z = {re, next()};
      }
  while (at != end && std::strchr(" \t\r\n", *at) != nullptr) ++at;
  if (at != end)
    throw Error(fmt::format("{}: numbers follow the {} that a {} field has; give the right --lattice", file.name(),
                            needed, lattice.text()));
  return result;
}

}  // namespace quarksmith
