// The terms of the action of a run, one by one.
#include "python/forces.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "python/ranks.hpp"
#include "python/values.hpp"
#include "runs/hmc_file.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"

namespace quarksmith::python {
namespace {

/// Monomials on links that change from call to call.
class Monomials {
 public:
  Monomials(const nb::dict& run, const GaugeObject& u) {
    const CallArguments given(run);
    const Busy busy;
    const Lattice& lattice = u.links.domain().lattice();
    require_present(u.links.domain(), "gauge");
    session_.in_memory = true;
    session_.quiet = true;
    session_.ranks_given = u.links.domain().communicator_pointer();
    session_.grid = fmt::format("{}", fmt::join(lattice.grid(), ","));
    given.give(session_);
    path_ = runs::word_of(given.table().entries.at(0).second);
    plan_ = runs::read_hmc(path_, session_);
    const auto& d = plan_.description;
    if (lattice.global_extent() != d.extents)
      throw WrongLattice(fmt::format("the links are of lattice {}, {} is for another one; take both of one",
                                     lattice.global_text(), path_));
    domain_ = std::make_shared<Domain>(lattice, u.links.domain().device_pointer(),
                                       u.links.domain().communicator_pointer(), d.reach);
    links_ = std::make_unique<EvolvingLinks>(links_of(u), domain_);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& m : plan_.monomials) all.push_back(m->name());
    return all;
  }
  std::uint64_t seed() const { return plan_.description.seed; }

  void refresh(const GaugeObject& u, nb::handle seed, nb::handle trajectory) {
    const auto number = whole<std::uint64_t>(trajectory, "trajectory");
    require_trajectory(number);
    GaussianNoise noise(whole<std::uint64_t>(seed, "seed"), number);
    work_at(u, "", [&](Monomial& m, int number) { m.refresh(noise, number, *links_); });
  }
  std::map<std::string, double> actions(const GaugeObject& u) {
    std::map<std::string, double> all;
    work_at(u, "", [&](Monomial& m, int) { all[m.name()] = m.action(*links_); });
    return all;
  }
  MomentumObject force(const GaugeObject& u, const std::string& name) {
    MomentumObject sum{links_->cleared()};
    work_at(u, name, [&](Monomial& m, int) { m.force(*links_, 1, sum.momenta); });
    if (alike(*domain_, u.links.domain())) return sum;
    const Busy busy;  // of a domain that hops reach farther in
    return {upload(download(sum.momenta), u.links.domain_pointer(), sum.momenta.precision(), sum.momenta.storage())};
  }

 private:
  static HostGauge links_of(const GaugeObject& u) {
    HostGauge links = on_host(u);
    links.phase = {1, 1, 1, 1};  // quarks have their boundaries from the run
    return links;
  }
  /// Calls work(monomial, its number) for all of them, or the one of a name, on the links u.
  template <class Work>
  void work_at(const GaugeObject& u, const std::string& name, const Work& work) {
    const Busy busy;
    require_present(u.links.domain(), "gauge");
    const KernelRehearsal rehearsal([this] { runs::rehearse_hmc(path_, session_, *domain_); });
    links_->set(links_of(u));
    bool found = false;
    for (std::size_t n = 0; n < plan_.monomials.size(); ++n)
      if (Monomial& m = *plan_.monomials[n]; name.empty() || m.name() == name) {
        work(m, static_cast<int>(n));
        found = true;
      }
    if (!found) throw UnknownName(fmt::format("monomial '{}' is unknown; use {}", name, fmt::join(names(), ", ")));
  }

  runs::Session session_;
  std::string path_;
  runs::HmcPlan plan_;
  DomainPointer domain_;
  std::unique_ptr<EvolvingLinks> links_;
};

}  // namespace

void bind_forces(nb::module_& m) {
  nb::class_<Monomials>(m, "OpenMonomials", "The terms of the action of a run.")
      .def(nb::init<const nb::dict&, const GaugeObject&>(),
           nb::sig("def __init__(self, run: dict[str, typing.Any], gauge: GaugeField) -> None"), nb::arg("run"),
           nb::arg("gauge"))
      .def_prop_ro("names", &Monomials::names, "In the order of the run.")
      .def_prop_ro("seed", &Monomials::seed, "Of the run.")
      .def("refresh", &Monomials::refresh, nb::arg("gauge"), nb::arg("seed").none(), nb::arg("trajectory").none() = 0,
           nb::sig("def refresh(self, gauge: GaugeField, seed: int, trajectory: int = 0) -> None"),
           "Draws the pseudofermions, as that trajectory of hmc with this seed does.")
      .def("actions", &Monomials::actions, nb::arg("gauge"), "The action of each on these links, by name.")
      .def("force", &Monomials::force, nb::arg("gauge"), nb::arg("name") = "",
           "dP/dtau on these links: of the monomial of that name, or of all of them.");
}

}  // namespace quarksmith::python
