// BiCGstab with minimal residual polynomials of higher degree.
#include <fmt/format.h>

#include "solvers/krylov/method.hpp"

namespace quarksmith {
namespace {

/// Solves A y = r by BiCGstab(l).
///
/// G. L. G. Sleijpen and D. R. Fokkema, Electron. Trans. Numer. Anal. 1 (1993) 11, algorithm 3.1: l steps of
/// bi-conjugate gradients, then the residual is made minimal over the l images that they have left, by the modified
/// Gram-Schmidt process. All coefficients are computed on the device; one scalar program solves the triangular systems
/// for any l up to 4. With l = 1 it is BiCGstab; l = 2 copes with eigenvalues near the imaginary axis. A replaced
/// residual enters rho and beta as in BiCGstab. An iteration is all l steps: it applies A 2 l times and reads or
/// writes besides 22, 56, 101, 157 fields for l = 1, 2, 3, 4.
class BiCGstabL final : public Recurrence {
 public:
  static constexpr int most_l = 4;
  /// \param l 1 ... most_l
  BiCGstabL(const LinearOperator& a, Scalars& scalars, int rhs, int l);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  SpinorField& fresh() override { return r_[0]; }
  std::vector<SpinorField*> state() override { return {&y_, &shadow_, &r_[0], &u_[0]}; }
  int applications() const override { return 2 * l_; }

 private:
  using Slices = std::vector<SpinorField>;
  void bi_conjugate(const SpinorField& y, Slices& r, Slices& u, int j);
  void minimise(const SpinorField& y, Slices& r, Slices& u);
  Step step(const char* operation, std::initializer_list<std::pair<std::string_view, std::string_view>> renamed);

