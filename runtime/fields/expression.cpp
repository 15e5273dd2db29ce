#include "runtime/fields/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "runtime/ranks/bordered.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/fields/site_sums.hpp"

namespace quarksmith {
namespace {

/// The place in brackets of a name such as `more[2]`.
int index_in(std::string_view name) { return name[name.find('[') + 1] - '0'; }

/// The field of Arguments with that name.
Operand& operand_of(Arguments& a, std::string_view name) {
  if (name == "x") return a.x;
  if (name == "y") return a.y;
  if (name == "z") return a.z;
  if (name == "w") return a.w;
  if (name == "in") return a.in;
  if (name == "term") return a.term;
  if (name == "links") return a.links;
  if (name.starts_with("more[")) return a.more[index_in(name)];
  return a.out;
}

void set_number(Arguments& a, std::string_view name, Complex64 value) {
  const bool many = name.starts_with("numbers[");
  ComplexScalar& c = many ? a.numbers[index_in(name)] : name[0] == 'a' ? a.a : name[0] == 'b' ? a.b : a.c;
  if (name.ends_with(".re"))
    c.re = value.real();
  else if (name.ends_with(".im"))
    c.im = value.real();
  else
    c = {value.real(), value.imag()};
}

/// Both parities, with the distance between them.
Operand both_halves(const SpinorField& f) {
  Operand even = f.operand(Parity::even);
  const char* odd = static_cast<const char*>(f.operand(Parity::odd).data);
  even.parity_stride = (odd - static_cast<const char*>(even.data)) / f.precision().word_bytes;
  return even;
}

std::vector<std::string_view> words(std::string_view text, char separator) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

/// `1.1.2.0.0.0.0.1.corners`: backward and forward along x, y, z, t.
BorderDepth reach_of(std::string_view text) {
  BorderDepth reach;
  const auto numbers = words(text, '.');
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    if (n == 2 * directions) {
      reach.corners = true;
      break;
    }
    int sites = 0;
    std::from_chars(numbers[n].data(), numbers[n].data() + numbers[n].size(), sites);
    reach.sites[n / 2] = std::max(reach.sites[n / 2], sites);
  }
  return reach;
}

const DomainPointer& domain_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->domain_pointer() : a.spinors()->domain_pointer();
}
/// That of the fields of a call, of which there is one at least.
const DomainPointer& domain_of(std::span<const ExpressionArgument> arguments) {
  return domain_of(*std::find_if(arguments.begin(), arguments.end(), [](const auto& a) { return a.is_field(); }));
}

/// What an argument is, in words.
std::string described(const ExpressionArgument& a) {
  if (a.is_number()) return a.number().imag() == 0 ? "a real number" : "a complex number";
  if (const LatticeDirection* d = a.direction()) return fmt::format("direction {}", d->mu);
  if (const GammaProduct* g = a.gamma()) return fmt::format("gamma product {}", g->number);
  if (const LinkField* u = a.links())
    return fmt::format("a link field of {} in {}, {}", u->domain().lattice().text(), u->precision().name,
                       u->storage().name);
  const SpinorField& f = *a.spinors();
  return fmt::format("a spinor field of {} in {} with {} vectors of {} colours a site and {} right-hand sides, {}",
                     f.domain().lattice().text(), f.precision().name, f.spins(), f.colours(), f.rhs(),
                     f.subset() == Subset::full ? "all sites" : "sites of one parity");
}

/// What an expression needs of all its fields.
struct Kind {
  const Domain* domain = nullptr;
  const BorderedPart* part = nullptr;  ///< of that domain: some fields are in its box
  std::string_view precision;
  Components components = {};
  int rhs = 1;
};

/// Right-hand sides that belong together.
int flavours_of(std::span<const ExpressionParameter> parameters) {
  int flavours = 1;
  for (const ExpressionParameter& p : parameters) flavours = std::max(flavours, p.flavours);
  return flavours;
}

