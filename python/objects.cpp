#include "python/objects.hpp"

#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "runs/kept_solver.hpp"
#include "python/ranks.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/ranks/site_numbers.hpp"
#include "runtime/communicator.hpp"
#include "solvers/hmc/drift.hpp"
#include "solvers/hmc/links.hpp"
#include "solvers/hmc/noise.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::python {
namespace {

std::mutex one_at_a_time;
thread_local bool inside = false;
std::atomic<int> callbacks = 0;  ///< that run now

}  // namespace

Busy::Busy(Joins joins) : lock_(one_at_a_time, std::defer_lock) {
  // A function that waits for another thread, whose call waited for the present one, would wait for good.
  if (inside || callbacks > 0)
    throw UsageError("quarksmith was called from a function that it calls itself; do that after the call");
  lock_.lock();
  if (joins == Joins::yes) ranks();
  inside = true;
}

Busy::~Busy() { inside = false; }

Callback::Callback() { ++callbacks; }
Callback::~Callback() { --callbacks; }

std::shared_ptr<Device> device_named(const std::string& name) {
  // Kept for ever: at the end of the process what devices need may be gone.
  static auto& kept = *new std::map<std::string, std::shared_ptr<Device>>;
  if (const auto found = kept.find(name); found != kept.end()) return found->second;
  std::shared_ptr<Device> device = Device::select(name, ranks().size() > 1 ? ranks().host_rank() : 0);
  device = kept.try_emplace(device->name(), device).first->second;
  return kept.try_emplace(name, device).first->second;
}

DomainPointer domain_of(const Lattice& lattice, const std::string& device) {
  const auto make = [&] { return std::make_shared<Domain>(lattice, device_named(device), Communicator::world()); };
  if (lattice.ranks() == 1) return make();
  // What ranks share for a domain they make together: it must not depend on which objects each of them still has.
  static auto& kept = *new std::vector<DomainPointer>;
  for (const DomainPointer& d : kept)
    if (d->lattice() == lattice && &d->communicator() == &ranks() && d->device_pointer() == device_named(device))
      return d;
  return kept.emplace_back(make());
}

const BasisInfo& usual_basis() { return find_basis(SolveSettings().basis); }

GaugeObject on_device(const HostGauge& gauge, DomainPointer domain) {
  return {upload(gauge, std::move(domain), find_precision("double"), full_storage(gauge.colours())), gauge.phase};
}

HostGauge on_host(const GaugeObject& gauge) {
  HostGauge u = download(gauge.links);
  u.phase = gauge.phase;
  return u;
}

SpinorObject make_spinors(DomainPointer domain, int rhs, int spins) {
  if (spins != 4 && spins != 1) throw UsageError(fmt::format("spins={}; use 4, or 1 of staggered quarks", spins));
  SpinorField field(std::move(domain), find_precision("double"), Subset::full, rhs, spins);
  field.fill(0);
  return {std::move(field), &usual_basis()};
}

SpinorObject source(const DomainPointer& domain, const GaugeObject* gauge, const std::string& text, int spins) {
  const Lattice& lattice = domain->lattice();
  const SourceSettings settings = source_of(text, lattice);
  if (settings.smearing && spins == 1)
    throw UsageError(
        fmt::format("source {}: smearing is for Dirac spinors; with spins=1 use {}", text, source_forms(1)));
  if (settings.smearing && gauge == nullptr)
    throw UsageError(fmt::format("source {}: smearing needs links; pass the gauge field, not its lattice", text));
  SpinorObject made = make_spinors(domain, 3 * spins, spins);
  for (int n = 0; n < made.field.rhs(); ++n)
    set_source(settings, spins == 4 ? n / 3 : 0, n % 3, made.field, *made.basis, n);
  if (settings.smearing) {
    const HostGauge u = on_host(*gauge);
    const auto links = std::make_shared<LinkField>(
        upload(u, domain, find_precision("double"), find_storage(default_links(u, domain->communicator()))));
    for (int n = 0; n < made.field.rhs(); ++n) {
      SpinorField one = made.field.columns(n, 1);
      smear(settings.smearing, links, one);
    }
  }
  return made;
}

