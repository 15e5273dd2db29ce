// Other numbers of colours than three: Dirac operators, representations and their forces, heat bath, molecular
// dynamics.
#include <cmath>
#include <random>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/gauge/gradient_flow.hpp"
#include "solvers/gauge/heatbath.hpp"
#include "solvers/hmc/fermion_force.hpp"
#include "solvers/hmc/fermion_monomials.hpp"
#include "solvers/hmc/hmc.hpp"
#include "solvers/links/representation.hpp"
#include "tests/slope.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using Dense = std::vector<Complex64>;  // row by row

Dense product(const Dense& a, const Dense& b, int n) {
  Dense c(a.size());
  multiply(a.data(), b.data(), c.data(), n);
  return c;
}
Dense link(const HostGauge& u, long long x, int mu) { return {u.link(x, mu).begin(), u.link(x, mu).end()}; }
double distance(const Dense& a, const Dense& b) {
  double most = 0;
  for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, std::abs(a[n] - b[n]));
  return most;
}

const PrecisionInfo& in_double() { return find_precision("double"); }
LinkField on_device(const HostGauge& u, const std::shared_ptr<Device>& device) {
  return upload(u, std::make_shared<Domain>(u.lattice, device), in_double(), full_storage(u.colours()));
}

/// M psi, M = 4 + m - D/2 or its conjugate, antiperiodic in time: each element of each matrix by its definition.
HostSpinor reference(const HostGauge& u, const HostSpinor& psi, double mass, Dagger dagger) {
  const int n = u.colours();
  const Lattice& lattice = u.lattice;
  HostSpinor out(lattice, n);
  for (long long x = 0; x < lattice.sites(); ++x)
    for (int r = 0; r < 4; ++r)
      for (int a = 0; a < n; ++a) {
        Complex64 sum = (4 + mass) * psi.site.at(x)[n * r + a];
        for (int mu = 0; mu < directions; ++mu)
          for (const int step : {1, -1}) {
            const long long y = lattice.neighbour(x, mu, step), from = step > 0 ? x : y;
            const int t = lattice.coordinates(x)[3], last = lattice.extent(3) - 1;
            const double phase = mu == 3 && t == (step > 0 ? last : 0) ? -1 : 1;
            const double sign = (step > 0) == (dagger == Dagger::no) ? -1 : 1;  // of gamma_mu
            for (int s = 0; s < 4; ++s) {
              const double* g = find_basis("degrand_rossi").gamma[mu] + 2 * (4 * r + s);
              const Complex64 spin = Complex64(r == s) + sign * Complex64(g[0], g[1]);
              for (int b = 0; b < n; ++b) {
                const auto v = u.link(from, mu);
                const Complex64 element = step > 0 ? v[n * a + b] : std::conj(v[n * b + a]);
                sum -= 0.5 * phase * spin * element * psi.site.at(y)[n * s + b];
              }
            }
          }
        out.site.at(x)[n * r + a] = sum;
      }
  return out;
}

TEST(Colours, WilsonOperatorsAreThoseOfTheirDefinition) {
  for (const int n : {2, 4})
    for (const auto& device : support::devices()) {
      const HostGauge u = hot_gauge(Lattice({4, 6, 4, 4}), 5, n);
      const auto domain = std::make_shared<Domain>(u.lattice, device);
      const auto storage = std::string(full_storage(n).name);
      const auto dirac = Action("wilson", {{"mass", 0.2}}, {1, 1, 1, -1})
                             .make(LinkStore(u, domain, storage, "non_relativistic"), in_double());
      const BasisInfo& basis = find_basis("non_relativistic");
      SpinorField in = dirac->matrix().field(), out = in.like();
      EXPECT_EQ(in.colours(), n);
      GaussianNoise(7, 1).pseudofermion("", 0, in, basis);
      HostSpinor psi(u.lattice, n), found = psi;
      download(in, psi, basis);
      for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
        dirac->matrix().apply(out, in, dagger);
        download(out, found, basis);
        const HostSpinor expected = reference(u, psi, 0.2, dagger);
        double most = 0;
        for (long long x = 0; x < u.lattice.sites(); ++x)
          for (int k = 0; k < 4 * n; ++k) most = std::max(most, std::abs(found.site.at(x)[k] - expected.site.at(x)[k]));
        EXPECT_LT(most, 2e-14) << n << " colours";
      }
    }
}

