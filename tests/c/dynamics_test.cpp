// Molecular dynamics: forces against differences of actions, momenta in any order; what is refused changes nothing.
#include "tests/c/support.hpp"
#include "tests/reference/lattice_expression.hpp"

int print_dynamics(const char* path);

namespace {

using namespace c;

const Coordinates dynamics_extent = {4, 4, 4, 4};
constexpr std::size_t dynamics_sites = 256;

using Dynamics = Handle<quarksmith_dynamics>;
using Quark = Handle<quarksmith_quark>;

/// Random momenta: anti-Hermitian and traceless.
Numbers random_momenta(unsigned seed) {
  HostGauge p = hot_gauge(Lattice(dynamics_extent), seed);
  for (auto& site : p.site)
    for (Matrix3& m : site) m = reference::algebra_part(m);
  return numbers_of(p);
}

void set_momenta(quarksmith_dynamics* d, const Numbers& p) {
  const quarksmith_link_format format = link_format();
  const void* array = p.data();
  EXPECT_DONE(quarksmith_dynamics_set_momenta(d, &array, &format));
}

Numbers get_momenta(quarksmith_dynamics* d) {
  const quarksmith_link_format format = link_format();
  Numbers p(36 * dynamics_sites);
  void* array = p.data();
  EXPECT_DONE(quarksmith_dynamics_get_momenta(d, &array, &format));
  return p;
}

double kinetic_of(quarksmith_dynamics* d) {
  double energy = 0;
  EXPECT_DONE(quarksmith_dynamics_kinetic(d, &energy));
  return energy;
}

double log_det_of(quarksmith_quark* quark) {
  double s = 0;
  EXPECT_DONE(quarksmith_quark_log_det(quark, &s));
  return -2 * s;
}

double action_of(quarksmith_dynamics* d, const quarksmith_gauge_loops& loops) {
  double s = 0;
  EXPECT_DONE(quarksmith_gauge_action(d, &loops, &s));
  return s;
}

class CDynamics : public OnDevice {
 protected:
  CDynamics() {
    const Gauge gauge = load(context, weak_gauge(links.lattice, 0.3, 3));
    EXPECT_DONE(quarksmith_dynamics_create(gauge, dynamics.out()));
    EXPECT_EQ(set_links(numbers_of(links)), QUARKSMITH_OK);  // others than it was made with
  }
  quarksmith_status set_links(const Numbers& numbers) {
    const quarksmith_link_format format = link_format();
    const void* array = numbers.data();
    return quarksmith_dynamics_set_links(dynamics, &array, &format);
  }
  Quark make_quark(const std::string& how) {
    Quark quark;
    EXPECT_DONE(quarksmith_quark_create(dynamics, how.c_str(), quark.out())) << how;
    return quark;
  }
  /// The force of a term is minus the slope of its action along U' = exp(tau P) U: dS/dtau = -2 P . dP/dtau.
  template <class Value, class Force>
  void expect_force(const Value& value, const Force& force, double limit) {
    const Numbers p = random_momenta(5);
    set_momenta(dynamics, p);
    force(0.75), force(0.25);  // momenta are added to
    Numbers moved = get_momenta(dynamics);
    for (std::size_t i = 0; i < p.size(); ++i) moved[i] -= p[i];
    const double wanted = -2 * dot(p, moved).real(), h = 2e-3;
    set_momenta(dynamics, p);
    double s[7];  // at -3h ... 3h
    EXPECT_DONE(quarksmith_dynamics_drift(dynamics, -3 * h));
    for (int n = 0; n < 7; ++n) {
      s[n] = value();
      EXPECT_DONE(quarksmith_dynamics_drift(dynamics, n < 6 ? h : -3 * h));
    }
    const double slope = (45 * (s[4] - s[2]) - 9 * (s[5] - s[1]) + (s[6] - s[0])) / (60 * h);
    EXPECT_GT(std::abs(wanted), 1e-3);
    EXPECT_LT(std::abs(slope / wanted - 1), limit);
  }

