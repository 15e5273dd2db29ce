// quarksmith accuracy: what each storage costs in accuracy: deviations, element by element, from the same operator in
// double precision with all reals of the links, or with two rows of them in a build that has no other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/workload.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/site_random.hpp"

namespace quarksmith::runs {
namespace {

struct AccuracyDescription : Description {
  std::string lattice = "8,8,8,8", filter;
  int seed = 1;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("lattice", lattice, "extents X,Y,Z,T");
    add("only", filter, "kernels with this text in their name");
    add("seed", seed, "of links and spinors");
  }
};

/// Deviations of one kernel relative to the root mean square element, sorted.
struct Certificate {
  std::string name, reference;
  int bits;
  std::vector<double> deviation;

  double quantile(double fraction) const {
    return deviation[std::min(static_cast<std::size_t>(fraction * deviation.size()), deviation.size() - 1)];
  }
  double rms() const {
    double sum = 0;
    for (const double d : deviation) sum += d * d;
    return std::sqrt(sum / deviation.size());
  }
};

/// Independent normal numbers in every real.
HostSpinor normal_spinor(const Lattice& lattice, unsigned seed) {
  HostSpinor psi(lattice);
  for (std::size_t i = 0; i < psi.site.size(); ++i) {
    Random random = random_at(lattice, static_cast<long long>(i), {seed, 1});
    for (Complex64& z : psi.site[i]) {
      const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));  // Box and Muller
      z = std::polar(radius, 2 * std::numbers::pi * random.uniform());
    }
  }
  return psi;
}

/// D psi by one kernel, everything stored as the kernel wants it.
HostSpinor apply(const Kernel& kernel, const HostGauge& gauge, const HostSpinor& psi,
                 const std::shared_ptr<Device>& device) {
  const auto domain = std::make_shared<Domain>(gauge.lattice, device, Communicator::self(), kernel.reach);
  const bool two = kernel.reach > 1;  // general links beside those of the kernel's storage
  const PrecisionInfo& precision = find_precision(kernel.precision);
  const BasisInfo& basis = find_basis(kernel.basis.empty() ? "degrand_rossi" : kernel.basis);
  const LinkField links = upload(gauge, domain, find_precision(precision.links), find_storage(kernel.links));
  const LinkField fat = upload(gauge, domain, find_precision(precision.links),
                               two ? full_storage(kernel.colours) : find_storage(kernel.links));
  SpinorField in(domain, precision, Subset::full, 1, Components(kernel.spins, kernel.colours)), out = in.like();
  upload(psi, in, basis);
  Arguments a = arguments_for(*domain, in.lanes());
  a.links = fat.operand();
  a.long_links = links.operand();
  a.a.re = 0;
  a.b.re = 1;
  a.hops = a.long_hops = hops_of(gauge.lattice, {1, 1, 1, 1}, {1, 1, 1, -1});
  for (const Parity parity : {Parity::even, Parity::odd}) {
    a.parity = int(parity);
    a.in = in.operand(opposite(parity));
    a.out = out.operand(parity);
    device->run(kernel, a);
  }
  HostSpinor result(gauge.lattice);
  download(out, result, basis);
  return result;
}

Certificate compare(const Kernel& kernel, const Kernel& reference, const HostSpinor& result, const HostSpinor& exact) {
  Certificate c{std::string(kernel.name), std::string(reference.name), find_precision(kernel.precision).bits, {}};
  const int components = 3 * kernel.spins;
  double square = 0;
  for (std::size_t x = 0; x < exact.site.size(); ++x)
    for (int k = 0; k < components; ++k) {
      const Complex64 d = result.site[x][k] - exact.site[x][k];
      c.deviation.insert(c.deviation.end(), {std::abs(d.real()), std::abs(d.imag())});
      square += std::norm(exact.site[x][k]);
    }
  const double rms = std::sqrt(square / static_cast<double>(c.deviation.size()));
  for (double& d : c.deviation) d /= rms;
  std::sort(c.deviation.begin(), c.deviation.end());
  return c;
}

