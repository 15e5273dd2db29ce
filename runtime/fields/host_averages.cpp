#include "runtime/fields/host_averages.hpp"

#include "runtime/lattice/exact_sum.hpp"
#include "runtime/lattice/face.hpp"
#include "runtime/lattice/partition.hpp"

namespace quarksmith {
namespace {

/// The links one step ahead of the sites of a part.
class LinksAhead {
 public:
  LinksAhead(const HostGauge& gauge, Communicator& communicator) : gauge_(gauge) {
    for (int mu = 0; mu < directions; ++mu) {
      if (!gauge.lattice.split(mu)) continue;
      std::vector<Complex64> first;
      for (const long long i : slice_of(gauge.lattice, mu, 0, [](long long site) { return site; }))
        first.insert(first.end(), gauge.site.at(i), gauge.site.at(i) + gauge.site.each());
      next_[mu] = from_neighbour(gauge.lattice, mu, 1, std::move(first), communicator);
    }
  }
  /// Those of the site ahead along mu.
  const Complex64* at(long long site, const Coordinates& x, int mu) const {
    const Lattice& lattice = gauge_.lattice;
    if (lattice.split(mu) && x[mu] + 1 == lattice.extent(mu))
      return next_[mu].data() + number_in_slice(lattice, mu, x) * gauge_.site.each();
    return gauge_.site.at(lattice.neighbour(site, mu, 1));
  }

 private:
  const HostGauge& gauge_;
  std::array<std::vector<Complex64>, directions> next_;
};

/// Re tr(a b (c d)^+)
double real_trace(const Complex64* a, const Complex64* b, const Complex64* c, const Complex64* d, int n) {
  Complex64 up[most_colours * most_colours], down[most_colours * most_colours];
  multiply(a, b, up, n);
  multiply(c, d, down, n);
  double sum = 0;
  for (int m = 0; m < n * n; ++m) sum += up[m].real() * down[m].real() + up[m].imag() * down[m].imag();
  return sum;
}

struct Sums {
  ExactSum space, time, trace;

  void add_site(const LinksAhead& ahead, const HostGauge& gauge, long long site, const Coordinates& x, Phases phases) {
    const Complex64* here = gauge.site.at(site);
    const int n = gauge.colours(), each = gauge.elements();
    double spatial = 0, temporal = 0, diagonal = 0;
    for (int mu = 0; mu < directions; ++mu) {
      const Complex64 phase = phases == Phases::count ? boundary_phase(gauge, x, mu) : 1;
      for (int c = 0; c < n; ++c) diagonal += (phase * here[each * mu + c * (n + 1)]).real();
      for (int nu = 0; nu < mu; ++nu)
        (mu == 3 ? temporal : spatial) += real_trace(here + each * nu, ahead.at(site, x, nu) + each * mu,
                                                     here + each * mu, ahead.at(site, x, mu) + each * nu, n);
    }
    space.add(spatial);
    time.add(temporal);
    trace.add(diagonal);
  }
  void add(const Sums& other) {
    space.add(other.space);
    time.add(other.time);
    trace.add(other.trace);
  }
};

}  // namespace

GaugeAverages host_averages(const HostGauge& gauge, Communicator& communicator, Phases phases) {
  const Lattice& lattice = gauge.lattice;
  require_spread(lattice, communicator);
  const LinksAhead ahead(gauge, communicator);
  Sums sums;
#pragma omp parallel
  {
    Sums mine;
#pragma omp for schedule(static)
    for (long long i = 0; i < lattice.sites(); ++i) mine.add_site(ahead, gauge, i, lattice.coordinates(i), phases);
#pragma omp critical
    sums.add(mine);
  }
  const double sites = static_cast<double>(lattice.global_sites()), colours = gauge.colours();
  GaugeAverages result;
  result.space_plaquette = sums.space.total(communicator) / (3 * colours * sites);
  result.time_plaquette = sums.time.total(communicator) / (3 * colours * sites);
  result.plaquette = (result.space_plaquette + result.time_plaquette) / 2;
  result.link_trace = sums.trace.total(communicator) / (4 * colours * sites);
  return result;
}

}  // namespace quarksmith
