// The library of QUDA's names as Chroma calls it: its clover solvers for propagators, for molecular dynamics and with
// multigrid, in the order of its calls, on its arrays of odd sites. The sums are those of the dense reference.
#include <quda.h>

#include "tests/c/support.hpp"

namespace {

using namespace c;
using dense::Vectors;

/// What the XML of a solver decides.
struct Chosen {
  QudaInverterType inv_type = QUDA_BICGSTAB_INVERTER;
  QudaSolveType solve_type = QUDA_DIRECT_PC_SOLVE;
  bool asymmetric = false;
  QudaPrecision inner = QUDA_SINGLE_PRECISION;
};

/// Chroma's side: links with the sign of the boundary, times nu / xi0 in space; M = A - D / 2 with the mass in A.
class Chroma {
 public:
  Chroma(const HostGauge& links, const std::map<std::string, double>& parameters)
      : lattice(links.lattice), dense({"clover", parameters}, links) {
    const auto at = [&](const char* name) { return parameters.contains(name) ? parameters.at(name) : 1; };
    anisotropy_ = at("xi0") / at("nu");
    for (int mu = 0; mu < 4; ++mu) {
      links_[mu].resize(9 * links.site.size());
      for (long long x = 0; x < lattice.sites(); ++x) {
        const bool last = mu == 3 && lattice.coordinates(x)[3] == lattice.extent(3) - 1;
        const double factor = last ? -1 : mu < 3 ? 1 / anisotropy_ : 1;
        for (int n = 0; n < 9; ++n)
          links_[mu][std::size_t(9 * place_of(lattice, x, QUARKSMITH_EVEN_ODD, axes) + n)] =
              factor * links.link(x, mu)[n];
      }
    }
    for (const bool inverse : {false, true}) pack(inverse);
  }

  /// The constructor of a solver: parameters, then links, then the clover term and its inverse.
  QudaInvertParam load(const Chosen& chosen) {
    QudaGaugeParam g = newQudaGaugeParam();
    QudaInvertParam p = newQudaInvertParam();
    std::copy_n(lattice.extent().begin(), 4, g.X);
    g.type = QUDA_WILSON_LINKS, g.gauge_order = QUDA_QDP_GAUGE_ORDER, g.t_boundary = QUDA_ANTI_PERIODIC_T;
    g.cpu_prec = g.cuda_prec = QUDA_DOUBLE_PRECISION;
    g.cuda_prec_sloppy = g.cuda_prec_precondition = chosen.inner;
    g.reconstruct = g.reconstruct_sloppy = g.reconstruct_precondition = QUDA_RECONSTRUCT_12;
    g.gauge_fix = QUDA_GAUGE_FIXED_NO, g.anisotropy = anisotropy_;
    g.ga_pad = int(lattice.half_sites()) / *std::ranges::min_element(lattice.extent());
    p.dslash_type = QUDA_CLOVER_WILSON_DSLASH, p.inv_type = chosen.inv_type;
    p.kappa = 0.5, p.clover_coeff = 1, p.clover_csw = 0, p.Ls = 1;
    p.tol = 1e-10, p.maxiter = 1000, p.reliable_delta = 0.1, p.pipeline = 0;
    p.solution_type = QUDA_MATPC_SOLUTION, p.solve_type = chosen.solve_type;
    p.matpc_type = chosen.asymmetric ? QUDA_MATPC_ODD_ODD_ASYMMETRIC : QUDA_MATPC_ODD_ODD;
    p.dagger = QUDA_DAG_NO, p.mass_normalization = QUDA_KAPPA_NORMALIZATION;
    p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION;
    p.cuda_prec_sloppy = p.cuda_prec_precondition = chosen.inner;
    p.preserve_source = QUDA_PRESERVE_SOURCE_NO, p.gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS;
    p.dirac_order = QUDA_DIRAC_ORDER;
    p.clover_cpu_prec = p.clover_cuda_prec = QUDA_DOUBLE_PRECISION;
    p.clover_cuda_prec_sloppy = p.clover_cuda_prec_precondition = chosen.inner;
    p.clover_order = QUDA_PACKED_CLOVER_ORDER, p.tune = QUDA_TUNE_NO, p.sp_pad = p.cl_pad = 0;
    p.inv_type_precondition = QUDA_INVALID_INVERTER, p.tol_precondition = 0.1, p.maxiter_precondition = 1000;
    p.verbosity_precondition = QUDA_SILENT, p.gcrNkrylov = 1, p.verbosity = QUDA_SUMMARIZE;
    void* links[4];
    for (int mu = 0; mu < 4; ++mu) links[mu] = links_[mu].data();
    loadGaugeQuda(links, &g);
    loadCloverQuda(term_[0].data(), term_[1].data(), &p);
    return p;
  }

