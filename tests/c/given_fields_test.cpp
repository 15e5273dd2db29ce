// Fields of the caller in place of those that the library makes: fat and long links, a clover term and its inverse.
#include <quda_milc_interface.h>

#include <numbers>

#include "tests/c/support.hpp"

namespace {

using namespace c;

constexpr int milc_eta[4] = {3, 0, 1, 2};

/// Links that are neither unitary nor smooth.
HostGauge any_links(const Lattice& lattice, double size, unsigned seed) {
  HostGauge u(lattice);
  const Numbers numbers = random_numbers(36 * u.site.size(), seed);
  for (std::size_t n = 0; n < numbers.size(); ++n) u.site.at(0)[n] = size * numbers[n];
  return u;
}

/// Arrays of links with the phases of the MILC collaboration: eta with t first, a sign where hops of this length leave
/// the lattice in time.
std::vector<Numbers> milc_arrays(const HostGauge& u, int length, const quarksmith_link_format& f, std::size_t each) {
  const bool apart = f.order == QUARKSMITH_DIRECTION_MAJOR;
  std::vector<Numbers> arrays(4, Numbers(each * u.site.size()));
  for (long long site = 0; site < u.lattice.sites(); ++site) {
    const Coordinates x = u.lattice.coordinates(site);
    const int exponent[] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], x[3] + length >= u.lattice.extent(3)};
    const std::size_t at = each * std::size_t(place_of(u.lattice, site, f.sites, f.axes));
    for (int mu = 0; mu < 4; ++mu)
      for (int n = 0; n < 9; ++n)
        arrays[apart ? mu : 0][at + (apart ? 0u : 9u * unsigned(mu)) + unsigned(n)] =
            (exponent[mu] % 2 == 0 ? 1.0 : -1.0) * u.link(site, mu)[n];
  }
  return arrays;
}

class CFatAndLong : public OnDevice {
 protected:
  /// Operators of these links, by the dense reference.
  static dense::DenseAction reference_of(const HostGauge& fat, const HostGauge& longs) {
    const Action asqtad("asqtad", {{"mass", 0.1}, {"u0", 1}}, {1, 1, 1, -1});
    return {dense::with_links(asqtad, {fat, longs}), fat, longs};
  }
  Gauge gauge_of(const HostGauge& fat, const HostGauge& longs, const quarksmith_link_format& f, std::size_t each) {
    Gauge gauge;
    const double antiperiodic[] = {0, 0, 0, 1};
    EXPECT_DONE(quarksmith_gauge_unit(context, antiperiodic, gauge.out()));
    for (const auto& [name, links, length] : {std::tuple("f", &fat, 1), {"l", &longs, 3}})
      EXPECT_DONE(quarksmith_gauge_links(gauge, name, length, inputs(milc_arrays(*links, length, f, each)).data(), &f));
    return gauge;
  }
  quarksmith_link_format milc() const {
    quarksmith_link_format f = link_format();
    f.sites = QUARKSMITH_EVEN_ODD;
    std::copy_n(milc_eta, 4, f.eta);
    f.boundary[3] = 1;
    return f;
  }
  HostSpinor spinor(const Numbers& colours) const {
    HostSpinor psi(lattice);
    for (std::size_t x = 0; x < psi.site.size(); ++x) std::copy_n(&colours[3 * x], 3, psi.site.at(x));
    return psi;
  }
  Numbers colours(const HostSpinor& psi) const {
    Numbers all;
    for (std::size_t x = 0; x < psi.site.size(); ++x) all.insert(all.end(), psi.site.at(x), psi.site.at(x) + 3);
    return all;
  }

  Lattice lattice{{4, 4, 6, 8}};
  Context context = open(GetParam(), lattice.extent());
  HostGauge fat = any_links(lattice, 0.5, 1), longs = any_links(lattice, 0.1, 2);
  quarksmith_spinor_format format = spinor_format();
  std::string how = "action=improved-staggered mass=+0.1 field=fat=f field=long=l ";
  Numbers b = random_numbers(3 * std::size_t(lattice.sites()), 3);
};

