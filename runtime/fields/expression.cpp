#include "runtime/fields/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/error.hpp"
#include "runtime/fields/expression_call.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/fields/padded_fields.hpp"
#include "runtime/fields/site_sums.hpp"
#include "runtime/ranks/padded_lattice.hpp"
#include "runtime/rehearsal.hpp"

namespace quarksmith {
namespace {

/// The kernel for these arguments. The storage that a record names is that of SU(N) links: of the first argument that
/// kernels of this name take as such, or, where there are none yet, of the first link field that is no momenta.
const Kernel& kernel_for(std::string_view expression, std::span<const ExpressionArgument> arguments,
                         const ExpressionKind& kind, std::string_view basis) {
  const Device& device = kind.domain->device();
  const auto named = device.kernels_named(expression);
  KernelQuery query{.operation = expression,
                    .precision = kind.precision,
                    .basis = basis,
                    .spins = kind.components.spins,
                    .colours = kind.components.colours,
                    .expression = true};
  const auto* parameters = named.empty() ? nullptr : &parameters_of(*named[0]);
  const auto may_name = [&](std::size_t n, const LinkField& u) {
    if (parameters != nullptr && n < parameters->size()) return (*parameters)[n].kind == "links";
    return !u.storage().group.starts_with("su(");
  };
  for (std::size_t n = 0; n < arguments.size() && query.links.empty(); ++n)
    if (const LinkField* u = arguments[n].links(); u != nullptr && u->colours() > 1 && may_name(n, *u))
      query.links = u->storage().name;
  const auto found = std::ranges::find_if(named, [&](const Kernel* k) { return fits(*k, query); });
  return found != named.end() ? **found : find(device.kernels(), query);
}

/// Gives what came from beyond the ends of the whole lattice the phase of a fermion.
void take_phases(const PaddedLattice& padded, SpinorField& copy, const std::array<Complex64, directions>& boundary) {
  const LinkField* matrices = border_phases(padded, boundary, find_precision(copy.precision().links), copy.colours());
  if (matrices == nullptr) return;
  if (copy.spins() != 4) {
    evaluate("turn_colour", {*matrices, copy}, {copy});
    return;
  }
  const Domain& domain = *padded.domain();
  const Kernel& rotate =
      find(domain.device().kernels(),
           {.operation = "rotate_colour", .precision = copy.precision().name, .colours = copy.colours()});
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(domain, copy.lanes(), copy.rhs());
    a.parity = int(parity);
    a.in = a.out = copy.operand(parity);
    a.links = matrices->operand();
    domain.device().run(rotate, a);
  }
}

/// The fields of a call in the box of a part, those that are read as they are now; or where they are, if kernels find
/// them there.
std::vector<ExpressionArgument> in_padded(const PaddedLattice& padded,
                                          const std::vector<ExpressionParameter>& parameters,
                                          std::span<const ExpressionArgument> arguments,
                                          std::span<const ExpressionOutput> outputs,
                                          const ExpressionSettings& settings) {
  std::vector<ExpressionArgument> copies;
  const std::size_t inputs = arguments.size() - outputs.size();
  std::size_t spinors = 0;
  const bool along =
      std::any_of(parameters.begin(), parameters.end(), [](const ExpressionParameter& p) { return p.is_direction(); });
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const ExpressionParameter& p = parameters[n];
    if (!p.is_field() || (padded.keeps_sites_at_home() && !p.reaches_beyond())) {
      copies.push_back(arguments[n]);
    } else if (const LinkField* links = arguments[n].links()) {
      // What is written in some directions, or those of the call, keeps its others.
      if (p.flag == "out" && !along)
        copies.emplace_back(outputs[n - inputs].links()->write_in(padded));
      else
        copies.emplace_back(links->read_in(padded, p.reaches_beyond()));
    } else {
      const SpinorField& f = *arguments[n].spinors();
      SpinorField& copy = scratch_in(padded, spinors++, f);
      if (!p.is_output()) padded.put(stored_sites(f), stored_sites(copy));
      if (p.reaches_beyond()) padded.exchange(stored_sites(copy));
      if (p.reaches_beyond() && p.kind == "fermion") take_phases(padded, copy, settings.boundary);
      copies.emplace_back(copy);
    }
  }
  return copies;
}

/// Copies results from the padded lattice, if they are there, to the output fields.
void take_results(const PaddedLattice* results_in, std::span<const ExpressionArgument> copies,
                  std::span<const ExpressionOutput> outputs) {
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    if (LinkField* links = outputs[n].links())
      results_in != nullptr ? links->written_in(*results_in) : links->changed();
    else if (results_in != nullptr)
      results_in->cut(stored_sites(*copies[n].spinors()), stored_sites(*outputs[n].spinors()));
  }
}

}  // namespace

