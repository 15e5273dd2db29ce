/// \file
/// Arrays over a lattice in HDF5 files of other programs, read in a child process, since libhdf5 crashes on damaged
/// files.
#pragma once

#include <string>
#include <vector>

#include "runtime/io/hdf5.hpp"

namespace quarksmith::hdf5 {

/// Opens a file for reading. \throws Error it is no HDF5 file.
Handle open_for_reading(const std::string& path);
/// The message if libhdf5 has crashed on a file.
std::string unreadable(const std::string& path);

/// A complex array in a file: `before`, T, Z, Y, X, `after` are its extents.
struct LatticeArray {
  std::string name;
  Extent before, after;
  bool real_too = false;  ///< whether its numbers may be real
};
/// The numbers of the local lattice, in the order of the array.
/// \throws Error the file holds no such array, or cannot be read.
std::vector<Complex64> load_local(const std::string& path, const LatticeArray& array, const Lattice& local);
/// Whether a file holds an object of that name. \throws Error it cannot be read.
bool holds(const std::string& path, const std::string& name);

}  // namespace quarksmith::hdf5
