// Fields of the caller on ranks of the calling program: on local lattices they give the bits of one process.
#ifdef QUARKSMITH_MPI
#include <cmath>
#include <functional>

#include "tests/ranks/c_interface.hpp"

namespace c_on_ranks {
namespace {

/// What a caller computes; arrays hold `second` numbers a site.
struct FieldResults {
  std::vector<double> numbers;
  std::vector<std::pair<Numbers, std::size_t>> arrays;
};

/// Of fat and long links with staggered phases and the sign of the boundary, and of a site term.
FieldResults given_fields(quarksmith_context* context, const Coordinates& extent,
                          const std::function<Numbers(const Numbers&, std::size_t)>& local) {
  FieldResults r;
  const std::size_t sites = std::size_t(Lattice(extent).sites());
  Handle<quarksmith_gauge> gauge;
  const double antiperiodic[4] = {0, 0, 0, 1};
  EXPECT_DONE(quarksmith_gauge_unit(context, antiperiodic, gauge.out()));
  quarksmith_link_format links = link_format();
  links.eta[0] = 3, links.eta[1] = 0, links.eta[2] = 1, links.eta[3] = 2;
  links.boundary[3] = 1;
  for (const int length : {1, 3}) {
    const Numbers numbers = local(random_numbers(36 * sites, unsigned(length)), 36);
    const void* array = numbers.data();
    EXPECT_DONE(quarksmith_gauge_links(gauge, length == 1 ? "f" : "l", length, &array, &links));
  }
  const quarksmith_spinor_format format = spinor_format();
  std::vector<Numbers> psi = {local(random_numbers(3 * sites, 5), 3)}, out = psi;
  const std::string staggered = "action=improved-staggered mass=2 field=fat=f field=long=l";
  EXPECT_DONE(
      quarksmith_matrix_host(make_operator(gauge, staggered), 0, 1, outputs(out).data(), inputs(psi).data(), &format));
  r.arrays.emplace_back(out[0], 3);
  Handle<quarksmith_shifted> shifted;
  EXPECT_DONE(quarksmith_shifted_create(gauge, staggered.c_str(), 1, shifted.out()));
  const double shift = 0.1;
  EXPECT_DONE(quarksmith_shifted_solve(shifted, 1, &shift, outputs(out).data(), psi[0].data(), &format, nullptr));
  r.arrays.emplace_back(out[0], 3);

  Numbers reals = random_numbers(36 * sites, 6);
  for (std::size_t n = 0; n < reals.size(); ++n)
    if (n % 36 < 6) reals[n] += Complex64(9, 9);  // the diagonals
  reals = local(reals, 36);
  const quarksmith_term_format terms = initial(quarksmith_term_format_init);
  EXPECT_DONE(quarksmith_gauge_term(gauge, "A", reals.data(), nullptr, &terms));
  psi = {local(random_numbers(12 * sites, 7), 12)};
  const std::string wilson = "action=wilson mass=-4 field=term=A";
  const Solved s = solve(make_solver(gauge, wilson), psi);
  EXPECT_EQ(s.status, QUARKSMITH_OK) << quarksmith_message();
  r.arrays.emplace_back(s.x[0], 12);
  double log_det = 0;
  EXPECT_DONE(quarksmith_term_log_det(make_operator(gauge, wilson), 1, &log_det));
  r.numbers = {s.reports[0].residual, log_det};
  return r;
}

TEST(COnRanks, FieldsOfTheCallerGiveTheBitsOfOneProcess) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) GTEST_SKIP() << "ranks of a calling program: start it with mpirun";
  const Coordinates tall = {4, 4, 4, 4 * std::max(2, world().size())};  // local extents are no shorter than long hops
  const Context context = open("cpu", tall);
  const FieldResults all = given_fields(context, tall, [](const Numbers& numbers, std::size_t) { return numbers; });
  const Copy comm;
  const Here here(comm, {1, 1, 1, world().size()}, Order::t_fastest, tall);
  const auto local = [&](const Numbers& n, std::size_t each) { return cut(n, here.lattice, each); };
  const FieldResults own = given_fields(here.context, tall, local);
  EXPECT_EQ(own.numbers, all.numbers);
  for (std::size_t n = 0; n < all.arrays.size(); ++n)
    EXPECT_EQ(own.arrays[n].first, local(all.arrays[n].first, all.arrays[n].second)) << "array " << n;
  // What one rank refuses is an error of all.
  Handle<quarksmith_gauge> gauge;
  const double none[4] = {};
  EXPECT_DONE(quarksmith_gauge_unit(here.context, none, gauge.out()));
  std::vector<double> reals(72 * std::size_t(here.lattice.sites()), 1);
  if (world().rank() == 0) reals[7] = std::nan("");
  const quarksmith_term_format terms = initial(quarksmith_term_format_init);
  refused(quarksmith_gauge_term(gauge, "A", reals.data(), nullptr, &terms), QUARKSMITH_BAD_DATA, "not finite");
}

}  // namespace
}  // namespace c_on_ranks
#endif
