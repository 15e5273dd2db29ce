#include "runtime/fields/given_field.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {

std::vector<int> extents_of(std::string_view kind) {
  if (kind == "scalars") return {};
  if (kind == "phases") return {directions};
  if (kind == "links" || kind == "matrices") return {directions, 3, 3};
  if (kind == "spinor" || kind == "fermion") return {4, 3};
  if (kind == given_term) return {2, 6, 6};
  throw UsageError(fmt::format("there are no fields of kind {}", kind));
}

namespace {

/// Stores two whole blocks. \return how far they are from Hermitian, relative.
double pack(std::span<const Complex64> blocks, double* packed) {
  double off = 0, largest = 0;
  for (int block = 0; block < 2; ++block, packed += 36)
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j <= i; ++j) {
        const Complex64 below = blocks[std::size_t(36 * block + 6 * i + j)],
                        above = std::conj(blocks[std::size_t(36 * block + 6 * j + i)]), mean = (below + above) / 2.0;
        off = std::max(off, std::abs(below - above));
        largest = std::max(largest, std::abs(mean));
        const int n = i == j ? i : 6 + 2 * (i * (i - 1) / 2 + j);
        packed[n] = mean.real();
        if (i != j) packed[n + 1] = mean.imag();
      }
  return off / std::max(largest, 1e-300);
}

}  // namespace

GivenField given_field(std::string_view kind, const Lattice& lattice, std::span<const Complex64> numbers) {
  const std::vector<int> extents = extents_of(kind);
  const auto count = std::size_t(std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()));
  HostGauge links(lattice, kind == "scalars" || kind == "phases" ? 1 : 3);
  std::optional<HostSpinor> spinor;
  if (kind == "spinor" || kind == "fermion") spinor.emplace(lattice);
  for (long long x = 0; x < lattice.sites(); ++x) {
    const std::span<const Complex64> site = numbers.subspan(std::size_t(x) * count, count);
    for (std::size_t n = 0; n < count; ++n)
      if (!std::isfinite(site[n].real()) || !std::isfinite(site[n].imag()))
        throw UsageError(fmt::format("{}: number {} of site {} is not finite", kind, n, x));
    if (spinor) {
      for (std::size_t n = 0; n < count; ++n)  // in both, so that digests of all kinds are of the same numbers
        spinor->site[x][n] = links.site[x][n / 9][n % 9] = site[n];
    } else if (kind == given_term) {
      if (pack(site, reinterpret_cast<double*>(links.site.at(x))) > 1e-6)
        throw UsageError(fmt::format("{}: the blocks of site {} are not Hermitian", kind, x));
    } else if (kind == "scalars") {
      links.link(x, 0)[0] = site[0];
    } else if (kind == "phases") {
      for (int mu = 0; mu < directions; ++mu) {
        const double size = std::abs(site[std::size_t(mu)]);
        if (!(std::abs(size - 1) <= 1e-6))
          throw UsageError(
              fmt::format("phases are complex numbers of modulus 1; number {} of direction {} has {}", x, mu, size));
        links.link(x, mu)[0] = site[std::size_t(mu)] / size;
      }
    } else {
      for (int mu = 0; mu < directions; ++mu)
        for (std::size_t n = 0; n < 9; ++n) links.site[x][mu][n] = site[9 * std::size_t(mu) + n];
    }
  }
  return {std::string(kind), std::move(links), std::move(spinor)};
}

GivenField unit_field(const GivenField& like, const Lattice& lattice) {
  HostGauge links = unit_gauge(lattice, like.links.colours());
  for (long long x = 0; x < lattice.sites() && like.kind == given_term; ++x)
    for (int block = 0; block < 2; ++block) {
      Complex64* const packed = links.site.at(x) + 18 * block;
      std::fill_n(packed, 18, 0);
      std::fill_n(packed, 3, Complex64(1, 1));  // the six reals of the diagonal
    }
  GivenField field{like.kind, std::move(links)};
  if (like.spinor) field.spinor.emplace(lattice);
  field.unitary = like.unitary;
  return field;
}

}  // namespace quarksmith