BorderDepth deeper(const BorderDepth& a, const BorderDepth& b) {
  BorderDepth depth{a.sites, a.corners || b.corners};
  for (int mu = 0; mu < directions; ++mu) depth.sites[mu] = std::max(a.sites[mu], b.sites[mu]);
  return depth;
}

BorderDepth depth_of(std::span<const ExpressionParameter> parameters) {
  BorderDepth depth;
  for (const ExpressionParameter& p : parameters) depth = deeper(depth, p.reach);
  return depth;
}

const std::vector<ExpressionParameter>& parameters_of(const Device& device, std::string_view expression) {
  if (const auto named = device.kernels_named(expression); !named.empty()) return parameters_of(*named[0]);
  return parameters_of(find(device.kernels(), {.operation = expression, .precision = "double"}));
}

namespace {

/// Runs an expression; gives what its sites add to its sums, if it has some.
std::optional<SiteSums> launched(std::string_view expression, std::span<const ExpressionArgument> inputs,
                                 std::span<const ExpressionOutput> outputs, const ExpressionSettings& settings) {
  std::vector<ExpressionArgument> arguments(inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), outputs.begin(), outputs.end());
  const ExpressionKind kind = kind_of(arguments);
  if (kind.domain == nullptr) throw UsageError(fmt::format("{} was given no field", expression));
  const DomainPointer home = domain_of(*std::ranges::find_if(
      arguments, [&](const auto& a) { return a.is_field() && domain_of(a).get() == kind.domain; }));
  const int element_bytes = find_precision(kind.precision).element_bytes;
  const Kernel& kernel = kernel_for(expression, arguments, kind, settings.basis);
  constexpr int most_sums = 64;
  if (KernelRehearsal::under_way() && kernel.signature.empty())
    return SiteSums(home, home->lanes(element_bytes), most_sums, 1);
  if (kernel.family != "expression") throw UsageError(fmt::format("{} is no lattice expression", expression));
  const auto& parameters = parameters_of(kernel);
  check_arguments(kernel, parameters, arguments);
  const auto written =
      std::count_if(parameters.begin(), parameters.end(), [](const ExpressionParameter& p) { return p.is_output(); });
  if (written != std::ptrdiff_t(outputs.size()))
    throw UsageError(fmt::format("{} writes {} fields, {} were given as outputs", expression, written, outputs.size()));
  const bool is_padded = kind.padded != nullptr;
  const PaddedLattice* padded = is_padded ? kind.padded : home->padded(depth_of(parameters), element_bytes, expression);
  const auto fields =
      padded != nullptr && !is_padded ? in_padded(*padded, parameters, arguments, outputs, settings) : arguments;
  // What holds the results for as long as the kernel runs: nothing, if they are written where they belong.
  const PaddedLattice* results_in = padded != nullptr && !padded->keeps_sites_at_home() ? padded : nullptr;
  std::optional<SiteSums> sums;
  const int rhs = sums_up(parameters) ? 1 : kind.rhs;
  const auto sums_of = [&](const DomainPointer& d) { return SiteSums(d, d->lanes(element_bytes), kernel.sums, rhs); };
  if (kernel.sums > 0) sums.emplace(sums_of(results_in != nullptr ? results_in->domain() : home));
  Arguments a = expression_arguments(kernel, fields);
  a.hops = hops_of((padded != nullptr ? padded->domain() : home)->lattice(), {1, 1, 1, 1}, settings.boundary);
  if (sums) a.out = sums->operand();
  if (padded != nullptr) padded->restrict(a);
  home->device().run(kernel, a);
  take_results(results_in, std::span(fields).last(outputs.size()), outputs);
  if (!sums || results_in == nullptr) return sums;
  SiteSums cut = sums_of(home);
  results_in->cut(sums->stored(), cut.stored());
  return cut;
}

}  // namespace

std::vector<double> evaluate(std::string_view expression, std::span<const ExpressionArgument> inputs,
                             std::span<const ExpressionOutput> outputs, const ExpressionSettings& settings) {
  const std::optional<SiteSums> sums = launched(expression, inputs, outputs, settings);
  if (!sums) return {};
  return settings.largest ? sums->largest() : sums->totals();
}

SiteSums site_sums(std::string_view expression, std::span<const ExpressionArgument> inputs,
                   std::span<const ExpressionOutput> outputs, const ExpressionSettings& settings) {
  std::optional<SiteSums> sums = launched(expression, inputs, outputs, settings);
  if (!sums) throw UsageError(fmt::format("{} adds nothing up", expression));
  return std::move(*sums);
}

}  // namespace quarksmith
