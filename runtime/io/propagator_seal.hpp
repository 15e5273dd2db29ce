/// \file
/// The seal at the end of propagator files: a copy of their structure with a digest, so that our files are read without
/// libhdf5, which crashes on damaged structures. HDF5 ignores what follows its own end, and drops it when another
/// program changes the file: files without a seal are read by libhdf5 in a child process.
#pragma once

#include <filesystem>

#include "runtime/io/file.hpp"
#include "runtime/io/propagator_format.hpp"

namespace quarksmith::propagator_format {

/// Appends the seal to a new file.
/// \throws Error the file cannot be read or written.
void seal(const std::filesystem::path& path, const PropagatorStructure& structure);

/// Structure, offsets and reports of a file, from its seal or else by libhdf5.
/// \throws Error damaged, of the former format, or no propagator.
PropagatorStructure load(const InputFile& file);

/// Reads the local lattice's numbers of a column by libhdf5, for files whose columns other programs have compressed or
/// rearranged.
/// \throws Error it cannot be read.
std::vector<Complex64> load_column(const std::string& path, int n, const Lattice& local, const PropagatorForm& form);

/// \throws Error columns and reports overlap or exceed `bytes`, so that writing one would damage others.
void require_apart(const PropagatorStructure& structure, std::uint64_t bytes, const std::string& path);

}  // namespace quarksmith::propagator_format
