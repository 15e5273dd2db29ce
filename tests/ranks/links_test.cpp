// Fat and long links of parts of a lattice: the bits of the whole.
#include "runtime/fields/gauge.hpp"
#include "solvers/actions/improved_links.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

DomainPointer domain_of(const HostGauge& gauge, std::shared_ptr<Communicator> communicator) {
  return std::make_shared<Domain>(gauge.lattice, ranks::device(), std::move(communicator));
}

/// The same bits where part and whole are stored in the same lanes: kernels of other lanes round in another way.
void expect_same(const HostGauge& found, const HostGauge& whole, double scale) {
  const Lattice& here = found.lattice;
  const int lanes = ranks::device()->full_lanes(8);
  const bool exact = LaneLayout::possible(here, lanes) == LaneLayout::possible(whole.lattice, lanes);
  for (long long i = 0; i < here.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu)
      for (int n = 0; n < 9; ++n) {
        const Complex64 ours = found.site[i][mu][n], expected = whole.site[here.global_index(i)][mu][n];
        if (exact) {
          ASSERT_EQ(ours, expected) << "site " << i << " direction " << mu;
        } else {
          ASSERT_LT(std::abs(ours - expected), 1e-14 * scale) << "site " << i << " direction " << mu;
        }
      }
}

// Extents that leave parts full lanes, some that leave them but not the boxes with a border, some whose parts are as
// narrow as the border.
class LinksOfParts : public testing::TestWithParam<Coordinates> {};

TEST_P(LinksOfParts, HaveTheBitsOfTheWhole) {
  const HostGauge gauge = weak_gauge(Lattice(GetParam()), 0.6, 4);
  const DomainPointer alone = domain_of(gauge, Communicator::self());
  const ImprovedLinks asqtad = asqtad_links(gauge, alone, 0.8), hisq = hisq_links(gauge, alone, -0.2);
  for (const Coordinates& grid : ranks::grids(GetParam())) {
    SCOPED_TRACE(ranks::text(grid));
    const HostGauge mine = ranks::cut(gauge, ranks::part(GetParam(), grid));
    const DomainPointer together = domain_of(mine, Communicator::world());
    const ImprovedLinks a = asqtad_links(mine, together, 0.8), h = hisq_links(mine, together, -0.2);
    expect_same(a.fat, asqtad.fat, 10), expect_same(a.longs, asqtad.longs, 1);
    expect_same(h.fat, hisq.fat, 100), expect_same(h.longs, hisq.longs, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Lattices, LinksOfParts,
                         testing::Values(Coordinates{8, 8, 8, 8}, Coordinates{4, 4, 4, 4}, Coordinates{12, 4, 4, 8}),
                         [](const auto& info) { return ranks::text(info.param); });

}  // namespace
