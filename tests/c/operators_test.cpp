// M and M^+ on host arrays and on fields of the device, even-odd forms; vector operations; memory; solvers.
#include "tests/c/support.hpp"
#include "tests/support.hpp"

namespace {

using namespace c;

const Coordinates operator_extent = {4, 6, 2, 8};
constexpr int rhs = 3;

/// An anisotropic action on links of a size, and the reference.
struct Anisotropic {
  Anisotropic(const char* device, bool clover, double epsilon)
      : links(weak_gauge(Lattice(operator_extent), epsilon, 21)),
        action(clover ? Action("clover", {{"mass", 0.2}, {"xi0", 2.5}, {"nu", 0.9}, {"csw_r", 1.2}, {"csw_t", 0.8}})
                      : Action("wilson", {{"mass", 0.2}, {"xi0", 2.5}, {"nu", 0.9}})),
        dense(action, links),
        context(open(device, operator_extent)),
        gauge(load(context, links)) {}
  std::vector<Numbers> sources(int count, unsigned seed) const {
    std::vector<Numbers> all;
    for (int n = 0; n < count; ++n) all.push_back(random_numbers(size, seed + unsigned(n)));
    return all;
  }
  Numbers matrix(const Numbers& psi, bool dagger = false) const {
    return numbers_of(dense.matrix(spinor_of(psi, links.lattice), dagger));
  }
  std::string how(const std::string& more) const { return text_of(action) + " " + more; }

