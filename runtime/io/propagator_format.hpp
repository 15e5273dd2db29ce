/// \file
/// The layout of propagator files, which writer and reader share.
#pragma once

#include <array>

#include "runtime/io/checksum.hpp"
#include "runtime/io/hdf5.hpp"

namespace quarksmith {

/// The entry of `/report` for a column. It is written in one piece, and its own checksum detects an incomplete one.
struct ColumnRecord {
  std::int32_t done = 0;
  std::uint32_t a = 0, b = 0;  ///< SciDAC checksum of the column's sites
  std::uint32_t crc = 0;       ///< of this record with crc = 0, and of its midpoint sums
  double iterations = 0, residual = 0, seconds = 0, gflops = 0;
  char solver[24] = {}, precision[32] = {}, even_odd[16] = {}, links[8] = {};
};

/// The content of a file without the numbers of the columns.
struct PropagatorStructure {
  Provenance attributes;
  PropagatorForm form;
  Coordinates extent{};
  std::vector<ColumnRecord> records;
  std::vector<double> midpoint;  ///< [column][t]
  /// Offsets of the numbers of the columns, of /report and of /midpoint; 0: not contiguous.
  std::vector<std::uint64_t> places;

  /// Space for the reports of that many columns, and their places.
  void resize();
  std::uint64_t report_place() const { return places[form.columns()]; }
  std::uint64_t midpoint_place() const { return places[form.columns() + 1]; }
  /// Bytes of the numbers at places[n].
  std::uint64_t bytes_at(int n) const;
  std::uint64_t column_bytes() const;
  double* midpoint_of(int n) { return form.midpoint ? &midpoint[std::size_t(n) * extent[3]] : nullptr; }
  const double* midpoint_of(int n) const { return form.midpoint ? &midpoint[std::size_t(n) * extent[3]] : nullptr; }
  /// Stores the report of a column and its checksum.
  void set(int n, const ColumnReport& report, const ScidacChecksum& sum);
  ColumnReport report(int n) const;
  /// Whether a column is complete: its record is not blank and matches its checksum.
  bool has(int n) const;
  /// Whether the record of a column is not blank.
  bool touched(int n) const;
  std::uint32_t crc(int n) const;
};

namespace propagator_format {

/// The value of the attribute `format`.
const char* name_of(const PropagatorForm& form);

hdf5::Handle record_type();
std::string column_name(int n, const PropagatorForm& form);
/// Axes t, z, y, x, then spin and colour or colour alone.
hdf5::Extent column_extent(const Coordinates& lattice, const PropagatorForm& form);
/// Attributes, axes and datasets of a new file.
void create(hid_t file, const PropagatorHeader& header, const Coordinates& lattice);
/// \throws Error form and extents of a structure are impossible.
void check_form(const PropagatorStructure& structure, const std::string& path);
/// Reads and checks attributes and reports, and types, extents and offsets of all columns.
/// \throws Error damaged, of the former format, or no propagator.
PropagatorStructure read(hid_t file, const std::string& path);
/// The first difference from `header` in words; empty if there is none.
std::string difference(const PropagatorStructure& found, const PropagatorHeader& header, const Coordinates& lattice);
/// Sites of a column as the file holds them.
std::vector<Complex64> pack(const HostSpinor& column, const PropagatorForm& form);
void unpack(const std::vector<Complex64>& numbers, const PropagatorForm& form, HostSpinor& column);
/// The checksum of a column over all ranks. Collective.
ScidacChecksum checksum_of(const Complex64* numbers, const Lattice& lattice, const PropagatorForm& form,
                           Communicator& communicator);

}  // namespace propagator_format
}  // namespace quarksmith