/// Points of the cumulative distribution: all quantiles that a logarithmic plot of both tails can show.
Json distribution(const Certificate& c) {
  Json points = Json::array();
  const auto add = [&](double fraction) { points.push_back({c.quantile(fraction), fraction}); };
  for (double tail = 1e-5; tail < 0.01; tail *= 1.5) add(tail);
  for (int percent = 1; percent < 100; ++percent) add(0.01 * percent);
  for (double tail = 0.01; tail > 1e-5; tail /= 1.5) add(1 - tail);
  points.push_back({c.deviation.back(), 1.0});
  return points;
}

/// The most exact kernel of the same operator; null if there is none besides the kernel itself.
const Kernel* reference_of(const Kernel& k, std::span<const Kernel> kernels) {
  for (const std::string_view links : {"r18", "r12", "r13"}) {
    const Kernel* exact = try_find(
        kernels, {.operation = k.operation, .precision = "double", .links = links, .basis = k.basis, .spins = k.spins});
    if (exact == &k) return nullptr;
    if (exact != nullptr) return exact;
  }
  return nullptr;
}

void run(AccuracyDescription& o, Session& session) {
  session.require_one_rank("accuracy");
  session.claim({});
  const Lattice lattice(four_integers(o.lattice, "--lattice"));
  const auto device = session.open_device();
  const HostGauge gauge = hot_gauge(lattice, static_cast<unsigned>(o.seed));
  const HostSpinor psi = normal_spinor(lattice, static_cast<unsigned>(o.seed));
  std::vector<Certificate> certificates;
  Skipped skipped;
  for (const Kernel& k : device->kernels()) {
    const bool plain =
        k.colours == 3 && k.family == "hopping" && k.epilogue == "none" && !k.dagger && !k.complex_coefficients;
    if (!plain || k.tile != 1 || k.name.find(o.filter) == std::string_view::npos || find_storage(k.links).temporal)
      continue;
    const Kernel* exact = reference_of(k, device->kernels());
    if (exact == nullptr) continue;
    try {
      certificates.push_back(compare(k, *exact, apply(k, gauge, psi, device), apply(*exact, gauge, psi, device)));
    } catch (const MissingKernel& missing) {
      skipped.add(k, missing);
    }
  }
  if (!skipped.empty()) print(session, "{}\n", skipped.text());
  if (certificates.empty())
    throw UsageError(
        fmt::format("--only {}: no kernel of this build has that in its name and, of the same operator, a "
                    "double kernel with r18, r12 or r13 links beside it",
                    o.filter));
  std::stable_sort(certificates.begin(), certificates.end(),
                   [](const Certificate& a, const Certificate& b) { return a.bits < b.bits; });
  Json json = {{"device", device->description()}, {"lattice", lattice.extent()}, {"seed", o.seed}};
  const auto whole = [](const Certificate& c) { return c.reference.find("_r18") != std::string::npos; };
  print(session, "deviation from double{} of every real of D psi, in units of their root mean square; {}, hot links\n",
        std::all_of(certificates.begin(), certificates.end(), whole) ? ", r18," : "", lattice.text());
  print(session, "{:<34} {:>4} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "kernel", "bits", "rms", "median", "99 %", "99.99 %",
        "largest");
  for (const Certificate& c : certificates) {
    print(session, "{:<34} {:>4} {:>9.2e} {:>9.2e} {:>9.2e} {:>9.2e} {:>9.2e}\n", c.name, c.bits, c.rms(),
          c.quantile(0.5), c.quantile(0.99), c.quantile(0.9999), c.deviation.back());
    if (!whole(c)) print(session, "{:<34} from {}\n", "", c.reference);
    json["kernels"].push_back({{"name", c.name},
                               {"reference", c.reference},
                               {"bits", c.bits},
                               {"rms", c.rms()},
                               {"largest", c.deviation.back()},
                               {"distribution", distribution(c)}});
  }
  report(session, json);
}

}  // namespace

namespace commands {
extern constinit const Command accuracy = {.name = "accuracy",
                                           .help = "Error certificate of every storage format: deviations from double",
                                           .place = 170,
                                           .uses = Session::computes | Session::reports,
                                           .make = task<AccuracyDescription>};
}

}  // namespace quarksmith::runs