  int l_;
  SpinorField shadow_;
  Slices r_, u_;  // A^j r, A^j u
  Step direction_, alpha_, descend_, advance_, rho_, solve_, step_, replace_;
  std::vector<std::vector<Step>> tau_, remove_;  // removal of r_i from r_j: [j - 1][i - 1]
  std::vector<Step> minimise_, update_, lower_;  // of r_j and u_j: [j - 1]
};

// Scalars that belong to r_j are numbered l - j (see blas.py). Kernels are written for the largest l: `zero` replaces
// inputs that a smaller l does not have, `nowhere` takes results that it does not need.

BiCGstabL::BiCGstabL(const LinearOperator& a, Scalars& scalars, int rhs, int l)
    : Recurrence(a, scalars, rhs),
      l_(l),
      shadow_(a.field(rhs)),
      direction_(step("bicgstab_l_direction", {})),
      alpha_(step("bicgstab_l_alpha", {})),
      descend_(step("bicgstab_half_step", {})),
      advance_(step("bicgstab_l_advance", {})),
      rho_(step("bicgstab_l_rho", {})),
      solve_(step("bicgstab_l_solve", {{"scale", l == 1 ? "scale" : "nowhere"},
                                       {"first_1", l > 1 ? "first_1" : "zero"},
                                       {"first_2", l > 2 ? "first_2" : "zero"},
                                       {"first_3", l > 3 ? "first_3" : "zero"},
                                       {"tau_10", l > 1 ? "tau_10" : "zero"},
                                       {"tau_20", l > 2 ? "tau_20" : "zero"},
                                       {"tau_21", l > 2 ? "tau_21" : "zero"},
                                       {"tau_30", l > 3 ? "tau_30" : "zero"},
                                       {"tau_31", l > 3 ? "tau_31" : "zero"},
                                       {"tau_32", l > 3 ? "tau_32" : "zero"}})),
      step_(step("bicgstab_l_step", {{"omega", "gamma_0"}, {"gamma", l == 1 ? "gamma_0" : "zero"}})),
      replace_(step("bicgstab_replace", {{"omega", "gamma_0"}, {"half", "nowhere"}, {"last", "nowhere"}})) {
  scalars.slot("zero");
  const auto named = [&](const char* name, int j) { return fmt::format("{}_{}", name, l - j); };
  for (int j = 0; j <= l; ++j) {
    r_.push_back(a.field(rhs));
    u_.push_back(a.field(rhs));
  }
  for (int j = 1; j <= l; ++j) {
    const std::string gamma = named("gamma", j);
    lower_.push_back(step("bicgstab_half_step", {{"alpha", gamma}}));
    std::vector<Step>&tau = tau_.emplace_back(), &remove = remove_.emplace_back();
    for (int i = 1; i < j; ++i) {
      const std::string tau_ij = fmt::format("tau_{}{}", l - i, l - j);
      tau.push_back(step("bicgstab_l_tau", {{"tau", tau_ij}, {"sigma", named("sigma", i)}}));
      remove.push_back(step("bicgstab_half_step", {{"alpha", tau_ij}}));
    }
    if (j == l) break;  // solve_ and step_ do the rest of the last
    const std::string first = named("first", j);
    minimise_.push_back(
        step("bicgstab_l_minimise",
             {{"sigma", named("sigma", j)}, {"first", first}, {"scale", j == 1 ? "scale" : "nowhere"}}));
    update_.push_back(step("bicgstab_l_update",
                           {{"gamma", j == 1 ? gamma : "zero"}, {"second", named("second", j)}, {"first", first}}));
  }
}

Step BiCGstabL::step(const char* operation,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> renamed) {
  return {*scalars_, a_->precision(), operation, renamed};
}

void BiCGstabL::iterate(int width, int /*phase*/) {
  Slices r, u;
  for (SpinorField& f : r_) r.push_back(f.columns(0, width));
  for (SpinorField& f : u_) u.push_back(f.columns(0, width));
  const SpinorField y = y_.columns(0, width);
  for (int j = 0; j < l_; ++j) bi_conjugate(y, r, u, j);
  minimise(y, r, u);
}

/// Step j of bi-conjugate gradients, on all A^i r and A^i u so far.
void BiCGstabL::bi_conjugate(const SpinorField& y, Slices& r, Slices& u, int j) {
  const SpinorField shadow = shadow_.columns(0, y.rhs());
  if (j > 0) rho_({.x = &shadow, .y = &r[j]});  // beta = -alpha rho' / rho; before, it comes from the last iteration
  for (int i = 0; i <= j; ++i) direction_({.x = &r[i], .y = &u[i]});  // u_i = r_i + beta u_i
  a_->apply(u[j + 1], u[j], Dagger::no);
  alpha_({.x = &shadow, .y = &u[j + 1]});                               // alpha = rho / (shadow, u_{j+1})
  for (int i = 0; i <= j; ++i) descend_({.x = &u[i + 1], .y = &r[i]});  // r_i -= alpha u_{i+1}
  a_->apply(r[j + 1], r[j], Dagger::no);
  advance_({.x = &u[0], .v = &y});  // y += alpha u_0
}

/// Makes |r_0 - sum gamma_j r_j| minimal.
void BiCGstabL::minimise(const SpinorField& y, Slices& r, Slices& u) {
  for (int j = 1; j <= l_; ++j) {
    for (int i = 1; i < j; ++i) {
      tau_[j - 1][i - 1]({.x = &r[i], .y = &r[j]});     // tau_ij = (r_i, r_j) / sigma_i
      remove_[j - 1][i - 1]({.x = &r[i], .y = &r[j]});  // r_j -= tau_ij r_i
    }
    // sigma_j = (r_j, r_j); gamma'_j = (r_j, r_0) / sigma_j; with the last, gamma_j and gamma''_j
    (j < l_ ? minimise_[j - 1] : solve_)({.x = &r[j], .y = &r[0]});
  }
  // y += gamma_1 r_0 + sum gamma''_j r_j;  r_0 -= sum gamma'_j r_j;  u_0 -= sum gamma_j u_j
  for (int j = 1; j < l_; ++j) update_[j - 1]({.x = &r[j], .z = &r[0], .v = &y});
  for (int j = 1; j <= l_; ++j) lower_[j - 1]({.x = &u[j], .y = &u[0]});
  const SpinorField shadow = shadow_.columns(0, y.rhs());
  step_({.x = &r[l_], .y = &r[0], .u = &shadow, .v = &y});  // rho' = (shadow, r_0); beta = rho' / rho alpha / omega
}

void BiCGstabL::prepare(int first, int count) {
  set(first, count, {"alpha", "beta", "zero", "scale"}, 0);
  set(first, count, {"rho", "rho_old", "gamma_0"}, 1);  // so that beta becomes 0
}

void BiCGstabL::start(int first, int count) {
  u_[0].columns(first, count).fill(0);
  shadow_.columns(first, count).copy_from(r_[0].columns(first, count));
  replace(first, count);
}

void BiCGstabL::replace(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_[0].columns(first, count), shadow = shadow_.columns(first, count);
  replace_.for_all({.x = &r, .y = &shadow}, first);
  y.fill(0);
}

}  // namespace

namespace methods {
extern constinit const MethodKind bicgstab_l = {.names = {"bicgstab-l"},
                                                .source = "Sleijpen and Fokkema 1993, alg. 3.1",
                                                .storage = "2 L + 4",
                                                .applications = "2 L",
                                                .traffic = "22, 56, 101, 157",
                                                .use = "light masses, where BiCGstab stagnates",
                                                .numbers = {{{.option = "--bicgstab-l",
                                                              .letter = "L",
                                                              .help = "L of bicgstab-l",
                                                              .whole = &MethodParameters::l,
                                                              .lower = 1,
                                                              .upper = BiCGstabL::most_l}}},
                                                .fields = [](const MethodParameters& p) { return 2 * p.l + 4; },
                                                .make = make_method<BiCGstabL, &MethodParameters::l>};
}  // namespace methods

}  // namespace quarksmith
