// Quarks of molecular dynamics of quarksmith.h.
#include <algorithm>
#include <cmath>
#include <optional>

#include "interface/arrays.hpp"
#include "interface/options.hpp"
#include "runtime/fields/gauge.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// In which spinors are on the device.
constexpr const char* kernel_basis = "non_relativistic";

EvenOddForm form_of(const QuarkDescription& d, const Action& action) {
  if (action.is_squared()) {
    if (!d.even_odd.empty() && d.even_odd != "asymmetric")
      refuse(fmt::format("{} of staggered quarks, whose operator is A on even sites; leave it out",
                         d.called("even_odd", d.even_odd)));
    return EvenOddForm::asymmetric;
  }
  const EvenOddForm form = !d.even_odd.empty()     ? quarksmith::even_odd_form_of(d.even_odd)
                           : action.has_even_odd() ? EvenOddForm::symmetric
                                                   : EvenOddForm::none;
  if (form != EvenOddForm::none && !action.has_even_odd())
    refuse(fmt::format("action {} has no even-odd form; use none", action.name()));
  return form;
}

FermionParameters fermion_of(QuarkDescription& d, const Dynamics& on) {
  d.action.allow_non_su3 = true;  // they are SU(3): nobody has to look again
  FermionParameters f{d.choose(GaugeLinks(on.links.keep(), on.phase)).action};
  f.even_odd_form = form_of(d, f.action);
  if (d.stout_rho != 0)
    f.smearing = {d.stout_directions == "xyz" ? "stout_space" : "stout", {{"rho", d.stout_rho}}, d.stout_steps};
  return f;
}

RationalFunction rational_of(const quarksmith_rational* rational) {
  const auto& r = require_struct(rational, "quarksmith_rational");
  if (r.count < 0) refuse(fmt::format("{} poles; use 0 or more", r.count));
  RationalFunction result;
  result.constant = require_finite(r.constant, "constant");
  for (int k = 0; k < r.count; ++k) {
    result.residues.push_back(require_finite(require(r.residues, "residues")[k], "a residue"));
    result.poles.push_back(require_finite(require(r.poles, "poles")[k], "a pole"));
    if (r.poles[k] < 0)
      refuse(fmt::format("pole {} is negative: A + pole has to be positive; use poles of 0 or more", r.poles[k]));
  }
  return result;
}

/// Vectors of a quark between arrays of a caller and the device.
class Vectors {
 public:
  Vectors(Quark& quark, const quarksmith_spinor_format* format, int n)
      : quark_(quark), arrays_(quark.lattice(), format, quark.spins, find_basis(kernel_basis)), n_(n) {
    if (n < 1) refuse(fmt::format("{} vectors; use at least 1", n));
    arrays_.require_fits(quark.term.field(1).subset());
  }
  void require(const void* const* arrays, const char* name) const { require_all(arrays, n_ * quark_.slices, name); }
  SpinorField field() const { return quark_.term.field(n_); }
  SpinorField read(const void* const* arrays, const char* name) const {
    require(arrays, name);
    SpinorField result = field();
    upload_all(arrays_, arrays, result);
    return result;
  }
  void write(const SpinorField& from, void* const* arrays) const { download_all(from, arrays_, arrays); }

 private:
  Quark& quark_;
  SpinorArrays arrays_;
  int n_;
};

}  // namespace

quarksmith_status quarksmith_rational_init(quarksmith_rational* rational) { return init(__func__, rational); }

quarksmith_status quarksmith_quark_create(quarksmith_dynamics* dynamics, const char* options,
                                          quarksmith_quark** quark) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    require(quark, "quark");
    const auto asked = read_options<QuarkDescription>(options, d);
    agree(text_of(options));
    const FermionParameters fermion = fermion_of(*asked, d);
    give<Quark>(quark, d.shared, operand<Dynamics>(dynamics, "dynamics"), fermion, asked->tolerance);
  });
}

quarksmith_status quarksmith_quark_matrix(quarksmith_quark* quark, int dagger, int n, void* const* out,
                                          const void* const* in, const quarksmith_spinor_format* format) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    if (dagger != 0 && dagger != 1) refuse(fmt::format("dagger {}; use 0 or 1", dagger));
    const Vectors vectors(q, format, n);
    const SpinorField from = vectors.read(in, "in");
    vectors.require(out, "out");
    require_apart(out, n * q.slices, "out");
    SpinorField to = vectors.field();
    agree(dagger, n);
    q.term.multiply(to, from, dagger == 1 ? Dagger::yes : Dagger::no);
    vectors.write(to, out);
  });
}

quarksmith_status quarksmith_quark_rational(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                            void* const* out, const void* const* in,
                                            const quarksmith_spinor_format* format) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    const RationalFunction function = rational_of(r);
    const Vectors vectors(q, format, n);
    const SpinorField from = vectors.read(in, "in");
    vectors.require(out, "out");
    require_apart(out, n * q.slices, "out");
    SpinorField to = vectors.field();
    agree(n, function.constant, function.residues, function.poles);
    q.term.apply(function, to, from);
    vectors.write(to, out);
  });
}

quarksmith_status quarksmith_quark_action(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                          const void* const* phi, const quarksmith_spinor_format* format,
                                          double* action) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    require(action, "action");
    const RationalFunction function = rational_of(r);
    const SpinorField vectors = Vectors(q, format, n).read(phi, "phi");
    agree(n, function.constant, function.residues, function.poles);
    const double s = q.term.action(function, vectors);
    if (!std::isfinite(s)) throw StatusError(QUARKSMITH_BAD_DATA, "the action is not finite; use smaller vectors");
    *action = s;
  });
}

quarksmith_status quarksmith_quark_force(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                         const void* const* phi, const quarksmith_spinor_format* format, double step) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    const RationalFunction function = rational_of(r);
    const SpinorField vectors = Vectors(q, format, n).read(phi, "phi");
    const double dt = require_finite(step, "step");
    agree(n, function.constant, function.residues, function.poles, dt);
    q.dynamics->kick([&](LinkField& p) { q.term.force(function, vectors, dt, p); });
  });
}

quarksmith_status quarksmith_quark_outer(quarksmith_quark* quark, int n, const void* const* x, const void* const* y,
                                         const double* weights, const quarksmith_spinor_format* format, double step) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    const Vectors vectors(q, format, n);
    require(weights, "weights");
    for (int k = 0; k < n; ++k) require_finite(weights[k], "a weight");
    const std::vector<double> all(weights, weights + n);
    const double dt = require_finite(step, "step");
    if (q.squared && y != nullptr) refuse("y of staggered quarks follows from x; pass NULL");
    const SpinorField right = vectors.read(x, "x");
    std::optional<SpinorField> left;
    if (!q.squared) left.emplace(vectors.read(y, "y"));
    agree(n, all, dt);
    q.dynamics->kick([&](LinkField& p) { q.term.force(right, left ? &*left : nullptr, all, dt, p); });
  });
}

quarksmith_status quarksmith_quark_log_det(quarksmith_quark* quark, double* log_det) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    require(log_det, "log_det");
    agree();
    *log_det = q.term.log_det();
  });
}

quarksmith_status quarksmith_quark_log_det_force(quarksmith_quark* quark, double flavours, double step) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q, Agreement& agree) {
    const double weight = require_finite(flavours, "flavours"), dt = require_finite(step, "step");
    agree(weight, dt);
    q.dynamics->kick([&](LinkField& p) { q.term.log_det_force(weight, dt, p); });
  });
}
