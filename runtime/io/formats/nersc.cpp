// NERSC archive format: text header, then two or three rows of every link.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <sstream>

#include "runtime/error.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr const char* header_end = "END_HEADER";

/// A sum of words does not see that some have changed places: our files record a second checksum, which others skip.
constexpr const char* second_key = "SITE_CRC";
constexpr const char *creator_key = "CREATOR", *creator = "Quarksmith";

/// The format's own checksum, and the second one if a file has it: SciDAC's, of the sites as stored.
struct Checksums final : SiteChecksum {
  NerscChecksum sum;
  std::optional<ScidacChecksum> crc;
  explicit Checksums(bool swap_words) : sum(swap_words) {}
  void add(std::uint64_t number, const void* site, std::size_t bytes) override {
    sum.add(number, site, bytes);
    if (crc) crc->add(number, site, bytes);
  }
  std::unique_ptr<SiteChecksum> empty() const override {
    auto other = std::make_unique<Checksums>(sum.swap);
    if (crc) other->crc.emplace();
    return other;
  }
  void take(const SiteChecksum& other) override {
    const auto& seen = dynamic_cast<const Checksums&>(other);
    sum.take(seen.sum);
    if (crc) crc->take(*seen.crc);
  }
  void combine(Communicator& communicator) override {
    sum.combine(communicator);
    if (crc) crc->combine(communicator);
  }
  std::string text() const override { return crc ? sum.text() + " " + crc->text() : sum.text(); }
};

std::string trimmed(const std::string& s) {
  const std::size_t begin = s.find_first_not_of(" \t\r"), end = s.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : s.substr(begin, end - begin + 1);
}

/// The lines `key = value` of the header, and where the links begin.
struct Header {
  std::map<std::string, std::string> values;
  std::uint64_t bytes = 0;
};

Header read_header(const InputFile& file) {
  const std::string head = file.head(1 << 16);
  const std::size_t end = head.find(header_end);
  const std::size_t newline = end == std::string::npos ? end : head.find('\n', end);
  if (newline == std::string::npos)
    throw Error(fmt::format("{}: NERSC header without {}; the file is damaged or truncated", file.name(), header_end));
  Header header{{}, newline + 1};
  std::istringstream lines(head.substr(0, end));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equal = line.find('=');
    if (equal != std::string::npos)
      header.values[printable(trimmed(line.substr(0, equal)))] = printable(trimmed(line.substr(equal + 1)));
  }
  std::vector<const char*> keys = {"DIMENSION_1", "DIMENSION_2", "DIMENSION_3",
                                   "DIMENSION_4", "DATATYPE",    "FLOATING_POINT"};
  const auto made_by = header.values.find(creator_key);
  if (header.values.contains(second_key) || (made_by != header.values.end() && made_by->second == creator))
    keys.insert(keys.end(), {"CHECKSUM", second_key});
  for (const char* key : keys)
    if (!header.values.contains(key))
      throw Error(fmt::format("{}: NERSC header has no {}; the file is damaged", file.name(), key));
  return header;
}

LinkLayout layout_of(const InputFile& file, const Header& header) {
  const std::string &type = header.values.at("DATATYPE"), &real = header.values.at("FLOATING_POINT");
  LinkLayout layout;
  layout.offset = header.bytes;
  if (type == "4D_SU3_GAUGE")
    layout.rows = 2;
  else if (type == "4D_SU3_GAUGE_3x3" || type == "4D_SU3_GAUGE_3X3")
    layout.rows = 3;
  else
    throw Error(fmt::format("{}: NERSC DATATYPE {} is not supported; use 4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3", file.name(),
                            printable(type.substr(0, 60))));
  if (real.starts_with("IEEE32"))
    layout.bits = 32;
  else if (real.starts_with("IEEE64"))
    layout.bits = 64;
  else
    throw Error(fmt::format("{}: NERSC FLOATING_POINT {} is not supported", file.name(), real));
  layout.big_endian = !real.ends_with("LITTLE");
  return layout;
}

bool is_nersc(const InputFile& file) { return file.head(64).starts_with("BEGIN_HEADER"); }

GaugeHead nersc_head(const InputFile& file, const std::optional<Coordinates>&) {
  const Header header = read_header(file);
  const LinkLayout layout = layout_of(file, header);
  Coordinates extent;
  for (int mu = 0; mu < directions; ++mu)
    extent[mu] = std::atoi(header.values.at(fmt::format("DIMENSION_{}", mu + 1)).c_str());
  GaugeHead head;
  head.format = "NERSC";
  head.bits = layout.bits;
  head.byte_order = layout.big_endian ? "big" : "little";
  head.extent = checked_extent(file, extent);
  head.notes = header.values;
  if (file.size() - layout.offset != link_bytes(extent, layout))
    throw Error(
        fmt::format("{}: {} bytes follow the header, a {} field of {} rows and {} bits has {}: truncated or wrong "
                    "extents",
                    file.name(), file.size() - layout.offset, extent_text(extent), layout.rows, layout.bits,
                    link_bytes(extent, layout)));
  if (header.values.contains("CHECKSUM")) {
    std::uint32_t recorded = 0;
    const std::string& text = header.values.at("CHECKSUM");
    std::from_chars(text.data(), text.data() + text.size(), recorded, 16);
    auto checksums = std::make_shared<Checksums>(layout.big_endian != (std::endian::native == std::endian::big));
    head.checksum_name = "NERSC checksum";
    head.recorded = NerscChecksum(false, recorded).text();
    if (header.values.contains(second_key)) {
      checksums->crc.emplace();
      head.recorded += " " + header.values.at(second_key);
    }
    head.checksum = std::move(checksums);
  }
  head.read_links = link_reader(layout, head.checksum);
  return head;
}

void write_nersc(Output& output, const HostGauge& gauge, int bits, const std::vector<ExtraRecord>&) {
  const GaugeAverages averages = host_averages(gauge, output.communicator());
  const Coordinates& n = gauge.lattice.global_extent();
  Checksums checksum(std::endian::native == std::endian::little);
  checksum.crc.emplace();
  const auto header = [&] {
    return fmt::format(
        "BEGIN_HEADER\nHDR_VERSION = 1.0\n{} = {}\nDATATYPE = 4D_SU3_GAUGE_3x3\nSTORAGE_FORMAT = 1.0\n"
        "DIMENSION_1 = {}\nDIMENSION_2 = {}\nDIMENSION_3 = {}\nDIMENSION_4 = {}\n"
        "LINK_TRACE = {:.10f}\nPLAQUETTE = {:.10f}\nCHECKSUM = {}\nFLOATING_POINT = IEEE{}BIG\n{} = {}\n"
        "{}\n",
        second_key, checksum.crc->text(), n[0], n[1], n[2], n[3], averages.link_trace, averages.plaquette,
        checksum.sum.text(), bits, creator_key, creator, header_end);
  };
  LinkLayout layout;
  layout.bits = bits;
  layout.offset = header().size();
  NewFile file(output, layout.offset + link_bytes(n, layout));
  write_links(file, layout, gauge, &checksum);
  file.put(0, header());
  file.commit();
}

}  // namespace

namespace formats {
extern constinit const GaugeFormat nersc = {
    {.title = "NERSC", .name = "nersc", .endings = {".nersc"}}, is_nersc, nersc_head, write_nersc};
}

}  // namespace quarksmith
