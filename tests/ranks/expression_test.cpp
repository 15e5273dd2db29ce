// Lattice expressions on parts of a lattice: the bits of the whole.
#include "runtime/fields/expression.hpp"

#include <map>
#include <string>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/hopping.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/fields/padded_fields.hpp"
#include "solvers/measure/source.hpp"
#include "tests/ranks/support.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// A number of each link.
HostGauge first_elements(const HostGauge& u) {
  HostGauge numbers(u.lattice, 1);
  for (long long i = 0; i < u.lattice.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu) numbers.link(i, mu)[0] = u.link(i, mu)[0];
  return numbers;
}

/// The fields and numbers of a call on a lattice or its part, made from the same numbers, and what came out.
class Call {
 public:
  Call(const Kernel& kernel, const DomainPointer& domain, int rhs) : kernel_(kernel), domain_(domain) {
    const PrecisionInfo& precision = find_precision(kernel.precision);
    const auto parameters = parameters_of(kernel);
    int along = 0;  // directions of the call: x, y, ...
    for (std::size_t n = 0; n < parameters.size(); ++n) {
      const ExpressionParameter& p = parameters[n];
      if (p.is_number()) {
        arguments_.emplace_back(0.1 + 0.07 * double(n));
      } else if (p.is_direction()) {
        arguments_.emplace_back(LatticeDirection{along++});
      } else if (p.is_gamma()) {
        arguments_.emplace_back(GammaProduct{11});
      } else if (p.is_spinor()) {
        auto& f = spinors_.emplace_back(std::make_unique<SpinorField>(
            domain, precision, Subset::full, p.is_propagator() ? 3 * kernel.spins : rhs, kernel.spins));
        f->fill(0);
        for (int r = 0; r < f->rhs() && !p.is_output(); ++r)
          upload(make_source(source_of("noise:" + std::to_string(10 * n + r) + ",z4", domain->lattice()),
                             domain->lattice(), 1, 2),
                 *f, find_basis("degrand_rossi"), r);
        add(p, *f);
      } else {
        const HostGauge& u = drawn(domain->lattice(), int(n) + 1, p.kind == "algebra");
        const PrecisionInfo& stored = find_precision(precision.links);
        auto& f = links_.emplace_back(
            std::make_unique<LinkField>(p.kind == "scalars" ? upload(first_elements(u), domain, stored, full_storage(1))
                                                            : upload(u, domain, stored, p.storage(kernel))));
        add(p, *f);
      }
    }
  }

  /// The expression twice: the second time on what the first has left.
  void run() {
    const ExpressionSettings settings{.boundary = {1, -1, std::polar(1.0, 0.6), Complex64(0, 1)},
                                      .basis = kernel_.basis};
    for (int n = 0; n < 2; ++n) sums_ = evaluate(kernel_.operation, arguments_, outputs_, settings);
  }

  const std::vector<double>& sums() const { return sums_; }
  std::vector<HostGauge> links() const {
    std::vector<HostGauge> all;
    for (const auto& f : links_) all.push_back(download(*f));
    return all;
  }
  std::vector<HostSpinor> spinors() const {
    std::vector<HostSpinor> all;
    for (const auto& f : spinors_)
      for (int r = 0; r < f->rhs(); ++r)
        download(*f, all.emplace_back(domain_->lattice()), find_basis("degrand_rossi"), r);
    return all;
  }

 private:
  template <class Field>
  void add(const ExpressionParameter& p, Field& f) {
    if (p.is_output())
      outputs_.emplace_back(f);
    else
      arguments_.emplace_back(f);
  }
  /// Drawn once for all expressions: that takes longer than most of them.
  static const HostGauge& drawn(const Lattice& lattice, int seed, bool algebra) {
    std::string name = std::to_string(seed) + (algebra ? " algebra" : "");
    for (int mu = 0; mu < directions; ++mu)
      for (const int n : {lattice.global_extent(mu), lattice.extent(mu), lattice.origin(mu)})
        name += " " + std::to_string(n);
    static std::map<std::string, HostGauge> all;
    const auto found = all.find(name);
    if (found != all.end()) return found->second;
    HostGauge u = weak_gauge(lattice, 0.3, seed);
    if (algebra) project(u);
    return all.emplace(name, std::move(u)).first->second;
  }
  static void project(HostGauge& u) {
    for (auto& site : u.site)
      for (Matrix3& m : site) {
        const Matrix3 w = adjoint(m);
        for (int n = 0; n < 9; ++n) m[n] -= w[n];
        const Complex64 mean = (m[0] + m[4] + m[8]) / 3.0;
        for (int n = 0; n < 9; n += 4) m[n] -= mean;
      }
  }

