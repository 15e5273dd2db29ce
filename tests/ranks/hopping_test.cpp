// Every hopping kernel on parts of a lattice against the same kernel on the whole: all grids, all policies.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"
#include "runtime/fields/hopping.hpp"
#include "tests/ranks/support.hpp"
#include "tests/site_terms.hpp"

namespace {

using namespace quarksmith;

const Coordinates hopping_extent = {8, 8, 8, 8};
/// A phase in every direction; complex where kernels take complex ones.
constexpr double angles[] = {0.3, 1, 0.75, 1};

/// A gauge field and a few spinors, the same numbers on any grid.
struct Inputs {
  explicit Inputs(const DomainPointer& domain, const HostGauge& gauge) : domain(domain), gauge(gauge) {}

  /// The domain for a kernel's hops; it has the policy of the one for short hops.
  const DomainPointer& domain_for(const Kernel& kernel) {
    if (kernel.reach <= domain->reach()) return domain;
    if (!wide_)
      wide_ = std::make_shared<Domain>(domain->lattice(), domain->device_pointer(), domain->communicator_pointer(),
                                       kernel.reach);
    if (domain->lattice().ranks() > 1 && wide_->halos().policy() != domain->halos().policy())
      wide_->halos().use(domain->halos().policy());
    return wide_;
  }
  /// Links of hops over `length` sites.
  const LinkField& links(std::string_view precision, std::string_view storage, const DomainPointer& on,
                         int length = 1) {
    const std::tuple key{std::string(precision), std::string(storage), on->reach(), length};
    auto found = links_.find(key);
    if (found == links_.end())
      found = links_.emplace(key, upload(gauge, on, find_precision(precision), find_storage(storage), length)).first;
    return found->second;
  }
  /// \param twisted with what stands beside a twisted mass.
  const StoredTerm& clover(std::string_view precision, bool twisted) {
    auto& made = clover_[{std::string(precision), twisted}];
    if (!made)
      made = std::make_unique<StoredTerm>(
          support::clover_term(gauge, domain, 0.6, 0.8, 4.2, precision, twisted ? std::optional(0.4) : std::nullopt));
    return *made;
  }
  /// Made once: to draw and convert the numbers takes many times as long as a kernel.
  const SpinorField& spinor(const Kernel& kernel, std::uint64_t seed, int rhs) {
    const DomainPointer& on = domain_for(kernel);
    const std::tuple key{std::string(kernel.precision), kernel.spins, on->reach(), seed, rhs};
    auto found = spinors_.find(key);
    if (found == spinors_.end()) {
      SpinorField field(on, find_precision(kernel.precision), Subset::full, rhs, kernel.spins);
      for (int r = 0; r < rhs; ++r) upload(drawn(seed + r), field, find_basis("degrand_rossi"), r);
      found = spinors_.emplace(key, std::move(field)).first;
    }
    return found->second;
  }

  DomainPointer domain;
  HostGauge gauge;

 private:
  /// The same numbers on any grid.
  const HostSpinor& drawn(std::uint64_t seed) {
    const auto [found, fresh] = drawn_.try_emplace(seed, domain->lattice());
    HostSpinor& host = found->second;
    for (long long i = 0; fresh && i < host.lattice.sites(); ++i) {
      Random random({seed, 0}, static_cast<unsigned>(host.lattice.global_index(i)));
      for (Complex64& z : host.site[i]) {
        const double re = gaussian(random);
        z = {re, gaussian(random)};
      }
    }
    return host;
  }

