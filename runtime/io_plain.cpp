// Formats without checksums: DDalphaAMG and openQCD (binary), Bridge++ (text).
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "runtime/io_gauge.hpp"

namespace quarksmith {
namespace {

constexpr std::uint64_t header_bytes = 4 * 4 + 8;

/// Four extents, time first, and three times the plaquette; little-endian. Shared by DDalphaAMG and openQCD.
struct Header {
  std::int32_t extent[4];
  double plaquette;
};

Header read_header(const InputFile& file) {
  Header h;
  file.read(0, h.extent, sizeof h.extent, "the header");
  file.read(sizeof h.extent, &h.plaquette, sizeof h.plaquette, "the header");
  return h;
}

GaugeFile empty_file(const InputFile& file, const Coordinates& extent, const char* format, double plaquette) {
  const Lattice lattice = agreed_lattice(file, extent, {});
  const std::uint64_t bytes = header_bytes + static_cast<std::uint64_t>(lattice.sites()) * directions * 18 * 8;
  if (file.size() != bytes)
    throw Error(fmt::format("{}: truncated: a {} {} field has {} bytes, the file {}", file.name(), lattice.text(),
                            format, bytes, file.size()));
  GaugeFile result{HostGauge(lattice), format, 64, "little", {}, {}, false};
  result.notes["PLAQUETTE"] = fmt::format("{:.16g}", plaquette / 3);
  return result;
}

}  // namespace

bool looks_like_plain_binary(const InputFile& file) {
  if (file.size() < header_bytes) return false;
  const Header h = read_header(file);
  std::uint64_t sites = 1;
  for (const int n : h.extent) {
    if (n < 1 || n > 4096) return false;
    sites *= static_cast<std::uint64_t>(n);
  }
  // The plaquette stands there as the only other witness: sizes of truncated files are reported by the reader.
  return h.plaquette >= -3 && h.plaquette <= 3 && file.size() <= header_bytes + sites * directions * 18 * 8;
}

GaugeFile read_ddalphaamg(const InputFile& file) {
  const Header h = read_header(file);
  GaugeFile result = empty_file(file, {h.extent[3], h.extent[2], h.extent[1], h.extent[0]}, "DDalphaAMG", h.plaquette);
  LinkLayout layout;
  layout.offset = header_bytes;
  layout.big_endian = false;
  layout.link_order = {3, 2, 1, 0};  // t, z, y, x; sites as usual, x fastest
  read_links(file, layout, result.gauge, {});
  return result;
}

namespace {

/// Directions of openQCD, t x y z, as ours.
constexpr int openqcd_direction[] = {3, 0, 1, 2};

/// Calls visit(site, mu of one of the eight links, site that it starts from) in the order of the file: odd sites, z
/// fastest, t slowest; at each the links that leave it and arrive at it, forward first.
template <class Visit>
void for_each_openqcd_link(const Lattice& lattice, const Visit& visit) {
  const Coordinates& n = lattice.extent();
  for (int t = 0; t < n[3]; ++t)
    for (int x = 0; x < n[0]; ++x)
      for (int y = 0; y < n[1]; ++y)
        for (int z = 0; z < n[2]; ++z) {
          if ((x + y + z + t) % 2 == 0) continue;
          const long long site = lattice.index({x, y, z, t});
          for (const int mu : openqcd_direction) {
            visit(site, mu);
            visit(lattice.neighbour(site, mu, -1), mu);
          }
        }
}

}  // namespace

GaugeFile read_openqcd(const InputFile& file) {
  const Header h = read_header(file);
  GaugeFile result = empty_file(file, {h.extent[1], h.extent[2], h.extent[3], h.extent[0]}, "openQCD", h.plaquette);
  const Bytes data = file.read(header_bytes, file.size() - header_bytes, "the links");
  const unsigned char* at = data.data();
  for_each_openqcd_link(result.gauge.lattice, [&](long long site, int mu) {
    std::memcpy(result.gauge.site[site][mu].data(), at, sizeof(Matrix3));
    at += sizeof(Matrix3);
  });
  return result;
}

void write_openqcd(OutputFile& file, const HostGauge& gauge) {
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const Coordinates& n = gauge.lattice.extent();
  const Header h = {{n[3], n[0], n[1], n[2]}, 3 * gauge_averages(gauge, domain).plaquette};
  file.write(h.extent, sizeof h.extent);
  file.write(&h.plaquette, sizeof h.plaquette);
  for_each_openqcd_link(gauge.lattice, [&](long long site, int mu) {
    Matrix3 u = gauge.site[site][mu];
    if (gauge.lattice.coordinates(site)[mu] == n[mu] - 1)
      for (Complex64& z : u) z *= gauge.phase[mu];
    file.write(u.data(), sizeof u);
  });
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