  /// The odd sites of a field, and back.
  Numbers odd(const HostSpinor& psi) const {
    Numbers all(6 * psi.site.size());
    for_each_odd([&](long long x, std::size_t n) { std::copy_n(psi.site.at(std::size_t(x)), 12, &all[n]); });
    return all;
  }
  Vectors on_odd(const Numbers& all) const {
    HostSpinor psi(lattice);
    for_each_odd([&](long long x, std::size_t n) { std::copy_n(&all[n], 12, psi.site.at(std::size_t(x))); });
    return {psi};
  }
  EvenOddForm form(const Chosen& c) const { return c.asymmetric ? EvenOddForm::asymmetric : EvenOddForm::symmetric; }
  /// |b - A x| / |b| on odd sites.
  double residual(const Chosen& c, const Numbers& x, const Numbers& b, bool dagger = false) const {
    return distance(odd(dense.even_odd(on_odd(x), form(c), dagger)[0]), b);
  }
  double squared_residual(const Chosen& c, double shift, const Numbers& x, const Numbers& b) const {
    const Vectors once = dense.even_odd(on_odd(x), form(c), false);
    Numbers image = odd(dense.even_odd(once, form(c), true)[0]);
    for (std::size_t n = 0; n < image.size(); ++n) image[n] += shift * x[n];
    return distance(image, b);
  }

  Lattice lattice;
  dense::DenseAction dense;

 private:
  static constexpr int axes[] = {0, 1, 2, 3};
  template <class Visit>
  void for_each_odd(const Visit& visit) const {
    for (long long x = 0; x < lattice.sites(); ++x)
      if (Lattice::parity(lattice.coordinates(x)) == Parity::odd)
        visit(x, std::size_t(12 * (place_of(lattice, x, QUARKSMITH_EVEN_ODD, axes) - lattice.half_sites())));
  }
  /// Two blocks of a site: the diagonal, then what is below it by columns.
  void pack(bool inverse) {
    term_[inverse].resize(72 * std::size_t(lattice.sites()));
    for (int column = 0; column < 12; ++column) {
      HostSpinor unit(lattice);
      for (HostSite& site : unit.site) site[std::size_t(column)] = 1;
      const HostSpinor image = (inverse ? dense.divide({unit}) : dense.multiply({unit}))[0];
      for (long long x = 0; x < lattice.sites(); ++x) {
        double* const block =
            &term_[inverse][std::size_t(72 * place_of(lattice, x, QUARKSMITH_EVEN_ODD, axes) + 36 * (column / 6))];
        const int j = column % 6, before = 6 + 2 * (5 * j - j * (j - 1) / 2);
        for (int i = j; i < 6; ++i) {
          const Complex64 z = image.site.at(std::size_t(x))[6 * (column / 6) + i];
          if (i == j) block[i] = z.real();
          if (i > j) block[before + 2 * (i - j - 1)] = z.real(), block[before + 2 * (i - j - 1) + 1] = z.imag();
        }
      }
    }
  }