  DomainPointer wide_;
  std::map<std::uint64_t, HostSpinor> drawn_;
  std::map<std::tuple<std::string, int, int, std::uint64_t, int>, SpinorField> spinors_;
  std::map<std::tuple<std::string, std::string, int, int>, LinkField> links_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<StoredTerm>> clover_;
};

/// out = D in by a kernel, `rhs` right-hand sides, full lattice; `together`: with what neighbours have.
std::vector<HostSpinor> result(const Kernel& kernel, Inputs& inputs, int rhs, bool together = true) {
  const SpinorField &in = inputs.spinor(kernel, 1, rhs), &x = inputs.spinor(kernel, 100, rhs);
  SpinorField out = in.like();
  out.fill(255);
  const DomainPointer& domain = inputs.domain_for(kernel);
  Arguments a = arguments_for(*domain, in.lanes(), rhs);
  const bool two = kernel.reach > 1;
  const std::string_view stored = find_precision(kernel.precision).links;
  const LinkField& links = inputs.links(stored, two ? "r18" : kernel.links, domain);
  const LinkField& long_links = inputs.links(stored, kernel.links, domain, kernel.reach);
  a.links = links.operand();
  a.long_links = long_links.operand();
  a.a.re = 0.7;
  a.b.re = -0.4;
  a.c = {0.7, -0.45};  // of twisted terms
  if (kernel.terms > 0) {
    const bool inverse = kernel.epilogue != "taxpby";
    const StoredTerm& clover =
        inputs.clover(find_precision(kernel.precision).links, kernel.operation.starts_with("twisted"));
    const TermField& term = inverse ? clover.inverse() : clover.term();
    a.term = term.operand();
    (inverse ? a.b.re : a.a.re) = term.scale();
    if (kernel.terms > 1) {
      a.twist = clover.factor().operand();
      a.c.re = 0.7 * clover.factor().scale() / term.scale();
    }
  }
  std::array<Complex64, directions> phase;
  for (int mu = 0; mu < directions; ++mu)
    phase[mu] = kernel.complex_coefficients ? std::polar(1.0, std::acos(-1) * angles[mu]) : (mu % 2 == 1 ? -1.0 : 1.0);
  a.hops = hops_of(inputs.domain->lattice(), {0.8, 0.9, 1.1, 1}, phase);
  a.long_hops = hops_of(domain->lattice(), {0.3, -0.2, 0.4, 0.5}, phase);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    a.parity = int(parity);
    a.in = in.operand(opposite(parity));
    a.out = out.operand(parity);
    a.x = x.operand(parity);
    if (together) {
      apply_hopping(*domain, kernel, a, two ? HoppingLinks(links, long_links) : HoppingLinks(links));
    } else {
      domain->device().run(kernel, a);
    }
  }
  std::vector<HostSpinor> all;
  for (int r = 0; r < rhs; ++r)
    download(out, all.emplace_back(inputs.domain->lattice()), find_basis("degrand_rossi"), r);
  return all;
}

/// Largest difference of two sites over the norm of the site, in roundings of the storage.
double site_deviation(const HostSite& a, const HostSite& b, const Kernel& kernel) {
  double largest = 0, norm = 0;
  for (int k = 0; k < 12; ++k) {
    largest = std::max(largest, std::abs(a[k] - b[k]));
    norm = std::max({norm, std::abs(b[k].real()), std::abs(b[k].imag())});
  }
  const int bits = find_precision(kernel.precision).bits;
  return norm == 0 ? largest : largest / norm * std::ldexp(1.0, bits - 1);
}

/// Whether all hops that leave a part take whole spins: without spin matrices, and in t where gamma_t is diagonal.
bool travels_unprojected(const Kernel& kernel, const Lattice& here) {
  const bool only_t = !here.split(0) && !here.split(1) && !here.split(2);
  return kernel.basis.empty() || (kernel.basis == "non_relativistic" && only_t);
}

/// Whether no hop of a kernel leads beyond the next part.
bool reaches_one_part(const Kernel& kernel, const Lattice& here) {
  const Coordinates& n = here.extent();
  return std::all_of(n.begin(), n.end(), [&](int hopping_extent) { return hopping_extent >= kernel.reach; });
}

class Hopping : public testing::Test {
 protected:
  void compare(const Kernel& kernel, Inputs& whole, Inputs& part, int rhs) {
    const Lattice& here = part.domain->lattice();
    const auto all = result(kernel, whole, rhs), mine = result(kernel, part, rhs);
    const bool floats = kernel.precision == "double" || kernel.precision == "single";
    // Kernels for other lanes, or of a GPU for the interior and for boundaries, are compiled apart. Other formats round
    // projected spinors once more, but not those of which some spins travel as they are stored.
    const int bytes = find_precision(kernel.precision).element_bytes;
    const bool same_lanes = whole.domain_for(kernel)->lanes(bytes) == part.domain_for(kernel)->lanes(bytes);
    const bool exact =
        !part.domain->device().asynchronous() && same_lanes && (floats || travels_unprojected(kernel, here));
    const double limit = exact ? 0 : (floats ? 8 : 4) * kernel.reach * (find_storage(kernel.links).exact ? 1 : 8);
    double worst = 0;
    for (int r = 0; r < rhs; ++r)
      for (long long i = 0; i < here.sites(); ++i) {
        const double d = site_deviation(mine[r].site[i], all[r].site[here.global_index(i)], kernel);
        if (!(d <= worst)) worst = d;  // a NaN sticks
      }
    if (floats && limit > 0)
      worst *= kernel.precision == "double" ? std::ldexp(1.0, 53 - 64) : std::ldexp(1.0, 24 - 32);
    EXPECT_LE(worst, limit) << kernel.name << " grid " << here.grid()[0] << here.grid()[1] << here.grid()[2]
                            << here.grid()[3] << " policy " << name_of(part.domain->halos().policy()) << " rhs " << rhs;
  }
};