  const Kernel& kernel_;
  DomainPointer domain_;
  std::vector<std::unique_ptr<LinkField>> links_;
  std::vector<std::unique_ptr<SpinorField>> spinors_;
  std::vector<ExpressionArgument> arguments_;
  std::vector<ExpressionOutput> outputs_;
  std::vector<double> sums_;
};

void expect_same(const Call& part, const Call& whole, const Lattice& here) {
  EXPECT_EQ(part.sums(), whole.sums());
  const auto links = part.links(), all_links = whole.links();
  for (std::size_t n = 0; n < links.size(); ++n)
    EXPECT_EQ(links[n].site, ranks::cut(all_links[n], here).site) << "link field " << n;
  const auto spinors = part.spinors(), all_spinors = whole.spinors();
  for (std::size_t n = 0; n < spinors.size(); ++n)
    EXPECT_EQ(spinors[n].site, ranks::cut(all_spinors[n], here).site) << "spinor field " << n;
}

std::vector<const Kernel*> expressions() {
  std::vector<const Kernel*> all;
  for (const Kernel& k : ranks::device()->kernels())
    if (k.family == "expression" && k.colours == 3) all.push_back(&k);
  return all;
}

/// Whether it reads further than a part is long.
bool reaches_beyond(const Kernel& k, const Lattice& part) {
  for (const ExpressionParameter& p : parameters_of(k))
    for (int mu = 0; mu < directions; ++mu)
      if (part.split(mu) && p.reach.sites[mu] > part.extent(mu)) return true;
  return false;
}

// On the second lattice parts are shorter than a border of corners, and have fewer lanes than the whole.
class ExpressionsOnParts : public testing::TestWithParam<Coordinates> {};