TEST_P(CFatAndLong, LinksAreThoseOfTheOperator) {
  const dense::DenseAction dense = reference_of(fat, longs);
  for (int n = 0; n < 4; ++n) {
    quarksmith_link_format f = milc();
    f.order = n % 2;
    f.sites = n / 2;
    if (n == 1) std::reverse(f.axes, f.axes + 4);
    const std::size_t each = (n % 2 == 0 ? 36 : 9) + 3 * unsigned(n / 2);
    f.stride = each * sizeof(Complex64);
    const Gauge gauge = gauge_of(fat, longs, f, each);
    const Operator op = make_operator(gauge, how);
    for (const int dagger : {0, 1}) {
      std::vector<Numbers> out(1, Numbers(b.size()));
      EXPECT_DONE(quarksmith_matrix_host(op, dagger, 1, outputs(out).data(), inputs({b}).data(), &format));
      EXPECT_LE(distance(out[0], colours(dense.matrix(spinor(b), dagger != 0))), 1e-14) << n;
      for (const Parity parity : {Parity::even, Parity::odd}) {
        std::vector<Numbers> hopped(1, Numbers(b.size()));
        EXPECT_DONE(
            quarksmith_dslash_host(op, int(parity), dagger, 1, outputs(hopped).data(), inputs({b}).data(), &format));
        EXPECT_LE(distance(hopped[0], colours(dense::half(dense.hop({spinor(b)}, dagger != 0), parity)[0])), 1e-14);
      }
    }
    // They come back from the handle's own links alone: those of fields are not its links.
    double plaquette[3];
    EXPECT_DONE(quarksmith_gauge_plaquette(gauge, plaquette));
    EXPECT_EQ(plaquette[0], 1);
  }
}

TEST_P(CFatAndLong, LinksAreSolvedWith) {
  const quarksmith_link_format f = milc();
  HostGauge naik = hot_gauge(lattice, 5);  // a number times U(3), of which the default storage has 13 reals
  for (auto& site : naik.site)
    for (Matrix3& u : site)
      for (Complex64& z : u) z *= std::polar(-1.0 / 24, 0.4);
  HostGauge none(lattice);  // the long term is off
  for (const HostGauge* far : {&longs, &naik, &none}) {
    const dense::DenseAction dense = reference_of(fat, *far);
    const Gauge gauge = gauge_of(fat, *far, f, 36);
    std::vector<std::string> more = {""};
    if (far == &naik) more.emplace_back("precision=double-single");
    for (const std::string& settings : more) {
      SCOPED_TRACE(settings);
      const Solved s = solve(make_solver(gauge, how + settings), {b});
      EXPECT_EQ(s.status, QUARKSMITH_OK) << quarksmith_message();
      EXPECT_LE(distance(colours(dense.matrix(spinor(s.x[0]))), b), 1.1e-10);
      Handle<quarksmith_shifted> shifted;
      const double shifts[] = {0, 0.02, 0.5};
      const Parity parity = far == &naik ? Parity::odd : Parity::even;
      const std::string on = how + settings + (far == &naik ? " parity=odd" : "");
      EXPECT_DONE(quarksmith_shifted_create(gauge, on.c_str(), 3, shifted.out()));
      std::vector<Numbers> x(3, Numbers(b.size()));
      std::vector<quarksmith_solve_report> reports(3, initial(quarksmith_solve_report_init));
      EXPECT_DONE(quarksmith_shifted_solve(shifted, 3, shifts, outputs(x).data(), b.data(), &format, reports.data()));
      const Numbers even = colours(dense::half({spinor(b)}, parity)[0]);
      for (int k = 0; k < 3; ++k) {
        const HostSpinor psi = spinor(x[k]), image = dense.matrix(dense.matrix(psi), true);
        EXPECT_LE(distance(colours(reference::combine(1, image, shifts[k], psi)), even), 1.1e-10) << k;
        EXPECT_LE(reports[k].residual, 1e-10);
      }
    }
  }
  Operator op;
  const Gauge gauge = gauge_of(fat, longs, f, 36);
  const auto refuse = [&](const std::string& options, quarksmith_status status, const std::string& text) {
    refused(quarksmith_operator_create(gauge, options.c_str(), op.out()), status, text);
  };
  refuse(how + "reconstruct=13", QUARKSMITH_BAD_DATA, "r13");
  refuse("action=improved-staggered mass=0.1 field=fat=f", QUARKSMITH_BAD_ARGUMENT, "long");
  refuse("action=improved-staggered mass=0.1 field=fat=l field=long=l", QUARKSMITH_BAD_ARGUMENT, "length 1");
  refuse("action=improved-staggered mass=0.1 field=fat=f field=long=f", QUARKSMITH_BAD_ARGUMENT, "length 3");
  refused(quarksmith_gauge_links(gauge, "f", 2, inputs(milc_arrays(fat, 1, f, 36)).data(), &f), QUARKSMITH_BAD_ARGUMENT,
          "length 2");
  quarksmith_link_format far = f;
  far.stride = std::size_t(1) << 63;
  refused(quarksmith_gauge_links(gauge, "f", 1, inputs(milc_arrays(fat, 1, f, 36)).data(), &far),
          QUARKSMITH_BAD_ARGUMENT, "stride");
  std::vector<Numbers> flawed = milc_arrays(fat, 1, f, 36);
  flawed[0][40] = std::nan("");
  refused(quarksmith_gauge_links(gauge, "f", 1, inputs(flawed).data(), &f), QUARKSMITH_BAD_DATA, "site");
}