/// Whether a kernel adds up what its right-hand sides give.
bool sums_up(std::span<const ExpressionParameter> parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.flag == "each"; });
}

Kind kind_of(std::span<const ExpressionArgument> arguments) {
  Kind kind;
  for (const ExpressionArgument& a : arguments)
    if (const SpinorField* f = a.spinors(); f != nullptr && (kind.domain == nullptr || f->rhs() > kind.rhs))
      kind = {&f->domain(), nullptr, f->precision().name, f->components(), f->rhs()};
  const bool has_spinors = kind.domain != nullptr;
  for (const ExpressionArgument& a : arguments)  // numbers of a site have one colour, matrices beside them say how many
    if (const LinkField* u = a.links();
        u != nullptr && !has_spinors && (kind.domain == nullptr || u->colours() > kind.components.colours))
      kind = {&u->domain(), nullptr, u->precision().name, {4, u->colours()}, 1};
  for (const ExpressionArgument& a : arguments) {
    if (!a.is_field() || domain_of(a).get() == kind.domain) continue;
    const Domain& other = *domain_of(a);
    if (const BorderedPart* part = other.bordered_in(*kind.domain))
      kind.part = part, kind.domain = &other;
    else if (kind.part == nullptr)
      kind.part = kind.domain->bordered_in(other);
  }
  return kind;
}

/// Why an argument does not serve; empty if it does.
std::string objection(const ExpressionParameter& p, const ExpressionArgument& a, const Kernel& k, const Kind& kind) {
  if (p.is_number()) {
    if (!a.is_number()) return "it must be a number";
    return p.kind == "real" && a.number().imag() != 0 ? "it must be real" : "";
  }
  if (p.is_direction()) {
    if (a.direction() == nullptr) return "it must be a direction";
    return a.direction()->mu >= 0 && a.direction()->mu < directions ? "" : "directions are 0 to 3";
  }
  if (p.is_gamma()) {
    if (a.gamma() == nullptr) return "it must be a product of gamma matrices";
    return a.gamma()->number >= 0 && a.gamma()->number < 16 ? "" : "products are 0 to 15";
  }
  if (!a.is_field()) return "it must be a field";
  const bool boxed = kind.part != nullptr && (p.reaches_beyond() || !kind.part->keeps_sites_at_home());
  if (!alike(*domain_of(a), boxed ? *kind.part->domain() : *kind.domain))
    return "all fields must be of one lattice on one device";
  if (const SpinorField* f = a.spinors()) {
    if (!p.is_spinor()) return "it must be a link field";
    if (f->precision().name != k.precision || f->components() != Components(k.spins, k.colours))
      return fmt::format("spinor fields must share precision and colour vectors; this kernel is for {} of {} colours",
                         k.spins, k.colours);
    if (p.is_propagator() && f->rhs() != 3 * k.spins)
      return fmt::format("its right-hand sides must be the {} columns of a propagator", 3 * k.spins);
    if (f->rhs() != kind.rhs && (f->rhs() > 1 || p.is_output() || f->precision().norm))
      return "spinor fields must share right-hand sides, or have one that serves for all, in double or single";
    if (kind.rhs % p.flavours != 0) return fmt::format("its right-hand sides must be multiples of {}", p.flavours);
    if (f->slices() != 1) return "it has several slices; give by_slice()";
    return f->subset() == Subset::full ? "" : "it must hold all sites";
  }
  if (p.is_spinor()) return "it must be a spinor field";
  if (a.links()->precision().name != find_precision(k.precision).links) return "its precision is not that of the call";
  const bool numbers = p.kind == "scalars" || p.kind == "phases";
  const std::string_view storage = p.kind == "links" ? k.links : full_storage(numbers ? 1 : k.colours).name;
  return a.links()->storage().name == storage ? "" : fmt::format("its storage must be {}", storage);
}

const void* memory_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->memory() : a.spinors()->operand().data;
}