SpinorObject copy(const SpinorObject& from) {
  SpinorObject made{from.field.like(), from.basis};
  made.field.copy_from(from.field);
  return made;
}

void move_columns(const SpinorObject& from, SpinorObject& to) {
  runs::move_columns(from.field, *from.basis, {to.field, *to.basis});
}

namespace {

/// Axes of what a site holds, of blocks of sites, and of the real and imaginary part, in the order of the memory.
std::vector<std::size_t> shape_of(const MemoryOrder& order, std::vector<std::size_t> before,
                                  std::initializer_list<int> site) {
  before.push_back(std::size_t(order.parities));
  before.push_back(std::size_t(order.short_vectors ? order.padded() / site_block : order.blocks));
  for (const int n : site) before.push_back(std::size_t(n));
  before.push_back(order.short_vectors ? site_block : 2);
  before.push_back(std::size_t(order.short_vectors ? 2 : order.lanes));
  return before;
}

/// Coordinates t, z, y, x.
std::vector<std::size_t> axes_of(const Lattice& lattice, std::vector<std::size_t> before) {
  for (int mu = directions - 1; mu >= 0; --mu) before.push_back(std::size_t(lattice.extent(mu)));
  return before;
}

}  // namespace

MemoryView view_of(const SpinorObject& f) {
  return {f.field.operand().data,
          shape_of(order_of(f.field), {std::size_t(f.field.rhs())}, {f.field.spins(), f.field.colours()}),
          &f.field.device()};
}

MemoryView view_of(const LinkField& u) {
  const int n = u.colours();
  const bool all = &u.storage() == &full_storage(n);
  return {u.operand().data,
          all ? shape_of(order_of(u), {}, {directions, n, n})
              : shape_of(order_of(u), {}, {directions, u.storage().reals / 2}),
          &u.domain().device()};
}

std::vector<long long> sites_of(const Domain& domain, int lanes, std::vector<std::size_t>& shape) {
  const Lattice& lattice = domain.lattice();
  const Memory numbers = numbers_by_slot(domain, lanes, [&](const Coordinates& x) { return lattice.index(x); });
  std::vector<long long> sites(numbers.bytes() / sizeof(long long));
  domain.device().download(sites.data(), numbers.data(), numbers.bytes());  // nowhere has all bits: -1
  const std::size_t inside = domain.device().short_vectors() ? site_block : std::size_t(lanes);
  shape = {2, sites.size() / 2 / inside, inside};
  return sites;
}

std::vector<std::size_t> lexicographic_shape(const SpinorObject& f) {
  auto shape = axes_of(f.field.domain().lattice(), {std::size_t(f.field.rhs())});
  if (f.field.spins() > 1) shape.push_back(std::size_t(f.field.spins()));
  shape.push_back(std::size_t(f.field.colours()));
  return shape;
}

std::vector<std::size_t> lexicographic_shape(const LinkField& u) {
  auto shape = axes_of(u.domain().lattice(), {});
  const auto n = std::size_t(u.colours());
  shape.insert(shape.end(), {directions, n, n});
  return shape;
}

namespace {

/// Calls visit(column, numbers of a site on the host, the same in an array).
template <class Array, class Visit>
void for_each_site(const SpinorObject& f, int n, HostSpinor& column, Array* array, const Visit& visit) {
  const std::size_t each = std::size_t(f.field.spins() * f.field.colours()), sites = column.site.size();
  Array* const first = array + std::size_t(n) * sites * each;
#pragma omp parallel for schedule(static)
  for (std::size_t x = 0; x < sites; ++x) visit(column.site.at(x), first + x * each, each);
}

}  // namespace

void read(const SpinorObject& f, Complex64* to) {
  HostSpinor column(f.field.domain().lattice(), f.field.colours());
  for (int n = 0; n < f.field.rhs(); ++n) {
    download(f.field, column, *f.basis, n);
    for_each_site(f, n, column, to,
                  [](const Complex64* site, Complex64* out, std::size_t each) { std::copy_n(site, each, out); });
  }
}

