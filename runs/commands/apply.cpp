// quarksmith apply: a lattice expression on fields that options name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/action.hpp"
#include "runtime/error.hpp"
#include "runtime/io/field_file.hpp"
#include "runtime/lattice/exact_sum.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/host_averages.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

struct ApplyDescription : Description {
  std::string name, gauge, lattice, precision = "double", links, basis, boundary, out, format;
  std::vector<std::string> given;
  int spins = 0;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("name", name, "the expression: built in, or of a module in QUARKSMITH_KERNELS").required().positional();
    add("values", given,
        "name=value of its arguments: a number (RE or RE,IM); a source for a spinor field, as for propagator "
        "(default noise:1,z4, spin and colour 0); a configuration for links (default: --gauge)")
        .positional();
    add("gauge", gauge, gauge_forms).required();
    add("lattice", lattice, "extents X,Y,Z,T, for files that do not record them");
    add("precision", precision, "double, single, ...");
    add("reconstruct", links, "reals a link (default: any that was built)");
    add("spins", spins, "colour vectors a site of its spinor fields, 1 or 4 (default: what was built)").open();
    add("basis", basis, "of expressions with matrices in spin (default: any that was built)");
    add("boundary", boundary, "of fermions: periodic, antiperiodic (default) or phases a,b,c,d in units of pi");
    add("out", out, "write the links that it returns to this file");
    list_format(add, format, "out");
  }
};

/// The kernel of that name that suits the options; the first if they leave a choice.
const Kernel& kernel_of(ApplyDescription& o, const Device& device, int colours) {
  std::string known;
  const Kernel* found = nullptr;
  for (const Kernel& k : device.kernels()) {
    if (k.family != "expression") continue;
    if (known.find(std::string(k.operation) + ",") == std::string::npos) known += std::string(k.operation) + ", ";
    if (k.operation != o.name || k.precision != o.precision || (o.spins != 0 && k.spins != o.spins)) continue;
    if (k.colours != colours) continue;
    if (!o.links.empty() && !k.links.empty() && k.links != "r" + o.links) continue;
    if (!o.basis.empty() && !k.basis.empty() && k.basis != o.basis) continue;
    if (found == nullptr) found = &k;
  }
  if (found != nullptr) return *found;
  throw UsageError(fmt::format(
      "no expression {} in {} in this build or in QUARKSMITH_KERNELS; there are {}none else. Compile a file "
      "with `python -m generator expression FILE.py`",
      o.name, o.precision, known));
}

/// name=value of the options.
std::map<std::string, std::string> values_of(ApplyDescription& o, const std::vector<ExpressionParameter>& parameters) {
  std::map<std::string, std::string> values;
  for (const std::string& text : o.given) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("'{}' is not name=value", text));
    const std::string name = text.substr(0, equals);
    std::string known;
    for (const ExpressionParameter& p : parameters) known += p.is_output() ? "" : fmt::format(" {}", p.name);
    if ((known + " ").find(" " + name + " ") == std::string::npos)
      throw UsageError(fmt::format("{} has no {}; it takes{}", o.name, name, known));
    values[name] = text.substr(equals + 1);
  }
  return values;
}

/// Fields and numbers of one call.
class Application {
 public:
  Application(ApplyDescription& o, const Kernel& kernel, DomainPointer domain, const HostGauge& gauge, Session& session)
      : o_(o),
        session_(session),
        kernel_(kernel),
        domain_(std::move(domain)),
        gauge_(gauge),
        parameters_(parameters_of(kernel)),
        settings_{choose_boundary(o.boundary, gauge, session, o.wording), kernel.basis} {
    const bool fermions = std::any_of(parameters_.begin(), parameters_.end(),
                                      [](const ExpressionParameter& p) { return p.kind == "fermion"; });
    if (!o.boundary.empty() && !fermions)
      throw UsageError(fmt::format("--boundary: {} has no fermions, which alone take up phases; leave it out", o.name));
    if (!o.basis.empty() && kernel.basis.empty())
      throw UsageError(fmt::format("--basis: {} has no matrices in spin; leave it out", o.name));
    const auto values = values_of(o, parameters_);
    if (!o.out.empty() && std::none_of(parameters_.begin(), parameters_.end(),
                                       [](const ExpressionParameter& p) { return p.is_output() && !p.is_spinor(); }))
      throw UsageError(fmt::format("--out {}: {} returns no links; leave it out", o.out, o.name));
    links_.reserve(parameters_.size());
    spinors_.reserve(parameters_.size());
    for (const ExpressionParameter& p : parameters_) {
      const auto value = values.find(std::string(p.name));
      add(p, value == values.end() ? "" : value->second);
    }
  }

  /// Applies the expression and says what came out.
  Json operator()() {
    evaluate(kernel_.operation, inputs_, outputs_, settings_);  // once for what is loaded at the first call
    std::vector<double> sums;
    const double seconds =
        domain_->device().time([&] { sums = evaluate(kernel_.operation, inputs_, outputs_, settings_); });
    Json j = {{"expression", kernel_.operation},
              {"kernel", kernel_.name},
              {"formula", kernel_.formula},
              {"lattice", gauge_.lattice.global_extent()},
              {"seconds", seconds}};
    for (std::size_t n = 0; n < sums.size(); ++n) {
      print(session_, "sum {}: {:.15g}  ({:.15g} a site)\n", n + 1, sums[n],
            sums[n] / double(gauge_.lattice.global_sites()));
      j["sums"].push_back(sums[n]);
    }
    for (std::size_t n = 0; n < outputs_.size(); ++n)
      describe(std::string(parameters_[inputs_.size() + n].name), outputs_[n], j);
    print(session_, "{}: {:.6f} s\n", kernel_.name, seconds);
    return j;
  }

