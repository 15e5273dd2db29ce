#include "apps/rehearsal.hpp"

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith::apps {

void rehearse(const HostGauge& like, const Domain& domain,
              const std::function<void(const HostGauge& gauge, const DomainPointer& domain)>& work) {
  const Lattice& lattice = like.lattice;
  Coordinates extent, position;
  for (int mu = 0; mu < directions; ++mu) {
    extent[mu] = lattice.grid()[mu] * std::min(lattice.extent(mu), domain.reach() > 1 ? 8 : 4);
    position[mu] = lattice.origin(mu) / lattice.extent(mu);
  }
  HostGauge few(Lattice(extent, lattice.grid(), position), like.colours());
  for (long long i = 0; i < few.lattice.sites(); ++i)
    std::copy_n(like.site.at(i % lattice.sites()), like.site.each(), few.site.at(i));
  few.phase = like.phase;
  try {
    gather_kernels([&] {
      const auto small =
          std::make_shared<Domain>(few.lattice, domain.device_pointer(), domain.communicator_pointer(), domain.reach());
      work(few, small);
    });
  } catch (const MissingKernel&) {
    throw;
  } catch (const Error&) {
    return;
  }
}

}  // namespace quarksmith::apps
