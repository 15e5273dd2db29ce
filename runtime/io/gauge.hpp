/// \file
/// Gauge configurations in the formats of the field. Reading recognises the format by content.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/io/file.hpp"
#include "runtime/io/output.hpp"
#include "runtime/lattice/partition.hpp"

namespace quarksmith {

/// A number recorded in a file next to the data, and its value computed from the data.
struct RecordedCheck {
  std::string what;  ///< e.g. `SciDAC checksum`
  std::string recorded, computed;
  bool agrees = false;
};

/// A configuration and what its file says about it.
struct GaugeFile {
  HostGauge gauge;
  std::string format;      ///< ILDG, SciDAC, NERSC, MILC, DDalphaAMG, openQCD, text
  int bits = 64;           ///< of the stored reals
  std::string byte_order;  ///< big, little, or ascii
  std::vector<RecordedCheck> checks;
  std::map<std::string, std::string> notes;  ///< other text worth showing: LIME records, header lines
  bool phases_folded = false;                ///< boundary phases were moved from the links into gauge.phase
  /// Warnings, a line each: deviations that were accepted, and assumptions about what the file does not record.
  std::vector<std::string> remarks = {};
};

/// Reads any supported format; each rank reads the links of its local lattice only. Boundary phases found in the links
/// are moved into gauge.phase. Collective over the ranks of `partition`. \param lattice the global extents (those of
/// `lattice.global_extent()`): needed by formats that do not record them,
///        and must agree with the others.
/// \param verify false: links that do not reproduce a recorded checksum or average are read nevertheless; then `agrees`
/// is false, and there is a remark.
/// \throws Error unreadable, unknown, truncated, NaN, or contradicting itself; or, if `verify`, a recorded checksum or
///         average that the data do not reproduce. UsageError: the extents are needed or contradict the file, or cannot
///         be cut into parts. All ranks throw if one does.
GaugeFile read_gauge(const std::filesystem::path& path, const std::optional<Lattice>& lattice = {}, bool verify = true,
                     const Partition& partition = {});

/// Properties of a format; runtime/io/formats.hpp has the functions that read and write it.
struct GaugeFormatInfo {
  std::string_view title;
  std::string_view name = "";                 ///< name for write_gauge; empty: the format can only be read
  std::array<std::string_view, 2> endings{};  ///< file name endings that select it
  int bits = 0;                               ///< of its reals; 0: 32 or 64
  bool any_links = false;  ///< whether it can hold links that are not SU(3): fat links, and other numbers of colours
};

/// The formats that read_gauge understands, for messages.
std::string gauge_formats();
/// The formats that read_gauge knows; the second function: those that write_gauge knows.
std::vector<GaugeFormatInfo> known_formats();
std::vector<GaugeFormatInfo> writable_formats();
/// Names of writable formats, as `ildg, nersc or milc`; only those for which `with` is true, if it is given.
std::string writable_names(bool (*with)(const GaugeFormatInfo&) = nullptr);

/// A LIME record that is written to an ILDG file besides the links, followed by its SHA-256.
struct ExtraRecord {
  std::string type, text;
};

/// Writes a configuration, links times gauge.phase. Each rank writes the links of its local lattice; the bits of the
/// file do not depend on the grid. Collective.
/// \param format the name of a writable format; \param bits 32 or 64.
/// \throws UsageError unknown format or bits, or links that the format cannot hold; Error the file cannot be written
/// (an older one is kept). All ranks throw if one does.
void write_gauge(Output& output, const HostGauge& gauge, const std::string& format, int bits = 64,
                 const std::vector<ExtraRecord>& extra = {});
/// Writes a configuration, replacing a file of this name.
void write_gauge(const std::filesystem::path& path, const HostGauge& gauge, const std::string& format, int bits = 64,
                 const std::vector<ExtraRecord>& extra = {}, Communicator& communicator = *Communicator::self());

/// The text of an extra record of a file, empty if it has none of that type. \throws Error it does not match its
/// SHA-256.
std::string read_lime_text(const std::filesystem::path& path, const std::string& type);

}  // namespace quarksmith