void check(const Kernel& k, std::span<const ExpressionParameter> parameters,
           std::span<const ExpressionArgument> arguments) {
  if (parameters.size() != arguments.size())
    throw UsageError(
        fmt::format("{} takes {} arguments, {} were given", k.operation, parameters.size(), arguments.size()));
  const Kind kind = kind_of(arguments);
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const ExpressionParameter& p = parameters[n];
    if (p.is_output() && !p.is_spinor() && kind.rhs > 1 && !sums_up(parameters))
      throw UsageError(
          fmt::format("{}: {} is one field of links, its spinors have {} right-hand sides; call it for each",
                      k.operation, p.name, kind.rhs));
    if (const std::string why = objection(p, arguments[n], k, kind); !why.empty())
      throw UsageError(fmt::format("{}: {} is {}; {}", k.operation, p.name, described(arguments[n]), why));
    for (std::size_t m = 0; m < n && p.is_direction(); ++m)
      if (arguments[m].direction() != nullptr && arguments[m].direction()->mu == arguments[n].direction()->mu)
        throw UsageError(fmt::format("{}: {} and {} are both direction {}; give different ones", k.operation,
                                     parameters[m].name, p.name, arguments[n].direction()->mu));
    if (!p.is_output()) continue;
    for (std::size_t m = 0; m < parameters.size(); ++m)
      if (m != n && parameters[m].flag != "here" && parameters[m].is_field() &&
          memory_of(arguments[m]) == memory_of(arguments[n]))
        throw UsageError(fmt::format("{}: {} cannot be written into {}, which is {}; use another field", k.operation,
                                     p.name, parameters[m].name,
                                     parameters[m].is_output() ? "written too" : "read at other sites"));
  }
}

}  // namespace

std::vector<ExpressionParameter> parameters_of(const Kernel& expression) {
  std::vector<ExpressionParameter> parameters;
  for (const std::string_view word : words(expression.signature, ' ')) {
    const auto part = words(word, ':');
    const auto kind = words(part.at(1), '*');
    parameters.push_back({part.at(0), kind.at(0), part.at(2), part.at(3), 1, {}});
    if (kind.size() > 1) parameters.back().flavours = kind[1][0] - '0';
    if (part.size() > 4) parameters.back().reach = reach_of(part[4]);
  }
  return parameters;
}

Arguments expression_arguments(const Kernel& expression, std::span<const ExpressionArgument> arguments) {
  const auto parameters = parameters_of(expression);
  check(expression, parameters, arguments);
  const Kind kind = kind_of(arguments);
  const int flavours = flavours_of(parameters), columns = kind.rhs / flavours;
  const Domain& domain = kind.part != nullptr ? *kind.part->domain() : *kind.domain;
  Arguments a = arguments_for(domain, domain.lanes(find_precision(kind.precision).element_bytes),
                              sums_up(parameters) ? 1 : columns);
  a.columns = columns;
  for (std::size_t n = 0, place = 1; n < parameters.size(); ++n) {
    const ExpressionParameter& p = parameters[n];
    if (const LatticeDirection* direction = arguments[n].direction()) {
      a.direction += direction->mu * int(place), place *= directions;
    } else if (const GammaProduct* gamma = arguments[n].gamma()) {
      a.direction += gamma->number * int(place), place *= directions * directions;
    } else if (p.is_number()) {
      set_number(a, p.operand, arguments[n].number());
    } else if (const LinkField* links = arguments[n].links()) {
      operand_of(a, p.operand) = links->operand();
    } else {
      Operand& operand = operand_of(a, p.operand) = both_halves(*arguments[n].spinors());
      if (arguments[n].spinors()->rhs() < kind.rhs) operand.rhs_stride = 0;
    }
  }
  return a;
}