ON_DEVICES_BY_NAME(CFatAndLong);

/// An order of site terms, which lists (row, column) as codes write them.
struct TermOrder {
  const char* name;
  int order, index;
};
const TermOrder term_orders[] = {{"QDP++", QUARKSMITH_ROWS, QUARKSMITH_SPIN_COLOUR},
                                 {"QUDA", QUARKSMITH_COLUMNS, QUARKSMITH_SPIN_COLOUR},
                                 {"QOPQDP", QUARKSMITH_COLUMNS, QUARKSMITH_COLOUR_SPIN}};

/// The matrices of an action's site term, or its inverse, from the dense reference: [site][row][column].
std::vector<Numbers> site_matrices(const dense::DenseAction& dense, const Lattice& lattice, bool inverse) {
  std::vector<Numbers> all(std::size_t(lattice.sites()), Numbers(144));
  for (int column = 0; column < 12; ++column) {
    HostSpinor unit(lattice);
    for (HostSite& site : unit.site) site[std::size_t(column)] = 1;
    const HostSpinor image = (inverse ? dense.divide({unit}) : dense.multiply({unit}))[0];
    for (std::size_t x = 0; x < all.size(); ++x)
      for (int row = 0; row < 12; ++row) all[x][std::size_t(12 * row + column)] = image.site.at(x)[row];
  }
  return all;
}

class CTerms : public OnDevice {
 protected:
  std::vector<double> reals(bool inverse, const TermOrder& order, const quarksmith_term_format& f, std::size_t each) {
    const std::vector<Numbers> matrices = site_matrices(dense, links.lattice, inverse);
    std::vector<double> all(each * matrices.size(), 7);
    for (std::size_t x = 0; x < matrices.size(); ++x) {
      const auto element = [&](int block, int i, int j) {
        const auto own = [&](int k) { return order.index == QUARKSMITH_COLOUR_SPIN ? 3 * (k % 2) + k / 2 : k; };
        return matrices[x][std::size_t(12 * (6 * block + own(i)) + 6 * block + own(j))];
      };
      std::vector<double> numbers;
      const auto diagonal = [&](int block) {
        for (int i = 0; i < 6; ++i) numbers.push_back(element(block, i, i).real());
      };
      const auto below = [&](int block, int i, int j) {
        numbers.push_back(element(block, i, j).real());
        numbers.push_back(element(block, i, j).imag());
      };
      if (order.order == QUARKSMITH_ROWS) {
        for (int block : {0, 1}) diagonal(block);
        for (int block : {0, 1})
          for (int i = 1; i < 6; ++i)
            for (int j = 0; j < i; ++j) below(block, i, j);
      } else {
        for (int block : {0, 1}) {
          diagonal(block);
          for (int j = 0; j < 6; ++j)
            for (int i = j + 1; i < 6; ++i) below(block, i, j);
        }
      }
      const double scale = inverse ? f.scale : 1 / f.scale;
      const int at = place_of(links.lattice, (long long)x, f.sites, f.axes);
      for (std::size_t n = 0; n < 72; ++n) all[each * std::size_t(at) + n] = scale * numbers[n];
    }
    return all;
  }
  Gauge with_term(const TermOrder& order, int n) {
    Gauge gauge = load(context, links);
    quarksmith_term_format f = initial(quarksmith_term_format_init);
    f.order = order.order, f.index = order.index;
    f.sites = n % 2;
    if (n == 1) f.scale = 3.7;
    const std::size_t each = n == 2 ? 75 : 72;
    if (n == 2) f.stride = each * sizeof(double);
    const std::vector<double> term = reals(false, order, f, each), inverse = reals(true, order, f, each);
    std::vector<float> floats(term.begin(), term.end());
    if (n == 0) {
      f.precision = QUARKSMITH_SINGLE;
      EXPECT_DONE(quarksmith_gauge_term(gauge, "S", floats.data(), nullptr, &f));
      f.precision = QUARKSMITH_DOUBLE;
    }
    EXPECT_DONE(quarksmith_gauge_term(gauge, "A", term.data(), n == 1 ? nullptr : inverse.data(), &f));
    refused(quarksmith_gauge_term(gauge, "A", term.data(), term.data(), &f), QUARKSMITH_BAD_DATA, "inverse");
    quarksmith_term_format far = f;
    far.scale = 1e300;
    refused(quarksmith_gauge_term(gauge, "A", term.data(), nullptr, &far), QUARKSMITH_BAD_ARGUMENT, "scale");
    return gauge;
  }
  Numbers matrix(const dense::DenseAction& d, const Numbers& x, bool dagger = false) const {
    return numbers_of(d.matrix(spinor_of(x, links.lattice), dagger));
  }