  HostGauge links;
  Action action;
  dense::DenseAction dense;
  Context context;
  Gauge gauge;
  std::size_t size = 12 * links.site.size();
};

/// M on three right-hand sides, host arrays and fields.
void check_matrix(const Anisotropic& a, const std::string& how, double limit) {
  SCOPED_TRACE(how);
  const quarksmith_spinor_format format = spinor_format();
  const Operator op = make_operator(a.gauge, a.how(how));
  const Field in = field_of(op, QUARKSMITH_FULL, rhs), out = field_of(op, QUARKSMITH_FULL, rhs);
  const std::vector<Numbers> psi = a.sources(rhs, 30);
  for (int r = 0; r < rhs; ++r) set(in, r, psi[r]);
  for (const int dagger : {0, 1}) {
    std::vector<Numbers> found = psi, in_place = {psi[1]};
    EXPECT_DONE(quarksmith_matrix_host(op, dagger, rhs, outputs(found).data(), inputs(psi).data(), &format));
    EXPECT_DONE(quarksmith_matrix(op, dagger, out, in));
    EXPECT_DONE(quarksmith_synchronize(a.context));
    for (int r = 0; r < rhs; ++r) {
      EXPECT_LE(distance(found[r], a.matrix(psi[r], dagger != 0)), limit);
      EXPECT_EQ(get(out, r, a.size), found[r]);
    }
    EXPECT_DONE(quarksmith_matrix_host(op, dagger, 1, outputs(in_place).data(), inputs(in_place).data(), &format));
    EXPECT_LE(distance(in_place[0], found[1]), limit);
  }
}

class COperators : public OnDevice {};

TEST_P(COperators, AreThoseOfTheReference) {
  for (const bool clover : {false, true}) {
    const Anisotropic a(GetParam(), clover, 1.0);
    check_matrix(a, "", 1e-14);
    check_matrix(a, "precision=single reconstruct=12", 1e-6);
    check_matrix(a, "precision=half reconstruct=12", 5e-4);
    check_matrix(a, "reconstruct=18 basis=degrand_rossi", 1e-14);
    if (!clover) continue;
    double expected[2] = {0, 0}, log_det = 0;
    a.dense.divide({HostSpinor(a.links.lattice)}, false, expected);
    const Operator op = make_operator(a.gauge, a.how(""));
    for (const int parity : {0, 1}) {
      EXPECT_DONE(quarksmith_term_log_det(op, parity, &log_det));
      EXPECT_NEAR(log_det / expected[parity], 1, 1e-13);
    }
  }
}

TEST_P(COperators, TakeLinksThatAreNotSu3WithAllReals) {
  Anisotropic a(GetParam(), false, 1.0);
  for (auto& site : a.links.site)
    for (Matrix3& u : site)
      for (Complex64& z : u) z *= 1.1;
  a.gauge = load(a.context, a.links);
  a.dense = dense::DenseAction(a.action, a.links);
  Operator op;
  refused(quarksmith_operator_create(a.gauge, a.how("").c_str(), op.out()), QUARKSMITH_BAD_DATA, "SU(3)");
  refused(quarksmith_operator_create(a.gauge, a.how("allow-non-su3 reconstruct=12").c_str(), op.out()),
          QUARKSMITH_BAD_DATA, "r12");
  check_matrix(a, "allow-non-su3", 1e-14);
}

/// A x_e = reduced for M x = b; x is found again from its even sites; or odd ones.
TEST_P(COperators, HaveEvenOddForms) {
  const Anisotropic s(GetParam(), true, 1.0);
  for (const auto& [form, sites] : {std::pair<std::string, int>("symmetric", QUARKSMITH_EVEN),
                                    {"asymmetric", QUARKSMITH_EVEN},
                                    {"symmetric parity=odd", QUARKSMITH_ODD},
                                    {"asymmetric parity=odd", QUARKSMITH_ODD}}) {
    const Operator m = make_operator(s.gauge, s.how("")), a = make_operator(s.gauge, s.how("even-odd=" + form));
    const Field x = field_of(m, QUARKSMITH_FULL, 2), b = field_of(m, QUARKSMITH_FULL, 2), even = field_of(a, sites, 2),
                reduced = field_of(a, sites, 2), out = field_of(a, sites, 2);
    const std::vector<Numbers> psi = s.sources(2, 60);
    for (int r = 0; r < 2; ++r) set(x, r, psi[r]), set(even, r, psi[r]);
    const double one[2] = {1, 0}, minus[2] = {-1, 0};
    double norm2[2] = {0, 0};
    EXPECT_DONE(quarksmith_matrix(m, 0, b, x));
    EXPECT_DONE(quarksmith_reduce(a, reduced, b));
    EXPECT_DONE(quarksmith_matrix(a, 0, out, even));
    EXPECT_DONE(quarksmith_axpby(minus, reduced, one, out));
    EXPECT_DONE(quarksmith_norm2(out, norm2));
    EXPECT_LT(std::max(norm2[0], norm2[1]), 1e-24 * double(s.size));
    EXPECT_DONE(quarksmith_reconstruct(a, x, even, b));
    for (int r = 0; r < 2; ++r) EXPECT_LE(distance(get(x, r, s.size), psi[r]), 1e-13);
    refused(quarksmith_reduce(m, reduced, b), QUARKSMITH_BAD_ARGUMENT, "on all sites");
    refused(quarksmith_matrix(a, 0, x, b), QUARKSMITH_BAD_ARGUMENT, "field out");
  }
  Operator op;
  for (const char* how :
       {"action=wilson mass=0.1 parity=odd", "action=moebius mass=0.1 ls=4 even-odd=symmetric parity=odd"})
    refused(quarksmith_operator_create(s.gauge, how, op.out()), QUARKSMITH_BAD_ARGUMENT, "");
}

double real_at(const quarksmith_field_memory& m, std::size_t word) {
  return m.word_bytes == 8 ? static_cast<const double*>(m.data)[word] : static_cast<const float*>(m.data)[word];
}

/// Where numbers lie: `psi` is what the last right-hand side of x holds.
void check_memory(const Lattice& lattice, quarksmith_field* x, int sites, bool half, const Numbers& psi) {
  quarksmith_field_memory memory = initial(quarksmith_field_memory_init);
  EXPECT_DONE(quarksmith_field_describe(x, &memory));
  EXPECT_EQ(memory.scales != nullptr, half);
  const auto held = std::size_t(lattice.sites()) / (sites == QUARKSMITH_FULL ? 1 : 2);
  EXPECT_EQ(memory.words, 24 * held * std::size_t(memory.lanes / memory.boxes));
  for (long long site = 0; site < lattice.sites(); ++site) {
    const Coordinates at = lattice.coordinates(site);
    const bool odd = Lattice::parity(at) == Parity::odd;
    if (sites == QUARKSMITH_ODD && !odd) continue;
    std::size_t word = 0;
    EXPECT_DONE(quarksmith_field_word(x, at.data(), 5, &word));
    if (memory.vector_words > 0) {  // the rule that the header states for GPUs
      const auto v = std::size_t(memory.vector_words), b = std::size_t(memory.block_sites), s = std::size_t(site) / 2;
      EXPECT_EQ(word, (sites == QUARKSMITH_FULL && odd ? memory.odd : 0) +
                          (s - s % b) * std::size_t(memory.site_words) + (5 / v * b + s % b) * v + 5 % v);
    } else if (!half) {
      for (int copy = 0; copy < memory.lanes; copy += memory.boxes)
        EXPECT_NEAR(real_at(memory, (rhs - 1) * memory.words + word + std::size_t(copy)),
                    psi[12 * std::size_t(site) + 2].imag(), 1e-7);
    }
  }
}

class CFields : public OnDevice {};

TEST_P(CFields, HaveNormsProductsSumsCopiesAndMemory) {
  const Lattice lattice(operator_extent);
  const std::size_t size = 12 * std::size_t(lattice.sites());
  const Context context = open(GetParam(), operator_extent);
  for (const auto& [precision, limit] : {std::pair{"double", 1e-15}, {"single", 1e-7}, {"half", 1e-4}})
    for (const int sites : {QUARKSMITH_FULL, QUARKSMITH_ODD}) {
      SCOPED_TRACE(fmt::format("{} {}", precision, sites));
      const std::string kind = fmt::format("precision={} sites={} basis=degrand_rossi rhs={}", precision,
                                           sites == QUARKSMITH_FULL ? "all" : "odd", rhs);
      const Field x = make_field(context, kind), y = make_field(context, kind);
      double norm2[rhs], dots[2 * rhs];
      EXPECT_DONE(quarksmith_norm2(x, norm2));
      EXPECT_EQ(norm2[0] + norm2[rhs - 1], 0);  // a new field
      std::vector<Numbers> a, b;
      for (int r = 0; r < rhs; ++r) {
        for (auto* all : {&a, &b}) all->push_back(random_numbers(size, unsigned(50 + 10 * (all == &b) + r)));
        set(x, r, a[r]), set(y, r, b[r]);
        for (std::size_t i = 0; i < size; ++i)  // what an odd field does not hold
          if (sites == QUARKSMITH_ODD && Lattice::parity(lattice.coordinates((long long)i / 12)) == Parity::even)
            a[r][i] = b[r][i] = 0;
      }
      const double alpha[2] = {0.5, -1}, beta[2] = {2, 0.25};
      EXPECT_DONE(quarksmith_norm2(x, norm2));
      EXPECT_DONE(quarksmith_dot(x, y, dots));
      const double none[2] = {NAN, 0};
      refused(quarksmith_axpby(none, x, beta, y), QUARKSMITH_BAD_ARGUMENT, "a nan");
      EXPECT_DONE(quarksmith_axpby(alpha, x, beta, y));
      const auto held = [&](quarksmith_field* f, int r) {
        Numbers found = get(f, r, size);
        for (std::size_t i = 0; i < size; ++i)
          if (a[0][i] == 0.0) found[i] = 0;
        return found;
      };
      for (int r = 0; r < rhs; ++r) {
        const double square = dot(a[r], a[r]).real();
        EXPECT_NEAR(norm2[r] / square, 1, 10 * limit);
        EXPECT_LE(std::abs(Complex64(dots[2 * r], dots[2 * r + 1]) - dot(a[r], b[r])) / square, 10 * limit);
        for (std::size_t i = 0; i < size; ++i)
          b[r][i] = Complex64(alpha[0], alpha[1]) * a[r][i] + Complex64(beta[0], beta[1]) * b[r][i];
        EXPECT_LE(distance(held(x, r), a[r]), limit);
        EXPECT_LE(distance(held(y, r), b[r]), 4 * limit);
      }
      EXPECT_DONE(quarksmith_field_copy(y, x));
      EXPECT_LE(distance(held(y, 1), a[1]), limit);
      check_memory(lattice, x, sites, precision == std::string("half"), a[rhs - 1]);
    }
}

class CSolvers : public OnDevice {};

TEST_P(CSolvers, ReachTheTrueResidualAndReportIt) {
  const Anisotropic a(GetParam(), true, 0.3);
  const auto residual = [&](const Numbers& x, const Numbers& b) { return distance(a.matrix(x), b); };
  for (const auto& [how, tolerance] : {std::pair{"solver=bicgstab", 1e-10},
                                       {"solver=cg even_odd=none reconstruct=12", 1e-9},
                                       {"solver=bicgstab precision=double-half", 1e-11},
                                       {"solver=bicgstab precision=single", 1e-5}}) {
    SCOPED_TRACE(how);
    const Solver solver = make_solver(a.gauge, a.how(fmt::format("{} tol={}", how, tolerance)));
    std::vector<Numbers> b = a.sources(rhs, 70);
    b[1].assign(a.size, 0);
    b[1][a.size / 3 + 4] = 1;  // a point source
    const Solved all = solve(solver, b), one = solve(solver, {b[0]});
    EXPECT_EQ(all.status, QUARKSMITH_OK);
    EXPECT_LE(residual(one.x[0], b[0]), 1.05 * tolerance);
    for (int r = 0; r < rhs; ++r) {
      const quarksmith_solve_report& report = all.reports[r];
      EXPECT_LE(residual(all.x[r], b[r]), 1.05 * tolerance);
      EXPECT_EQ(report.converged, 1);
      EXPECT_GT(report.iterations, 0);
      EXPECT_EQ(report.size, sizeof report);
      EXPECT_LE(report.residual, tolerance);
      EXPECT_NEAR(report.residual / residual(all.x[r], b[r]), 1, 0.1);
    }
    const Field fx = make_field(a.context, "rhs=2"), fb = make_field(a.context, "rhs=2 basis=degrand_rossi");
    for (int r = 0; r < 2; ++r) set(fb, r, b[r]);
    EXPECT_DONE(quarksmith_solve_fields(solver, fx, fb, nullptr));
    for (int r = 0; r < 2; ++r) EXPECT_LE(residual(get(fx, r, a.size), b[r]), 1.05 * tolerance);
  }
}

/// (M^+ M + shift) x = b for several shifts, in double and in mixed precision.
TEST_P(CSolvers, ReachTheResidualsOfShifts) {
  const Anisotropic a(GetParam(), true, 0.3);
  const double shifts[] = {0.7, 0, 0.02};
  const quarksmith_spinor_format format = spinor_format();
  const Numbers b = random_numbers(a.size, 5);
  for (const std::string precision : {"double", "double-single"}) {
    Handle<quarksmith_shifted> solver;
    const std::string how = a.how("even-odd=none reconstruct=12 precision=" + precision);
    EXPECT_DONE(quarksmith_shifted_create(a.gauge, how.c_str(), 3, solver.out()));
    std::vector<Numbers> x(3, Numbers(a.size));
    quarksmith_solve_report reports[3] = {initial(quarksmith_solve_report_init)};
    EXPECT_DONE(quarksmith_shifted_solve(solver, 3, shifts, outputs(x).data(), b.data(), &format, reports));
    for (int k = 0; k < 3; ++k) {
      Numbers image = a.matrix(a.matrix(x[k]), true);
      for (std::size_t i = 0; i < a.size; ++i) image[i] += shifts[k] * x[k][i];
      EXPECT_LE(distance(image, b), 1.05e-10) << k;
      EXPECT_TRUE(reports[k].converged == 1 && reports[k].iterations > 0) << k;
    }
  }
}

ON_DEVICES_BY_NAME(COperators);
ON_DEVICES_BY_NAME(CFields);
ON_DEVICES_BY_NAME(CSolvers);

}  // namespace
