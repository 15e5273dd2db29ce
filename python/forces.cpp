// Forces of a run against differences of its actions.
#include "python/forces.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "python/ranks.hpp"
#include "python/values.hpp"
#include "runs/hmc_file.hpp"
#include "runs/print.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/rehearsal.hpp"

namespace quarksmith::python {
namespace {

/// The sum of -tr P F over links. \param both to work in
double product(const LinkField& p, const LinkField& f, LinkField& both) {
  const auto norm2 = [](const LinkField& a) { return evaluate("algebra_norm2", {a})[0]; };
  evaluate("kick", {p, f, 1}, {both});
  return (norm2(both) - norm2(p) - norm2(f)) / 2;
}

/// The report on a monomial: dS/dtau along U' = P U from differences, and from its force, -2 sum -tr P F with F =
/// dP/dtau; and the deviation over 2 |P| |F|.
runs::Json slope_of(Monomial& monomial, EvolvingLinks& links, const LinkField& p, double step) {
  constexpr double weights[] = {0.75, -0.15, 1.0 / 60};  // of differences of sixth order
  LinkField f = links.cleared(), both = links.cleared();
  monomial.force(links, 1, f);
  const auto start = links.keep();
  const auto action_at = [&](double time) {
    links.move(p, time);
    const double action = monomial.action(links);
    links.restore(start);
    return action;
  };
  double slope = 0;
  for (int n = 1; n <= 3; ++n) slope += weights[n - 1] * (action_at(n * step) - action_at(-n * step)) / step;
  const auto norm = [](const LinkField& a) { return std::sqrt(evaluate("algebra_norm2", {a})[0]); };
  const double force = -2 * product(p, f, both), size = 2 * norm(p) * norm(f);
  return {{"name", monomial.name()},
          {"slope", slope},
          {"force", force},
          {"difference", size > 0 ? std::abs(slope - force) / size : std::abs(slope)}};
}

runs::Json slopes_of(const std::string& run, const GaugeObject& u, double step) {
  if (!(step > 0 && step < 1)) throw UsageError("step: use a positive number below 1");
  const Busy busy;
  const Lattice& lattice = u.links.domain().lattice();
  require_present(u.links.domain(), "gauge");
  runs::Session session;
  session.in_memory = true;
  session.quiet = true;
  session.ranks_given = u.links.domain().communicator_pointer();
  session.grid = fmt::format("{}", fmt::join(lattice.grid(), ","));
  runs::HmcPlan plan = runs::read_hmc(run, session);
  const auto& d = plan.description;
  if (lattice.global_extent() != d.extents)
    throw WrongLattice(fmt::format("the links are of lattice {}, {} is for another one; take both of one",
                                   lattice.global_text(), run));
  const auto domain = std::make_shared<Domain>(lattice, u.links.domain().device_pointer(),
                                               u.links.domain().communicator_pointer(), d.reach);
  const KernelRehearsal rehearsal([&] { runs::rehearse_hmc(run, session, *domain); });
  HostGauge start = on_host(u);
  start.phase = {1, 1, 1, 1};
  EvolvingLinks links(start, domain);
  GaussianNoise noise(d.seed, 0);
  LinkField p = links.cleared();
  noise.momenta(p);
  auto all = runs::Json::array();
  for (std::size_t n = 0; n < plan.monomials.size(); ++n) {
    plan.monomials[n]->refresh(noise, static_cast<int>(n), links);
    all.push_back(slope_of(*plan.monomials[n], links, p, step));
  }
  return all;
}

nb::object check_forces(nb::handle run, const GaugeObject& gauge, double step) {
  return to_python(runs::json_text(slopes_of(path_of(run), gauge, step)));
}

}  // namespace

void bind_forces(nb::module_& m) {
  m.def("check_forces", &check_forces,
        nb::sig("def check_forces(run: str | bytes | os.PathLike[str] | os.PathLike[bytes], gauge: GaugeField, step: "
                "float) -> list[dict[str, typing.Any]]"),
        nb::arg("run"), nb::arg("gauge"), nb::arg("step"),
        "Slopes of the monomials of a run along momenta, by differences and by forces.");
}

}  // namespace quarksmith::python
