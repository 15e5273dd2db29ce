/// \file
/// The seal at the end of propagator files: all of their structure once more, with a digest, so that a file of ours is
/// read without libhdf5, which crashes on damaged structures. HDF5 ignores what follows its own end, and drops it when
/// another program changes the file: files without a seal are read by libhdf5, in a process that dies alone.
#pragma once

#include <filesystem>

#include "runtime/io/file.hpp"
#include "runtime/io/propagator_format.hpp"

namespace quarksmith::propagator_format {

/// Appends the seal to a new file.
/// \throws Error the file cannot be read or written.
void seal(const std::filesystem::path& path, const PropagatorStructure& structure);

/// Structure, places and reports of a file, of its seal or else by libhdf5.
/// \throws Error damaged, of the former format, or no propagator.
PropagatorStructure load(const InputFile& file);

/// The numbers of a part of a column by libhdf5, for files whose columns other programs have compressed or rearranged.
/// \throws Error it cannot be read.
std::vector<Complex64> load_column(const std::string& path, int n, const Lattice& local, const PropagatorForm& form);

/// \throws Error columns and reports do not lie one beside another within `bytes`, so that writing one would damage
/// others; the message ends with `remedy`.
void require_apart(const PropagatorStructure& structure, std::uint64_t bytes, const std::string& path);

}  // namespace quarksmith::propagator_format
