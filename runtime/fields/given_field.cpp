#include "runtime/fields/given_field.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "runtime/error.hpp"

namespace quarksmith {

std::vector<int> extents_of(std::string_view kind) {
  if (kind == "scalars") return {};
  if (kind == "phases") return {directions};
  if (kind == "links" || kind == "matrices") return {directions, 3, 3};
  if (kind == "spinor" || kind == "fermion") return {4, 3};
  throw UsageError(fmt::format("there are no fields of kind {}", kind));
}

GivenField given_field(std::string_view kind, const Lattice& lattice, std::span<const Complex64> numbers) {
  const std::vector<int> extents = extents_of(kind);
  const auto count = std::size_t(std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()));
  GivenField field{std::string(kind), HostGauge(lattice, kind == "scalars" || kind == "phases" ? 1 : 3)};
  if (kind == "spinor" || kind == "fermion") field.spinor.emplace(lattice);
  for (long long x = 0; x < lattice.sites(); ++x) {
    const std::span<const Complex64> site = numbers.subspan(std::size_t(x) * count, count);
    for (std::size_t n = 0; n < count; ++n)
      if (!std::isfinite(site[n].real()) || !std::isfinite(site[n].imag()))
        throw UsageError(fmt::format("{}: number {} of site {} is not finite", kind, n, x));
    if (field.spinor) {
      for (std::size_t n = 0; n < count; ++n)  // in both, so that digests of all kinds are of the same numbers
        field.spinor->site[x][n] = field.links.site[x][n / 9][n % 9] = site[n];
    } else if (kind == "scalars") {
      field.links.link(x, 0)[0] = site[0];
    } else if (kind == "phases") {
      for (int mu = 0; mu < directions; ++mu) {
        const double size = std::abs(site[std::size_t(mu)]);
        if (!(std::abs(size - 1) <= 1e-6))
          throw UsageError(
              fmt::format("phases are complex numbers of modulus 1; number {} of direction {} has {}", x, mu, size));
        field.links.link(x, mu)[0] = site[std::size_t(mu)] / size;
      }
    } else {
      for (int mu = 0; mu < directions; ++mu)
        for (std::size_t n = 0; n < 9; ++n) field.links.site[x][mu][n] = site[9 * std::size_t(mu) + n];
    }
  }
  return field;
}

}  // namespace quarksmith