  HostGauge links = weak_gauge(Lattice({4, 4, 2, 6}), 0.4, 5);
  dense::DenseAction dense{dense::wilson(-0.1, 1.3), links};
  Context context = open(GetParam(), links.lattice.extent());
  quarksmith_spinor_format format = spinor_format();
  Numbers psi = random_numbers(12 * links.site.size(), 6);
  std::string how = "action=wilson mass=-4 field=term=A ";
};

TEST_P(CTerms, StandInThePlaceOfTheCloverTerm) {
  for (int n = 0; n < 3; ++n) {
    SCOPED_TRACE(term_orders[n].name);
    const Gauge gauge = with_term(term_orders[n], n);
    const Operator op = make_operator(gauge, how);
    std::vector<Numbers> out(1, Numbers(psi.size()));
    for (const int dagger : {0, 1}) {
      EXPECT_DONE(quarksmith_matrix_host(op, dagger, 1, outputs(out).data(), inputs({psi}).data(), &format));
      EXPECT_LE(distance(out[0], matrix(dense, psi, dagger != 0)), 1e-14);
    }
    double expected[2] = {0, 0}, found = 0;
    dense.divide({spinor_of(psi, links.lattice)}, false, expected);
    for (const int parity : {0, 1}) {
      EXPECT_DONE(quarksmith_term_log_det(op, parity, &found));
      EXPECT_NEAR(found / expected[parity], 1, 1e-12);
    }
    if (n > 0) continue;
    const Operator single = make_operator(gauge, "action=wilson mass=-4 field=term=S");
    EXPECT_DONE(quarksmith_matrix_host(single, 0, 1, outputs(out).data(), inputs({psi}).data(), &format));
    EXPECT_LE(distance(out[0], matrix(dense, psi)), 1e-7);
    EXPECT_GE(distance(out[0], matrix(dense, psi)), 1e-10);
  }
}

TEST_P(CTerms, ServeSolversAndEvenOddForms) {
  const Gauge gauge = with_term(term_orders[1], 2);
  for (const char* more : {"", "even-odd=asymmetric", "even-odd=none", "precision=double-half", "solver=cg"}) {
    const Solved s = solve(make_solver(gauge, how + more), {psi});
    EXPECT_EQ(s.status, QUARKSMITH_OK) << more << quarksmith_message();
    EXPECT_LE(distance(matrix(dense, s.x[0]), psi), 1.1e-10) << more;
  }
  const dense::Vectors even = dense::half({spinor_of(psi, links.lattice)}, Parity::even);
  for (const auto& [name, form] :
       {std::pair("symmetric", EvenOddForm::symmetric), {"asymmetric", EvenOddForm::asymmetric}}) {
    const Operator op = make_operator(gauge, how + "even-odd=" + name);
    std::vector<Numbers> out(1, Numbers(psi.size()));
    EXPECT_DONE(quarksmith_matrix_host(op, 1, 1, outputs(out).data(), inputs({psi}).data(), &format));
    EXPECT_LE(distance(out[0], numbers_of(dense.even_odd(even, form, true)[0])), 1e-14);
  }
  Handle<quarksmith_shifted> shifted;
  const double shift = 0.2;
  EXPECT_DONE(quarksmith_shifted_create(gauge, (how + "even-odd=none").c_str(), 1, shifted.out()));
  std::vector<Numbers> x(1, Numbers(psi.size()));
  EXPECT_DONE(quarksmith_shifted_solve(shifted, 1, &shift, outputs(x).data(), psi.data(), &format, nullptr));
  Numbers image = matrix(dense, matrix(dense, x[0]), true);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] += shift * x[0][k];
  EXPECT_LE(distance(image, psi), 1.1e-10);
}