TEST(Colours, FieldsSayHowManyTheyHave) {
  const HostGauge u = hot_gauge(Lattice({4, 4, 4, 4}), 5, 2);
  EXPECT_LT(check_unitarity(u).determinant, 1e-14);
  EXPECT_THROW(u.site[0], UsageError);
  EXPECT_EQ(default_links(u), "c2r4");
  const auto domain = std::make_shared<Domain>(u.lattice, Device::cpu());
  EXPECT_THROW(upload(u, domain, in_double(), find_storage("r18")), UsageError);
  EXPECT_THROW(represented(std::make_shared<LinkField>(on_device(hot_gauge(u.lattice, 1, 5), Device::cpu())),
                           Representation::adjoint),
               UsageError);
  EXPECT_EQ(gauge_averages(unit_gauge(u.lattice, 4), domain).plaquette, 1);
}

/// What the maps of representations have to be, for links of two fields and their products.
void expect_representation(Representation r, int n, const std::function<void(const Dense&, int)>& look) {
  for (const auto& device : support::devices()) {
    const Lattice lattice({4, 4, 4, 4});
    const HostGauge u = hot_gauge(lattice, 1, n), v = hot_gauge(lattice, 2, n);
    HostGauge uv(lattice, n);
    for (long long x = 0; x < lattice.sites(); ++x)
      for (int mu = 0; mu < directions; ++mu)
        multiply(u.link(x, mu).data(), v.link(x, mu).data(), uv.link(x, mu).data(), n);
    const auto in = [&](const HostGauge& g) {
      return download(*represented(std::make_shared<LinkField>(on_device(g, device)), r));
    };
    const HostGauge ru = in(u), rv = in(v), ruv = in(uv);
    const int d = dimension(r, n);
    EXPECT_EQ(ru.colours(), d);
    EXPECT_LT(check_unitarity(ru).unitary, 1e-14);
    EXPECT_LT(check_unitarity(ru).determinant, 1e-13);
    for (long long x = 0; x < lattice.sites(); x += 7)
      for (int mu = 0; mu < directions; ++mu) {
        EXPECT_LT(distance(product(link(ru, x, mu), link(rv, x, mu), d), link(ruv, x, mu)), 1e-14);
        look(link(ru, x, mu), d);
      }
  }
}

TEST(Colours, TheAdjointRepresentationIsReal) {
  expect_representation(Representation::adjoint, 2, [](const Dense& r, int) {
    for (const Complex64& z : r) EXPECT_EQ(z.imag(), 0);
  });
}

TEST(Colours, AntisymmetricTensorsOfSu4AreVectorsOfSo6) {
  // The dual of a tensor, epsilon_ijkl t_kl / 2 conjugate, commutes with R: its eigenvectors are a real basis. Pairs in
  // their order: 01, 02, 12, 03, 13, 23.
  const int dual[6] = {5, 4, 3, 2, 1, 0}, sign[6] = {1, -1, 1, 1, -1, 1};
  Dense basis(36);
  for (int a = 0; a < 3; ++a) {
    basis[6 * a + a] = basis[6 * dual[a] + a] = std::sqrt(0.5);
    basis[6 * dual[a] + a] *= sign[a];
    basis[6 * a + 5 - a] = Complex64(0, std::sqrt(0.5));
    basis[6 * dual[a] + 5 - a] = Complex64(0, -sign[a] * std::sqrt(0.5));
  }
  Dense conjugate(36);
  for (int i = 0; i < 36; ++i) conjugate[i] = std::conj(basis[6 * (i % 6) + i / 6]);
  expect_representation(Representation::antisymmetric, 4, [&](const Dense& r, int d) {
    ASSERT_EQ(d, 6);
    for (const Complex64& z : product(conjugate, product(r, basis, 6), 6)) EXPECT_LT(std::abs(z.imag()), 1e-14);
  });
}

