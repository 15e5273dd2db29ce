// Forces of molecular dynamics on parts of a lattice: the bits of the whole, after few exchanges.
#include "runtime/fields/gauge.hpp"
#include "solvers/actions/action_fields.hpp"
#include "solvers/hmc/monomial.hpp"
#include "solvers/links/link_force.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

constexpr Coordinates extent = {4, 4, 8, 8};

/// Links, and matrices of any kind, on a lattice or its part.
struct Fields {
  explicit Fields(const Lattice& lattice)
      : domain(std::make_shared<Domain>(lattice, ranks::device(),
                                        lattice.ranks() > 1 ? Communicator::world() : Communicator::self())),
        links(weak_gauge(lattice, 0.3, 1), domain) {}
  LinkField matrices(int seed) const {
    return upload(weak_gauge(domain->lattice(), 0.3, seed), domain, find_precision("double"), find_storage("r18"));
  }
  DomainPointer domain;
  EvolvingLinks links;
};

/// What `force` gives on the whole lattice and on its parts, and how many fields a part exchanges for it at most: the
/// first time, for the same links once more, and when they have moved. \param least sites of a part: grids with shorter
/// ones are left out.
template <class Force>
void expect_same(const Force& force, const std::array<long long, 3>& exchanges, int least = 2) {
  const auto trace = [&](const Lattice& lattice) {
    Fields f(lattice);
    std::vector<HostGauge> results;
    for (const long long expected : exchanges) {
      const long long before = f.domain->border_traffic().exchanges;
      const LinkField p = force(f);
      EXPECT_LE(f.domain->border_traffic().exchanges - before, lattice.ranks() > 1 ? expected : 0) << results.size();
      results.push_back(download(p));
      if (results.size() == 2) f.links.move(p, 0.1);
    }
    return results;
  };
  const auto whole = trace(Lattice(extent));
  EXPECT_EQ(whole[0].site, whole[1].site);
  EXPECT_NE(whole[0].site, whole[2].site);
  for (const Coordinates& grid : ranks::grids(extent)) {
    if (ranks::world().size() == 1) return;
    SCOPED_TRACE(ranks::text(grid));
    const Lattice here = ranks::local_lattice(extent, grid);
    bool long_enough = true;
    for (int mu = 0; mu < directions; ++mu) long_enough = long_enough && here.extent(mu) >= least;
    if (!long_enough) continue;
    const auto parts = trace(here);
    for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_EQ(parts[n].site, ranks::cut(whole[n], here).site) << n;
  }
}

TEST(ForcesOnParts, OfGaugeActionsExchangeTheLinksOnce) {
  const auto force = [](const GaugeLoops& loops) {
    return [loops](const Fields& f) {
      LinkField out = f.links.cleared();
      GaugeMonomial("gauge", loops).force(f.links, 1, out);
      return out;
    };
  };
  GaugeLoops loops;
  loops.planes.fill(1.7);
  expect_same(force(loops), {1, 0, 1});
  loops.all_rectangles(-0.1);
  loops.chair = -0.05;
  expect_same(force(loops), {1, 0, 1});
  for (int plane = 3; plane < 6; ++plane) loops.rectangles[plane] = {-0.2, 0.03 * (plane - 3)};
  expect_same(force(loops), {1, 0, 1});
  loops.two_plaquettes.fill(-0.7);
  loops.squares = {0.4, 0.3};
  expect_same(force(loops), {1, 0, 1});
}

/// The force of derivatives by links that are made.
LinkField taken_back(const Fields& f, LinkForce& by) {
  LinkField z = f.links.cleared();
  by.back(z);
  evaluate("force_link", {f.links.field(), by.by(0), z}, {z});
  return z;
}

/// Links before and after it, and the force on the latter.
TEST(ForcesOnParts, ThroughSmearingExchangeTheForceOnce) {
  const auto force = [](const Fields& f) {
    LinkField z = f.links.cleared();
    GaugeLoops loops;
    loops.planes.fill(1.7);
    GaugeMonomial("gauge", loops).force(f.links, 1, z);
    const StatedSmearing stout{"stout", {{"rho", 0.1}}, 1};
    const LinkProgram program = program_of(stout);
    const StatementFields& step = f.links.steps(stout)[0];
    const int made = smeared_field(program.info());
    LinkForce back(program, step, f.links.scratch());
    evaluate("derivative_of_force", {*step[std::size_t(made)], z}, {back.by(made)});
    return taken_back(f, back);
  };
  expect_same(force, {3, 1, 3});
}

/// Some hundred of them: of each level its links and the derivatives by its fat links, of one by its long links; its
/// links are made of theirs in another box.
TEST(ForcesOnParts, OfFatLinksExchangeNothingBetweenTheirSteps) {
  const ActionValues hisq(find_action("hisq"), {{"mass", 0.1}});
  const auto force = [&](const Fields& f) {
    const ActionFields fields(hisq, {}, f.links.store());
    LinkForce back(fields.program(), fields.in_double(), f.links.scratch());
    for (const int length : {1, 3}) {
      LinkField& by = back.by(fields.hops(length));
      evaluate("add_matrices", {by, f.matrices(4 + length), 1}, {by});
    }
    return taken_back(f, back);
  };
  expect_same(force, {7, 3, 7}, 4);
}

/// The memory of forces is theirs from one step to the next.
TEST(ForcesOnParts, KeepTheirMemory) {
  const Fields f{Lattice(extent)};
  const ScratchFields& scratch = f.links.scratch();
  const void* first = scratch.field(f.domain, 3)->operand().data;
  const auto again = scratch.field(f.domain, 3), other = scratch.field(f.domain, 3);
  EXPECT_EQ(again->operand().data, first);
  EXPECT_NE(other->operand().data, first);
}

}  // namespace
