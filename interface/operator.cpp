// Dirac operators of quarksmith.h.
#include "interface/action.hpp"
#include "interface/arrays.hpp"
#include "solvers/actions/hopping_dirac.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

Parity parity_of(int parity) {
  if (parity != QUARKSMITH_EVEN && parity != QUARKSMITH_ODD)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("parity {}; use QUARKSMITH_EVEN or QUARKSMITH_ODD", parity));
  return Parity(parity);
}

Dagger dagger_of(int dagger) {
  if (dagger != 0 && dagger != 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("dagger {}; use 0 or 1", dagger));
  return dagger == 1 ? Dagger::yes : Dagger::no;
}

Subset subset_of(Parity parity) { return parity == Parity::even ? Subset::even : Subset::odd; }

/// \throws StatusError the operator does not act on such a field.
void require_fits(const Operator& op, const Field& f, const char* name) {
  const DiracMatrix& m = op.matrix();
  if (m.spins() != 4 || m.slices() != 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, "vectors of this action are no Dirac spinors; use host arrays");
  if (&f.spinors.precision() != &m.precision() || f.basis != op.basis)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                      fmt::format("field {} is {} {}, the operator is {} {}; create both with equal settings", name,
                                  f.spinors.precision().name, f.basis->name, m.precision().name, op.basis->name));
}

/// \throws StatusError the action is not made of hops in four dimensions, of one flavour.
const HoppingTerm& hops_of(const Operator& op) {
  const auto* dirac = dynamic_cast<const HoppingDirac*>(op.dirac.get());
  if (dirac == nullptr || dirac->hopping().slices() != 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                      "the action is not made of hops of one flavour in four dimensions; use quarksmith_matrix");
  return dirac->hopping();
}

void hop(const HoppingTerm& hopping, SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) {
  if (dagger == Dagger::no || !hopping.values().info().anti_hermitian) return hopping.apply(out, in, parity, dagger);
  SpinorField zero = out.like();  // D^+ = -D comes with a sum
  zero.fill(0);
  hopping.apply(out, 0, zero, 1, in, parity, dagger);
}

}  // namespace

quarksmith_status quarksmith_operator_settings_init(quarksmith_operator_settings* settings) {
  return init(__func__, settings, [](auto& s) {
    s.precision = "double";
    s.basis = "non_relativistic";
  });
}

quarksmith_status quarksmith_operator_create(quarksmith_gauge* gauge, const quarksmith_action* action,
                                             const quarksmith_operator_settings* settings, quarksmith_operator** op) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    const Action a = action_of(action, g.gauge.phase, g.lattice());
    const auto& s = require_struct(settings, "quarksmith_operator_settings");
    require(op, "op");
    const PrecisionInfo& precision = find_precision(require(s.precision, "precision"));
    const BasisInfo& basis = find_basis(require(s.basis, "basis"));
    const LinkStore links(g.gauge, domain_for(*g.session, a), links_of(s.links, a, g.gauge), std::string(basis.name));
    auto dirac = a.make(links, precision);
    links.release();
    give<Operator>(op, g.session, std::move(dirac), basis);
  });
}

quarksmith_status quarksmith_dslash(quarksmith_operator* op, int parity, int dagger, quarksmith_field* out,
                                    quarksmith_field* in) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    const Parity p = parity_of(parity);
    const Dagger d = dagger_of(dagger);
    const auto to = operand<Field>(out, "out", o), from = operand<Field>(in, "in", o);
    require_fits(o, *to, "out");
    require_fits(o, *from, "in");
    hop(hops_of(o), to->spinors, from->spinors, p, d);
  });
}

quarksmith_status quarksmith_matrix(quarksmith_operator* op, int dagger, quarksmith_field* out, quarksmith_field* in) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    const Dagger d = dagger_of(dagger);
    const auto to = operand<Field>(out, "out", o), from = operand<Field>(in, "in", o);
    require_fits(o, *to, "out");
    require_fits(o, *from, "in");
    if (to == from) throw StatusError(QUARKSMITH_BAD_ARGUMENT, "out and in are one field; pass two");
    if (to->spinors.subset() != Subset::full || from->spinors.subset() != Subset::full)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT, "M acts on all sites; create out and in with QUARKSMITH_FULL");
    o.matrix().apply(to->spinors, from->spinors, d);
  });
}

quarksmith_status quarksmith_dslash_host(quarksmith_operator* op, int parity, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    const Parity p = parity_of(parity);
    const Dagger d = dagger_of(dagger);
    const HoppingTerm& h = hops_of(o);
    const SpinorArrays arrays(o.lattice(), require_struct(format, "quarksmith_spinor_format"), h.components().spins);
    require_all(in, n, "in");
    require_all(out, n, "out");
    require_apart(out, n, "out");
    SpinorField from = h.field(subset_of(opposite(p)), n), to = h.field(subset_of(p), n);
    upload_all(arrays, in, from, *o.basis);
    hop(h, to, from, p, d);
    download_all(to, *o.basis, arrays, out);
  });
}

quarksmith_status quarksmith_matrix_host(quarksmith_operator* op, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    const Dagger d = dagger_of(dagger);
    const DiracMatrix& m = o.matrix();
    const SpinorArrays arrays(o.lattice(), require_struct(format, "quarksmith_spinor_format"), m.spins());
    arrays.require_fits(Subset::full);
    require_all(in, n * m.slices(), "in");
    require_all(out, n * m.slices(), "out");
    require_apart(out, n * m.slices(), "out");
    SpinorField from = m.field(n), to = m.field(n);
    upload_all(arrays, in, from, *o.basis);
    m.apply(to, from, d);
    download_all(to, *o.basis, arrays, out);
  });
}

quarksmith_status quarksmith_term_log_det(quarksmith_operator* op, int parity, double* log_det) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    require(log_det, "log_det");
    const Parity p = parity_of(parity);
    if (o.dirac->stored_term() == nullptr)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT, "the operator has no site term made of fields, such as clover's");
    *log_det = o.dirac->log_det(p);
  });
}
