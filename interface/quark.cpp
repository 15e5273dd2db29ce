// Quarks of molecular dynamics of quarksmith.h.
#include <algorithm>
#include <cmath>
#include <map>

#include "interface/arrays.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/actions/make.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// In which spinors are on the device.
constexpr const char* kernel_basis = "non_relativistic";

[[noreturn]] void refuse(const std::string& text) { throw StatusError(QUARKSMITH_BAD_ARGUMENT, text); }

double require_finite(double number, std::string_view name) {
  if (!std::isfinite(number)) refuse(fmt::format("{} {}: use a finite number", name, number));
  return number;
}

/// An action as options name it.
const ActionInfo& action_of(const char* name) {
  std::string listed;
  for (const ActionInfo& a : actions()) {
    if (a.offered && option_name(a.name) == name) return a;
    if (a.offered) listed += (listed.empty() ? "" : ", ") + option_name(a.name);
  }
  throw StatusError(QUARKSMITH_UNKNOWN_NAME, fmt::format("action '{}' is unknown; use one of {}", name, listed));
}

/// Parameters by their names or by spellings that are one number, as kappa.
std::map<std::string, double> values_of(const ActionInfo& info, const quarksmith_parameter* given, int count) {
  std::map<std::string, double> values;
  const auto add = [&](std::string_view name, double value) {
    if (!values.emplace(name, value).second) refuse(fmt::format("parameter {} is given twice; give it once", name));
  };
  for (int n = 0; n < count; ++n) {
    const std::string name = require(given[n].name, "the name of a parameter");
    const double value = require_finite(given[n].value, name);
    const auto spelling = std::find_if(info.spellings.begin(), info.spellings.end(), [&](const ActionSpelling& s) {
      return option_name(s.name) == name && s.numbers.find(',') == std::string_view::npos;
    });
    if (spelling == info.spellings.end()) {
      std::string stated = name;
      std::replace(stated.begin(), stated.end(), '-', '_');
      add(stated, value);
      continue;
    }
    if (!(value >= spelling->lower && value <= spelling->upper))
      refuse(fmt::format("{} {} of action {}: use {}", name, value, option_name(info.name), spelling->range));
    for (const auto& [parameter, number] : spelling->gives)
      if (number != nullptr) add(parameter, number(&value));
  }
  return values;
}

Reduction form_of(const char* asked, const Action& action) {
  if (action.spins() == 1) {
    if (asked != nullptr && std::string(asked) != "asymmetric")
      refuse(fmt::format("even_odd {} of staggered quarks, whose operator is A on even sites; use NULL", asked));
    return Reduction::asymmetric;
  }
  const Reduction form = asked != nullptr        ? quarksmith::reduction_of(asked)
                         : action.has_even_odd() ? Reduction::symmetric
                                                 : Reduction::none;
  if (form != Reduction::none && !action.has_even_odd())
    refuse(fmt::format("action {} has no even-odd form; use none", action.name()));
  return form;
}

FermionParameters fermion_of(const quarksmith_quark_parameters& p, const Dynamics& d) {
  const ActionInfo& info = action_of(require(p.action, "action"));
  if (p.count < 0) refuse(fmt::format("{} parameters; use 0 or more", p.count));
  if (p.count > 0) require(p.parameters, "parameters");
  if (p.slices < 1 || (info.chain.empty() && p.slices != 1))
    refuse(fmt::format("slices {} of action {}; use {}", p.slices, option_name(info.name),
                       info.chain.empty() ? "1: it has no fifth dimension" : "at least 1"));
  auto values = values_of(info, p.parameters, p.count);
  FermionParameters f;
  if (const auto mass = values.find("mass"); info.spins == 1 && mass != values.end()) {
    f.staggered_mass = mass->second;
    if (mass->second == 0) mass->second = 1;  // poles may hold the masses
  }
  for (int mu = 0; mu < directions; ++mu)
    f.boundary[mu] = WilsonParameters::phase_of(require_finite(p.boundary[mu], "a member of boundary"));
  if (p.boundary_from_links != 0 && d.phase != std::array<Complex64, directions>{1, 1, 1, 1}) f.boundary = d.phase;
  f.action = make_action({.values = {info, values}, .boundary = f.boundary, .slices = p.slices});
  f.reduction = form_of(p.even_odd, *f.action);
  if (p.stout_steps < 0 || p.stout_steps > 1000) refuse(fmt::format("stout_steps {}; use 0 to 1000", p.stout_steps));
  if (!(std::abs(p.stout_rho) <= 1)) refuse(fmt::format("stout_rho {}; use a number from -1 to 1", p.stout_rho));
  if (p.stout_directions != 3 && p.stout_directions != 4)
    refuse(fmt::format("stout_directions {}; use 4, or 3 for links in space alone", p.stout_directions));
  if (p.stout_rho != 0) f.stout = {p.stout_rho, p.stout_steps, p.stout_directions == 3};
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
      : quark_(quark),
        arrays_(quark.lattice(), require_struct(format, "quarksmith_spinor_format"), quark.spins),
        n_(n) {
    if (n < 1) refuse(fmt::format("{} vectors; use at least 1", n));
    arrays_.require_fits(quark.term.field(1).subset());
  }
  void require(const void* const* arrays, const char* name) const { require_all(arrays, n_ * quark_.slices, name); }
  SpinorField field() const { return quark_.term.field(n_); }
  SpinorField read(const void* const* arrays, const char* name) const {
    require(arrays, name);
    SpinorField result = field(), slices = result.by_slice();
    HostSpinor host(quark_.lattice());
    for (int k = 0; k < slices.rhs(); ++k) {
      arrays_.read(arrays[k], slices.subset(), host);
      upload(host, slices, find_basis(kernel_basis), k);
    }
    return result;
  }
  void write(const SpinorField& from, void* const* arrays) const {
    const SpinorField slices = from.by_slice();
    HostSpinor host(quark_.lattice());
    for (int k = 0; k < slices.rhs(); ++k) {
      download(slices, host, find_basis(kernel_basis), k);
      arrays_.write(host, slices.subset(), arrays[k]);
    }
  }

 private:
  Quark& quark_;
  SpinorArrays arrays_;
  int n_;
};

}  // namespace

