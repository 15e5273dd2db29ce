// NERSC archive format: text header, then two or three rows of every link.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <sstream>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "runtime/io_gauge.hpp"

namespace quarksmith {
namespace {

constexpr const char* header_end = "END_HEADER";

std::string trimmed(const std::string& s) {
  const std::size_t begin = s.find_first_not_of(" \t\r"), end = s.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : s.substr(begin, end - begin + 1);
}

/// 32-bit sum of the words in native byte order; the order of the two halves of a double does not matter.
struct WordSum {
  std::uint32_t sum = 0;
  bool swap = false;
  void add(const void* data, std::size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; i += 4) {
      std::uint32_t word;
      std::memcpy(&word, p + i, 4);
      sum += swap ? __builtin_bswap32(word) : word;
    }
  }
};

}  // namespace

GaugeFile read_nersc(const InputFile& file) {
  const std::string head = file.head(1 << 16);
  const std::size_t end = head.find(header_end);
  const std::size_t newline = end == std::string::npos ? end : head.find('\n', end);
  if (newline == std::string::npos)
    throw Error(fmt::format("{}: NERSC header without {}; the file is damaged or truncated", file.name(), header_end));
  std::map<std::string, std::string> header;
  std::istringstream lines(head.substr(0, end));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equal = line.find('=');
    if (equal != std::string::npos) header[trimmed(line.substr(0, equal))] = trimmed(line.substr(equal + 1));
  }
  const auto need = [&](const std::string& key) {
    if (!header.contains(key))
      throw Error(fmt::format("{}: NERSC header has no {}; the file is damaged", file.name(), key));
    return header[key];
  };
  Coordinates extent;
  for (int mu = 0; mu < directions; ++mu) extent[mu] = std::atoi(need(fmt::format("DIMENSION_{}", mu + 1)).c_str());

  const std::string type = need("DATATYPE"), real = need("FLOATING_POINT");
  LinkLayout layout;
  layout.offset = newline + 1;
  if (type == "4D_SU3_GAUGE")
    layout.rows = 2;
  else if (type == "4D_SU3_GAUGE_3x3" || type == "4D_SU3_GAUGE_3X3")
    layout.rows = 3;
  else
    throw Error(
        fmt::format("{}: NERSC DATATYPE {} is not supported; use 4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3", file.name(), type));
  if (real.starts_with("IEEE32"))
    layout.bits = 32;
  else if (real.starts_with("IEEE64"))
    layout.bits = 64;
  else
    throw Error(fmt::format("{}: NERSC FLOATING_POINT {} is not supported", file.name(), real));
  layout.big_endian = !real.ends_with("LITTLE");

  const Lattice lattice = agreed_lattice(file, extent, {});
  if (file.size() - layout.offset != link_bytes(lattice, layout))
    throw Error(
        fmt::format("{}: {} bytes follow the header, a {} field of {} rows and {} bits has {}: truncated or wrong "
                    "extents",
                    file.name(), file.size() - layout.offset, lattice.text(), layout.rows, layout.bits,
                    link_bytes(lattice, layout)));
  GaugeFile result{HostGauge(lattice), "NERSC", layout.bits, layout.big_endian ? "big" : "little", {}, header, false};
  WordSum sum{0, layout.big_endian != (std::endian::native == std::endian::big)};
  read_links(file, layout, result.gauge,
             [&](std::uint64_t, const void* data, std::size_t bytes) { sum.add(data, bytes); });
  if (header.contains("CHECKSUM")) {
    std::uint32_t recorded = 0;
    const std::string& text = header["CHECKSUM"];
    std::from_chars(text.data(), text.data() + text.size(), recorded, 16);
    result.checks.push_back(
        {"NERSC checksum", fmt::format("{:08x}", recorded), fmt::format("{:08x}", sum.sum), recorded == sum.sum});
  }
  return result;
}

void write_nersc(OutputFile& file, const HostGauge& gauge, int bits) {
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const GaugeAverages averages = gauge_averages(gauge, domain);
  const Coordinates& n = gauge.lattice.extent();
  const auto header = [&](std::uint32_t checksum) {
    return fmt::format(
        "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE_3x3\nSTORAGE_FORMAT = 1.0\n"
        "DIMENSION_1 = {}\nDIMENSION_2 = {}\nDIMENSION_3 = {}\nDIMENSION_4 = {}\n"
        "LINK_TRACE = {:.10f}\nPLAQUETTE = {:.10f}\nCHECKSUM = {:08x}\nFLOATING_POINT = IEEE{}BIG\n"
        "{}\n",
        n[0], n[1], n[2], n[3], averages.link_trace, averages.plaquette, checksum, bits, header_end);
  };
  file.write(header(0));
  WordSum sum{0, std::endian::native == std::endian::little};
  LinkLayout layout;
  layout.bits = bits;
  write_links(file, layout, gauge, [&](std::uint64_t, const void* data, std::size_t bytes) { sum.add(data, bytes); });
  file.seek(0);
  file.write(header(sum.sum));
}

}  // namespace quarksmith