  Context context = open(GetParam(), dynamics_extent);
  HostGauge links = weak_gauge(Lattice(dynamics_extent), 0.2, 4);
  Dynamics dynamics;
  quarksmith_link_format format = link_format();
  quarksmith_spinor_format spinors = spinor_format();
};

TEST_P(CDynamics, MomentaGoThroughOtherOrders) {
  quarksmith_link_format other = format;
  other.sites = QUARKSMITH_EVEN_ODD, other.order = QUARKSMITH_DIRECTION_MAJOR, other.colour = QUARKSMITH_COLUMN_MAJOR;
  std::vector<Numbers> four(4, Numbers(9 * dynamics_sites));
  const Numbers p = random_momenta(11);
  set_momenta(dynamics, p);
  EXPECT_NEAR(kinetic_of(dynamics) / dot(p, p).real(), 1, 1e-13);
  EXPECT_DONE(quarksmith_dynamics_get_momenta(dynamics, outputs(four).data(), &other));
  EXPECT_TRUE(four[1][1] == p[9 + 3] && four[3][2] == p[27 + 6]);  // where links would stand
  EXPECT_DONE(quarksmith_dynamics_set_momenta(dynamics, inputs(four).data(), &other));
  EXPECT_LE(distance(get_momenta(dynamics), p), 1e-15);
  Numbers back(p.size());
  void* array = back.data();
  EXPECT_DONE(quarksmith_dynamics_get_links(dynamics, &array, &format));
  EXPECT_LE(distance(back, numbers_of(links)), 1e-15);
}

/// Momenta of 10 (MILC), 9 and 8 reals, P = i p_a lambda_a / 2 by the Gell-Mann matrices.
TEST_P(CDynamics, MomentaGoThroughOrdersOfFewerReals) {
  const Numbers p = random_momenta(13);
  set_momenta(dynamics, p);
  for (const int reals : {8, 9, 10})
    for (const bool single : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", reals, single));
      std::vector<double> numbers;
      for (std::size_t link = 0; link < 4 * dynamics_sites; ++link) {
        const Complex64* m = &p[9 * link];
        std::vector<double> r = {m[1].real(), m[1].imag(), m[2].real(), m[2].imag(), m[5].real(),
                                 m[5].imag(), m[0].imag(), m[4].imag(), m[8].imag(), 0};
        if (reals == 8)  // p_a = -i tr(P lambda_a)
          r = {2 * m[1].imag(),           2 * m[1].real(),
               m[0].imag() - m[4].imag(), 2 * m[2].imag(),
               2 * m[2].real(),           2 * m[5].imag(),
               2 * m[5].real(),           (m[0].imag() + m[4].imag() - 2 * m[8].imag()) / std::sqrt(3.0)};
        numbers.insert(numbers.end(), r.begin(), r.begin() + reals);
      }
      std::vector<float> floats(numbers.begin(), numbers.end());
      quarksmith_link_format few = format;
      few.reals = reals;
      few.precision = single ? QUARKSMITH_SINGLE : QUARKSMITH_DOUBLE;
      void* array = single ? static_cast<void*>(floats.data()) : numbers.data();
      const void* from = array;
      set_momenta(dynamics, random_momenta(14));
      EXPECT_DONE(quarksmith_dynamics_set_momenta(dynamics, &from, &few));
      EXPECT_LE(distance(get_momenta(dynamics), p), single ? 1e-7 : 1e-15);
      const std::vector<double> before = single ? std::vector<double>(floats.begin(), floats.end()) : numbers;
      std::ranges::fill(floats, 1), std::ranges::fill(numbers, 1);
      EXPECT_DONE(quarksmith_dynamics_get_momenta(dynamics, &array, &few));
      for (std::size_t n = 0; n < numbers.size(); ++n)
        EXPECT_NEAR(single ? double(floats[n]) : numbers[n], before[n], single ? 1e-6 : 1e-14);
    }
}

/// Which coefficient is which: those of loops are in tests/gauge_action_test.cpp.
TEST_P(CDynamics, GaugeActionsHaveTheirForces) {
  quarksmith_gauge_loops wilson = initial(quarksmith_gauge_loops_init), oriented = wilson, twisted = wilson;
  for (int plane = 0; plane < 6; ++plane) {
    wilson.planes[plane] = 6;
    twisted.planes[plane] = 7;
    oriented.planes[plane] = 3 + plane;
    oriented.rectangles[plane][0] = -0.1 * plane, oriented.rectangles[plane][1] = 0.1;
  }
  twisted.rectangle = -0.5, twisted.chair = 0.2;
  for (int plane = 0; plane < 3; ++plane) oriented.two_plaquettes[plane] = plane - 2;
  oriented.squares[0] = 0.7, oriented.squares[1] = -0.3;
  const auto domain = std::make_shared<Domain>(links.lattice, Device::cpu());
  EXPECT_NEAR(action_of(dynamics, wilson) / (-36.0 * dynamics_sites * gauge_averages(links, domain).plaquette), 1,
              1e-13);
  for (quarksmith_gauge_loops loops : {wilson, oriented, twisted}) {
    const double without = action_of(dynamics, loops);
    double sum = 12 * loops.rectangle + 16 * loops.chair;
    for (int plane = 0; plane < 6; ++plane)
      sum += loops.planes[plane] + loops.rectangles[plane][0] + loops.rectangles[plane][1] + loops.squares[0] +
             loops.squares[1] + (plane < 3 ? loops.two_plaquettes[plane] / 2 : 0);
    loops.constant = 1;
    EXPECT_NEAR(action_of(dynamics, loops), without + sum * dynamics_sites, 1e-8);
    expect_force([&] { return action_of(dynamics, loops); },
                 [&](double step) { EXPECT_DONE(quarksmith_gauge_force(dynamics, &loops, step)); }, 1e-9);
  }
}

/// M and phi^+ (M^+ M)^-1 phi against the reference.
TEST_P(CDynamics, QuarksHaveTheOperatorOfTheReference) {
  const double one = 1, zero = 0;
  quarksmith_rational inverse = initial(quarksmith_rational_init);
  inverse.count = 1, inverse.residues = &one, inverse.poles = &zero;
  const Quark quark = make_quark("action=wilson mass=0.3 even-odd=none tol=1e-13");
  const std::vector<Numbers> eta = {random_numbers(12 * dynamics_sites, 8)};
  std::vector<Numbers> phi = eta;
  EXPECT_DONE(quarksmith_quark_matrix(quark, 1, 1, outputs(phi).data(), inputs(eta).data(), &spinors));
  EXPECT_LE(distance(phi[0], numbers_of(reference::wilson(links, spinor_of(eta[0], links.lattice), 0.3, true))), 1e-14);
  double s = 0;
  EXPECT_DONE(quarksmith_quark_action(quark, &inverse, 1, inputs(phi).data(), &spinors, &s));
  EXPECT_NEAR(s / dot(eta[0], eta[0]).real(), 1, 1e-11);
}

/// With smeared links and a log det, two flavours, a fifth dimension, spinless ones.
TEST_P(CDynamics, QuarksHaveTheirForces) {
  constexpr double residues[2] = {0.7, 1.3}, poles[2] = {0.05, 0.4};
  constexpr int vectors = 2;
  struct Case {
    std::string how;
    int slices;
    bool staggered;
  };
  for (const Case& c : {Case{"action=clover mass=0.2 csw-r=1.2 csw-t=0.8 xi0=1.5 even-odd=asymmetric stout-rho=0.1 "
                             "stout-steps=2",
                             1, false},
                        Case{"action=twisted-mass mass=0.2 mu=0.3 epsilon=0.1", 2, false},
                        Case{"action=moebius ls=4 mass=0.1 m5=1.6 b5=1.5 c5=0.5", 4, false},
                        Case{"action=staggered mass=0.2", 1, true}}) {
    SCOPED_TRACE(c.how);
    const Quark quark = make_quark(c.how + " tol=1e-13");
    const std::size_t size = (c.staggered ? 3 : 12) * dynamics_sites;
    std::vector<Numbers> phi;
    for (int k = 0; k < vectors * c.slices; ++k) phi.push_back(random_numbers(size, 70 + unsigned(k)));
    quarksmith_rational r = initial(quarksmith_rational_init);
    r.constant = 0.3, r.count = 2, r.residues = residues, r.poles = poles;
    const auto value = [&] {
      double s = 0;
      EXPECT_DONE(quarksmith_quark_action(quark, &r, vectors, inputs(phi).data(), &spinors, &s));
      return s;
    };
    expect_force(
        value,
        [&](double step) {
          EXPECT_DONE(quarksmith_quark_force(quark, &r, vectors, inputs(phi).data(), &spinors, step));
        },
        1e-9);
    // The same of x_k = (A + pole_k)^-1 phi and y_k = M x_k, all vectors in one pass.
    const auto outer = [&](double step) {
      const double one = 1;
      std::vector<Numbers> all;
      std::vector<double> weights;
      for (int k = 0; k < 2; ++k) {
        quarksmith_rational pole = initial(quarksmith_rational_init);
        pole.count = 1, pole.residues = &one, pole.poles = &poles[k];
        std::vector<Numbers> x = phi;
        EXPECT_DONE(quarksmith_quark_rational(quark, &pole, vectors, outputs(x).data(), inputs(phi).data(), &spinors));
        all.insert(all.end(), x.begin(), x.end());
        weights.insert(weights.end(), vectors, residues[k]);
      }
      std::vector<Numbers> y = all;
      if (!c.staggered) {
        EXPECT_DONE(quarksmith_quark_matrix(quark, 0, 2 * vectors, outputs(y).data(), inputs(all).data(), &spinors));
      }
      EXPECT_DONE(quarksmith_quark_outer(quark, 2 * vectors, inputs(all).data(),
                                         c.staggered ? nullptr : inputs(y).data(), weights.data(), &spinors, step));
    };
    expect_force(value, outer, 1e-9);
    if (c.how.starts_with("action=clover"))
      expect_force([&] { return log_det_of(quark); },
                   [&](double step) { EXPECT_DONE(quarksmith_quark_log_det_force(quark, 2, step)); },
                   2e-8);  // it is large beside its slope
  }
}

TEST_P(CDynamics, OptionsOfQuarksAreRefused) {
  const quarksmith_status bad_argument = QUARKSMITH_BAD_ARGUMENT;
  for (const auto& [how, status, text] : {std::tuple{"", bad_argument, "mass"},
                                          {"action=willson mass=1", QUARKSMITH_UNKNOWN_NAME, "willson"},
                                          {"mass=0.5 kappa=0.1", bad_argument, "kappa"},
                                          {"mass=0.5 action=d234 even-odd=symmetric", bad_argument, "d234"},
                                          {"mass=0.5 action=staggered even-odd=none", bad_argument, "even_odd=none"},
                                          {"mass=0.5 stout-rho=0.1", bad_argument, "stout_rho 0.1"}}) {
    Quark quark;
    refused(quarksmith_quark_create(dynamics, how, quark.out()), status, text);
    EXPECT_EQ(static_cast<quarksmith_quark*>(quark), nullptr) << how;
  }
}

/// Links come and go as gauge fields, with their boundary phases; momenta stay meanwhile.
TEST_P(CDynamics, LinksOfGaugeFields) {
  quarksmith_gauge_loops loops = initial(quarksmith_gauge_loops_init);
  std::fill_n(loops.planes, 6, 1.0);
  const double before = action_of(dynamics, loops);
  Gauge start, other;
  EXPECT_DONE(quarksmith_dynamics_gauge(dynamics, start.out()));
  EXPECT_DONE(quarksmith_dynamics_draw(dynamics, 3, 1));
  const Numbers p = get_momenta(dynamics);
  EXPECT_NEAR(kinetic_of(dynamics), 16 * dynamics_sites, 5 * std::sqrt(16.0 * dynamics_sites));
  const double boundary[4] = {0, 0, 0, 1};
  EXPECT_DONE(quarksmith_gauge_unit(context, boundary, other.out()));
  EXPECT_DONE(quarksmith_dynamics_use(dynamics, other));
  EXPECT_NEAR(action_of(dynamics, loops), -6.0 * dynamics_sites, 1e-9);
  Gauge unit;
  double phase[4];
  EXPECT_DONE(quarksmith_dynamics_gauge(dynamics, unit.out()));
  EXPECT_DONE(quarksmith_gauge_phase(unit, phase));
  EXPECT_EQ(phase[3], 1);
  EXPECT_DONE(quarksmith_dynamics_use(dynamics, start));
  EXPECT_NEAR(action_of(dynamics, loops) / before, 1, 1e-14);
  EXPECT_EQ(get_momenta(dynamics), p);
  EXPECT_DONE(quarksmith_dynamics_draw(dynamics, 3, 2));
  EXPECT_NEAR(std::abs(get_momenta(dynamics)[1] / p[1]), 2, 1e-14);
  EXPECT_DONE(quarksmith_dynamics_draw(dynamics, 3, 0));
  EXPECT_EQ(kinetic_of(dynamics), 0);
  const int paths[3][4] = {{0, 1, 7, 6}, {1, 0, 6, 7}, {6, 0, 1, 7}}, lengths[] = {4, 4, 4};
  const int* const all[] = {paths[0], paths[1], paths[2]};
  double traces[6];
  EXPECT_DONE(quarksmith_gauge_traces(start, 3, all, lengths, traces));
  quarksmith_gauge_loops one = initial(quarksmith_gauge_loops_init);
  one.planes[0] = 1;
  const double plaquettes = -action_of(dynamics, one) / dynamics_sites;
  for (int n = 0; n < 3; ++n) EXPECT_NEAR(traces[2 * n], plaquettes, 1e-13);
  const int wrong[] = {0, 8}, *const steps = wrong, two = 2;
  refused(quarksmith_gauge_traces(start, 1, &steps, &two, traces), QUARKSMITH_BAD_ARGUMENT, "step 8");
}

/// Finite numbers whose products are not: refused, and the momenta stay.
TEST_P(CDynamics, OverflowsAreRefused) {
  const quarksmith_status bad_data = QUARKSMITH_BAD_DATA;
  const Quark quark = make_quark("mass=0.5");
  const std::vector<Numbers> huge = {Numbers(12 * dynamics_sites, 1e160)};
  const double weight = 0.5;
  double value = 7;
  quarksmith_gauge_loops loops = initial(quarksmith_gauge_loops_init);
  std::fill_n(loops.planes, 6, 1.0);
  EXPECT_DONE(quarksmith_gauge_force(dynamics, &loops, 1));
  const double before = kinetic_of(dynamics);
  refused(quarksmith_dynamics_drift(dynamics, 1e300), bad_data, "step 1e+300");
  refused(quarksmith_gauge_force(dynamics, &loops, 1e300), bad_data, "momenta stay");
  loops.planes[0] = 1e308;
  refused(quarksmith_gauge_action(dynamics, &loops, &value), bad_data, "not finite");
  refused(quarksmith_quark_outer(quark, 1, inputs(huge).data(), inputs(huge).data(), &weight, &spinors, 1), bad_data,
          "momenta stay");
  EXPECT_GT(before, 0);
  EXPECT_EQ(kinetic_of(dynamics), before);
  EXPECT_EQ(value, 7);
}

TEST_P(CDynamics, WrongArgumentsAreRefused) {
  const quarksmith_status bad_argument = QUARKSMITH_BAD_ARGUMENT, bad_data = QUARKSMITH_BAD_DATA;
  double value = 7;
  quarksmith_gauge_loops loops = initial(quarksmith_gauge_loops_init);
  loops.rectangle = 1, loops.planes[3] = 2;
  refused(quarksmith_gauge_action(dynamics, &loops, &value), bad_argument, "planes");
  loops.planes[3] = 0, loops.rectangles[5][1] = 3;
  refused(quarksmith_gauge_force(dynamics, &loops, 1), bad_argument, "rectangles[5][1]");
  loops.constant = 2, loops.rectangle = 0;
  refused(quarksmith_gauge_force(dynamics, &loops, 1), bad_argument, "constant 2");
  refused(quarksmith_dynamics_drift(dynamics, NAN), bad_argument, "step nan");
  // Links are no momenta; momenta are no links.
  const Numbers sound = numbers_of(links);
  Numbers wrong(sound.size());
  const void *array = sound.data(), *other = wrong.data();
  refused(quarksmith_dynamics_set_momenta(dynamics, &array, &format), bad_data, "anti-Hermitian");
  wrong[77] = NAN;
  refused(quarksmith_dynamics_set_momenta(dynamics, &other, &format), bad_data, "momenta");
  wrong = sound;  // a sign in time that the first links did not have
  for (std::size_t n = 3 * dynamics_sites / 4; n < dynamics_sites; ++n)
    for (int i = 27; i < 36; ++i) wrong[36 * n + std::size_t(i)] *= -1;
  refused(set_links(wrong), bad_data, "phases");
  wrong = sound;
  wrong[40] *= 1.01;
  refused(set_links(wrong), bad_data, "SU(3)");
  const Quark quark = make_quark("mass=0.5"), staggered = make_quark("action=staggered mass=0.5");
  const std::vector<Numbers> psi = {random_numbers(12 * dynamics_sites, 1)};
  std::vector<Numbers> out = psi;
  const auto in = inputs(psi);
  const double half = 0.5, minus = -1;
  quarksmith_rational r = initial(quarksmith_rational_init);
  r.count = 1, r.residues = &half, r.poles = &minus;
  refused(quarksmith_quark_action(quark, &r, 1, in.data(), &spinors, &value), bad_argument, "pole -1");
  r.poles = nullptr;
  refused(quarksmith_quark_force(quark, &r, 1, in.data(), &spinors, 1), bad_argument, "poles");
  r.count = 0;
  refused(quarksmith_quark_action(quark, &r, 0, in.data(), &spinors, &value), bad_argument, "0 vectors");
  refused(quarksmith_quark_outer(quark, 1, in.data(), nullptr, &half, &spinors, 1), bad_argument, "y is NULL");
  refused(quarksmith_quark_outer(staggered, 1, in.data(), in.data(), &half, &spinors, 1), bad_argument,
          "y of staggered");
  refused(quarksmith_quark_matrix(staggered, 0, 1, outputs(out).data(), in.data(), &spinors), bad_argument,
          "staggered quarks");
  EXPECT_EQ(value, 7);
}

ON_DEVICES_BY_NAME(CDynamics);

}  // namespace

