// Operators and solvers of every kind of action by its name, on several right-hand sides; first guesses.
#include "tests/c/support.hpp"

namespace {

using namespace c;

struct ActionCase {
  std::string how;
  std::size_t numbers;  ///< of a site of a quark field
  int slices;           ///< of vectors of M
};

const ActionCase action_cases[] = {{"action=clover kappa=0.12 csw=1.2", 12, 1},
                                   {"action=twisted-mass mass=0.1 mu=0.2", 12, 1},
                                   {"action=twisted-mass mass=0.1 mu=0.2 epsilon=0.1 flavours=0,1", 12, 2},
                                   {"action=staggered mass=0.1", 3, 1},
                                   {"action=hisq mass=0.1", 3, 1},
                                   {"action=moebius mass=0.1 m5=1.4 b5=1.5 c5=0.5 ls=4", 12, 4},
                                   {"action=d234 mass=0.3", 12, 1},
                                   {"action=naive mass=0.2 mu=0.1", 12, 1}};  // that of docs/howto-action.md

class CActions : public OnDevice {
 protected:
  HostGauge links = weak_gauge(Lattice({4, 4, 4, 8}), 0.3, 31);
  Context context = open(GetParam(), links.lattice.extent());
  Gauge gauge = load(context, links);
  std::size_t sites = links.site.size();
  quarksmith_spinor_format format = spinor_format();
};

TEST_P(CActions, AreSolvedByTheirNames) {
  constexpr int rhs = 3;
  for (const ActionCase& a : action_cases) {
    SCOPED_TRACE(a.how);
    const std::size_t size = a.numbers * sites;
    std::vector<Numbers> b;
    for (unsigned r = 0; r < rhs; ++r) b.push_back(random_numbers(size, 90 + r));
    b[0].assign(size, 0);
    b[0][0] = 1;  // the point at the origin
    const Solved s = solve(make_solver(gauge, a.how), b);
    EXPECT_EQ(s.status, QUARKSMITH_OK);
    for (const quarksmith_solve_report& r : s.reports)
      EXPECT_TRUE(r.converged == 1 && r.residual <= 1e-10 && r.iterations > 0) << r.residual;

    // The column that the command finds, whose source is a point.
    Result result;
    Field columns;
    EXPECT_DONE(quarksmith_run(context, "propagator", ("gauge=links " + a.how).c_str(), gauge, result.out()));
    EXPECT_DONE(quarksmith_result_field(result, columns.out()));
    EXPECT_LE(distance(s.x[0], get(columns, 0, size)), 1e-8);
    if (a.slices > 1) continue;
    std::vector<Numbers> image = s.x;
    EXPECT_DONE(quarksmith_matrix_host(make_operator(gauge, a.how), 0, rhs, outputs(image).data(), inputs(s.x).data(),
                                       &format));
    for (int r = 0; r < rhs; ++r) EXPECT_LE(distance(image[r], b[r]), 1.1e-10);
    // From a solution there is nothing left to do.
    const Solved again = solve(make_solver(gauge, a.how + " guess tol=1e-9"), {b[1]}, {s.x[1]});
    EXPECT_LT(again.reports[0].iterations, s.reports[1].iterations / 4 + 2);
  }
}

/// Fields on the device: of staggered quarks, and of a fifth dimension, whose slices are set one by one.
TEST_P(CActions, FieldsAreAsArrays) {
  for (const ActionCase& a : action_cases) {
    SCOPED_TRACE(a.how);
    const Operator op = make_operator(gauge, a.how);
    const Field in = field_of(op, QUARKSMITH_FULL, 1), out = field_of(op, QUARKSMITH_FULL, 1);
    std::vector<Numbers> psi;
    for (int s = 0; s < a.slices; ++s) {
      psi.push_back(random_numbers(a.numbers * sites, 40 + unsigned(s)));
      set(in, s, psi[s]);
    }
    std::vector<Numbers> image = psi;
    EXPECT_DONE(quarksmith_matrix(op, 1, out, in));
    EXPECT_DONE(quarksmith_matrix_host(op, 1, 1, outputs(image).data(), inputs(psi).data(), &format));
    for (int s = 0; s < a.slices; ++s) EXPECT_EQ(get(out, s, psi[s].size()), image[s]) << s;
    refused(quarksmith_field_set(in, a.slices, psi[0].data(), &format), QUARKSMITH_BAD_ARGUMENT, "of a field that has");
  }
}

/// Fields of the caller are what an action takes by their names, and no other.
TEST_P(CActions, TakeTheirOwnFieldsAlone) {
  const Numbers mine = numbers_of(links);
  Operator op;
  for (const std::size_t count : {mine.size(), std::size_t(1)})  // the other of its name
    EXPECT_DONE(quarksmith_gauge_field(gauge, "mine", count, reinterpret_cast<const double*>(mine.data())));
  refused(quarksmith_operator_create(gauge, "action=staggered mass=0.1 field=fat=mine field=long=mine", op.out()),
          QUARKSMITH_BAD_ARGUMENT, "field fat");
}

ON_DEVICES_BY_NAME(CActions);

}  // namespace
