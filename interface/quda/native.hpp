/// \file
/// What functions of quda.h share: the operator of a QudaInvertParam, and spinors in one order for all of them.
#pragma once

#include <quda.h>

#include <complex>
#include <string>
#include <vector>

#include "interface/quda/state.hpp"

namespace quarksmith::quda {

using Complex = std::complex<double>;
/// A vector of an operator in the DeGrand-Rossi basis: [slice][even and odd sites, or those of one
/// parity][spin][colour].
using Vector = std::vector<Complex>;
using Vectors = std::vector<Vector>;
inline void multiply_by(double a, Vector& x) {
  for (Complex& z : x) z *= a;
}

/// Whether a caller has set a number.
bool is_set(double number);
/// name=value of an option of the C interface, all digits.
std::string option(const char* name, double value);
/// QUARKSMITH_DOUBLE or _SINGLE. Others are refused by the name of the parameter.
int precision_of(const char* parameter, int precision);
/// The order of the arrays of a gauge field.
quarksmith_link_format link_format(const QudaGaugeParam& param);
/// The arrays that the C interface takes for one of QUDA's pointers to links. \param offset in the struct of a site, of
/// momenta mom_offset.
std::array<void*, 4> link_arrays(void* links, const QudaGaugeParam& param);
std::array<void*, 4> link_arrays(void* links, const QudaGaugeParam& param, std::size_t offset);
/// Refuses another direction of a Polyakov loop: to be called before links are loaded for it.
void require_time(int dir);
/// The mean trace of the loops in time, without the boundary's phase.
void polyakov_loop(quarksmith_gauge* gauge, double loop[2]);

/// The same of thin links, with the phases that they hold.
quarksmith_link_format thin_format(const QudaGaugeParam& param);
/// Refuses what no function of links serves.
void check_links(const QudaGaugeParam& param);
/// Makes links those of later calls. \param phases they are given back with staggered phases.
void keep_thin(Handle<quarksmith_gauge> links, bool phases);

/// SU(3) links of a call: those of the caller, or with use_resident_gauge those that are loaded.
class ThinLinks {
 public:
  /// \param spread whether they may hold boundary phases spread over all of them, of which loops know nothing.
  ThinLinks(void* host, const QudaGaugeParam& param, bool spread = false);
  quarksmith_gauge* gauge() const { return own_ != nullptr ? own_ : state().wilson.gauge(); }
  /// Whether they come with staggered phases.
  bool phases() const { return phases_; }
  /// Makes them those of later calls if the caller asks for it.
  void keep(const QudaGaugeParam& param);

 private:
  Handle<quarksmith_gauge> own_;
  bool phases_;
};

/// Momenta of a call: those of the caller, or with use_resident_mom those that stay.
class Momenta {
 public:
  /// \param links of molecular dynamics, or NULL. \param added the caller's are added to, else they begin with 0.
  Momenta(void* host, const QudaGaugeParam& param, quarksmith_gauge* links, bool added = true);
  quarksmith_dynamics* dynamics() const { return state().motion.dynamics; }
  /// Gives them back to the caller, and keeps them or not, as he asks.
  void finish() const;
  /// Only the latter.
  void keep() const { state().motion.momenta = param_.make_resident_mom != 0; }

 private:
  void* host_;
  const QudaGaugeParam& param_;
};
/// P -= dt c [U V]_TA for all loops U V of a link U with one of QUDA's coefficients c, which stand in `loops`.
void add_gauge_force(void* momenta, void* links, quarksmith_gauge_loops loops, double dt, const QudaGaugeParam& param);
/// factor coefficients[n] sum_x tr of closed paths.
void sum_traces(quarksmith_gauge* links, double* traces, int** paths, const int* lengths, const double* coefficients,
                int count, double factor);

/// A form of the operator A: M on all sites, or one of its even-odd forms.
struct System {
  const char* form = "none";    ///< `none`, `symmetric` or `asymmetric`
  int sites = QUARKSMITH_FULL;  ///< on which A acts
  bool dagger = false;          ///< A^+ in place of A
  bool squared = false;         ///< A^+ A, or with dagger A A^+

  bool full() const { return sites == QUARKSMITH_FULL; }
};

class Quark;
/// The system of solution_type and matpc_type. Refuses by name what the operator does not have.
System system_of(const QudaInvertParam& param, const Quark& quark);

/// What solves of several right-hand sides have taken.
struct Effort {
  int iterations = 0;  ///< of the right-hand side that took most
  double flops = 0, seconds = 0;
  bool converged = true;
};

/// The Dirac operator of a QudaInvertParam on the links that are loaded. QUDA's M is `factor` times that of the
/// library, 1 - kappa D in place of (1 - kappa D) / (2 kappa), and 2m - D of staggered quarks. Of even-odd forms the
/// symmetric ones are the same, and 4 m^2 - D^2 of staggered quarks.
class Quark {
 public:
  /// Refuses by name what is not served.
  explicit Quark(const QudaInvertParam& param);

