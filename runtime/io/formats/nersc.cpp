// NERSC archive format: text header, then two or three rows of every link.
#include <fmt/format.h>

#include <bit>
#include <sstream>
#include <tuple>

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
    if (equal == std::string::npos) continue;
    const std::string key = printable(trimmed(line.substr(0, equal))),
                      value = printable(trimmed(line.substr(equal + 1)));
    if (const auto [known, fresh] = header.values.emplace(key, value); !fresh && known->second != value)
      contradiction(file, key, known->second, "one line of the NERSC header", value, "another");
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
  const std::string size = real.substr(0, 6), order = real.substr(size.size());
  if ((size != "IEEE32" && size != "IEEE64") || (order != "" && order != "BIG" && order != "LITTLE"))
    throw Error(
        fmt::format("{}: NERSC FLOATING_POINT {} is not supported; use IEEE32BIG, IEEE32LITTLE, IEEE64BIG or "
                    "IEEE64LITTLE",
                    file.name(), real.substr(0, 60)));
  layout.bits = size == "IEEE32" ? 32 : 64;
  layout.big_endian = order != "LITTLE";
  return layout;
}

Coordinates extent_of(const InputFile& file, const Header& header) {
  Coordinates extent;
  for (int mu = 0; mu < directions; ++mu) {
    const std::string key = fmt::format("DIMENSION_{}", mu + 1), &text = header.values.at(key);
    const std::optional<long long> n = as_integer(text);
    if (!n || *n < 1 || *n > 1 << 14)
      throw Error(fmt::format("{}: NERSC header has {} = {}: no extent; the file is damaged: fetch it again",
                              file.name(), key, text.substr(0, 60)));
    extent[mu] = static_cast<int>(*n);
  }
  return checked_extent(file, extent);
}

/// Has the checksums of a header, if it records them.
void add_checksums(const InputFile& file, const Header& header, const LinkLayout& layout, GaugeHead& head) {
  if (!header.values.contains("CHECKSUM")) return;
  const std::string& text = header.values.at("CHECKSUM");
  const std::optional<std::uint32_t> recorded = as_hexadecimal(text);
  if (!recorded)
    throw Error(
        fmt::format("{}: NERSC CHECKSUM '{}' is no hexadecimal number of 32 bits; the file is damaged: fetch it "
                    "again",
                    file.name(), text.substr(0, 60)));
  auto checksums = std::make_shared<Checksums>(layout.big_endian != (std::endian::native == std::endian::big));
  head.checksum_name = "NERSC checksum";
  head.recorded = NerscChecksum(false, *recorded).text();
  if (header.values.contains(second_key)) {
    checksums->crc.emplace();
    head.recorded += " " + header.values.at(second_key);
  }
  head.checksum = std::move(checksums);
}

bool is_nersc(const InputFile& file) { return file.head(64).starts_with("BEGIN_HEADER"); }

GaugeHead head_of(const InputFile& file, const Header& header, const LinkLayout& layout) {
  GaugeHead head;
  head.format = "NERSC";
  head.bits = layout.bits;
  head.byte_order = layout.big_endian ? "big" : "little";
  head.extent = extent_of(file, header);
  head.notes = header.values;
  if (file.size() - layout.offset != link_bytes(head.extent, layout))
    throw Error(
        fmt::format("{}: {} bytes follow the header, a {} field of {} rows and {} bits has {}: truncated or wrong "
                    "extents",
                    file.name(), file.size() - layout.offset, extent_text(head.extent), layout.rows, layout.bits,
                    link_bytes(head.extent, layout)));
  add_checksums(file, header, layout, head);
  const std::tuple<const char*, const char*, double GaugeAverages::*> averages[] = {
      {"PLAQUETTE", "plaquette", &GaugeAverages::plaquette}, {"LINK_TRACE", "link trace", &GaugeAverages::link_trace}};
  for (const auto& [key, what, value] : averages)
    if (const auto found = header.values.find(key); found != header.values.end())
      head.averages.push_back({what, value, found->second});
  head.read_links = link_reader(layout, head.checksum);
  return head;
}

/// Two where the header does not say the byte order: big-endian as the format's first files, or the other.
std::vector<GaugeHead> nersc_heads(const InputFile& file, const std::optional<Coordinates>&) {
  const Header header = read_header(file);
  LinkLayout layout = layout_of(file, header);
  std::vector<GaugeHead> heads = {head_of(file, header, layout)};
  const std::string& real = header.values.at("FLOATING_POINT");
  if (real.ends_with("BIG") || real.ends_with("LITTLE")) return heads;
  layout.big_endian = false;
  heads.push_back(head_of(file, header, layout));
  for (GaugeHead& head : heads)
    head.remark =
        fmt::format("FLOATING_POINT = {} does not say the byte order: read as {}-endian", real, head.byte_order);
  return heads;
}

void write_nersc(Output& output, const HostGauge& gauge, int bits, const std::vector<ExtraRecord>&) {
  const GaugeAverages averages = host_averages(gauge, output.communicator(), Phases::count);
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
    {.title = "NERSC", .name = "nersc", .endings = {".nersc"}}, is_nersc, nersc_heads, write_nersc};
}

}  // namespace quarksmith
