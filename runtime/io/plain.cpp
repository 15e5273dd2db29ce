// Formats without checksums: DDalphaAMG and openQCD (binary), Bridge++ (text).
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"

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

GaugeHead plain_head(const InputFile& file, const Coordinates& extent, const char* format, double plaquette) {
  GaugeHead head;
  head.format = format;
  head.byte_order = "little";
  head.extent = checked_extent(file, extent);
  const std::uint64_t bytes = header_bytes + sites_of(extent) * directions * 18 * 8;
  if (file.size() != bytes)
    throw Error(fmt::format("{}: truncated: a {} {} field has {} bytes, the file {}", file.name(), extent_text(extent),
                            format, bytes, file.size()));
  head.notes["PLAQUETTE"] = fmt::format("{:.16g}", plaquette / 3);
  return head;
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

std::vector<GaugeHead> plain_binary_heads(const InputFile& file) {
  const Header h = read_header(file);
  const auto& n = h.extent;
  GaugeHead ddalphaamg = plain_head(file, {n[3], n[2], n[1], n[0]}, "DDalphaAMG", h.plaquette);
  LinkLayout layout;
  layout.offset = header_bytes;
  layout.big_endian = false;
  layout.link_order = {3, 2, 1, 0};
  ddalphaamg.read_links = link_reader(layout, nullptr);
  GaugeHead openqcd = plain_head(file, {n[1], n[2], n[3], n[0]}, "openQCD", h.plaquette);
  openqcd.read_links = [](const InputFile& f, HostGauge& gauge, Communicator& c) {
    read_openqcd_links(f, header_bytes, gauge, c);
  };
  return {ddalphaamg, openqcd};
}

namespace {

/// The numbers of a text, one after another.
class Numbers {
 public:
  Numbers(const InputFile& file, const Coordinates& extent)
      : name_(file.name()),
        lattice_(extent_text(extent)),
        needed_(sites_of(extent) * directions * 18),
        content_(file.read(0, file.size(), "the numbers")),
        at_(reinterpret_cast<const char*>(content_.data())),
        end_(at_ + content_.size()) {}

  double next() {
    skip(" \t\r\n,");
    double value = 0;
    if (at_ != end_ && *at_ == '+') ++at_;
    const auto [rest, error] = std::from_chars(at_, end_, value);
    if (error != std::errc())
      throw Error(fmt::format("{}: a {} text field has {} numbers, this file {}{}", name_, lattice_, needed_, found_,
                              at_ == end_ ? "; it is truncated or --lattice is wrong"
                                          : " before something that is no number: it is damaged"));
    at_ = rest;
    ++found_;
    return value;
  }
  void require_end() {
    skip(" \t\r\n");
    if (at_ != end_)
      throw Error(fmt::format("{}: numbers follow the {} that a {} field has; give the right --lattice", name_, needed_,
                              lattice_));
  }

 private:
  void skip(const char* blanks) {
    while (at_ != end_ && std::strchr(blanks, *at_) != nullptr) ++at_;
  }
  std::string name_, lattice_;
  std::uint64_t needed_, found_ = 0;
  Bytes content_;
  const char *at_, *end_;
};

/// Where numbers stand depends on the length of all before: every rank reads the whole text and keeps its part.
void read_text_links(const InputFile& file, HostGauge& gauge) {
  const Coordinates& n = gauge.lattice.global_extent();
  Numbers numbers(file, n);
  std::array<Matrix3, directions> links;
  for (Coordinates x{}; x[3] < n[3]; ++x[3])
    for (x[2] = 0; x[2] < n[2]; ++x[2])
      for (x[1] = 0; x[1] < n[1]; ++x[1])
        for (x[0] = 0; x[0] < n[0]; ++x[0]) {
          for (Matrix3& u : links)
            for (Complex64& z : u) {
              const double re = numbers.next();
              z = {re, numbers.next()};
            }
          Coordinates here;
          if (gauge.lattice.find(x, here)) gauge.site[gauge.lattice.index(here)] = links;
        }
  numbers.require_end();
}

}  // namespace

std::uint64_t most_text_bytes(const Coordinates& extent) { return 64 * sites_of(extent) * directions * 18 + 4096; }

GaugeHead text_head(const InputFile& file, const Coordinates& extent) {
  const std::uint64_t numbers = sites_of(extent) * directions * 18;
  if (file.size() + 1 < 2 * numbers || file.size() > most_text_bytes(extent))  // before memory is taken for the links
    throw Error(
        fmt::format("{}: {} bytes cannot be the {} numbers of a {} text field: it is truncated or --lattice is wrong",
                    file.name(), file.size(), numbers, extent_text(extent)));
  GaugeHead head;
  head.format = "text";
  head.byte_order = "ascii";
  head.extent = extent;
  head.read_links = [](const InputFile& f, HostGauge& gauge, Communicator& communicator) {
    communicator.together([&] { read_text_links(f, gauge); });
  };
  return head;
}

}  // namespace quarksmith
