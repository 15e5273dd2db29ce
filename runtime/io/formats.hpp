/// \file
/// Interface of gauge formats, each in a file of runtime/io/formats/, and functions that they share; used by read_gauge
/// and write_gauge.
#pragma once

#include <functional>
#include <memory>

#include "runtime/fields/gauge.hpp"
#include "runtime/io/checksum.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/io/parallel.hpp"
#include "runtime/listed.hpp"

namespace quarksmith {

/// An average of the links that a file records.
struct RecordedAverage {
  std::string what;  ///< e.g. `plaquette`
  double GaugeAverages::*value;
  std::string text;        ///< as written in the file
  bool in_double = false;  ///< it was stored in binary as computed, and the text was made on reading
};

/// The head of a file: all that is needed to read the links of any local lattice.
struct GaugeHead {
  std::string format;
  int bits = 64;
  std::string byte_order;
  Coordinates extent{};
  int colours = 3;
  bool colours_by_size = false;  ///< the number of colours is not recorded, but follows from the size of the data
  std::map<std::string, std::string> notes;
  std::vector<RecordedAverage> averages;
  std::string remark;  ///< what this interpretation assumes, if the file does not record it
  /// Reads the links of gauge.lattice, the local lattice of one with these extents. Collective.
  std::function<void(const InputFile&, HostGauge& gauge, Communicator&)> read_links;
  /// Filled by read_links; null if the file records none.
  std::shared_ptr<SiteChecksum> checksum;
  std::string checksum_name, recorded;  ///< e.g. `SciDAC checksum`, and its text
};

/// A format with its documentation, defined by a file of runtime/io/formats/.
struct GaugeFormat : GaugeFormatInfo {
  /// Whether a file may be of this format.
  bool (*sniff)(const InputFile&) = nullptr;
  /// Possible interpretations of a file, from its head only; not collective. If there are several, also of several
  /// formats, the one is chosen whose checksums and averages agree best with the links.
  std::vector<GaugeHead> (*heads)(const InputFile&, const std::optional<Coordinates>& expected) = nullptr;
  /// Creates and writes a file; null: the format can only be read.
  void (*write)(Output&, const HostGauge&, int bits, const std::vector<ExtraRecord>&) = nullptr;
};

template <>
std::span<const GaugeFormat* const> listed<GaugeFormat>();

/// Most bytes of a text file with the links of a lattice: a number has at most 64 characters.
std::uint64_t most_text_bytes(const Coordinates& extent);

/// Bytes of the header with which DDalphaAMG and openQCD start: four extents, time first, and a plaquette.
constexpr std::uint64_t plain_header_bytes = 4 * 4 + 8;
/// Whether a file starts with such a header and is not larger than its extents imply.
bool looks_like_plain_binary(const InputFile& file);
/// The head of a file that starts with a plain header. \param axes directions in the order of its extents.
GaugeHead plain_head(const InputFile& file, const char* format, const std::array<int, 4>& axes);

/// How the links of a file are laid out: lexicographic sites, x fastest; rows, columns, (re, im) fastest.
struct LinkLayout {
  std::uint64_t offset = 0;
  int bits = 64;
  bool big_endian = true;
  int rows = 3;  ///< of three colours 2: the third is the conjugate cross product
  int colours = 3;
  std::array<int, 4> link_order{0, 1, 2, 3};  ///< directions in the order in which their links stand
};
/// Bytes of all links of a lattice.
std::uint64_t link_bytes(const Coordinates& extent, const LinkLayout& layout);
/// Reads the links of the local lattice, and computes the checksum of all links unless that is null. Collective.
void read_links(const InputFile& file, const LinkLayout& layout, HostGauge& gauge, SiteChecksum* checksum,
                Communicator& communicator);
/// A function for GaugeHead::read_links that reads links of this layout.
inline auto link_reader(const LinkLayout& layout, std::shared_ptr<SiteChecksum> checksum) {
  return [layout, checksum](const InputFile& file, HostGauge& gauge, Communicator& communicator) {
    read_links(file, layout, gauge, checksum.get(), communicator);
  };
}
/// Writes the links of the local lattice, times boundary phases, and computes the checksum of all unless that is null.
/// Collective.
void write_links(NewFile& file, const LinkLayout& layout, const HostGauge& gauge, SiteChecksum* checksum);
/// A link of three colours with the boundary phase, if it crosses the last slice of the whole lattice.
Matrix3 link_with_phase(const HostGauge& gauge, long long site, int mu);

/// Sites of a lattice of these extents.
std::uint64_t sites_of(const Coordinates& extent);
/// The extents of a file, after a check that they are possible and as the caller expects.
Coordinates checked_extent(const InputFile& file, const Coordinates& found,
                           const std::optional<Coordinates>& expected = {});
/// Extents as text, e.g. `8x8x8x16`.
std::string extent_text(const Coordinates& extent);
/// \throws Error always: two parts of a file give different values for the same quantity.
[[noreturn]] void contradiction(const InputFile& file, const std::string& what, const std::string& value,
                                const std::string& where, const std::string& other, const std::string& elsewhere);

}  // namespace quarksmith