int print_dynamics(const char* path) {
  const Context context = c::open("cpu", dynamics_extent);
  Gauge gauge;
  Dynamics d;
  Quark quark;
  quarksmith_gauge_loops loops = initial(quarksmith_gauge_loops_init);
  EXPECT_DONE(quarksmith_gauge_read(context, path, gauge.out()));
  EXPECT_DONE(quarksmith_dynamics_create(gauge, d.out()));
  std::fill_n(loops.planes, 6, 2.2 * (1 + 8 * 0.331));
  loops.rectangle = -2.2 * 0.331, loops.constant = 1;
  const char* clover = "action=clover kappa=0.13 csw=1.5 even-odd=asymmetric stout-rho=0.1 stout-steps=2";
  EXPECT_DONE(quarksmith_quark_create(d, clover, quark.out()));
  EXPECT_DONE(quarksmith_gauge_force(d, &loops, 1));
  fmt::print("gauge {:.17g} {:.17g}\n", action_of(d, loops), kinetic_of(d));
  set_momenta(d, Numbers(36 * dynamics_sites));
  EXPECT_DONE(quarksmith_quark_log_det_force(quark, 2, 1));
  fmt::print("clover {:.17g} {:.17g}\n", log_det_of(quark), kinetic_of(d));
  return 0;
}