quarksmith_status quarksmith_quark_parameters_init(quarksmith_quark_parameters* parameters) {
  return init(__func__, parameters, [](auto& p) {
    p.slices = 1;
    p.boundary[3] = 1;
    p.boundary_from_links = 1;
    p.stout_directions = 4;
    p.tolerance = SolverOptions{}.tolerance;
  });
}

quarksmith_status quarksmith_rational_init(quarksmith_rational* rational) { return init(__func__, rational); }

quarksmith_status quarksmith_quark_create(quarksmith_dynamics* dynamics, const quarksmith_quark_parameters* parameters,
                                          quarksmith_quark** quark) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d) {
    const auto& p = require_struct(parameters, "quarksmith_quark_parameters");
    require(quark, "quark");
    const FermionParameters f = fermion_of(p, d);
    give<Quark>(quark, d.session, operand<Dynamics>(dynamics, "dynamics"), f, p.tolerance);
  });
}

quarksmith_status quarksmith_quark_matrix(quarksmith_quark* quark, int dagger, int n, void* const* out,
                                          const void* const* in, const quarksmith_spinor_format* format) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) {
    if (dagger != 0 && dagger != 1) refuse(fmt::format("dagger {}; use 0 or 1", dagger));
    const Vectors vectors(q, format, n);
    const SpinorField from = vectors.read(in, "in");
    vectors.require(out, "out");
    SpinorField to = vectors.field();
    q.term.multiply(to, from, dagger == 1 ? Dagger::yes : Dagger::no);
    vectors.write(to, out);
  });
}

quarksmith_status quarksmith_quark_rational(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                            void* const* out, const void* const* in,
                                            const quarksmith_spinor_format* format) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) {
    const RationalFunction function = rational_of(r);
    const Vectors vectors(q, format, n);
    const SpinorField from = vectors.read(in, "in");
    vectors.require(out, "out");
    SpinorField to = vectors.field();
    q.term.apply(function, to, from);
    vectors.write(to, out);
  });
}

quarksmith_status quarksmith_quark_action(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                          const void* const* phi, const quarksmith_spinor_format* format,
                                          double* action) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) {
    require(action, "action");
    const RationalFunction function = rational_of(r);
    *action = q.term.action(function, Vectors(q, format, n).read(phi, "phi"));
  });
}

quarksmith_status quarksmith_quark_force(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                         const void* const* phi, const quarksmith_spinor_format* format, double step) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) {
    const RationalFunction function = rational_of(r);
    q.term.force(function, Vectors(q, format, n).read(phi, "phi"), require_finite(step, "step"), q.dynamics->momenta);
  });
}

quarksmith_status quarksmith_quark_outer(quarksmith_quark* quark, int n, const void* const* x, const void* const* y,
                                         const double* weights, const quarksmith_spinor_format* format, double step) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) {
    const Vectors vectors(q, format, n);
    require(weights, "weights");
    for (int k = 0; k < n; ++k) require_finite(weights[k], "a weight");
    const std::vector<double> all(weights, weights + n);
    const double dt = require_finite(step, "step");
    if (q.spins == 1 && y != nullptr) refuse("y of staggered quarks follows from x; pass NULL");
    const SpinorField right = vectors.read(x, "x");
    if (q.spins == 1) return q.term.force(right, nullptr, all, dt, q.dynamics->momenta);
    const SpinorField left = vectors.read(y, "y");
    q.term.force(right, &left, all, dt, q.dynamics->momenta);
  });
}

quarksmith_status quarksmith_quark_log_det(quarksmith_quark* quark, double* log_det) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) { *require(log_det, "log_det") = q.term.log_det(); });
}

quarksmith_status quarksmith_quark_log_det_force(quarksmith_quark* quark, double flavours, double step) {
  return call<Quark>(__func__, "quark", quark, [&](Quark& q) {
    q.term.log_det_force(require_finite(flavours, "flavours"), require_finite(step, "step"), q.dynamics->momenta);
  });
}
