#include "runtime/io/field_file.hpp"

#include "runtime/error.hpp"
#include "runtime/io/hdf5_part.hpp"

namespace quarksmith {

GivenField read_field(const std::string& path, const std::string& dataset, std::string_view kind,
                      const Lattice& lattice) {
  hdf5::Extent after;
  for (const int n : extents_of(kind)) after.push_back(hsize_t(n));
  try {
    return given_field(kind, lattice, hdf5::load_local(path, {dataset, {}, after, kind == "scalars"}, lattice));
  } catch (const UsageError& e) {
    throw UsageError(path + ": " + e.what());
  }
}

}  // namespace quarksmith
