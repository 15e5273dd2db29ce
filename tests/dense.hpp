/// \file
/// Actions written densely: a matrix of all flavours, spins and colours at each site, hops of the reference. Vectors of
/// several flavours or slices on hosts and devices.
#pragma once

#include <cmath>
#include <optional>

#include "runtime/fields/gauge.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/actions/domain_wall.hpp"
#include "tests/reference/domain_wall.hpp"
#include "tests/reference/operators.hpp"

namespace dense {

using namespace quarksmith;
using reference::operator*;

/// A field for each flavour or slice.
using Vectors = std::vector<HostSpinor>;

/// \param spins 1: colour vectors, zero but for the first spin.
inline Vectors random(const Lattice& lattice, int count, unsigned seed, int spins = 4) {
  Vectors psi;
  for (int f = 0; f < count; ++f) {
    psi.push_back(reference::random_spinor(lattice, seed + unsigned(f)));
    for (HostSite& site : psi.back().site) std::fill(site.begin() + 3 * spins, site.end(), 0);
  }
  return psi;
}
inline Vectors combine(Complex64 a, const Vectors& x, Complex64 b, const Vectors& y) {
  Vectors out;
  for (std::size_t f = 0; f < x.size(); ++f) out.push_back(reference::combine(a, x[f], b, y[f]));
  return out;
}
inline Complex64 dot(const Vectors& x, const Vectors& y) {
  Complex64 sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) sum += reference::dot(x[f], y[f]);
  return sum;
}
inline double norm(const Vectors& x) { return std::sqrt(dot(x, x).real()); }
/// |x - y| / |y|
inline double deviation(const Vectors& x, const Vectors& y) { return norm(combine(1, x, -1, y)) / norm(y); }
inline Vectors multiply(const reference::SpinMatrix& m, Vectors psi) {
  for (HostSpinor& one : psi) one = reference::multiply(m, one);
  return psi;
}
inline Vectors gamma5(const Vectors& psi) { return multiply(reference::gamma5(), psi); }
/// The sites of one parity, zero elsewhere.
inline Vectors half(Vectors psi, Parity parity) {
  for (HostSpinor& one : psi)
    for (std::size_t x = 0; x < one.site.size(); ++x)
      if (Lattice::parity(one.lattice.coordinates(static_cast<long long>(x))) != parity) one.site[x].fill(0);
  return psi;
}

/// To and from the slices of a vector.
inline void put(const Vectors& psi, SpinorField& to, const BasisInfo& basis = find_basis("non_relativistic"),
                int rhs = 0) {
  SpinorField slices = to.by_slice();
  for (int f = 0; f < to.slices(); ++f) upload(psi[f], slices, basis, rhs * to.slices() + f);
}
inline Vectors get(const SpinorField& from, const BasisInfo& basis = find_basis("non_relativistic"), int rhs = 0) {
  const SpinorField slices = from.by_slice();
  Vectors psi(from.slices(), HostSpinor(from.domain().lattice()));
  for (int f = 0; f < from.slices(); ++f) download(slices, psi[f], basis, rhs * from.slices() + f);
  return psi;
}
inline HostSpinor get_one(const SpinorField& from, const BasisInfo& basis = find_basis("non_relativistic"),
                          int rhs = 0) {
  HostSpinor psi(from.domain().lattice());
  download(from, psi, basis, rhs);
  return psi;
}
/// A psi or A^+ psi by the kernels.
inline Vectors apply(const LinearOperator& a, const Vectors& psi, Dagger dagger = Dagger::no,
                     const BasisInfo& basis = find_basis("non_relativistic")) {
  SpinorField in = a.field(), out = a.field();
  put(psi, in, basis);
  out.fill(0xff);
  a.apply(out, in, dagger);
  return get(out, basis);
}
/// The operators of an action in double. \param gauge outlives them.
inline std::unique_ptr<DiracOperator> dirac(const Action& action, const HostGauge& gauge, const DomainPointer& domain,
                                            const std::string& storage = "r18", const char* precision = "double",
                                            const std::string& basis = "non_relativistic") {
  return action.make(LinkStore(gauge, domain, storage, basis), find_precision(precision));
}
/// By how much an even-odd form leads to another x of M x = b. Its unknown is x_e, of the symmetric form of walls A
/// x_e.
inline double even_odd_deviation(const DiracOperator& dirac, EvenOddForm form, const Vectors& x) {
  const auto reduced = dirac.even_odd_operator(form, 1);
  SpinorField full = dirac.matrix().field(), b = full.like(), again = full.like();
  SpinorField unknown = reduced->field(), prepared = unknown.like(), product = unknown.like();
  put(x, full);
  dirac.matrix().apply(b, full, Dagger::no);
  const auto* walls = dynamic_cast<const DomainWallDirac*>(&dirac);
  if (walls != nullptr && form == EvenOddForm::symmetric)
    walls->parts().a().apply(unknown, full, Parity::even, Dagger::no);
  else
    unknown.copy_half(Parity::even, full);
  reduced->prepare(prepared, b);
  reduced->apply(product, unknown, Dagger::no);
  again.fill(0xff);
  reduced->reconstruct(again, unknown, b);
  return std::max(deviation(get(product), get(prepared)), deviation(get(again), x));
}
/// Links in double with all reals.
inline std::shared_ptr<LinkField> links(const HostGauge& gauge, const DomainPointer& domain,
                                        const char* storage = "r18") {
  return std::make_shared<LinkField>(upload(gauge, domain, find_precision("double"), find_storage(storage)));
}