/// A term is added to that of the action: a twisted mass, or part of it.
TEST_P(CTerms, AreAddedToTheActionsOwn) {
  const Gauge gauge = with_term(term_orders[0], 2);
  const dense::DenseAction twisted(
      Action("twisted_clover", {{"mass", -0.1}, {"mu", 0.3}, {"csw_r", 1.3}, {"csw_t", 1.3}}), links);
  const Solved s = solve(make_solver(gauge, "action=twisted-clover mass=-4 mu=0.3 csw=0 field=term=A"), {psi});
  EXPECT_EQ(s.status, QUARKSMITH_OK) << quarksmith_message();
  EXPECT_LE(distance(matrix(twisted, s.x[0]), psi), 1.1e-10);
  const dense::DenseAction none(dense::wilson(-0.1), links);  // with csw = -1.3 the mass is left
  std::vector<Numbers> out(1, Numbers(psi.size()));
  EXPECT_DONE(quarksmith_matrix_host(make_operator(gauge, "action=clover mass=-4 csw=-1.3 field=term=A"), 0, 1,
                                     outputs(out).data(), inputs({psi}).data(), &format));
  EXPECT_LE(distance(out[0], matrix(none, psi)), 1e-14);
  // It does not depend on the links: a force of a quark without clover term has no part of it.
  Handle<quarksmith_dynamics> dynamics;
  Handle<quarksmith_quark> quark;
  EXPECT_DONE(quarksmith_dynamics_create(gauge, dynamics.out()));
  EXPECT_DONE(quarksmith_quark_create(dynamics, how.c_str(), quark.out()));
  double energy = -1;
  EXPECT_DONE(quarksmith_quark_log_det_force(quark, 2, 0.1));
  EXPECT_DONE(quarksmith_dynamics_kinetic(dynamics, &energy));
  EXPECT_EQ(energy, 0);
  Operator op;
  const auto refuse = [&](const std::string& options) {
    refused(quarksmith_operator_create(gauge, options.c_str(), op.out()), QUARKSMITH_BAD_ARGUMENT, "term");
  };
  refuse("action=twisted-mass mass=0.1 mu=0.1 field=term=A");
  refuse("action=moebius mass=0.1 m5=1.4 ls=4 field=term=A");
  refuse("action=staggered mass=0.1 field=term=A");
}

/// The solve of MILC's clover quarks, whose term stands beside 1 - kappa D.
TEST_P(CTerms, ServeTheCloverSolveOfMilc) {
  if (GetParam() != std::string("cpu")) return;  // the device is chosen by itself there
  constexpr double kappa = 0.124;
  const Lattice& lattice = links.lattice;
  int extent[4], grid[] = {1, 1, 1, 1};
  std::copy_n(lattice.extent().begin(), 4, extent);
  qudaInit({QUDA_SILENT, {extent, grid, 0}});
  quarksmith_term_format f = initial(quarksmith_term_format_init);
  f.scale = 1 / (2 * kappa), f.sites = QUARKSMITH_EVEN_ODD;
  std::vector<double> term = reals(false, term_orders[1], f, 72), inverse = reals(true, term_orders[1], f, 72);
  Numbers u(36 * links.site.size()), b(psi.size()), x(psi.size());
  for (long long n = 0; n < lattice.sites(); ++n) {
    const auto at = std::size_t(place_of(lattice, n, f.sites, f.axes));
    for (int mu = 0; mu < 4; ++mu)
      for (int k = 0; k < 9; ++k)
        u[36 * at + 9 * unsigned(mu) + unsigned(k)] =
            (mu == 3 && lattice.coordinates(n)[3] == lattice.extent(3) - 1 ? -1.0 : 1.0) * links.link(n, mu)[k];
    std::copy_n(&psi[std::size_t(12 * n)], 12, &b[12 * at]);
  }
  for (const QudaInverterType method : {QUDA_BICGSTAB_INVERTER, QUDA_CG_INVERTER}) {
    QudaInvertArgs_t args = {};
    args.max_iter = 1000, args.solver_type = method, args.mixed_precision = method == QUDA_CG_INVERTER ? 1 : 0;
    double final = 1, heavy = 1;
    int count = 0;
    x = b;  // may be one array
    qudaCloverInvert(2, 2, kappa, 0.2, args, 1e-9, 0, u.data(), term.data(), inverse.data(), x.data(), x.data(), &final,
                     &heavy, &count);
    Numbers ordered(psi.size());
    for (long long n = 0; n < lattice.sites(); ++n)
      std::copy_n(&x[12 * std::size_t(place_of(lattice, n, f.sites, f.axes))], 12, &ordered[std::size_t(12 * n)]);
    Numbers image = matrix(dense, ordered);
    for (Complex64& z : image) z *= 2 * kappa;
    EXPECT_LE(distance(image, psi), 1.1e-9);
    EXPECT_LE(final, 1e-9);
    EXPECT_GT(count, 3);
  }
  qudaFinalize();
}

ON_DEVICES_BY_NAME(CTerms);

}  // namespace