TEST_P(ExpressionsOnParts, HaveTheBitsOfTheWhole) {
  for (const Kernel* k : expressions()) {
    const int rhs = k->precision == "half" ? 2 : 1;
    Call whole(*k, ranks::domain_of(Lattice(GetParam())), rhs);
    whole.run();
    for (const Coordinates& grid : ranks::grids(GetParam())) {
      SCOPED_TRACE(std::string(k->name) + " on " + ranks::text(grid));
      const Lattice here = ranks::local_lattice(GetParam(), grid);
      if (reaches_beyond(*k, here)) continue;
      Call part(*k, ranks::domain_of(here), rhs);
      part.run();
      expect_same(part, whole, here);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lattices, ExpressionsOnParts,
                         testing::Values(Coordinates{4, 8, 4, 8}, Coordinates{4, 4, 4, 4}),
                         [](const auto& info) { return ranks::text(info.param); });

TEST(ExpressionsOfParts, CrossBoundariesByEveryPolicy) {
  constexpr Coordinates extent = {4, 8, 4, 8};
  const KernelQuery query{.operation = "stout4_step", .precision = "double", .links = "r18"};
  const Kernel& kernel = find(ranks::device()->kernels(), query);
  Call whole(kernel, ranks::domain_of(Lattice(extent)), 1);
  whole.run();
  for (const Coordinates& grid : ranks::grids(extent)) {
    if (ranks::world().size() == 1) GTEST_SKIP() << "one rank has no boundaries";
    const Lattice here = ranks::local_lattice(extent, grid);
    const DomainPointer domain = ranks::domain_of(here);
    for (const Policy policy : domain->halos().possible()) {
      SCOPED_TRACE(ranks::text(grid) + " " + std::string(name_of(policy)));
      domain->halos().use(policy);
      Call part(kernel, domain, 1);
      part.run();
      expect_same(part, whole, here);
    }
  }
}

/// Links that an expression wrote are copied anew where hops and expressions read them on other ranks.
TEST(ExpressionsOfParts, WrittenLinksAreKnownToNeighbours) {
  constexpr Coordinates extent = {4, 8, 4, 8};
  const auto trace = [&](const Lattice& lattice) {
    const DomainPointer domain = ranks::domain_of(lattice);
    LinkField u = upload(weak_gauge(lattice, 0.4, 3), domain, find_precision("double"), find_storage("r18"));
    LinkField v = upload(weak_gauge(lattice, 0.4, 4), domain, u.precision(), u.storage());
    evaluate("plaquette_energy", {v});  // copies the border of what v was
    evaluate("stout4_step", {u, 0.1}, {v});
    std::vector<double> all = evaluate("plaquette_energy", {v});
    all.push_back(gauge_averages(v).plaquette);
    for (int mu = 0; mu < directions && lattice.ranks() > 1; ++mu)
      EXPECT_EQ(v.ghosts(mu).data != nullptr, lattice.split(mu)) << mu;
    return all;
  };
  const std::vector<double> expected = trace(Lattice(extent));
  for (const Coordinates& grid : ranks::grids(extent)) {
    SCOPED_TRACE(ranks::text(grid));
    const std::vector<double> found = trace(ranks::local_lattice(extent, grid));
    EXPECT_EQ(found[0], expected[0]);
    EXPECT_NEAR(found[1], expected[1], 1e-14);
  }
}

/// On processors what expressions write stays in the box where the next ones read it; it comes home when it is asked
/// for there, or by an expression that reads farther.
TEST(ExpressionsOfParts, WrittenLinksComeHomeWhenTheyAreAskedFor) {
  constexpr Coordinates extent = {4, 8, 4, 8};
  const auto three_steps = [&](const Lattice& lattice, long long& copies) {
    const DomainPointer domain = ranks::domain_of(lattice);
    LinkField u = upload(weak_gauge(lattice, 0.4, 3), domain, find_precision("double"), find_storage("r18"));
    LinkField v = upload(weak_gauge(lattice, 0.4, 4), domain, u.precision(), u.storage());
    for (int step = 0; step < 3; ++step) {
      evaluate("stout4_step", {step % 2 == 0 ? u : v, 0.1}, {step % 2 == 0 ? v : u});
      if (step == 0) copies = domain->border_traffic().copies;
    }
    copies -= domain->border_traffic().copies;
    const std::vector<double> farther =
        evaluate("rectangle_action", {v, 1, 0.5, 1, LatticeDirection{0}, LatticeDirection{3}});
    evaluate("stout4_step", {v, 0.1}, {u});
    u.fill(0);  // what is away must not come home later
    HostGauge twice = download(v), nothing = download(u);
    for (const Complex64& z : nothing.site[0][0]) EXPECT_EQ(z, 0.0);
    return std::pair(std::move(twice), farther);
  };
  long long copies = 0;
  const auto [expected, sums] = three_steps(Lattice(extent), copies);
  for (const Coordinates& grid : ranks::grids(extent)) {
    if (ranks::world().size() == 1) GTEST_SKIP() << "one rank has no boundaries";
    SCOPED_TRACE(ranks::text(grid));
    const Lattice here = ranks::local_lattice(extent, grid);
    const auto [found, found_sums] = three_steps(here, copies);
    // On processors both have been in the box since the first step. On GPUs each is copied there to be read: once, if
    // only t is split.
    const bool stays = std::all_of(grid.begin(), grid.end() - 1, [](int ranks) { return ranks == 1; });
    EXPECT_EQ(-copies, !ranks::domain_of(here)->device().asynchronous() ? 0 : stays ? 1 : 2);
    EXPECT_NEAR(found_sums[0] / sums[0], 1, 1e-13);
    for (long long i = 0; i < here.sites(); ++i) ASSERT_EQ(found.site[i], expected.site[here.global_index(i)]) << i;
  }
}

/// From coordinates in a box to those in the whole lattice; false where the box holds nothing.
bool to_global(const PaddedLattice& part, const Lattice& here, Coordinates& x) {
  bool filled = true;
  for (int mu = 0; mu < directions; ++mu) {
    x[mu] -= part.offset()[mu];
    const int beyond = part.depth().sites[mu];
    filled = filled && x[mu] >= -beyond && x[mu] < here.extent(mu) + beyond;
    x[mu] = (x[mu] + here.origin(mu) + here.global_extent(mu)) % here.global_extent(mu);
  }
  return filled;
}

/// Links move into a box in which their sites lie as in a field of their own, and are then those of the part: kernels
/// write there, borders follow, and the host gets them.
TEST(ExpressionsOfParts, LinksStayInABoxThatHoldsThemAsTheyAre) {
  constexpr Coordinates extent = {4, 4, 4, 4};
  const HostGauge start = weak_gauge(Lattice(extent), 0.4, 3);
  LinkField once = upload(start, ranks::domain_of(Lattice(extent)), find_precision("double"), find_storage("r18"));
  evaluate("back_to_su3", {once}, {once});
  const HostGauge expected = download(once);
  for (const Coordinates& grid : ranks::grids(extent)) {
    if (ranks::world().size() == 1) GTEST_SKIP() << "one rank has no boundaries";
    SCOPED_TRACE(ranks::text(grid));
    const Lattice here = ranks::local_lattice(extent, grid);
    const DomainPointer domain = ranks::domain_of(here);
    const PaddedLattice& part = *domain->padded({{1, 1, 1, 1}, true}, int(sizeof(double)), "the test");
    EXPECT_EQ(part.inside().has_value(), here.split(3) && grid[3] == ranks::world().size());
    EXPECT_EQ(domain->padded({{1, 1, 1, 1}, false}, 8, "the test", false)->domain(), part.domain());
    EXPECT_NE(domain->padded({{1, 1, 1, 1}, true}, 4, "the test")->domain(), part.domain());  // other lanes
    LinkField u = upload(ranks::cut(start, here), domain, find_precision("double"), find_storage("r18"));
    const auto memory = [](const LinkField& f) { return static_cast<const char*>(f.operand().data); };
    const LinkField& box = u.read_in(part, true);
    EXPECT_EQ(memory(u) > memory(box) && memory(u) < memory(box) + 8 * box.operand().parity_stride,
              bool(part.inside()));
    const long long copies = domain->border_traffic().copies;
    evaluate("back_to_su3", {u}, {u});
    const HostGauge whole_box = download(u.read_in(part, true));
    EXPECT_EQ(domain->border_traffic().copies - copies, part.inside() ? 0 : 1);
    for (long long i = 0; i < whole_box.lattice.sites(); ++i) {
      Coordinates x = whole_box.lattice.coordinates(i);
      if (!to_global(part, here, x)) continue;
      ASSERT_EQ(whole_box.site[i], expected.site[expected.lattice.index(x)]);
    }
    EXPECT_EQ(download(u).site, ranks::cut(expected, here).site);  // has left the box
    EXPECT_NE(u.ghosts(3).data != nullptr, !here.split(3));
    (void)u.read_in(part, true);
    EXPECT_EQ(download(u).site, ranks::cut(expected, here).site);
    (void)u.read_in(part, true);
    u.fill(0);
    const HostGauge nothing = download(u.read_in(part, true));
    Coordinates corner = part.offset();  // of the border
    for (int mu = 0; mu < directions; ++mu) corner[mu] -= here.split(mu);
    for (const Complex64& z : nothing.site[nothing.lattice.index(corner)][0]) EXPECT_EQ(z, 0.0);
  }
}

/// The border of a box is that of the neighbours, corners included, to the depth that was asked for.
TEST(ExpressionsOfParts, BordersHoldTheNeighboursLinks) {
  constexpr Coordinates extent = {8, 8, 8, 8};
  const HostGauge whole = hot_gauge(Lattice(extent), 9);
  for (const Coordinates& grid : ranks::grids(extent)) {
    const Lattice here = ranks::local_lattice(extent, grid);
    if (here.ranks() == 1) continue;
    const DomainPointer domain = ranks::domain_of(here);
    for (const int depth : {2, 1}) {
      const LinkField u = upload(ranks::cut(whole, here), domain, find_precision("double"), find_storage("r18"));
      SCOPED_TRACE(ranks::text(grid) + " depth " + std::to_string(depth));
      const PaddedLattice part(*domain, {{depth, depth, depth, depth}, true}, 8, "the test");
      const HostGauge box = download(u.read_in(part, true));
      for (long long i = 0; i < box.lattice.sites(); ++i) {
        Coordinates x = box.lattice.coordinates(i);
        if (!to_global(part, here, x)) continue;
        ASSERT_EQ(box.site[i], whole.site[whole.lattice.index(x)]);
      }
    }
  }
}

/// Spinors travel as they are stored: words and scales of all right-hand sides, into a box and back.
TEST(ExpressionsOfParts, SpinorsTravelAsTheyAreStored) {
  constexpr Coordinates extent = {4, 8, 4, 8};
  constexpr int rhs = 2;
  const BasisInfo& basis = find_basis("degrand_rossi");
  const auto made = [&](const DomainPointer& domain, const char* precision) {
    SpinorField f(domain, find_precision(precision), Subset::full, rhs);
    for (int r = 0; r < rhs; ++r) {
      HostSpinor psi =
          make_source(source_of("noise:" + std::to_string(r) + ",z4", domain->lattice()), domain->lattice(), 1, 2);
      for (long long i = 0; i < domain->lattice().sites(); ++i)  // scales that differ
        for (int n = 0; n < 12; ++n) psi.site[i][n] += double(n) / double(1 + domain->lattice().global_index(i) % 17);
      upload(psi, f, basis, r);
    }
    return f;
  };
  const auto host = [&](const SpinorField& f, int r) {
    HostSpinor psi(f.domain().lattice());
    download(f, psi, basis, r);
    return psi;
  };
  for (const char* precision : {"double", "single", "bits24", "half", "quarter"}) {
    if (!support::has("axpby", precision)) continue;  // of profile wide
    const SpinorField whole = made(ranks::domain_of(Lattice(extent)), precision);
    for (const Coordinates& grid : ranks::grids(extent)) {
      const Lattice here = ranks::local_lattice(extent, grid);
      if (here.ranks() == 1) continue;
      SCOPED_TRACE(ranks::text(grid) + " " + precision);
      const DomainPointer domain = ranks::domain_of(here);
      const SpinorField f = made(domain, precision);
      SpinorField back = f.like();
      back.fill(0);
      const PaddedLattice part(*domain, {{1, 2, 1, 2}, true}, find_precision(precision).element_bytes, "the test");
      const SpinorField& box = scratch_in(part, 0, f);
      part.put(stored_sites(f), stored_sites(box));
      part.exchange(stored_sites(box));
      part.cut(stored_sites(box), stored_sites(back));
      for (int r = 0; r < rhs; ++r) {
        EXPECT_EQ(host(back, r).site, host(f, r).site);
        const HostSpinor found = host(box, r), all = host(whole, r);
        for (long long i = 0; i < found.lattice.sites(); ++i) {
          Coordinates x = found.lattice.coordinates(i);
          if (!to_global(part, here, x)) continue;
          ASSERT_EQ(found.site[i], all.site[all.lattice.index(x)]);
        }
      }
    }
  }
}

TEST(ExpressionsOfParts, PartsShorterThanTheirReachAreRefused) {
  if (ranks::world().size() == 1) GTEST_SKIP() << "one rank has the whole lattice";
  const int n = ranks::world().size();
  const DomainPointer domain = ranks::domain_of(ranks::local_lattice({4, 4, 4, 2 * n}, {1, 1, 1, n}));
  try {
    domain->padded({{0, 0, 0, 3}, false}, 8, "leap");
    FAIL() << "a border of three sites round two";
  } catch (const WrongLattice& error) {
    EXPECT_NE(std::string(error.what()).find("leap reads 3 sites beyond its own along t"), std::string::npos)
        << error.what();
  }
  // Lanes of processors are those of the whole lattice, or a box has them; GPUs have none.
  const bool alike = ranks::device()->asynchronous() || domain->lanes(8) > 1;
  EXPECT_EQ(domain->padded({{3, 3, 3, 0}, true}, 8, "leap") == nullptr, alike);
}

}  // namespace
