#include "runtime/io/lime_links.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr std::string_view field_types[] = {"ildg-binary-data", "scidac-binary-data"};

/// A value that several records may give, as text; all that give it have to agree.
class Stated {
 public:
  Stated(const InputFile& file, std::string what) : file_(file), what_(std::move(what)) {}
  void add(const std::string& value, const std::string& record) {
    if (record_.empty()) {
      value_ = value;
      record_ = record;
    } else if (value != value_) {
      contradiction(file_, what_, value_, record_, value, record);
    }
  }
  bool known() const { return !record_.empty(); }
  const std::string& text() const { return value_; }
  const std::string& record() const { return record_; }
  /// As a number from 1; 0 if nobody states it.
  long long number() const {
    if (!known()) return 0;
    const std::optional<long long> n = as_integer(value_);
    if (!n || *n < 1 || *n > 1 << 20)
      throw Error(fmt::format("{}: {} is '{}' by {}: no number that it can have; the file is damaged: fetch it again",
                              file_.name(), what_, printable(value_.substr(0, 60)), record_));
    return *n;
  }

 private:
  const InputFile& file_;
  std::string what_, value_, record_;
};

struct Statements {
  const InputFile& file;
  std::array<Stated, 4> extent;
  Stated bits, colours, site_bytes, checksum;

  explicit Statements(const InputFile& f)
      : file(f),
        extent{Stated(f, "the extent in x"), Stated(f, "the extent in y"), Stated(f, "the extent in z"),
               Stated(f, "the extent in t")},
        bits(f, "the precision"),
        colours(f, "the number of colours"),
        site_bytes(f, "the number of bytes of a site"),
        checksum(f, "the checksum") {}

  void add_ildg_format(const std::string& xml) {
    constexpr const char* record = "ildg-format";
    for (int mu = 0; mu < directions; ++mu)
      for (const std::string& n : xml_values(xml, std::string("l") + "xyzt"[mu])) extent[mu].add(n, record);
    for (const std::string& n : xml_values(xml, "precision")) bits.add(n, record);
    for (const std::string& field : xml_values(xml, "field")) {  // su3gauge
      if (field.starts_with("su") && field.ends_with("gauge"))
        colours.add(field.substr(2, field.size() - 7), record);
      else
        throw Error(
            fmt::format("{}: holds a field '{}' by its ildg-format, not gauge links (su3gauge); name a file of a "
                        "configuration",
                        file.name(), printable(field.substr(0, 60))));
    }
  }

  /// QIO writes fields in parts, on a subset of sites and global numbers, too: 0 is a whole field in one file.
  void require_zero(const std::string& xml, const char* tag, const char* record, const char* remedy) const {
    for (const std::string& kind : xml_values(xml, tag))
      if (kind != "0")
        throw Error(fmt::format("{}: has {} {} by {}: no field of the whole lattice in one file; {}", file.name(), tag,
                                printable(kind.substr(0, 60)), record, remedy));
  }

  void add_scidac_file(const std::string& xml) {
    constexpr const char* record = "scidac-private-file-xml";
    require_zero(xml, "volfmt", record, "write it as a single file (QIO_SINGLEFILE)");
    for (const std::string& dims : xml_values(xml, "dims")) {
      std::vector<std::string> each = split(dims, ' ');
      std::erase(each, "");
      if (each.size() != directions)
        throw Error(fmt::format("{}: has dims '{}' by {}: no field in four dimensions", file.name(),
                                printable(dims.substr(0, 60)), record));
      for (int mu = 0; mu < directions; ++mu) extent[mu].add(each[mu], record);
    }
  }

  void add_scidac_record(const std::string& xml) {
    constexpr const char* record = "scidac-private-record-xml";
    require_zero(xml, "recordtype", record, "name a file of a configuration");
    for (const std::string& p : xml_values(xml, "precision")) bits.add(p == "D" ? "64" : p == "F" ? "32" : p, record);
    for (const std::string& n : xml_values(xml, "colors")) colours.add(n, record);
    const std::vector<std::string> size = xml_values(xml, "typesize"), count = xml_values(xml, "datacount");
    if (size.size() != 1 || count.size() != 1) return;
    Stated bytes(file, "typesize"), times(file, "datacount");
    bytes.add(size[0], record);
    times.add(count[0], record);
    site_bytes.add(std::to_string(bytes.number() * times.number()), record);
  }

  void add_checksum(const std::string& xml) {
    Stated a(file, "suma"), b(file, "sumb");
    for (const std::string& sum : xml_values(xml, "suma")) a.add(sum, "scidac-checksum");
    for (const std::string& sum : xml_values(xml, "sumb")) b.add(sum, "scidac-checksum");
    const std::optional<std::uint32_t> first = as_hexadecimal(a.text()), second = as_hexadecimal(b.text());
    if (!first || !second)
      throw Error(
          fmt::format("{}: its scidac-checksum is '{}' and '{}', not two hexadecimal numbers: it is damaged; "
                      "fetch it again",
                      file.name(), printable(a.text().substr(0, 60)), printable(b.text().substr(0, 60))));
    checksum.add(ScidacChecksum(*first, *second).text(), "scidac-checksum");
  }

