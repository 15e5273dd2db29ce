#include "solvers/eigen/eigen_file.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/krylov/block_blas.hpp"

namespace quarksmith {

namespace {

constexpr const char* compression = "compress";  ///< attribute: the block, and vectors of its basis

void read_column(const PropagatorReader& file, const std::filesystem::path& path, int n, int s, HostSpinor& host) {
  if (!file.read(n, s, host))
    throw Error(
        fmt::format("{}: vector {} does not match its checksum: damaged, or never written; make it again with "
                    "`quarksmith eigen`",
                    path.string(), n));
}

/// The first of its vectors.
SpinorField read_vectors(const PropagatorReader& file, const std::filesystem::path& path, const LinearOperator& like,
                         const BasisInfo& basis, int count, int columns) {
  const PropagatorForm& form = file.form();
  SpinorField vectors = like.field(columns);
  vectors.fill(0);
  SpinorField slices = vectors.by_slice();
  HostSpinor host(like.domain()->lattice());
  for (int n = 0; n < count; ++n)
    for (int s = 0; s < form.each; ++s) {
      read_column(file, path, n, s, host);
      upload(host, slices, basis, form.column(n, s));
    }
  return vectors;
}

SpinorField read_compressed(const PropagatorReader& file, const std::filesystem::path& path, const LinearOperator& like,
                            const LinearOperator& full, const BasisInfo& basis) {
  const auto& stated = file.value<std::vector<long long>>(compression);
  const int count = static_cast<int>(eigenvalues_of(file, path).size());
  const auto refuse = [&] {
    throw Error(fmt::format("{}: `{}` does not fit its columns: it is damaged", path.string(), compression));
  };
  if (stated.size() != directions + 1) refuse();
  Coordinates block;
  for (int mu = 0; mu < directions; ++mu) block[mu] = static_cast<int>(stated[std::size_t(mu)]);
  LocalCoherence coherence(full, basis, block, static_cast<int>(stated[directions]));
  const int first = coherence.vectors();
  if (file.form().first != first + coherence.columns_of(count)) refuse();
  coherence.take_basis(read_vectors(file, path, like, basis, first, first));
  std::vector<HostSpinor> slices(static_cast<std::size_t>(file.form().each), HostSpinor(like.domain()->lattice()));
  for (int c = 0; c < coherence.columns_of(count); ++c) {
    for (int s = 0; s < file.form().each; ++s) read_column(file, path, first + c, s, slices[std::size_t(s)]);
    coherence.take_coefficients(c, count, slices);
  }
  return coherence.expand(like.field());
}

}  // namespace

void write_eigenpairs(const std::filesystem::path& path, const Eigenpairs& pairs, const BasisInfo& basis,
                      PropagatorHeader header, bool overwrite, Communicator& communicator,
                      const LocalCoherence* coherence) {
  const int count = static_cast<int>(pairs.values.size());
  const SpinorField own =
      coherence != nullptr ? coherence->basis_vectors(pairs.vectors) : pairs.vectors.columns(0, count);
  const SpinorField vectors = own.by_slice();
  const Lattice& lattice = vectors.domain().lattice();
  const int coefficients = coherence != nullptr ? coherence->columns_of(count) : 0;
  header.provenance["eigenvalues"] = pairs.values;
  header.remarks["residuals"] = pairs.residuals;
  if (coherence != nullptr) {
    std::vector<long long> stated(coherence->block().begin(), coherence->block().end());
    stated.push_back(coherence->vectors());
    header.provenance[compression] = stated;
  }
  header.form = {.staggered = vectors.spins() == 1,
                 .first = own.rhs() + coefficients,
                 .midpoint = false,
                 .vectors = true,
                 .each = own.slices()};
  PropagatorFile file(path, lattice, header, overwrite, communicator);
  HostSpinor host(lattice);
  ColumnReport report;
  for (int n = 0; n < own.rhs(); ++n)
    for (int s = 0; s < header.form.each; ++s) {
      download(vectors, host, basis, header.form.column(n, s));
      report.residual = pairs.residuals[std::size_t(n)];
      file.write(n, s, host, report);
    }
  for (int c = 0; c < coefficients; ++c) {
    const std::vector<HostSpinor> slices = coherence->coefficients(c);
    for (int s = 0; s < header.form.each; ++s) file.write(own.rhs() + c, s, slices[std::size_t(s)], {});
  }
  file.finish();
}

std::vector<double> eigenvalues_of(const PropagatorReader& file, const std::filesystem::path& path) {
  auto values = file.value<std::vector<double>>("eigenvalues");
  if (!file.provenance().contains(compression) && static_cast<int>(values.size()) != file.form().first)
    throw Error(fmt::format("{}: {} eigenvalues for {} vectors: it is damaged", path.string(), values.size(),
                            file.form().first));
  return values;
}

SpinorField read_eigenvectors(const PropagatorReader& file, const std::filesystem::path& path,
                              const LinearOperator& like, const LinearOperator& full, const BasisInfo& basis) {
  const PropagatorForm& form = file.form();
  if (form.staggered != (like.spins() == 1) || form.each != like.slices())
    throw Error(fmt::format("{}: its vectors have {} slices of {}", path.string(), form.each,
                            form.staggered ? "colour vectors" : "Dirac spinors"));
  if (file.provenance().contains(compression)) return read_compressed(file, path, like, full, basis);
  return read_vectors(file, path, like, basis, form.first, BlockBlas::padded(form.first));
}

}  // namespace quarksmith
