#include "solvers/hmc/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/io/hdf5_part.hpp"

namespace quarksmith {
namespace {

void require_finite(const std::vector<Complex64>& numbers, const std::string& path, const std::string& name) {
  for (const Complex64& z : numbers)
    if (!std::isfinite(z.real()) || !std::isfinite(z.imag()))
      throw BadData(fmt::format("{}: {} holds a number that is not finite", path, name));
}

}  // namespace

ReplayNoise::ReplayNoise(const std::filesystem::path& path, int trajectory, Communicator& communicator)
    : path_(path.string()), group_(fmt::format("/trajectory/{}", trajectory)), communicator_(communicator) {
  hdf5::quiet();
  communicator_.together([&] {
    if (hdf5::holds(path_, group_)) return;
    if (trajectory > 0 || !hdf5::holds(path_, "/momenta"))
      throw Error(fmt::format("{}: holds no trajectory {}: neither {} nor, for a single one, /momenta", path_,
                              trajectory, group_));
    group_.clear();
  });
}

std::vector<Complex64> ReplayNoise::read(const std::string& name, const std::vector<int>& before,
                                         const std::vector<int>& after, const Lattice& local) const {
  std::vector<Complex64> numbers;
  const hdf5::LatticeArray array{group_ + name, {before.begin(), before.end()}, {after.begin(), after.end()}};
  communicator_.together([&] {
    numbers = hdf5::load_local(path_, array, local);
    require_finite(numbers, path_, array.name);
  });
  return numbers;
}

void ReplayNoise::momenta(LinkField& p) {
  HostGauge host(p.domain().lattice());
  const std::vector<Complex64> numbers = read("/momenta", {}, {directions, 3, 3}, host.lattice);
  std::copy(numbers.begin(), numbers.end(), host.site.at(0));
  require_algebra(host, fmt::format("{}: {}/momenta", path_, group_), communicator_, 1e-10);
  p = upload(host, p.domain_pointer(), p.precision(), p.storage());
}

void ReplayNoise::pseudofermion(const std::string& monomial, int, SpinorField& eta, const BasisInfo& basis) {
  const Lattice& lattice = eta.domain().lattice();
  SpinorField slices = eta.by_slice();
  std::vector<int> before;
  if (eta.rhs() > 1) before.push_back(eta.rhs());
  if (eta.slices() > 1) before.push_back(eta.slices());
  const std::vector<Complex64> numbers =
      read("/noise/" + monomial, before, eta.spins() == 1 ? std::vector{3} : std::vector{4, 3}, lattice);
  auto next = numbers.begin();
  for (int n = 0; n < slices.rhs(); ++n) {
    HostSpinor host(lattice);
    for (HostSite& site : host.site) {
      std::copy_n(next, 3 * eta.spins(), site.begin());
      next += 3 * eta.spins();
    }
    upload(host, slices, basis, n);
  }
}

}  // namespace quarksmith