/// S = -2 Re chi^+ M psi for given psi and chi.
class Bilinear final : public Monomial {
 public:
  explicit Bilinear(const FermionParameters& p) : Monomial("bilinear"), operator_(p, {}) {}
  void refresh(Noise&, int, const EvolvingLinks&) override {}
  double action(const EvolvingLinks& links) override {
    draw(links);
    SpinorField y = psi_->like();
    operator_.matrix().apply(y, *psi_, Dagger::no);
    HostSpinor a(y.domain().lattice(), y.colours()), b = a;
    download(*chi_, a, find_basis("non_relativistic"));
    download(y, b, find_basis("non_relativistic"));
    double sum = 0;
    for (std::size_t x = 0; x < a.site.size(); ++x)
      for (std::size_t k = 0; k < a.site.each(); ++k) sum -= 2 * (std::conj(a.site.at(x)[k]) * b.site.at(x)[k]).real();
    return sum;
  }
  void force(const EvolvingLinks& links, double step, LinkField& out) override {
    draw(links);
    FermionForce sum(operator_, links);
    operator_.add_force(sum, *psi_, *chi_, 1);
    sum.finish(out, step);
  }

 private:
  void draw(const EvolvingLinks& links) {
    operator_.follow(links);
    if (psi_) return;
    psi_.emplace(operator_.field());
    chi_.emplace(operator_.field());
    GaussianNoise(7, 1).pseudofermion("", 0, *psi_, find_basis("non_relativistic"));
    GaussianNoise(7, 1).pseudofermion("", 1, *chi_, find_basis("non_relativistic"));
  }
  FermionOperator operator_;
  std::optional<SpinorField> psi_, chi_;
};

FermionParameters wilson(double mass, Representation r, EvenOddForm even_odd_form) {
  FermionParameters p{Action("wilson", {{"mass", mass}}, {1, 1, 1, -1}), even_odd_form};
  p.smearing.representation = r;
  return p;
}

TEST(Colours, ForcesAreDerivativesOfTheAction) {
  struct Case {
    int colours;
    Representation representation;
  };
  for (const auto& [n, r] :
       {Case{2, Representation::fundamental}, Case{2, Representation::adjoint}, Case{4, Representation::antisymmetric}})
    for (const auto& device : support::devices()) {
      const HostGauge start = weak_gauge(Lattice({4, 4, 4, 4}), 0.4, 5, n);
      EvolvingLinks links(start, std::make_shared<Domain>(start.lattice, device));
      Bilinear monomial(wilson(0.2, r, EvenOddForm::none));
      for (const support::Slope& s : support::slopes(monomial, links, 0.01))
        EXPECT_LT(std::abs(s.found - s.expected), 1e-9 * s.size) << n << " colours, " << name_of(r);
    }
}

/// Mean and error of numbers that are correlated over less than `block` of them.
std::pair<double, double> mean_of(const std::vector<double>& all, std::size_t block) {
  double sum = 0, squares = 0;
  const std::size_t blocks = all.size() / block;
  for (std::size_t b = 0; b < blocks; ++b) {
    double one = 0;
    for (std::size_t k = 0; k < block; ++k) one += all[b * block + k] / double(block);
    sum += one / double(blocks);
    squares += one * one / double(blocks);
  }
  return {sum, std::sqrt((squares - sum * sum) / double(blocks - 1))};
}

std::pair<double, double> plaquette_of(int colours, const Coordinates& extent, double beta, int thermal, int sweeps) {
  const HostGauge start = unit_gauge(Lattice(extent), colours);
  HeatbathRun run(start, std::make_shared<Domain>(start.lattice, Device::cpu()), {.beta = beta, .overrelax = 2});
  std::vector<double> all;
  for (int n = 0; n < thermal + sweeps; ++n) {
    run.sweep();
    if (n >= thermal) all.push_back(run.averages().plaquette);
  }
  EXPECT_LT(check_unitarity(run.configuration()).determinant, 1e-13);
  return mean_of(all, 10);
}