  /// Whether the extents are given: all of them, or none.
  bool has_extent() const {
    const auto given = std::count_if(extent.begin(), extent.end(), [](const Stated& n) { return n.known(); });
    if (given != 0 && given != directions)
      throw Error(
          fmt::format("{}: its records give {} extents of 4: it is damaged; fetch it again", file.name(), given));
    return given != 0;
  }
};

/// The one field of a container.
const LimeRecord* field_of(const InputFile& file, const std::vector<LimeRecord>& records) {
  const LimeRecord* found = nullptr;
  for (const LimeRecord& r : records) {
    if (std::find(std::begin(field_types), std::end(field_types), r.type) == std::end(field_types)) continue;
    if (found != nullptr)
      throw Error(fmt::format(
          "{}: holds several fields: {} at byte {} and {} at byte {}; which one is meant is not said: write "
          "the records of one into a file of its own (lime_unpack, lime_pack)",
          file.name(), found->type, found->offset, r.type, r.offset));
    found = &r;
  }
  if (found == nullptr)
    throw Error(fmt::format(
        "{}: the LIME container has no ildg-binary-data or scidac-binary-data record: not a gauge field", file.name()));
  for (const LimeRecord& r : records)
    if (r.type.starts_with("etmc-") || r.type == "propagator-type")
      throw Error(fmt::format("{}: holds a propagator or a source by its record {}; name a file of a configuration",
                              file.name(), r.type));
  return found;
}

}  // namespace

LimeLinks describe_links(const InputFile& file, const std::vector<LimeRecord>& records) {
  LimeLinks links;
  links.data = field_of(file, records);
  Statements all(file);
  for (const LimeRecord& r : records) {
    if (r.type == "ildg-format") all.add_ildg_format(read_record(file, r));
    if (r.type == "scidac-private-file-xml") all.add_scidac_file(read_record(file, r));
    if (r.type == "scidac-private-record-xml") all.add_scidac_record(read_record(file, r));
    if (r.type == "scidac-checksum") all.add_checksum(read_record(file, r));
  }
  if (all.has_extent()) {
    links.extent.emplace();
    for (int mu = 0; mu < directions; ++mu) (*links.extent)[mu] = static_cast<int>(all.extent[mu].number());
  }
  links.bits = static_cast<int>(all.bits.number());
  links.bits_record = all.bits.record();
  links.colours = static_cast<int>(all.colours.number());
  links.site_bytes = all.site_bytes.number();
  if (links.bits != 0 && links.bits != 32 && links.bits != 64)
    throw Error(fmt::format("{}: its precision is {} by its records; reals of 32 and 64 bits are known", file.name(),
                            links.bits));
  if (links.colours != 0 && (links.colours < 2 || links.colours > most_colours))
    throw Error(
        fmt::format("{}: holds links of {} colours by its records; 2 to {} are known: it is damaged; fetch it "
                    "again",
                    file.name(), links.colours, most_colours));
  if (all.checksum.known()) links.checksum = all.checksum.text();
  return links;
}

void fit_to_size(const InputFile& file, const Coordinates& extent, LimeLinks& links) {
  const LimeRecord& data = *links.data;
  const auto site_bytes = [](int bits, int colours) { return directions * 2 * colours * colours * bits / 8; };
  const std::uint64_t sites = sites_of(extent);
  const int least = links.colours != 0 ? links.colours : 2, most = links.colours != 0 ? links.colours : most_colours;
  for (int colours = least; colours <= most; ++colours)
    for (const int bits : {32, 64}) {
      if (data.bytes != sites * static_cast<std::uint64_t>(site_bytes(bits, colours))) continue;
      if (links.bits != 0 && links.bits != bits)
        contradiction(file, "the precision", std::to_string(links.bits), links.bits_record, std::to_string(bits),
                      fmt::format("the {} bytes of {}", data.bytes, data.type));
      if (links.site_bytes != 0 && links.site_bytes != site_bytes(bits, colours))
        contradiction(file, "the number of bytes of a site", std::to_string(links.site_bytes),
                      "scidac-private-record-xml", std::to_string(site_bytes(bits, colours)),
                      fmt::format("the {} bytes of {}", data.bytes, data.type));
      links.bits = bits;
      links.colours = colours;
      return;
    }
  const int colours = links.colours != 0 ? links.colours : 3;
  throw Error(
      fmt::format("{}: {} has {} bytes; links of {} colours on a {} lattice have {} (32 bit) or {} (64 bit): it "
                  "is no gauge field, its extents are others, or it is damaged",
                  file.name(), data.type, data.bytes, colours, extent_text(extent), sites * site_bytes(32, colours),
                  sites * site_bytes(64, colours)));
}

}  // namespace quarksmith
