// Dirac operators of quarksmith.h.
#include "interface/arrays.hpp"
#include "interface/options.hpp"
#include "solvers/actions/hopping_dirac.hpp"

namespace quarksmith::interface {

struct Operator final : Handle {
  Operator(std::shared_ptr<SharedDomain> s, std::unique_ptr<DiracOperator> d, EvenOddForm r, Parity k,
           const BasisInfo& b)
      : Handle(std::move(s)), dirac(std::move(d)), even_odd_form(r), kept(k), basis(&b) {}
  static constexpr HandleKind kind = HandleKind::op;

  /// The operator on all sites, or its even-odd form with work space for at least `rhs` right-hand sides.
  const SystemOperator& system(int rhs) {
    if (!system_ || rhs > most_) system_.emplace(*dirac, even_odd_form, most_ = rhs, kept);
    return *system_;
  }
  /// \throws StatusError the operator acts on all sites.
  const EvenOddOperator& even_odd_operator(int rhs) {
    if (even_odd_form == EvenOddForm::none)
      refuse("the operator is M on all sites; create it with even-odd=symmetric or asymmetric");
    return *system(rhs).even_odd();
  }

  std::unique_ptr<DiracOperator> dirac;
  EvenOddForm even_odd_form;
  Parity kept;  ///< sites of the even-odd form
  const BasisInfo* basis;

 private:
  std::optional<SystemOperator> system_;
  int most_ = 0;
};

}  // namespace quarksmith::interface

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

/// \param sites that the field must be on; none: any. \throws StatusError the field does not fit the operator or these.
void require_fits(const Operator& op, const Field& f, const char* name, std::optional<Subset> sites) {
  const DiracMatrix& m = op.dirac->matrix();
  const SpinorField& s = f.spinors;
  if (&s.precision() != &m.precision() || f.basis != op.basis || s.components() != m.components() ||
      s.slices() != m.slices() || !alike(s.domain(), *m.domain()))
    refuse(
        fmt::format("field {} is {} {} with {} spins and {} slices, the operator is {} {} with {} and {}; make it with "
                    "quarksmith_operator_field",
                    name, s.precision().name, f.basis->name, s.spins(), s.slices(), m.precision().name, op.basis->name,
                    m.spins(), m.slices()));
  constexpr const char* names[] = {"QUARKSMITH_EVEN", "QUARKSMITH_ODD", "QUARKSMITH_FULL"};
  if (sites && s.subset() != *sites)
    refuse(
        fmt::format("field {} is of other sites than the operator acts on; make it with {}", name, names[int(*sites)]));
}

/// \throws StatusError `out` and `in` are one field, or have different numbers of right-hand sides.
void require_pair(const Field& out, const Field& in) {
  if (&out == &in) refuse("out and in are one field; pass two");
  if (out.spinors.rhs() != in.spinors.rhs())
    refuse(fmt::format("out has {} right-hand sides, in has {}; pass two fields with as many each", out.spinors.rhs(),
                       in.spinors.rhs()));
}

/// \throws StatusError the action has a fifth dimension, or two flavours.
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

quarksmith_status quarksmith_operator_create(quarksmith_gauge* gauge, const char* options, quarksmith_operator** op) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(op, "op");
    const auto d = read_options<OperatorDescription>(options, g);
    agree(text_of(options));
    const Action action = d->choose(g.given).action;
    const PrecisionInfo& precision = find_precision(d->precision);
    const BasisInfo& basis = find_basis(d->basis);
    const EvenOddForm even_odd_form = even_odd_form_of(d->even_odd);
    if (even_odd_form != EvenOddForm::none && !action.has_even_odd())
      refuse(fmt::format("{}: action {} has no even-odd form with these parameters; leave it out",
                         d->called("even_odd", d->even_odd), action.name()));
    const LinkStore links(g.given, domain_for(*g.shared, action), d->storage(action, g), std::string(basis.name));
    auto dirac = action.make(links, precision);
    links.release();
    const Parity kept = kept_sites(d->parity);
    if (kept == Parity::odd) dirac->even_odd_operator(even_odd_form, 1, kept);  // whether there is one
    give<Operator>(op, g.shared, std::move(dirac), even_odd_form, kept, basis);
  });
}

quarksmith_status quarksmith_operator_field(quarksmith_operator* op, int sites, int rhs, quarksmith_field** field) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    require(field, "field");
    if (sites != QUARKSMITH_EVEN && sites != QUARKSMITH_ODD && sites != QUARKSMITH_FULL)
      refuse(fmt::format("sites {}; use QUARKSMITH_EVEN, QUARKSMITH_ODD or QUARKSMITH_FULL", sites));
    const DiracMatrix& m = o.dirac->matrix();
    SpinorField spinors(m.domain(), m.precision(), Subset(sites), rhs, m.components(), m.slices());
    spinors.fill(0);
    give<Field>(field, o.shared, std::move(spinors), *o.basis);
  });
}

