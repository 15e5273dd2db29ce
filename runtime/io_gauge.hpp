/// \file
/// Gauge configurations in the formats of the field. Reading recognises the format by content.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/field.hpp"
#include "runtime/io_file.hpp"

namespace quarksmith {

/// A number recorded in a file beside the data, and what the data give.
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
};

/// Reads any supported format; `lattice` is needed by formats that do not record their extents and must agree with the
/// others. Boundary phases found in the links are moved into gauge.phase.
/// \throws Error unreadable, unknown, truncated, NaN; or, if `verify`, a recorded checksum or average that the data do
///         not reproduce. UsageError: the extents are needed or contradict the file.
GaugeFile read_gauge(const std::filesystem::path& path, const std::optional<Lattice>& lattice = {}, bool verify = true);

/// What read_gauge understands, for messages.
std::string gauge_formats();

/// A LIME record that goes into an ILDG file beside the links.
struct ExtraRecord {
  std::string type, text;
};

/// Writes ILDG (with SciDAC checksum), NERSC (three rows), MILC (single precision) or openQCD (double precision); links
/// include gauge.phase.
/// \param format ildg, nersc, milc or openqcd; \param bits 32 or 64.
/// \throws UsageError unknown format or bits; Error the file cannot be written (an older one is kept).
void write_gauge(const std::filesystem::path& path, const HostGauge& gauge, const std::string& format, int bits = 64,
                 const std::vector<ExtraRecord>& extra = {});

/// The text of a LIME record of a file, empty if it has none of that type.
std::string read_lime_text(const std::filesystem::path& path, const std::string& type);

// --- the single formats; used by read_gauge and write_gauge ----------------------------------------------------------

GaugeFile read_lime_gauge(const InputFile& file, const std::optional<Lattice>& lattice);
GaugeFile read_nersc(const InputFile& file);
GaugeFile read_milc(const InputFile& file);
/// Both start with four extents and a plaquette: which one a file is, the plaquette of its links decides.
GaugeFile read_ddalphaamg(const InputFile& file);
GaugeFile read_openqcd(const InputFile& file);
GaugeFile read_text(const InputFile& file, const Lattice& lattice);
/// Whether the file starts with the header of that format and has the size that the header implies.
bool looks_like_plain_binary(const InputFile& file);
void write_openqcd(OutputFile& file, const HostGauge& gauge);
void write_ildg(OutputFile& file, const HostGauge& gauge, int bits, const std::vector<ExtraRecord>& extra);
void write_nersc(OutputFile& file, const HostGauge& gauge, int bits);
void write_milc(OutputFile& file, const HostGauge& gauge);

/// How the links of a file are laid out: site-major, rows, columns, (re, im) fastest.
struct LinkLayout {
  std::uint64_t offset = 0;
  int bits = 64;
  bool big_endian = true;
  int rows = 3;                               ///< 2: the third is the conjugate cross product
  std::array<int, 4> site_order{0, 1, 2, 3};  ///< directions from the fastest coordinate to the slowest
  std::array<int, 4> link_order{0, 1, 2, 3};  ///< directions in the order in which their links stand
};
/// Bytes of all links.
std::uint64_t link_bytes(const Lattice& lattice, const LinkLayout& layout);
/// Reads all links; `visit(number, data, bytes)` sees each site as stored, `number` counting sites in file order.
void read_links(const InputFile& file, const LinkLayout& layout, HostGauge& gauge,
                const std::function<void(std::uint64_t, const void*, std::size_t)>& visit);
/// Writes all links at the current position; `visit` as for read_links.
void write_links(OutputFile& file, const LinkLayout& layout, const HostGauge& gauge,
                 const std::function<void(std::uint64_t, const void*, std::size_t)>& visit);
/// The extents of a file, which must agree with what the caller expects.
Lattice agreed_lattice(const InputFile& file, const Coordinates& found, const std::optional<Lattice>& expected);

}  // namespace quarksmith
