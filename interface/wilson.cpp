// Dirac operators of quarksmith.h.
#include "interface/wilson.hpp"

#include <cmath>

#include "interface/arrays.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith::interface {

WilsonParameters parameters_of(const quarksmith_wilson_parameters* parameters, const HostGauge& gauge) {
  const auto& p = require_struct(parameters, "quarksmith_wilson_parameters");
  for (const double number :
       {p.mass, p.xi0, p.nu, p.csw, p.csw_r, p.csw_t, p.boundary[0], p.boundary[1], p.boundary[2], p.boundary[3]})
    if (!std::isfinite(number))
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        "a member of quarksmith_wilson_parameters is not finite; set mass, xi0, nu, csw and boundary");
  if (!(p.xi0 > 0) || !(p.nu > 0))
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("xi0 {}, nu {}: both must be positive", p.xi0, p.nu));
  if (p.csw != 0 && (p.csw_r != 0 || p.csw_t != 0))
    throw StatusError(
        QUARKSMITH_BAD_ARGUMENT,
        fmt::format("csw {} beside csw_r {}, csw_t {}; set csw, or the other two", p.csw, p.csw_r, p.csw_t));
  WilsonParameters result;
  result.mass = p.mass;
  result.xi0 = p.xi0;
  result.nu = p.nu;
  result.csw_r = p.csw != 0 ? p.csw : p.csw_r;
  result.csw_t = p.csw != 0 ? p.csw : p.csw_t;
  const bool in_links = gauge.phase != std::array<Complex64, directions>{1, 1, 1, 1};
  for (int mu = 0; mu < directions; ++mu) result.boundary[mu] = WilsonParameters::phase_of(p.boundary[mu]);
  if (p.boundary_from_links != 0 && in_links) result.boundary = gauge.phase;
  return result;
}

std::string links_of(const char* asked, const HostGauge& gauge) {
  return std::string(asked == nullptr ? default_links(gauge) : find_storage(asked).name);
}

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

Subset subset_of(Parity parity) { return parity == Parity::even ? Subset::even : Subset::odd; }

/// \throws StatusError the operator does not act on such a field.
void require_fits(const Operator& op, const Field& f, const char* name) {
  if (&f.spinors.precision() != &op.hopping.precision() || f.basis != &op.hopping.basis())
    throw StatusError(
        QUARKSMITH_BAD_ARGUMENT,
        fmt::format("field {} is {} {}, the operator is {} {}; create both with equal settings", name,
                    f.spinors.precision().name, f.basis->name, op.hopping.precision().name, op.hopping.basis().name));
}

}  // namespace

quarksmith_status quarksmith_wilson_parameters_init(quarksmith_wilson_parameters* parameters) {
  return init(__func__, parameters, [](auto& p) {
    p.xi0 = p.nu = 1;
    p.boundary[3] = 1;
    p.boundary_from_links = 1;
  });
}

double quarksmith_mass_of_kappa(double kappa) { return WilsonParameters::mass_of_kappa(kappa); }

quarksmith_status quarksmith_operator_settings_init(quarksmith_operator_settings* settings) {
  return init(__func__, settings, [](auto& s) {
    s.precision = "double";
    s.basis = "non_relativistic";
  });
}

quarksmith_status quarksmith_operator_create(quarksmith_gauge* gauge, const quarksmith_wilson_parameters* parameters,
                                             const quarksmith_operator_settings* settings, quarksmith_operator** op) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    const WilsonParameters p = parameters_of(parameters, g.gauge);
    const auto& s = require_struct(settings, "quarksmith_operator_settings");
    require(op, "op");
    const PrecisionInfo& precision = find_precision(require(s.precision, "precision"));
    const BasisInfo& basis = find_basis(require(s.basis, "basis"));
    const auto stored = [&](std::string_view format, std::string_view storage) {
      return std::make_shared<LinkField>(
          upload(g.gauge, g.session->domain, find_precision(format), find_storage(storage)));
    };
    const auto links = stored(precision.links, links_of(s.links, g.gauge));
    const auto plain = p.has_clover() ? stored("double", "r18") : nullptr;
    give<Operator>(op, g.session, WilsonHopping(links, precision, basis, p, plain.get()));
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
    o.hopping.apply(to->spinors, from->spinors, p, d);
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
    WilsonMatrix(o.hopping).apply(to->spinors, from->spinors, d);
  });
}

quarksmith_status quarksmith_dslash_host(quarksmith_operator* op, int parity, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    const Parity p = parity_of(parity);
    const Dagger d = dagger_of(dagger);
    const SpinorArrays arrays(o.lattice(), require_struct(format, "quarksmith_spinor_format"));
    require_all(in, n, "in");
    require_all(out, n, "out");
    const WilsonHopping& h = o.hopping;
    const SpinorField from = upload_all(arrays, in, n, h.domain(), h.precision(), subset_of(opposite(p)), h.basis());
    SpinorField to(h.domain(), h.precision(), subset_of(p), n);
    h.apply(to, from, p, d);
    download_all(to, h.basis(), arrays, out);
  });
}

quarksmith_status quarksmith_matrix_host(quarksmith_operator* op, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    const Dagger d = dagger_of(dagger);
    const SpinorArrays arrays(o.lattice(), require_struct(format, "quarksmith_spinor_format"));
    arrays.require_fits(Subset::full);
    require_all(in, n, "in");
    require_all(out, n, "out");
    const WilsonHopping& h = o.hopping;
    const SpinorField from = upload_all(arrays, in, n, h.domain(), h.precision(), Subset::full, h.basis());
    SpinorField to = from.like();
    WilsonMatrix(h).apply(to, from, d);
    download_all(to, h.basis(), arrays, out);
  });
}

quarksmith_status quarksmith_clover_log_det(quarksmith_operator* op, int parity, double* log_det) {
  return call<Operator>(__func__, "op", op, [&](Operator& o) {
    require(log_det, "log_det");
    const Parity p = parity_of(parity);
    if (o.hopping.clover() == nullptr)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT, "the operator has no clover term; create it with csw");
    *log_det = o.hopping.clover()->log_det(p);
  });
}
