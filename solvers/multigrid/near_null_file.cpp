#include "solvers/multigrid/near_null_file.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {

void write_near_null(const std::filesystem::path& path, const SpinorField& vectors, const BasisInfo& basis,
                     PropagatorHeader header, bool overwrite, Communicator& communicator) {
  const Lattice& lattice = vectors.domain().lattice();
  header.provenance["operator"] = std::string(near_null_operator);
  header.form = {.staggered = vectors.spins() == 1,
                 .first = vectors.rhs(),
                 .midpoint = false,
                 .vectors = true,
                 .each = vectors.slices()};
  PropagatorFile file(path, lattice, header, overwrite, communicator);
  SpinorField one(vectors.domain_pointer(), find_precision("double"), Subset::full, 1, vectors.components(),
                  vectors.slices());
  const SpinorField slices = one.by_slice();
  HostSpinor host(lattice);
  const ColumnReport report;
  for (int n = 0; n < vectors.rhs(); ++n) {
    const SpinorField from = vectors.columns(n, 1);
    &from.precision() == &one.precision() ? one.copy_from(from) : convert(from, one);
    for (int s = 0; s < vectors.slices(); ++s) {
      download(slices, host, basis, s);
      file.write(n, s, host, report);
    }
  }
  file.finish();
}

SpinorField read_near_null(const PropagatorReader& file, const std::filesystem::path& path, const LinearOperator& like,
                           const BasisInfo& basis) {
  const PropagatorForm& form = file.form();
  if (form.staggered != (like.spins() == 1) || form.each != like.slices())
    throw Error(fmt::format("{}: its vectors have {} slices of {}", path.string(), form.each,
                            form.staggered ? "colour vectors" : "Dirac spinors"));
  SpinorField vectors = like.field(form.first, find_precision("single")), one = like.field(1, find_precision("double"));
  SpinorField slices = one.by_slice();
  HostSpinor host(like.domain()->lattice());
  for (int n = 0; n < form.first; ++n) {
    for (int s = 0; s < form.each; ++s) {
      if (!file.read(n, s, host))
        throw Error(
            fmt::format("{}: vector {} does not match its checksum: damaged, or never written; make the file "
                        "again with --mg-save",
                        path.string(), n));
      upload(host, slices, basis, s);
    }
    SpinorField to = vectors.columns(n, 1);
    convert(one, to);
  }
  return vectors;
}

}  // namespace quarksmith