/// Wilson's action, or with the clover term.
inline Action wilson(double mass, double csw = 0) {
  if (csw == 0) return {"wilson", {{"mass", mass}}};
  return {"clover", {{"mass", mass}, {"csw_r", csw}, {"csw_t", csw}}};
}

/// D, T and M = T + h D of an action of hops, or M of walls, on links that the kernels see.
class DenseAction {
 public:
  /// \param far links of the longer hops; `near` are those of the shorter ones.
  DenseAction(const Action& action, const HostGauge& near, std::optional<HostGauge> far = {});

  double h = -0.5;

  Vectors hop(const Vectors& psi, bool dagger = false) const;
  /// T psi or T^+ psi
  Vectors multiply(const Vectors& psi, bool dagger = false) const;
  /// T^-1 psi by Gaussian elimination; T is dominated by its diagonal. Adds log |det T| of each parity to log_det.
  Vectors divide(const Vectors& psi, bool dagger = false, double* log_det = nullptr) const;
  Vectors matrix(const Vectors& psi, bool dagger = false) const;
  HostSpinor matrix(const HostSpinor& psi, bool dagger = false) const { return matrix(Vectors{psi}, dagger)[0]; }
  /// An even-odd form, or its conjugate, of a field on even sites.
  Vectors even_odd(const Vectors& psi, EvenOddForm form, bool dagger) const;
  /// Of walls.
  reference::Moebius walls() const;

 private:
  double parameter(const char* name, double without) const;
  void make_term(double diagonal);
  bool is_naive() const { return action_.info().hopping == "naive"; }
  Complex64 element(std::size_t x, int i, int j, bool dagger) const {
    return dagger ? std::conj(t_[x][size_ * j + i]) : t_[x][size_ * i + j];
  }

  HostGauge near_;
  std::optional<HostGauge> far_;
  Action action_;
  reference::Hops hops_;
  reference::Coefficients coefficients_;
  int size_;
  std::vector<std::vector<Complex64>> t_;
};

/// What an action of staggered quarks makes of links.
struct FatAndLong {
  HostGauge fat, longs;
};
inline FatAndLong made_links(const Action& action, const HostGauge& gauge, const DomainPointer& domain) {
  const ActionFields fields(action.values(), action.setting().fields,
                            LinkStore(gauge, domain, "r18", "non_relativistic"));
  return {download(*fields.in_double()[fields.hops(1)]), download(*fields.in_double()[fields.hops(3)])};
}
/// The action of staggered quarks with these links in place of those that it would make.
inline Action with_links(const Action& action, const FatAndLong& links) {
  Action::Setting setting{.boundary = action.setting().boundary};
  const auto give = [&](const char* name, const HostGauge& gauge) {
    setting.fields.emplace(name, std::make_shared<const GivenField>(GivenField{"matrices", gauge}));
  };
  give("fat", links.fat);
  give("long", links.longs);
  return Action({find_action("improved_staggered"), {{"mass", action.values()["mass"]}}}, setting);
}

}  // namespace dense