TEST_F(Hopping, PartsGiveWhatTheWholeGives) {
  const auto device = ranks::device();
  Inputs whole(std::make_shared<Domain>(Lattice(hopping_extent), device), hot_gauge(Lattice(hopping_extent), 5));
  whole.gauge = fix_temporal_gauge(whole.gauge).gauge;  // for storages that want it
  std::size_t turn = 0;
  for (const Coordinates& grid : ranks::grids()) {
    if (ranks::world().size() == 1) continue;
    const Lattice here = ranks::local_lattice(hopping_extent, grid);
    Inputs part(std::make_shared<Domain>(here, device, Communicator::world()), ranks::cut(whole.gauge, here));
    const auto ways = part.domain->halos().possible();
    // Changing the policy costs an exchange of memory: one after the other takes its share of the kernels. On four
    // ranks, which have the most grids, each kernel has its turn; those that solvers live on always have.
    const std::size_t period = 6 * ways.size();
    for (std::size_t way = 0; way < ways.size(); ++way) {
      part.domain->halos().use(ways[way]);
      std::size_t number = 0;
      for (const Kernel& kernel : device->kernels()) {
        if (kernel.family != "hopping" || !kernel.ranks || kernel.colours != 3 || !reaches_one_part(kernel, here))
          continue;
        const bool often = kernel.operation == "wilson" && kernel.links == "r12" && !kernel.dagger && kernel.tile == 1;
        if (often || (number + turn) % period == way) compare(kernel, whole, part, kernel.tile);
        ++number;
      }
    }
    turn += ways.size();
  }
}

/// The comparison tells a part whose hops come in again on its other side from one that has neighbours: everywhere at
/// the boundary, and nowhere else.
TEST_F(Hopping, WithoutNeighboursBoundariesAreWrong) {
  const auto device = ranks::device();
  Inputs whole(std::make_shared<Domain>(Lattice(hopping_extent), device), hot_gauge(Lattice(hopping_extent), 7));
  const Kernel& kernel = find(
      device->kernels(), {.operation = "wilson", .precision = "double", .links = "r12", .basis = "non_relativistic"});
  for (const Coordinates& grid : ranks::grids()) {
    const Lattice here = ranks::local_lattice(hopping_extent, grid);
    Inputs part(std::make_shared<Domain>(here, device, Communicator::world()), ranks::cut(whole.gauge, here));
    const HostSpinor all = result(kernel, whole, 1)[0], mine = result(kernel, part, 1, false)[0];
    for (long long i = 0; i < here.sites(); ++i) {
      const Coordinates x = here.coordinates(i);
      bool boundary = false;
      for (int mu = 0; mu < directions; ++mu)
        boundary = boundary || (here.split(mu) && (x[mu] == 0 || x[mu] == here.extent(mu) - 1));
      ASSERT_EQ(site_deviation(mine.site[i], all.site[here.global_index(i)], kernel) > 1e6, boundary) << "site " << i;
    }
  }
}

TEST_F(Hopping, SeveralRightHandSides) {
  if (ranks::world().size() == 1) return;
  const auto device = ranks::device();
  Inputs whole(std::make_shared<Domain>(Lattice(hopping_extent), device), hot_gauge(Lattice(hopping_extent), 6));
  const Lattice here = ranks::local_lattice(hopping_extent, ranks::grids().back());
  Inputs part(std::make_shared<Domain>(here, device, Communicator::world()), ranks::cut(whole.gauge, here));
  for (const Policy way : part.domain->halos().possible()) {
    part.domain->halos().use(way);
    for (const char* precision : {"double", "half"}) {
      const Kernel& kernel =
          find(device->kernels(),
               {.operation = "wilson", .precision = precision, .links = "r12", .basis = "non_relativistic"});
      for (const int rhs : {1, 5, 2}) compare(kernel, whole, part, rhs);  // zones grow and are used in part
    }
  }
}

}  // namespace
