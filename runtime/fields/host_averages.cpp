#include "runtime/fields/host_averages.hpp"

#include "runtime/fields/exact_sum.hpp"
#include "runtime/fields/face.hpp"
#include "runtime/ranks/partition.hpp"

namespace quarksmith {
namespace {

using Links = std::array<Matrix3, directions>;

/// The links one step ahead of the sites of a part.
class LinksAhead {
 public:
  LinksAhead(const HostGauge& gauge, Communicator& communicator) : gauge_(gauge) {
    for (int mu = 0; mu < directions; ++mu)
      if (gauge.lattice.split(mu))
        next_[mu] =
            from_neighbour(gauge.lattice, mu, 1,
                           slice_of(gauge.lattice, mu, 0, [&](long long i) { return gauge.site[i]; }), communicator);
  }
  const Links& at(long long site, const Coordinates& x, int mu) const {
    const Lattice& lattice = gauge_.lattice;
    if (lattice.split(mu) && x[mu] + 1 == lattice.extent(mu)) return next_[mu][number_in_slice(lattice, mu, x)];
    return gauge_.site[lattice.neighbour(site, mu, 1)];
  }

 private:
  const HostGauge& gauge_;
  std::array<std::vector<Links>, directions> next_;
};

/// Re tr(a b (c d)^+)
double real_trace(const Matrix3& a, const Matrix3& b, const Matrix3& c, const Matrix3& d) {
  const Matrix3 up = multiply(a, b), down = multiply(c, d);
  double sum = 0;
  for (int n = 0; n < 9; ++n) sum += up[n].real() * down[n].real() + up[n].imag() * down[n].imag();
  return sum;
}

struct Sums {
  ExactSum space, time, trace;

  void add_site(const LinksAhead& ahead, const Links& here, long long site, const Coordinates& x) {
    double spatial = 0, temporal = 0, diagonal = 0;
    for (int mu = 0; mu < directions; ++mu) {
      diagonal += here[mu][0].real() + here[mu][4].real() + here[mu][8].real();
      for (int nu = 0; nu < mu; ++nu)
        (mu == 3 ? temporal : spatial) +=
            real_trace(here[nu], ahead.at(site, x, nu)[mu], here[mu], ahead.at(site, x, mu)[nu]);
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

GaugeAverages host_averages(const HostGauge& gauge, Communicator& communicator) {
  const Lattice& lattice = gauge.lattice;
  require_spread(lattice, communicator);
  const LinksAhead ahead(gauge, communicator);
  Sums sums;
#pragma omp parallel
  {
    Sums mine;
#pragma omp for schedule(static)
    for (long long i = 0; i < lattice.sites(); ++i) mine.add_site(ahead, gauge.site[i], i, lattice.coordinates(i));
#pragma omp critical
    sums.add(mine);
  }
  const double sites = static_cast<double>(lattice.global_sites());
  GaugeAverages result;
  result.space_plaquette = sums.space.total(communicator) / (9 * sites);
  result.time_plaquette = sums.time.total(communicator) / (9 * sites);
  result.plaquette = (result.space_plaquette + result.time_plaquette) / 2;
  result.link_trace = sums.trace.total(communicator) / (12 * sites);
  return result;
}

}  // namespace quarksmith
