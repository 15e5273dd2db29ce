// ILDG (hep-lat/0409055 and the ILDG binary file format 1.2) and SciDAC gauge files in LIME containers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/io/lime.hpp"
#include "runtime/sha256.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr const char* xml_head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// The checksum does not see extents that have changed places, and is itself missed by nobody: our files say the
/// extents again in a record of their own, which others skip, and have a checksum.
constexpr const char* lattice_record = "quarksmith-lattice";

/// The last line of an extra record: no checksum of the links notices what happens to it.
std::string seal_of(const ExtraRecord& r) { return sha256(r.type + "\n" + r.text); }

int integer(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint32_t hexadecimal(std::string text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.erase(0, 2);
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

/// Extents and precision as far as the XML records give them.
struct Description {
  Coordinates extent{};
  int bits = 0, colours = 3;
  std::string format;
};

Description describe(const InputFile& file, const std::vector<LimeRecord>& records) {
  Description d;
  d.format = find_record(records, "ildg-binary-data") != nullptr ? "ILDG" : "SciDAC";
  if (const LimeRecord* r = find_record(records, "ildg-format")) {
    const std::string xml = read_record(file, *r);
    d.extent = {integer(xml_value(xml, "lx")), integer(xml_value(xml, "ly")), integer(xml_value(xml, "lz")),
                integer(xml_value(xml, "lt"))};
    d.bits = integer(xml_value(xml, "precision"));
    const std::string field = xml_value(xml, "field");  // su3gauge
    if (field.starts_with("su") && field.ends_with("gauge")) d.colours = integer(field.substr(2));
    return d;
  }
  if (const LimeRecord* r = find_record(records, "scidac-private-file-xml")) {
    std::istringstream dims(xml_value(read_record(file, *r), "dims"));
    for (int& n : d.extent) dims >> n;
  }
  if (const LimeRecord* r = find_record(records, "scidac-private-record-xml")) {
    const std::string precision = xml_value(read_record(file, *r), "precision");
    d.bits = precision == "D" ? 64 : precision == "F" ? 32 : 0;
  }
  return d;
}

ScidacChecksum recorded_checksum(const std::string& xml) {
  return {hexadecimal(xml_value(xml, "suma")), hexadecimal(xml_value(xml, "sumb"))};
}

bool is_lime(const InputFile& file) { return file.head(4) == "\x45\x67\x89\xab"; }

GaugeHead lime_head(const InputFile& file, const std::optional<Coordinates>& expected) {
  const std::vector<LimeRecord> records = lime_records(file);
  const LimeRecord* data = find_record(records, "ildg-binary-data");
  if (data == nullptr) data = find_record(records, "scidac-binary-data");
  if (data == nullptr)
    throw Error(fmt::format(
        "{}: the LIME container has no ildg-binary-data or scidac-binary-data record: not a gauge field", file.name()));
  const Description d = describe(file, records);
  const bool has_extents = d.extent[0] > 0 && d.extent[1] > 0 && d.extent[2] > 0 && d.extent[3] > 0;
  if (!has_extents && !expected)
    throw UsageError(fmt::format("{}: the LIME container does not record its extents; give them with --lattice X,Y,Z,T",
                                 file.name()));
  GaugeHead head;
  head.format = d.format;
  head.byte_order = "big";
  head.extent = has_extents ? checked_extent(file, d.extent, expected) : *expected;
  LinkLayout layout;
  layout.offset = data->offset;
  if (d.colours < 2 || d.colours > most_colours)
    throw Error(
        fmt::format("{}: its ildg-format names links of {} colours; 2 to {} are known: it is damaged; fetch it again",
                    file.name(), d.colours, most_colours));
  head.colours = layout.colours = layout.rows = d.colours;
  const std::uint64_t reals = sites_of(head.extent) * directions * 2 * d.colours * d.colours;
  layout.bits = head.bits = d.bits != 0 ? d.bits : static_cast<int>(8 * data->bytes / reals);
  if ((layout.bits != 32 && layout.bits != 64) || data->bytes != link_bytes(head.extent, layout))
    throw Error(
        fmt::format("{}: {} has {} bytes; a {} gauge field has {} (32 bit) or {} (64 bit): wrong extents or a "
                    "damaged file",
                    file.name(), data->type, data->bytes, extent_text(head.extent), 4 * reals, 8 * reals));
  // The checksum that belongs to the links is the first that follows them.
  const auto at = std::find_if(records.begin() + (data - records.data()), records.end(),
                               [](const LimeRecord& r) { return r.type == "scidac-checksum"; });
  if (at != records.end()) {
    head.checksum = std::make_shared<ScidacChecksum>();
    head.checksum_name = "SciDAC checksum";
    head.recorded = recorded_checksum(read_record(file, *at)).text();
  }
  // A damaged name, too, must not hide it.
  const auto ours = std::find_if(records.begin(), records.end(), [](const LimeRecord& r) {
    return r.type.starts_with("quarksmith-la") || r.type.ends_with("-lattice");
  });
  if (ours != records.end()) {
    if (const std::string said = read_record(file, *ours); said != extent_text(head.extent))
      throw Error(
          fmt::format("{}: is of a {} lattice by one record and of '{}' by another: it is damaged; fetch it again",
                      file.name(), extent_text(head.extent), printable(said.substr(0, 100))));
    if (!head.checksum)
      throw Error(fmt::format("{}: its scidac-checksum is missing: it is damaged; fetch it again", file.name()));
  }
  head.read_links = link_reader(layout, head.checksum);
  for (const LimeRecord& r : records)
    if (r.type.find("binary") == std::string::npos && r.type.find("state") == std::string::npos && r.bytes < 4096)
      head.notes[r.type] = read_record(file, r);
  return head;
}

void write_ildg(Output& output, const HostGauge& gauge, int bits, const std::vector<ExtraRecord>& extra) {
  const Coordinates& n = gauge.lattice.global_extent();
  LinkLayout layout;
  layout.bits = bits;
  layout.colours = layout.rows = gauge.colours();
  const std::uint64_t bytes = link_bytes(n, layout);
  std::string head;
  for (const ExtraRecord& r : extra) head += record_of(r.type, r.text + "\n" + seal_of(r), true, true);
  head += record_of(lattice_record, extent_text(n), true, true);
  head += record_of(
      "ildg-format",
      fmt::format("{}<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" "
                  "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                  "xsi:schemaLocation=\"http://www.lqcd.org/ildg filefmt.xsd\"><version>1.0</version>"
                  "<field>su{}gauge</field><precision>{}</precision><lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt>"
                  "</ildgFormat>",
                  xml_head, gauge.colours(), bits, n[0], n[1], n[2], n[3]),
      true, false);
  head += record_head("ildg-binary-data", bytes, false, false);
  ScidacChecksum checksum;
  const auto tail = [&] {
    const std::string xml =
        fmt::format("{}<scidacChecksum><version>1.0</version><suma>{:08x}</suma><sumb>{:08x}</sumb></scidacChecksum>",
                    xml_head, checksum.a, checksum.b);
    return record_padding(bytes) + record_of("scidac-checksum", xml, false, true);
  };
  layout.offset = head.size();
  NewFile file(output, layout.offset + bytes + tail().size());
  file.put(0, head);
  write_links(file, layout, gauge, &checksum);
  file.put(layout.offset + bytes, tail());
  file.commit();
}

}  // namespace

namespace formats {
extern constinit const GaugeFormat ildg = {
    {.title = "ILDG and SciDAC (LIME)", .name = "ildg", .endings = {".ildg", ".lime"}, .any_links = true},
    is_lime,
    lime_head,
    write_ildg};
}

std::string read_lime_text(const std::filesystem::path& path, const std::string& type) {
  const InputFile file(path);
  if (!is_lime(file)) return "";
  const std::vector<LimeRecord> records = lime_records(file);
  const LimeRecord* r = find_record(records, type);
  if (r == nullptr) return "";
  const std::string all = read_record(file, *r);
  const std::size_t end = all.rfind('\n');
  const ExtraRecord found{type, all.substr(0, end)};
  if (end == std::string::npos || all.substr(end + 1) != seal_of(found))
    throw Error(
        fmt::format("{}: its record {} does not match the SHA-256 in its last line: it is damaged; go on from another "
                    "configuration of the run, or fetch it again",
                    file.name(), type));
  return found.text;
}

}  // namespace quarksmith