namespace {

/// The kernel for these arguments. The storage that a record names is that of SU(N) links: of the first argument that
/// kernels of this name take as such, or, where there are none yet, of the first link field.
const Kernel& kernel_for(std::string_view expression, std::span<const ExpressionArgument> arguments, const Kind& kind,
                         std::string_view basis) {
  const auto kernels = kind.domain->device().kernels();
  KernelQuery query{.operation = expression,
                    .precision = kind.precision,
                    .basis = basis,
                    .spins = kind.components.spins,
                    .colours = kind.components.colours,
                    .expression = true};
  const auto known = std::ranges::find(kernels, expression, &Kernel::operation);
  const auto parameters = known == kernels.end() ? std::vector<ExpressionParameter>() : parameters_of(*known);
  for (std::size_t n = 0; n < arguments.size() && query.links.empty(); ++n)
    if (const LinkField* u = arguments[n].links();
        u != nullptr && u->colours() > 1 && (n >= parameters.size() || parameters[n].kind == "links"))
      query.links = u->storage().name;
  return find(kernels, query);
}

/// What a part must have round it.
BorderDepth depth_of(const std::vector<ExpressionParameter>& parameters) {
  BorderDepth depth;
  for (const ExpressionParameter& p : parameters) {
    for (int mu = 0; mu < directions; ++mu) depth.sites[mu] = std::max(depth.sites[mu], p.reach.sites[mu]);
    depth.corners = depth.corners || p.reach.corners;
  }
  return depth;
}

/// Gives what came from beyond the ends of the whole lattice the phase of a fermion.
void take_phases(const BorderedPart& part, SpinorField& box, const std::array<Complex64, directions>& boundary) {
  const LinkField* matrices = part.phases(boundary, find_precision(box.precision().links), box.colours());
  if (matrices == nullptr) return;
  if (box.spins() != 4) {
    evaluate("turn_colour", {*matrices, box}, {box});
    return;
  }
  const Domain& domain = *part.domain();
  const Kernel& rotate =
      find(domain.device().kernels(),
           {.operation = "rotate_colour", .precision = box.precision().name, .colours = box.colours()});
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(domain, box.lanes(), box.rhs());
    a.parity = int(parity);
    a.in = a.out = box.operand(parity);
    a.links = matrices->operand();
    domain.device().run(rotate, a);
  }
}

/// The fields of a call in the box of a part, those that are read as they are now; or where they are, if kernels find
/// them there.
std::vector<ExpressionArgument> in_box(const BorderedPart& part, const std::vector<ExpressionParameter>& parameters,
                                       std::span<const ExpressionArgument> arguments,
                                       std::span<const ExpressionOutput> outputs, const ExpressionSettings& settings) {
  std::vector<ExpressionArgument> boxed;
  const std::size_t inputs = arguments.size() - outputs.size();
  std::size_t spinors = 0;
  const bool along =
      std::any_of(parameters.begin(), parameters.end(), [](const ExpressionParameter& p) { return p.is_direction(); });
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const ExpressionParameter& p = parameters[n];
    if (!p.is_field() || (part.keeps_sites_at_home() && !p.reaches_beyond())) {
      boxed.push_back(arguments[n]);
    } else if (const LinkField* links = arguments[n].links()) {
      // What is written in some directions, or those of the call, keeps its others.
      if (p.flag == "out" && !along)
        boxed.emplace_back(part.write(*outputs[n - inputs].links()));
      else
        boxed.emplace_back(part.read(*links, p.reaches_beyond()));
    } else {
      const SpinorField& f = *arguments[n].spinors();
      SpinorField& box = part.scratch(spinors++, f);
      if (!p.is_output()) part.put(stored_sites(f), stored_sites(box));
      if (p.reaches_beyond()) part.exchange(stored_sites(box));
      if (p.reaches_beyond() && p.kind == "fermion") take_phases(part, box, settings.boundary);
      boxed.emplace_back(box);
    }
  }
  return boxed;
}

