#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/io/parallel.hpp"
#include "runtime/io/propagator.hpp"
#include "runtime/io/propagator_seal.hpp"
#include "runtime/lattice/partition.hpp"

namespace quarksmith {

namespace format = propagator_format;

/// Columns that stand in one piece are read as those of any other file; those that other tools have rearranged or
/// compressed by libhdf5, each rank its box.
struct PropagatorReader::Parts {
  Communicator& communicator;
  std::filesystem::path path;
  std::unique_ptr<InputFile> file;
  PropagatorStructure known;

  void open() {
    file = std::make_unique<InputFile>(path);
    known = format::load(*file);
  }

  std::vector<Complex64> read_box(int n, const Lattice& lattice) const {
    if (lattice.global_extent() != known.extent)
      throw Error(fmt::format("{}: {} does not hold columns of a {} lattice", path.string(),
                              format::column_name(n, known.form), lattice.global_text()));
    const std::size_t components = known.form.components();
    if (known.places[n] != 0) {
      const std::size_t slice = lattice.space_sites() * components;
      std::vector<Complex64> numbers(slice * lattice.extent(3));
      const FileBox box = box_in_file(lattice, known.places[n], components * sizeof(Complex64));
      const auto shared = SharedFile::reader(*file, communicator);
      for (int t = 0; t < lattice.extent(3); ++t) shared->read(box.slice(t), &numbers[t * slice]);
      return numbers;
    }
    std::vector<Complex64> numbers;
    communicator.together([&] { numbers = format::load_column(file->name(), n, lattice, known.form); });
    return numbers;
  }
};

PropagatorReader::PropagatorReader(const std::filesystem::path& path, Communicator& communicator,
                                   std::optional<bool> vectors)
    : parts_(new Parts{communicator, path, nullptr, {}}) {
  hdf5::quiet();
  communicator.together([&] { parts_->open(); });
  if (vectors && form().vectors != *vectors)
    throw UsageError(fmt::format("{}: holds {}", path.string(),
                                 *vectors ? "a propagator; name a file of eigenvectors, of `quarksmith eigen`"
                                          : "eigenvectors; name a file of a propagator"));
}

PropagatorReader::~PropagatorReader() = default;

Provenance wanted_of(Provenance own, const Provenance& found) {
  if (found.contains(formula_key)) own.emplace(formula_key, std::string());
  return own;
}

const Provenance& PropagatorReader::provenance() const { return parts_->known.attributes; }
const PropagatorForm& PropagatorReader::form() const { return parts_->known.form; }
const Coordinates& PropagatorReader::extent() const { return parts_->known.extent; }
bool PropagatorReader::has(int first, int colour) const {
  return parts_->known.has(parts_->known.form.column(first, colour));
}
bool PropagatorReader::touched(int first, int colour) const {
  return parts_->known.touched(parts_->known.form.column(first, colour));
}
ColumnReport PropagatorReader::report(int first, int colour) const {
  return parts_->known.report(parts_->known.form.column(first, colour));
}

std::string PropagatorReader::checksum(int first, int colour) const {
  const ColumnRecord& r = parts_->known.records[parts_->known.form.column(first, colour)];
  return ScidacChecksum(r.a, r.b).text();
}

bool PropagatorReader::read(int first, int colour, HostSpinor& column) const {
  const int n = parts_->known.form.column(first, colour);
  const std::vector<Complex64> numbers = parts_->read_box(n, column.lattice);
  const ScidacChecksum sum = format::checksum_of(numbers.data(), column.lattice, form(), parts_->communicator);
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
  if (!std::filesystem::is_regular_file(path)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> head{};
  // Programs may put something of their own before it: HDF5 looks at 0 and at powers of two from 512.
  for (std::streamoff at = 0; file.seekg(at) && file.read(head.data(), head.size()); at = at == 0 ? 512 : 2 * at)
    if (std::string_view(head.data(), head.size()) == "\x89HDF\r\n\x1a\n") return true;
  return false;
}

void read_propagator_column(const std::filesystem::path& path, int first, int colour, HostSpinor& column,
                            Communicator& communicator) {
  const PropagatorReader reader(path, communicator);
  if (!reader.read(first, colour, column))
    throw Error(fmt::format("{}: column {} {} does not match its checksum: damaged, or never written", path.string(),
                            first, colour));
}

}  // namespace quarksmith