  double anisotropy_ = 1;
  Numbers links_[4];
  std::vector<double> term_[2];
};

class QudaChroma : public testing::Test {
 protected:
  void SetUp() override {
    initQuda(-1);
    setVerbosityQuda(QUDA_SILENT, "", stdout);
  }
  void TearDown() override { endQuda(); }
  static Numbers solve(QudaInvertParam& p, const Numbers& b, Numbers x) {
    Numbers source = b;  // preserve_source is NO
    invertQuda(x.data(), source.data(), &p);
    EXPECT_GT(p.iter, 0);
    EXPECT_GT(p.secs, 0);
    return x;
  }

  Lattice lattice{{4, 4, 4, 4}};
  HostGauge links = weak_gauge(lattice, 0.4, 3);
  HostSpinor b = reference::random_spinor(lattice, 4);
  Numbers zero = Numbers(6 * std::size_t(lattice.sites()));
};

TEST_F(QudaChroma, PropagatorsOfBothFormsWithEachSolver) {
  const std::map<std::string, double> isotropic{{"mass", 0.05}, {"csw_r", 1.1}, {"csw_t", 1.1}};
  const std::map<std::string, double> stretched{
      {"mass", 0.1}, {"csw_r", 0.9}, {"csw_t", 1.1}, {"xi0", 2.4}, {"nu", 0.95}};
  for (const auto& parameters : {isotropic, stretched}) {
    Chroma chroma(links, parameters);
    for (const Chosen& c : {Chosen{QUDA_CG_INVERTER, QUDA_NORMOP_PC_SOLVE, true}, Chosen{.asymmetric = true},
                            Chosen{QUDA_GCR_INVERTER, QUDA_DIRECT_PC_SOLVE, false, QUDA_HALF_PRECISION}}) {
      QudaInvertParam p = chroma.load(c);
      // The source of odd sites of M x = b, and from its solution x on even sites.
      const dense::DenseAction& m = chroma.dense;
      const Vectors even = dense::half({b}, Parity::even), from_even = m.hop(m.divide(even));
      Vectors source = dense::combine(1, dense::half({b}, Parity::odd), -m.h, from_even);
      if (!c.asymmetric) source = m.divide(source);
      const Numbers chi = chroma.odd(source[0]), psi = solve(p, chi, zero);
      EXPECT_LE(chroma.residual(c, psi, chi), 1.01e-10);
      EXPECT_NEAR(p.true_res[0] / chroma.residual(c, psi, chi), 1, 0.1);
      const Vectors x_odd = chroma.on_odd(psi), x_even = m.divide(dense::combine(1, even, -m.h, m.hop(x_odd)));
      EXPECT_LE(dense::deviation(m.matrix(dense::combine(1, x_odd, 1, x_even)), {b}), 1e-9);
      freeGaugeQuda();
      freeCloverQuda();
    }
  }
}

TEST_F(QudaChroma, TwoStepsAndShiftsOfMolecularDynamics) {
  Chroma chroma(links, {{"mass", 0.05}, {"csw_r", 1.1}, {"csw_t", 1.1}});
  for (const bool asymmetric : {false, true}) {
    const Chosen c{.asymmetric = asymmetric};
    QudaInvertParam p = chroma.load(c);
    const Numbers chi = chroma.odd(b);
    p.use_init_guess = QUDA_USE_INIT_GUESS_YES;
    p.chrono_max_dim = 4, p.chrono_make_resident = p.chrono_use_resident = 1;
    p.dagger = QUDA_DAG_YES;
    const Numbers y = solve(p, chi, chi);
    EXPECT_LE(chroma.residual(c, y, chi, true), 1.01e-10);
    p.dagger = QUDA_DAG_NO;
    const Numbers x = solve(p, y, zero);
    EXPECT_LE(chroma.squared_residual(c, 0, x, chi), 1e-8);

    p = chroma.load({QUDA_CG_INVERTER, QUDA_NORMOP_PC_SOLVE, asymmetric});
    p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION;
    p.num_offset = 3;
    std::vector<Numbers> all(3, zero);
    for (int k = 0; k < 3; ++k) p.offset[k] = 0.02 * k * k, p.tol_offset[k] = 1e-9;
    Numbers source = chi;
    invertMultiShiftQuda(outputs(all).data(), source.data(), &p);
    for (int k = 0; k < 3; ++k) EXPECT_LE(chroma.squared_residual(c, p.offset[k], all[k], chi), 1.01e-9) << k;
  }
}

TEST_F(QudaChroma, MultigridAlongATrajectory) {
  const std::map<std::string, double> light{{"mass", -0.1}, {"csw_r", 1.1}, {"csw_t", 1.1}};
  const Chosen c{.inv_type = QUDA_GCR_INVERTER};
  QudaMultigridParam mg = newQudaMultigridParam();
  QudaInvertParam of_mg = newQudaInvertParam();
  void* subspace = nullptr;
  for (int step = 0; step < 4; ++step) {
    if (step > 0) {  // links move
      const HostGauge by = weak_gauge(lattice, 0.02, unsigned(10 + step));
      for (long long x = 0; x < lattice.sites(); ++x)
        for (int mu = 0; mu < 4; ++mu) links.site[x][mu] = multiply(by.site[x][mu], links.site[x][mu]);
    }
    Chroma chroma(links, light);
    QudaInvertParam p = chroma.load(c);
    p.compute_true_res = 0, p.schwarz_type = QUDA_ADDITIVE_SCHWARZ, p.precondition_cycle = 1, p.gcrNkrylov = 10;
    p.residual_type = QUDA_L2_RELATIVE_RESIDUAL, p.inv_type_precondition = QUDA_MG_INVERTER, p.omega = 1;
    if (step == 3) destroyMultigridQuda(std::exchange(subspace, nullptr));  // as where a solve has failed
    if (subspace == nullptr) {
      of_mg = p;
      of_mg.inv_type_precondition = QUDA_INVALID_INVERTER;
      of_mg.tol = 1e-10, of_mg.maxiter = 10000, of_mg.reliable_delta = 1e-10;
      of_mg.solution_type = QUDA_MAT_SOLUTION, of_mg.solve_type = QUDA_DIRECT_SOLVE;
      mg.invert_param = &of_mg, mg.n_level = 2, mg.n_vec[0] = 24, mg.setup_maxiter_refresh[0] = 0;
      for (int mu = 0; mu < 4; ++mu) mg.geo_block_size[0][mu] = mg.geo_block_size[1][mu] = 2;
      mg.spin_block_size[0] = 2, mg.compute_null_vector = QUDA_COMPUTE_NULL_VECTOR_YES;
      mg.vec_infile[0][0] = mg.vec_outfile[0][0] = '\0';
      subspace = newMultigridQuda(&mg);
    } else {
      mg.setup_maxiter_refresh[0] = step == 2 ? 50 : 0;
      updateMultigridQuda(subspace, &mg);
    }
    p.preconditioner = subspace;
    p.use_init_guess = QUDA_USE_INIT_GUESS_YES;
    // (A^+ A) x = chi in two steps; A^+ of the symmetric form is T gamma_5 A gamma_5 T^-1 on odd sites.
    const Numbers chi = chroma.odd(b);
    const Numbers turned = chroma.odd(chroma.dense.divide(dense::gamma5(chroma.on_odd(chi)))[0]);
    const Numbers y_prime = solve(p, turned, zero);
    EXPECT_LE(chroma.residual(c, y_prime, turned), 1.01e-10);
    EXPECT_LE(p.iter, 15) << step;
    const Numbers y = chroma.odd(chroma.dense.multiply(dense::gamma5(chroma.on_odd(y_prime)))[0]);
    EXPECT_LE(chroma.residual(c, y, chi, true), 1e-9);
    const Numbers x = solve(p, y, zero);
    EXPECT_LE(chroma.squared_residual(c, 0, x, chi), 1e-8);
    freeGaugeQuda();
    freeCloverQuda();
  }
  destroyMultigridQuda(subspace);
}

}  // namespace