/// What was written, from the box or where it is, to where it belongs.
void take_results(const BorderedPart* box, std::span<const ExpressionArgument> boxed,
                  std::span<const ExpressionOutput> outputs) {
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    if (LinkField* links = outputs[n].links())
      box != nullptr ? box->written(*links) : links->changed();
    else if (box != nullptr)
      box->cut(stored_sites(*boxed[n].spinors()), stored_sites(*outputs[n].spinors()));
  }
}

}  // namespace

std::vector<ExpressionParameter> parameters_of(const Device& device, std::string_view expression) {
  for (const Kernel& kernel : device.kernels())
    if (kernel.operation == expression) return parameters_of(kernel);
  return parameters_of(find(device.kernels(), {.operation = expression, .precision = "double"}));
}

namespace {

/// Runs an expression; gives what its sites add to its sums, if it has some.
std::optional<SiteSums> launched(std::string_view expression, std::span<const ExpressionArgument> inputs,
                                 std::span<const ExpressionOutput> outputs, const ExpressionSettings& settings) {
  std::vector<ExpressionArgument> arguments(inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), outputs.begin(), outputs.end());
  const Kind kind = kind_of(arguments);
  if (kind.domain == nullptr) throw UsageError(fmt::format("{} was given no field", expression));
  const DomainPointer home = domain_of(*std::ranges::find_if(
      arguments, [&](const auto& a) { return a.is_field() && domain_of(a).get() == kind.domain; }));
  const int element_bytes = find_precision(kind.precision).element_bytes;
  const Kernel& kernel = kernel_for(expression, arguments, kind, settings.basis);
  constexpr int most_sums = 64;
  if (KernelRehearsal::under_way() && kernel.signature.empty())
    return SiteSums(home, home->lanes(element_bytes), most_sums, 1);
  if (kernel.family != "expression") throw UsageError(fmt::format("{} is no lattice expression", expression));
  const auto parameters = parameters_of(kernel);
  check(kernel, parameters, arguments);
  const auto written =
      std::count_if(parameters.begin(), parameters.end(), [](const ExpressionParameter& p) { return p.is_output(); });
  if (written != std::ptrdiff_t(outputs.size()))
    throw UsageError(fmt::format("{} writes {} fields, {} were given as outputs", expression, written, outputs.size()));
  const bool is_boxed = kind.part != nullptr;
  const BorderedPart* part = is_boxed ? kind.part : home->bordered(depth_of(parameters), element_bytes, expression);
  const auto fields = part != nullptr && !is_boxed ? in_box(*part, parameters, arguments, outputs, settings) : arguments;
  // What holds the results for as long as the kernel runs: nothing, if they are written where they belong.
  const BorderedPart* box = part != nullptr && !part->keeps_sites_at_home() ? part : nullptr;
  std::optional<SiteSums> sums;
  const int rhs = sums_up(parameters) ? 1 : kind.rhs;
  const auto sums_of = [&](const DomainPointer& d) { return SiteSums(d, d->lanes(element_bytes), kernel.sums, rhs); };
  if (kernel.sums > 0) sums.emplace(sums_of(box != nullptr ? box->domain() : home));
  Arguments a = expression_arguments(kernel, fields);
  a.hops = hops_of((part != nullptr ? part->domain() : home)->lattice(), {1, 1, 1, 1}, settings.boundary);
  if (sums) a.out = sums->operand();
  if (part != nullptr) part->restrict(a);
  home->device().run(kernel, a);
  take_results(box, std::span(fields).last(outputs.size()), outputs);
  if (!sums || box == nullptr) return sums;
  SiteSums cut = sums_of(home);
  box->cut(sums->stored(), cut.stored());
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
                   const ExpressionSettings& settings) {
  std::optional<SiteSums> sums = launched(expression, inputs, {}, settings);
  if (!sums) throw UsageError(fmt::format("{} adds nothing up", expression));
  return std::move(*sums);
}

}  // namespace quarksmith
