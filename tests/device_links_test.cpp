// Links that a device has: what is made of them has the bits of links on the host, to which none are copied.
#include <gtest/gtest.h>

#include "runs/grouped_solver.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/links.hpp"
#include "solvers/solve/shifted.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class LinksOfADevice : public support::OnDevice {
 protected:
  Lattice lattice{{4, 4, 4, 8}};
  HostGauge host = weak_gauge(lattice, 0.3, 5);
  DomainPointer where = domain(lattice);
  GaugeLinks links{GaugeLinks(host).on(where), {1, 1, 1, -1}};

  SpinorField source(const DomainPointer& on) const {
    SpinorField b(on, find_precision("double"), Subset::full, 1);
    upload(HostSpinor(reference::random_spinor(lattice, 3)), b, find_basis("non_relativistic"));
    return b;
  }
};

std::vector<Complex64> numbers_of(const SpinorField& x) {
  HostSpinor host(x.domain().lattice());
  download(x, host, find_basis("non_relativistic"));
  return {host.site.at(0), host.site.at(0) + host.site.size() * host.site.each()};
}

TEST_P(LinksOfADevice, SolveWithTheBitsOfTheHost) {
  SolveSettings settings;
  settings.options.tolerance = 1e-9;
  for (const auto& [action, precision] :
       {std::pair(Action("wilson", {{"mass", 0.2}}), "double"),
        std::pair(Action("clover", {{"mass", 0.2}, {"csw_r", 1.2}, {"csw_t", 1.2}}), "double-single")}) {
    settings.precision = precision;
    std::vector<std::vector<Complex64>> found;
    for (const GaugeLinks& u : {GaugeLinks(host), links}) {
      const SpinorField b = source(where);
      SpinorField x = b.like();
      const SolveReport report = Solver(action, u, where, settings).solve(x, b);
      EXPECT_TRUE(report.converged);
      EXPECT_EQ(report.links, "r12");
      found.push_back(numbers_of(x));
    }
    EXPECT_EQ(found[0], found[1]) << action.name();
  }
  EXPECT_FALSE(links.on_host());
  if (!support::built("double-single", "r12t")) return;
  settings.links = "r12t";  // temporal gauge is fixed on the host
  const Solver temporal(Action("wilson", {{"mass", 0.2}}), links, where, settings);
  EXPECT_TRUE(links.on_host());
}

TEST_P(LinksOfADevice, SolveForShifts) {
  SolveSettings settings;
  settings.options.tolerance = 1e-9;
  settings.even_odd_form = EvenOddForm::none;
  const Action action("wilson", {{"mass", 0.2}});
  std::vector<std::vector<Complex64>> found;
  for (const GaugeLinks& u : {GaugeLinks(host), links}) {
    const SpinorField b = source(where);
    SpinorField x = b.like();
    ShiftedSolver(action, u, where, settings, 1).solve(x, b, {0.1});
    found.push_back(numbers_of(x));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_FALSE(links.on_host());
}

/// Hops over three sites, which need another domain, of links that are made from these.
TEST_P(LinksOfADevice, AreCopiedToOtherDomains) {
  const auto far = std::make_shared<Domain>(lattice, GetParam(), Communicator::self(), 3);
  const EvolvingLinks expected(host, far), found(links, far);
  const HostGauge a = download(expected.field()), b = download(found.field());
  EXPECT_TRUE(std::equal(a.site.at(0), a.site.at(0) + a.site.size() * a.site.each(), b.site.at(0)));
  SolveSettings settings;
  settings.links = "r18";
  const Solver solver(Action("hisq", {{"mass", 0.2}}), links, far, settings);
  EXPECT_FALSE(links.on_host());
}

TEST_P(LinksOfADevice, SolveByOptions) {
  runs::Session session;
  session.quiet = true;
  session.in_memory = true;
  runs::InversionDescription d;
  d.action.on_links = true;
  runs::fill(d, {{{"mass", runs::Value{0.2}}}}, {runs::Door::cpp, "solver", ""});
  const auto solver = runs::make_solver(d, {links, "links in memory"}, where, false, session);
  EXPECT_EQ(solver->action().setting().boundary, links.phase());
  const SpinorField b = source(where);
  SpinorField x = b.like();
  const BasisInfo& basis = find_basis("non_relativistic");
  EXPECT_TRUE(solver->solve({x, basis}, b, basis)[0].converged);
  EXPECT_FALSE(links.on_host());
}

TEST_P(LinksOfADevice, ThatAreNotOfTheGroupAreRefusedByTheHost) {
  for (Complex64& z : host.link(5, 2)) z *= 1.001;
  const GaugeLinks off(GaugeLinks(host).on(where));
  EXPECT_THROW(EvolvingLinks(off, where), NotSU3);
  runs::Session session;
  session.quiet = true;
  runs::InversionDescription d;
  d.action.on_links = true;
  runs::fill(d, {{{"mass", runs::Value{0.2}}}}, {runs::Door::cpp, "solver", ""});
  EXPECT_THROW(runs::make_solver(d, {off, "links in memory"}, where, false, session), NotSU3);
}

ON_EACH_DEVICE(LinksOfADevice);

}  // namespace