quarksmith_status quarksmith_dslash(quarksmith_operator* op, int parity, int dagger, quarksmith_field* out,
                                    quarksmith_field* in) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    const Parity p = parity_of(parity);
    const Dagger d = dagger_of(dagger);
    const auto to = operand<Field>(out, "out", o), from = operand<Field>(in, "in", o);
    require_fits(o, *to, "out", {});
    require_fits(o, *from, "in", {});
    const HoppingTerm& hopping = hops_of(o);
    agree(parity, dagger, from->spinors.rhs());
    hop(hopping, to->spinors, from->spinors, p, d);
  });
}

quarksmith_status quarksmith_matrix(quarksmith_operator* op, int dagger, quarksmith_field* out, quarksmith_field* in) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    const Dagger d = dagger_of(dagger);
    const auto to = operand<Field>(out, "out", o), from = operand<Field>(in, "in", o);
    const DiracMatrix& a = o.system(from->spinors.rhs()).a();
    require_fits(o, *to, "out", a.subset());
    require_fits(o, *from, "in", a.subset());
    require_pair(*to, *from);
    agree(dagger, from->spinors.rhs());
    a.apply(to->spinors, from->spinors, d);
  });
}

quarksmith_status quarksmith_dslash_host(quarksmith_operator* op, int parity, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    const Parity p = parity_of(parity);
    const Dagger d = dagger_of(dagger);
    const HoppingTerm& h = hops_of(o);
    const SpinorArrays arrays(o.lattice(), format, h.components().spins, *o.basis);
    require_all(in, n, "in");
    require_all(out, n, "out");
    require_apart(out, n, "out");
    SpinorField from = h.field(subset_of(opposite(p)), n), to = h.field(subset_of(p), n);
    upload_all(arrays, in, from);
    agree(parity, dagger, n);
    hop(h, to, from, p, d);
    download_all(to, arrays, out);
  });
}

quarksmith_status quarksmith_matrix_host(quarksmith_operator* op, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    const Dagger d = dagger_of(dagger);
    const DiracMatrix& m = o.system(std::max(n, 1)).a();
    const SpinorArrays arrays(o.lattice(), format, m.spins(), *o.basis);
    arrays.require_fits(m.subset());
    require_all(in, n * m.slices(), "in");
    require_all(out, n * m.slices(), "out");
    require_apart(out, n * m.slices(), "out");
    SpinorField from = m.field(n), to = m.field(n);
    upload_all(arrays, in, from);
    agree(dagger, n);
    m.apply(to, from, d);
    download_all(to, arrays, out);
  });
}

quarksmith_status quarksmith_reduce(quarksmith_operator* op, quarksmith_field* reduced, quarksmith_field* b) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    const auto to = operand<Field>(reduced, "reduced", o), from = operand<Field>(b, "b", o);
    const EvenOddOperator& form = o.even_odd_operator(from->spinors.rhs());
    require_fits(o, *to, "reduced", form.subset());
    require_fits(o, *from, "b", Subset::full);
    require_pair(*to, *from);
    agree(from->spinors.rhs());
    form.prepare(to->spinors, from->spinors);
  });
}

quarksmith_status quarksmith_reconstruct(quarksmith_operator* op, quarksmith_field* x, quarksmith_field* reduced,
                                         quarksmith_field* b) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    const auto to = operand<Field>(x, "x", o), from = operand<Field>(reduced, "reduced", o),
               of = operand<Field>(b, "b", o);
    const EvenOddOperator& form = o.even_odd_operator(from->spinors.rhs());
    require_fits(o, *to, "x", Subset::full);
    require_fits(o, *from, "reduced", form.subset());
    require_fits(o, *of, "b", Subset::full);
    require_pair(*to, *from);
    require_pair(*to, *of);
    agree(from->spinors.rhs());
    form.reconstruct(to->spinors, from->spinors, of->spinors);
  });
}

quarksmith_status quarksmith_term_log_det(quarksmith_operator* op, int parity, double* log_det) {
  return call<Operator>(__func__, "op", op, [&](Operator& o, Agreement& agree) {
    require(log_det, "log_det");
    const Parity p = parity_of(parity);
    if (o.dirac->stored_term() == nullptr)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT, "the operator has no site term made of fields, such as clover's");
    agree(parity);
    *log_det = o.dirac->log_det(p);
  });
}
