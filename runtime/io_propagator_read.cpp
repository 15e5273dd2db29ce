#include <fmt/format.h>

#include <cerrno>

#include "runtime/error.hpp"
#include "runtime/io_propagator.hpp"
#include "runtime/io_propagator_format.hpp"
#include "runtime/partition.hpp"

namespace quarksmith {

namespace format = propagator_format;

/// A finished file may have been rearranged or compressed by tools: every rank reads its box through the library.
struct PropagatorReader::Parts {
  Communicator& communicator;
  std::filesystem::path path;
  hdf5::Handle file;
  PropagatorStructure known;

  void open() {
    errno = 0;
    const std::string what = path.string() + ": cannot open it as HDF5 (missing, damaged, or in use by a run)";
    file = hdf5::Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, what);
    known = format::read(file, path.string());
  }

  void read_box(int n, const Lattice& lattice, std::vector<Complex64>& numbers) const {
    const std::string name = format::column_name(n), what = fmt::format("{}: cannot read {}", path.string(), name);
    errno = 0;
    if (lattice.global_extent() != known.extent)
      throw Error(
          fmt::format("{}: {} does not hold columns of a {} lattice", path.string(), name, lattice.global_text()));
    const hdf5::Handle complex = hdf5::complex_type();
    const hdf5::Handle set =
        hdf5::open_dataset(file, name, complex, format::column_extent(known.extent, known.form), path.string());
    const hdf5::Extent extent = format::column_extent(lattice.extent(), known.form);
    hdf5::Extent first(extent.size());
    for (int k = 0; k < 4; ++k) first[k] = lattice.origin(3 - k);
    const hdf5::Handle here(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, what),
        there(H5Dget_space(set), H5Sclose, what);
    hdf5::check(H5Sselect_hyperslab(there, H5S_SELECT_SET, first.data(), nullptr, extent.data(), nullptr), what);
    hdf5::check(H5Dread(set, complex, here, there, H5P_DEFAULT, numbers.data()), what);
  }
};

PropagatorReader::PropagatorReader(const std::filesystem::path& path, Communicator& communicator)
    : parts_(new Parts{communicator, path, {}, {}}) {
  hdf5::quiet();
  communicator.together([&] { parts_->open(); });
}

PropagatorReader::~PropagatorReader() = default;

const Provenance& PropagatorReader::provenance() const { return parts_->known.attributes; }
const PropagatorForm& PropagatorReader::form() const { return parts_->known.form; }
const Coordinates& PropagatorReader::extent() const { return parts_->known.extent; }
bool PropagatorReader::has(int first, int colour) const { return parts_->known.has(3 * first + colour); }
ColumnReport PropagatorReader::report(int first, int colour) const { return parts_->known.report(3 * first + colour); }

std::string PropagatorReader::checksum(int first, int colour) const {
  const ColumnRecord& r = parts_->known.records[3 * first + colour];
  return ScidacChecksum(r.a, r.b).text();
}

bool PropagatorReader::read(int first, int colour, HostSpinor& column) const {
  const int n = 3 * first + colour;
  std::vector<Complex64> numbers(column.site.size() * form().components());
  parts_->communicator.together([&] { parts_->read_box(n, column.lattice, numbers); });
  const ScidacChecksum sum = format::checksum_of(numbers, column.lattice, form(), parts_->communicator);
  format::unpack(numbers, form(), column);
  return has(first, colour) && sum.a == parts_->known.records[n].a && sum.b == parts_->known.records[n].b;
}

void PropagatorReader::require(const PropagatorHeader& header, const Coordinates& lattice,
                               const std::string& remedy) const {
  if (const std::string other = format::difference(parts_->known, header, lattice); !other.empty())
    throw UsageError(fmt::format("{}: exists, of another calculation ({}); {}", parts_->path.string(), other, remedy));
}

void PropagatorReader::missing(const std::string& key) const {
  throw Error(fmt::format("{}: attribute {} is missing or of another type", parts_->path.string(), key));
}

bool is_hdf5(const std::filesystem::path& path) {
  hdf5::quiet();
  return std::filesystem::is_regular_file(path) && H5Fis_hdf5(path.c_str()) > 0;
}

void read_propagator_column(const std::filesystem::path& path, int first, int colour, HostSpinor& column,
                            Communicator& communicator) {
  const PropagatorReader reader(path, communicator);
  if (!reader.read(first, colour, column))
    throw Error(fmt::format("{}: column {} {} does not match its checksum: damaged, or never written", path.string(),
                            first, colour));
}

}  // namespace quarksmith