  int slices = 1;  ///< of a fifth dimension, or flavours
  int spins = 4;
  bool walls = false;  ///< a fifth dimension, whose even-odd forms are solved for as parts of the whole system
  double factor = 1;
  double rescaling = 1;         ///< 2 kappa of QUDA's mass normalisations
  double rho = 0;               ///< A + i rho gamma_5 replaces the asymmetric form A
  bool parity_of_five = false;  ///< arrays are even-odd in five dimensions
  bool staggered() const { return spins == 1; }
  bool on_thin_links() const { return links_ == &state().wilson; }
  /// Sites of a vector times its slices.
  std::size_t sites(int parity) const { return state().sites() * slices / (parity == QUARKSMITH_FULL ? 1 : 2); }
  std::size_t components() const { return std::size_t(3 * spins); }

  /// QUDA's A is so many times that of the library.
  double factor_of(const System& system) const;
  /// A x, A^+ x, A^+ A x or A A^+ x.
  Vectors apply(const System& system, const Vectors& x) const;
  /// y = (...)^-1 b for such an A, to a residual of about `tolerance` times |b|.
  Vectors solve(const System& system, const Vectors& b, double tolerance, Effort& effort) const;
  /// (A^+ A + shifts) y = b in one Krylov space, or A A^+ for one or two flavours; of staggered quarks on one parity
  /// (A + shifts) y = b.
  Vectors solve_shifted(const System& system, const std::vector<double>& shifts, const Vector& b, double tolerance,
                        Effort& effort) const;
  /// D b at the sites of `parity`, or D^+ b, from the other ones.
  Vector hop(int parity, bool dagger, const Vector& b) const;
  /// T b or T^+ b on one parity, for the site term T of M.
  Vector term(int parity, bool dagger, const Vector& b) const;
  /// T^-1 b or (T^+)^-1 b.
  Vector divide_by_term(int parity, bool dagger, const Vector& b) const;
  /// A vector of one parity, 0 on the other one; and back.
  Vector on_all_sites(int parity, const Vector& half) const;
  Vector on_half(int parity, const Vector& all) const;
  Vector gamma5(Vector x) const;
  /// log |det T| of a parity.
  double log_det(int parity) const;
  /// Solves use a multigrid from now on. Refuses by name what has none.
  void use(Multigrid& multigrid);
  /// Makes the levels of that multigrid, unless it has those of this operator and they are not to be adapted.
  void set_up(bool adapt) const;

 private:
  /// Calls visit(numbers before a slice of one parity in a vector of all sites, in one of this parity, their number).
  template <class Visit>
  void for_each_half(int parity, const Visit& visit) const {
    const std::size_t each = sites(parity) / unsigned(slices) * components();
    for (std::size_t s = 0; s < std::size_t(slices); ++s)
      visit((2 * s + (parity == QUARKSMITH_ODD ? 1 : 0)) * each, s * each, each);
  }
  void choose(const QudaInvertParam& param);
  void choose_twisted(const QudaInvertParam& param, bool clover);
  void choose_walls(const QudaInvertParam& param);
  void choose_staggered(const QudaInvertParam& param);
  void use_thin_links();
  std::string wilson(const QudaInvertParam& param, const char* name, bool clover);
  void attach_clover(double kappa) const;
  quarksmith_operator* op(const System& system, bool conjugate = false) const;
  Vectors multiply(const System& system, bool dagger, const Vectors& x) const;
  Vectors solve_full(bool dagger, const Vectors& b, double tolerance, Effort& effort) const;
  /// Whether A A^+ is gamma_5 A^+ A gamma_5 of the conjugate.
  bool turns(const System& s) const { return s.squared && s.dagger && !walls && !staggered(); }
  Vector solve_with_rho(const System& n, double shift, const Vector& b, double tolerance, Effort& effort) const;
  Vectors solve_normal(const System& system, const Vectors& b, double tolerance, Effort& effort) const;
  Vector alternate(Vector x) const;
  Vector rephased(Vector x, int parity) const;
  std::string options(const std::string& action, const System& system) const;

  std::string by_multigrid(bool dagger) const;

  Links* links_ = nullptr;
  Multigrid* multigrid_ = nullptr;
  std::string action_, conjugate_;  ///< options; the second of gamma_5 M^+ gamma_5, but for walls
  std::string precision_, solver_;
  int most_ = 0;
};

/// Reads and writes a caller's spinors.
class Spinors {
 public:
  Spinors(const QudaInvertParam& param, const Quark& quark, int sites);
  int sites() const { return sites_; }
  Vector read(const void* array) const;
  void write(const Vector& from, void* array) const;

 private:
  template <class Visit>
  void for_each_piece(const Visit& visit) const;

  quarksmith_spinor_format format_;
  const Quark& quark_;
  int sites_;
};

}  // namespace quarksmith::quda