void write(SpinorObject& f, const Complex64* from) {
  HostSpinor column(f.field.domain().lattice(), f.field.colours());
  for (int n = 0; n < f.field.rhs(); ++n) {
    for_each_site(f, n, column, from,
                  [](Complex64* site, const Complex64* in, std::size_t each) { std::copy_n(in, each, site); });
    upload(column, f.field, *f.basis, n);
  }
}

void read(const LinkField& u, Complex64* to) {
  const HostGauge links = download(u);
  std::copy_n(links.site.at(0), links.site.size() * links.site.each(), to);
}

void write(GaugeObject& object, const Complex64* from) {
  LinkField& u = object.links;
  const int each = directions * u.colours() * u.colours();
  upload_each(u, [&](long long site, Complex64* to) { std::copy_n(from + site * each, each, to); });
  u.changed();
}

void write(MomentumObject& object, const Complex64* from) {
  LinkField& p = object.momenta;
  HostGauge host(p.domain().lattice(), p.colours());
  std::copy_n(from, host.site.size() * host.site.each(), host.site.at(0));
  const LinkField stored = upload(host, p.domain_pointer(), p.precision(), p.storage());
  p.domain().device().copy(p.operand().data, stored.operand().data, order_of(p).words() * sizeof(double));
  p.domain().device().synchronize();  // views of the memory stay those of the field
  p.changed();
}

MomentumObject make_momenta(const DomainPointer& domain, int colours) { return {zero_momenta(domain, colours)}; }

void require_trajectory(std::uint64_t number) {
  if (number >= GaussianNoise::most_trajectories)
    throw UsageError(fmt::format("trajectory={}; use less than {}", number, GaussianNoise::most_trajectories));
}

MomentumObject draw_momenta(const DomainPointer& domain, int colours, std::uint64_t seed, std::uint64_t trajectory) {
  require_trajectory(trajectory);
  MomentumObject p = make_momenta(domain, colours);
  GaussianNoise(seed, trajectory).momenta(p.momenta);
  return p;
}

double kinetic_energy(const MomentumObject& p) { return evaluate("algebra_norm2", {p.momenta})[0]; }

GaugeObject moved(const GaugeObject& u, const MomentumObject& p, double step) {
  if (!alike(domain_of(u.links), domain_of(p.momenta)) || u.links.colours() != p.momenta.colours())
    throw WrongLattice("moved: links and momenta are of different lattices, devices or colours; take both of one");
  const double way = mean_way(domain_of(p.momenta).lattice(), kinetic_energy(p), step);
  if (!(way <= most_way))
    throw UsageError(
        fmt::format("moved: step={} takes a link by {:.2g} in the mean; use a smaller step "
                    "or smaller momenta",
                    step, way));
  EvolvingLinks links(on_host(u), u.links.domain_pointer());
  links.move(p.momenta, step);
  return on_device(
      [&] {
        HostGauge end = download(links.field());
        end.phase = u.phase;
        return end;
      }(),
      u.links.domain_pointer());
}

void bind_source(nb::module_& m) {
  m.def(
      "source",
      [](const LatticeObject& lattice, const std::string& source, int spins) {
        const Busy busy;
        return python::source(lattice.domain, nullptr, source, spins);
      },
      nb::arg("lattice"), nb::arg("source") = "point:0,0,0,0", nb::arg("spins") = 4,
      "A source in all spins and colours, as `source` of `propagator` names it.");
  m.def(
      "source",
      [](const GaugeObject& gauge, const std::string& source, int spins) {
        const Busy busy;
        return python::source(gauge.links.domain_pointer(), &gauge, source, spins);
      },
      nb::arg("gauge"), nb::arg("source") = "point:0,0,0,0", nb::arg("spins") = 4, "The same, smeared ones too.");
}

}  // namespace quarksmith::python