 private:
  void add(const ExpressionParameter& p, const std::string& value) {
    if (p.is_number()) {
      if (value.empty()) throw UsageError(fmt::format("{} needs {}=NUMBER", o_.name, p.name));
      const auto parts = split(value, ',');
      if (parts.size() > (p.kind == "complex" ? 2 : 1))
        throw UsageError(fmt::format("{}={} is no {} number", p.name, value, p.kind));
      inputs_.emplace_back(Complex64(number(parts[0], std::string(p.name)),
                                     parts.size() > 1 ? number(parts[1], std::string(p.name)) : 0));
    } else if (p.is_direction()) {
      const auto mu = LatticeDirection::named(value);
      if (!mu) throw UsageError(fmt::format("{} needs {}=x, y, z or t", o_.name, p.name));
      inputs_.emplace_back(*mu);
    } else if (p.is_gamma()) {
      const auto number = meson_number(value);
      if (!number)
        throw UsageError(fmt::format("{} needs {}=GAMMA, one of {}", o_.name, p.name, fmt::join(meson_names(), ", ")));
      inputs_.emplace_back(GammaProduct{*number});
    } else if (p.is_spinor()) {
      const int columns = p.is_propagator() ? 3 * kernel_.spins : 1;
      SpinorField& f = spinors_.emplace_back(domain_, find_precision(kernel_.precision), Subset::full, columns,
                                             Components(kernel_.spins, kernel_.colours));
      f.fill(0);
      if (!p.is_output()) {
        const SourceSettings settings = source_of(value.empty() ? "noise:1,z4" : value, gauge_.lattice);
        for (int n = 0; n < columns; ++n) set_source(settings, n / 3, n % 3, f, basis(), n);
      }
      give(p, f);
    } else {
      const bool numbers = p.kind == "scalars" || p.kind == "phases";
      HostGauge u = gauge_;
      if (numbers)
        u = value.empty() ? units() : read_field(value, std::string(p.name), p.kind, gauge_.lattice).links.host();
      else if (!value.empty())
        u = open_gauge(value, o_.lattice, session_).gauge;
      if (p.kind == "algebra" && value.empty()) u.site.clear();
      give(p, links_.emplace_back(
                  upload(u, domain_, find_precision(find_precision(kernel_.precision).links), p.storage(kernel_))));
    }
  }
  template <class Field>
  void give(const ExpressionParameter& p, Field& field) {
    if (p.is_output())
      outputs_.emplace_back(field);
    else
      inputs_.emplace_back(field);
  }
  HostGauge units() const { return unit_gauge(gauge_.lattice, 1); }

  void describe(const std::string& name, const ExpressionArgument& a, Json& j) const {
    if (const SpinorField* f = a.spinors()) {
      HostSpinor psi(gauge_.lattice);
      download(*f, psi, basis());
      std::vector<double> sites(psi.site.size());
      for (std::size_t x = 0; x < sites.size(); ++x)
        for (int n = 0; n < 3 * f->spins(); ++n) sites[x] += std::norm(psi.site[x][n]);
      const double norm = exact_sum(sites, domain_->communicator());
      print(session_, "{}: |{}|^2 = {:.15g}\n", name, name, norm);
      j[name] = {{"norm2", norm}};
      return;
    }
    const HostGauge u = download(*a.links());
    const GaugeAverages averages = host_averages(u, domain_->communicator());
    print(session_, "{}: plaquette {:.12f}  (space {:.12f}, time {:.12f}), link trace {:.12f}\n", name,
          averages.plaquette, averages.space_plaquette, averages.time_plaquette, averages.link_trace);
    j[name] = {{"plaquette", averages.plaquette},
               {"space_plaquette", averages.space_plaquette},
               {"time_plaquette", averages.time_plaquette},
               {"link_trace", averages.link_trace}};
    if (o_.out.empty()) return;
    const std::string format = output_format(o_.out, o_.format);
    write_gauge(session_.output(o_.out), u, format, output_bits(format));
  }

  /// Of spinors on the device.
  const BasisInfo& basis() const { return find_basis(kernel_.basis.empty() ? "degrand_rossi" : kernel_.basis); }

  ApplyDescription& o_;
  Session& session_;
  const Kernel& kernel_;
  DomainPointer domain_;
  const HostGauge& gauge_;
  std::vector<ExpressionParameter> parameters_;
  std::vector<LinkField> links_;
  std::vector<SpinorField> spinors_;
  std::vector<ExpressionArgument> inputs_;
  std::vector<ExpressionOutput> outputs_;
  ExpressionSettings settings_;
};

void run(ApplyDescription& o, Session& session) {
  if (o.out.empty() && !o.format.empty())
    throw UsageError(o.called("format") + " belongs to " + o.called("out") + " FILE; leave it out");
  if (!o.out.empty()) output_format(o.out, o.format);
  session.claim({{"out", o.out}}, {{"gauge", o.gauge}});
  const NamedGauge named = open_gauge(o.gauge, o.lattice, session);
  const DomainPointer domain = session.open_domain(named.gauge.lattice());
  report(session,
         Application(o, kernel_of(o, domain->device(), named.gauge.colours()), domain, named.gauge, session)());
}

}  // namespace

namespace commands {
extern constinit const Command apply = {
    .name = "apply",
    .help = "Evaluate a lattice expression once (docs/expressions.md)",
    .place = 90,
    .uses = Session::reads | Session::computes | Session::shares | Session::reports | Session::replaces,
    .make = task<ApplyDescription>};
}

}  // namespace quarksmith::runs