TEST(Colours, TheFlowOfSu2LowersTheActionToItsGradient) {
  const HostGauge hot = hot_gauge(Lattice({4, 4, 4, 4}), 1, 2);
  GradientFlow flow(hot, std::make_shared<Domain>(hot.lattice, Device::cpu()));
  constexpr double h = 1e-3;
  const double before = flow.measure().plaquette_energy;
  flow.step(h);
  const double here = flow.measure().plaquette_energy;
  const HostGauge between = flow.links();
  flow.step(h);
  // dE/dt = -2 sum over links of -tr Z^2 / sites: Z from the links of both sides of a step in the middle.
  double norm = 0;
  const HostGauge after = flow.links();
  for (std::size_t x = 0; x < hot.site.size(); ++x)
    for (std::size_t n = 0; n < hot.site.each(); ++n) norm += std::norm(after.site.at(x)[n] - hot.site.at(x)[n]);
  norm /= 4 * h * h * double(hot.site.size());
  EXPECT_NEAR((flow.measure().plaquette_energy - before) / (2 * h), -2 * norm, 1e-3 * norm);
  EXPECT_LT(here, before);
  EXPECT_LT(check_unitarity(between).determinant, 1e-13);
}

TEST(Colours, HeatBathOfSu2GivesThePublishedPlaquette) {
  // A. Athenodorou and M. Teper, arXiv:2106.00364, table 1: 0.6018259(46) on 12^3 x 16.
  const auto [mean, error] = plaquette_of(2, {8, 8, 8, 8}, 2.2986, 40, 120);
  EXPECT_LT(error, 2e-3);
  EXPECT_NEAR(mean, 0.6018259, 4 * error + 2e-4);  // the lattice is smaller
}

/// <Re tr U>/n with the weight exp(beta/n Re tr U) on SU(n): d log Z / d beta, Z = sum_k det I_(i-j+k)(beta/n) (I. Bars
/// and F. Green, Phys. Rev. D 20 (1979) 3311).
double one_plaquette(int n, double beta) {
  const auto log_z = [n](double b) {
    double sum = 0;
    for (int k = -6; k <= 6; ++k) {
      Dense m(std::size_t(n * n));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) m[n * i + j] = std::cyl_bessel_i(std::abs(i - j + k), b / n);
      sum += determinant(m.data(), n).real();
    }
    return std::log(sum);
  };
  constexpr double h = 1e-3;
  return (log_z(beta + h) - log_z(beta - h)) / (2 * h);
}

TEST(Colours, HeatBathOfSu4GivesThePlaquetteOfStrongCoupling) {
  // u + 4 u^5 + ... (J.-M. Drouffe and J.-B. Zuber, Phys. Rept. 102 (1983) 1): a plaquette, and the four cubes on it.
  const double beta = 6, u = one_plaquette(4, beta);
  const auto [mean, error] = plaquette_of(4, {4, 4, 4, 4}, beta, 20, 120);
  EXPECT_LT(error, 1e-3);
  EXPECT_NEAR(mean, u + 4 * std::pow(u, 5), 4 * error + 3e-4);
}

TEST(Colours, TrajectoriesOfSu2ConserveTheMeasure) {
  std::vector<std::unique_ptr<Monomial>> monomials;
  GaugeLoops loops;
  loops.planes.fill(2.0);
  monomials.push_back(std::make_unique<GaugeMonomial>("gauge", loops));
  FermionTerm term{wilson(0.1, Representation::fundamental, EvenOddForm::symmetric)};
  term.solver = {Method::cg, "double"};
  monomials.push_back(std::make_unique<TwoFlavourMonomial>("quarks", term));
  IntegratorLevel level;
  level.scheme = IntegratorLevel::Scheme::leapfrog;
  level.steps = 6;
  level.monomials = {0, 1};
  const HostGauge start = hot_gauge(Lattice({4, 4, 4, 4}), 1, 2);
  Hmc hmc(start, std::make_shared<Domain>(start.lattice, Device::cpu()), std::move(monomials), {level}, 0.5,
          ForceNorms::first, 1);
  std::vector<double> weights;
  for (int n = 0; n < 40; ++n) {
    GaussianNoise noise(3, std::uint64_t(n));
    const TrajectoryReport report = hmc.trajectory(noise, noise.uniform());
    if (n >= 8) weights.push_back(std::exp(-report.dh));
  }
  const auto [mean, error] = mean_of(weights, 2);
  EXPECT_LT(error, 0.2);
  EXPECT_GT(error, 1e-3);  // trajectories are of some length
  EXPECT_NEAR(mean, 1, 4 * error);
  EXPECT_LT(check_unitarity(hmc.links()).determinant, 1e-13);
}

}  // namespace
