// ILDG (hep-lat/0409055 and the ILDG binary file format 1.2) and SciDAC gauge files in LIME containers.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/io/lime_links.hpp"
#include "runtime/sha256.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr const char* xml_head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// A record of our own that repeats the extents, which other programs skip. It reveals exchanged extents, to which the
/// SciDAC checksum is blind, and a missing checksum, which files with this record always have.
constexpr const char* lattice_record = "quarksmith-lattice";

/// The last line of an extra record: its SHA-256, as checksums of the links do not cover it.
std::string seal_of(const ExtraRecord& r) { return sha256(r.type + "\n" + r.text); }

bool is_lime(const InputFile& file) { return file.head(4) == "\x45\x67\x89\xab"; }

/// Compares the extents with our own record of them, which is found even if its name is damaged.
/// \throws Error they differ, or the checksum is missing.
void check_lattice_record(const InputFile& file, const std::vector<LimeRecord>& records, const GaugeHead& head) {
  const auto ours = std::find_if(records.begin(), records.end(), [](const LimeRecord& r) {
    return r.type.starts_with("quarksmith-la") || r.type.ends_with("-lattice");
  });
  if (ours == records.end()) return;
  if (const std::string stated = read_record(file, *ours); stated != extent_text(head.extent))
    contradiction(file, "the lattice", extent_text(head.extent), "one record", stated, ours->type);
  if (!head.checksum)
    throw Error(fmt::format("{}: its scidac-checksum is missing: it is damaged; fetch it again", file.name()));
}

/// Adds each plaquette of a record with `plaquette = 6.28065051764e-01`, as tmLQCD writes it, to the averages to check.
void add_plaquettes(const std::string& info, GaugeHead& head) {
  for (std::size_t at = info.find("plaquette"); at != std::string::npos; at = info.find("plaquette", at + 1)) {
    const std::size_t equal = info.find('=', at);
    if (equal == std::string::npos) return;
    const std::size_t end = std::min(info.find_first_of(",\n", equal), info.size());
    head.averages.push_back(
        {"plaquette of xlf-info", &GaugeAverages::plaquette, trimmed(info.substr(equal + 1, end - equal - 1))});
  }
}

std::vector<GaugeHead> lime_heads(const InputFile& file, const std::optional<Coordinates>& expected) {
  const std::vector<LimeRecord> records = lime_records(file);
  LimeLinks links = describe_links(file, records);
  if (!links.extent && !expected)
    throw UsageError(fmt::format("{}: the LIME container does not record its extents; give them with --lattice X,Y,Z,T",
                                 file.name()));
  GaugeHead head;
  head.format = links.data->type == "ildg-binary-data" ? "ILDG" : "SciDAC";
  head.byte_order = "big";
  head.extent = links.extent ? checked_extent(file, *links.extent, expected) : *expected;
  head.colours_by_size = links.colours == 0;
  fit_to_size(file, head.extent, links);
  LinkLayout layout;
  layout.offset = links.data->offset;
  layout.bits = head.bits = links.bits;
  head.colours = layout.colours = layout.rows = links.colours;
  if (links.checksum) {
    head.checksum = std::make_shared<ScidacChecksum>();
    head.checksum_name = "SciDAC checksum";
    head.recorded = *links.checksum;
  }
  check_lattice_record(file, records, head);
  head.read_links = link_reader(layout, head.checksum);
  for (const LimeRecord& r : records) {
    if (r.type == "xlf-info") add_plaquettes(read_record(file, r), head);
    if (r.type.find("binary") == std::string::npos && r.type.find("state") == std::string::npos && r.bytes < 4096)
      head.notes[r.type] = read_record(file, r);
  }
  return {std::move(head)};
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
    lime_heads,
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
