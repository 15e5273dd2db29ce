// Fat and long links of parts of a lattice: the bits of the whole.
#include "runtime/fields/gauge.hpp"
#include "tests/dense.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

dense::FatAndLong asqtad_links(const HostGauge& gauge, const DomainPointer& domain) {
  return dense::made_links({"asqtad", {{"mass", 0.1}, {"u0", 0.8}}}, gauge, domain);
}

dense::FatAndLong hisq_links(const HostGauge& gauge, const DomainPointer& domain) {
  return dense::made_links({"hisq", {{"mass", 0.1}, {"naik_epsilon", -0.2}}}, gauge, domain);
}

DomainPointer domain_of(const HostGauge& gauge, std::shared_ptr<Communicator> communicator) {
  return std::make_shared<Domain>(gauge.lattice, ranks::device(), std::move(communicator));
}

void expect_same(const HostGauge& found, const HostGauge& whole) {
  const Lattice& here = found.lattice;
  for (long long i = 0; i < here.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu)
      for (int n = 0; n < 9; ++n) {
        const Complex64 ours = found.site[i][mu][n], expected = whole.site[here.global_index(i)][mu][n];
        ASSERT_EQ(ours, expected) << "site " << i << " direction " << mu;
      }
}

// Extents that leave parts full lanes, some that leave them but not the boxes with a border, some whose parts are as
// narrow as the border.
class LinksOfParts : public testing::TestWithParam<Coordinates> {};

TEST_P(LinksOfParts, HaveTheBitsOfTheWhole) {
  const HostGauge gauge = weak_gauge(Lattice(GetParam()), 0.6, 4);
  const DomainPointer alone = domain_of(gauge, Communicator::self());
  const dense::FatAndLong asqtad = asqtad_links(gauge, alone), hisq = hisq_links(gauge, alone);
  for (const Coordinates& grid : ranks::grids(GetParam())) {
    SCOPED_TRACE(ranks::text(grid));
    const HostGauge mine = ranks::cut(gauge, ranks::local_lattice(GetParam(), grid));
    const DomainPointer together = domain_of(mine, Communicator::world());
    const dense::FatAndLong a = asqtad_links(mine, together), h = hisq_links(mine, together);
    expect_same(a.fat, asqtad.fat), expect_same(a.longs, asqtad.longs);
    expect_same(h.fat, hisq.fat), expect_same(h.longs, hisq.longs);
  }
}

INSTANTIATE_TEST_SUITE_P(Lattices, LinksOfParts,
                         testing::Values(Coordinates{8, 8, 8, 8}, Coordinates{4, 4, 4, 4}, Coordinates{12, 4, 4, 8}),
                         [](const auto& info) { return ranks::text(info.param); });

}  // namespace
