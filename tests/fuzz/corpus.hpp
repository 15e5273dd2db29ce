/// \file
/// Files of every format that the library reads, made by its own writers, to start from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/io/gauge.hpp"
#include "runtime/io/propagator.hpp"

namespace quarksmith::fuzz {

/// An extra record of ILDG files.
inline constexpr const char *note_record = "quarksmith-note", *note_text = R"({"beta": 5.9, "sweeps": 3})";

/// How a format protects what it holds.
enum class Protection {
  none,     ///< a plaquette at most
  numbers,  ///< a checksum of the numbers; nothing stands beside the extents
  checksum  ///< nothing changed must be accepted
};

/// A file, and what it holds.
struct Original {
  std::string name;  ///< of the format, as `ildg64`
  std::string bytes;
  Protection protection = Protection::checksum;
  bool gauge = true;  ///< else a propagator, or measurements
  bool records = false;
  bool part = false;    ///< to be continued, not read
  bool packed = false;  ///< gzipped after it has been changed
  std::optional<GaugeFile> links;
  PropagatorHeader header;
  std::vector<std::optional<HostSpinor>> columns;
  std::vector<ColumnReport> reports;
};

/// The lattice of all files: its extents differ, so that exchanged ones are noticed.
Lattice lattice();

/// A column of random numbers.
HostSpinor random_column(std::uint64_t seed);

/// Of all formats. \param folder where files may be written meanwhile.
std::vector<Original> corpus(const std::filesystem::path& folder);

/// Whole content of a file; and the reverse.
std::string content(const std::filesystem::path& path);
void put(const std::filesystem::path& path, const std::string& bytes);
std::string gzipped(const std::string& bytes);

}  // namespace quarksmith::fuzz
