// The clover term of parts of a lattice: the bits of the whole.
#include "tests/ranks/support.hpp"
#include "tests/site_terms.hpp"

namespace {

using namespace quarksmith;

StoredTerm term_on(const HostGauge& gauge, std::shared_ptr<Communicator> communicator,
                   std::string_view precision = "double") {
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu(), std::move(communicator));
  return support::clover_term(gauge, domain, 0.8, 1.3, 3.9, precision);
}

void expect_same(const std::vector<HostTerm>& found, const std::vector<HostTerm>& whole, const Lattice& here) {
  for (long long i = 0; i < here.sites(); ++i)
    for (int block = 0; block < 2; ++block)
      for (int n = 0; n < 36; ++n) {
        const Complex64 ours = found[i][block][n], expected = whole[here.global_index(i)][block][n];
        ASSERT_EQ(ours, expected) << "site " << i;
      }
}

// Extents that leave the parts full lanes, some that leave them but not the boxes with a border, some that do not.
class CloverOfParts : public testing::TestWithParam<Coordinates> {
 protected:
  HostGauge gauge_ = weak_gauge(Lattice(GetParam()), 0.6, 4);
};

TEST_P(CloverOfParts, HasTheBitsOfTheWhole) {
  const StoredTerm whole = term_on(gauge_, Communicator::self());
  const std::vector<HostTerm> term = download(whole.term()), inverse = download(whole.inverse());
  ranks::on_grids(GetParam(), [&](const Lattice& here) {
    const StoredTerm part = term_on(ranks::cut(gauge_, here), Communicator::world());
    expect_same(download(part.term()), term, here);
    expect_same(download(part.inverse()), inverse, here);
    for (const Parity parity : {Parity::even, Parity::odd}) {
      const double expected = whole.log_det(parity);
      EXPECT_NEAR(part.log_det(parity), expected, 1e-13 * std::abs(expected));
      EXPECT_TRUE(ranks::same_everywhere(part.log_det(parity)));
    }
  });
}

TEST_P(CloverOfParts, IsScaledAsTheWhole) {
  const StoredTerm whole = term_on(gauge_, Communicator::self(), "half");
  const std::vector<HostTerm> expected = download(decode_term(whole.term()));
  ranks::on_grids(GetParam(), [&](const Lattice& here) {
    const StoredTerm part = term_on(ranks::cut(gauge_, here), Communicator::world(), "half");
    EXPECT_FLOAT_EQ(part.term().scale(), whole.term().scale());
    EXPECT_FLOAT_EQ(part.inverse().scale(), whole.inverse().scale());
    expect_same(download(decode_term(part.term())), expected, here);
  });
}

INSTANTIATE_TEST_SUITE_P(Lattices, CloverOfParts,
                         testing::Values(Coordinates{8, 8, 8, 16}, Coordinates{2, 2, 2, 64}, Coordinates{12, 4, 4, 4}),
                         [](const auto& info) { return ranks::text(info.param); });

}  // namespace
