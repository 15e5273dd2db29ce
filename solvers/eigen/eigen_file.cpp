#include "solvers/eigen/eigen_file.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/krylov/block_blas.hpp"

namespace quarksmith {

void write_eigenpairs(const std::filesystem::path& path, const Eigenpairs& pairs, const BasisInfo& basis,
                      PropagatorHeader header, bool overwrite, Communicator& communicator) {
  const SpinorField vectors = pairs.vectors.by_slice();
  const Lattice& lattice = vectors.domain().lattice();
  header.provenance["eigenvalues"] = pairs.values;
  header.remarks["residuals"] = pairs.residuals;
  header.form = {.staggered = vectors.spins() == 1,
                 .first = static_cast<int>(pairs.values.size()),
                 .midpoint = false,
                 .vectors = true,
                 .each = pairs.vectors.slices()};
  PropagatorFile file(path, lattice, header, overwrite, communicator);
  HostSpinor host(lattice);
  ColumnReport report;
  for (int n = 0; n < header.form.first; ++n)
    for (int s = 0; s < header.form.each; ++s) {
      download(vectors, host, basis, header.form.column(n, s));
      report.residual = pairs.residuals[std::size_t(n)];
      file.write(n, s, host, report);
    }
  file.finish();
}

std::vector<double> eigenvalues_of(const PropagatorReader& file, const std::filesystem::path& path) {
  auto values = file.value<std::vector<double>>("eigenvalues");
  if (static_cast<int>(values.size()) != file.form().first)
    throw Error(fmt::format("{}: {} eigenvalues for {} vectors: it is damaged", path.string(), values.size(),
                            file.form().first));
  return values;
}

SpinorField read_eigenvectors(const PropagatorReader& file, const std::filesystem::path& path,
                              const LinearOperator& like, const BasisInfo& basis) {
  const PropagatorForm& form = file.form();
  if (form.staggered != (like.spins() == 1) || form.each != like.slices())
    throw Error(fmt::format("{}: its vectors have {} slices of {}", path.string(), form.each,
                            form.staggered ? "colour vectors" : "Dirac spinors"));
  SpinorField vectors = like.field(BlockBlas::padded(form.first));
  vectors.fill(0);
  SpinorField slices = vectors.by_slice();
  HostSpinor host(like.domain()->lattice());
  for (int n = 0; n < form.first; ++n)
    for (int s = 0; s < form.each; ++s) {
      if (!file.read(n, s, host))
        throw Error(
            fmt::format("{}: vector {} does not match its checksum: damaged, or never written; make it again "
                        "with `quarksmith eigen`",
                        path.string(), n));
      upload(host, slices, basis, form.column(n, s));
    }
  return vectors;
}

}  // namespace quarksmith
