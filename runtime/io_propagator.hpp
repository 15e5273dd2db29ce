/// \file
/// Propagators in HDF5: one dataset a column, written one after another, so that an interrupted run can continue.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "runtime/field.hpp"

namespace quarksmith {

/// What is kept of the solve of one column.
struct ColumnReport {
  double iterations = 0, residual = 0, seconds = 0, gflops = 0;
};

/// `/column/<spin>/<colour>`: compound {r, i} of doubles, axes t, z, y, x, spin, colour, DeGrand-Rossi basis;
/// attributes of the root group state the provenance. Written as `<path>.part` and renamed by finish(). All datasets
/// are laid out when the file is created, so that writing a column changes no structure: a run that is killed leaves a
/// readable file, and every rank writes its part of a column to where it stands. All calls but `has` and `report` are
/// collective, the end of the object's life too; if one rank throws, all do.
class PropagatorFile {
 public:
  using Provenance = std::map<std::string, std::string>;

  /// Creates `<path>.part`, or continues it if its provenance is equal.
  /// \param overwrite discards a partial or a finished file instead of refusing.
  /// \throws UsageError a finished file exists, or a partial one of other provenance; Error it is damaged or cannot be
  /// written.
  PropagatorFile(const std::filesystem::path& path, const Lattice& lattice, const Provenance& provenance,
                 bool overwrite, Communicator& communicator = *Communicator::self());
  ~PropagatorFile();

  /// Columns that an earlier run has left.
  bool has(int spin, int colour) const;
  ColumnReport report(int spin, int colour) const;
  void read(int spin, int colour, HostSpinor& column) const;
  /// \throws Error the disk is full or fails; earlier columns are kept.
  void write(int spin, int colour, const HostSpinor& column, const ColumnReport& report);
  /// Closes the file and gives it its final name.
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Reads a column of a finished file, each rank its part of it. Collective.
/// \throws Error missing, damaged, or of another lattice.
void read_propagator_column(const std::filesystem::path& path, int spin, int colour, HostSpinor& column,
                            Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
