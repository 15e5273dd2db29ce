#include "runtime/fields/expression_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include "runtime/error.hpp"
#include "runtime/ranks/padded_lattice.hpp"

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

/// The operand of both parities, with the distance between them.
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

/// Description of an argument for messages.
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

/// Right-hand sides that belong together.
int flavours_of(std::span<const ExpressionParameter> parameters) {
  int flavours = 1;
  for (const ExpressionParameter& p : parameters) flavours = std::max(flavours, p.flavours);
  return flavours;
}

/// Why an argument does not serve; empty if it does.
std::string objection(const ExpressionParameter& p, const ExpressionArgument& a, const Kernel& k,
                      const ExpressionKind& kind) {
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
  const bool in_copy = kind.padded != nullptr && (p.reaches_beyond() || !kind.padded->keeps_sites_at_home());
  if (!alike(*domain_of(a), in_copy ? *kind.padded->domain() : *kind.domain))
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
  const StorageInfo& storage = p.storage(k);
  return a.links()->storage().name == storage.name ? "" : fmt::format("its storage must be {}", storage.name);
}

const void* memory_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->memory() : a.spinors()->operand().data;
}

}  // namespace

bool sums_up(std::span<const ExpressionParameter> parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.flag == "each"; });
}

ExpressionKind kind_of(std::span<const ExpressionArgument> arguments) {
  ExpressionKind kind;
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
    if (const PaddedLattice* padded = other.padded_in(*kind.domain))
      kind.padded = padded, kind.domain = &other;
    else if (kind.padded == nullptr)
      kind.padded = kind.domain->padded_in(other);
  }
  return kind;
}

void check_arguments(const Kernel& k, std::span<const ExpressionParameter> parameters,
                     std::span<const ExpressionArgument> arguments) {
  if (parameters.size() != arguments.size())
    throw UsageError(
        fmt::format("{} takes {} arguments, {} were given", k.operation, parameters.size(), arguments.size()));
  const ExpressionKind kind = kind_of(arguments);
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
      if (m != n && parameters[m].operand == p.operand && memory_of(arguments[m]) != memory_of(arguments[n]))
        throw UsageError(
            fmt::format("{}: {} is written in place of {}; give one field", k.operation, p.name, parameters[m].name));
    for (std::size_t m = 0; m < parameters.size(); ++m)
      if (m != n && parameters[m].flag != "here" && parameters[m].is_field() &&
          memory_of(arguments[m]) == memory_of(arguments[n]))
        throw UsageError(fmt::format("{}: {} cannot be written into {}, which is {}; use another field", k.operation,
                                     p.name, parameters[m].name,
                                     parameters[m].is_output() ? "written too" : "read at other sites"));
  }
}

const StorageInfo& ExpressionParameter::storage(const Kernel& kernel) const {
  if (kind == "links") return find_storage(kernel.links);
  if (kind == "algebra") return algebra_storage(kernel.colours);
  return full_storage(kind == "scalars" || kind == "phases" ? 1 : kernel.colours);
}

namespace {

std::vector<ExpressionParameter> parsed(std::string_view signature) {
  std::vector<ExpressionParameter> parameters;
  for (const std::string_view word : words(signature, ' ')) {
    const auto fields = words(word, ':');
    const auto kind = words(fields.at(1), '*');
    parameters.push_back({fields.at(0), kind.at(0), fields.at(2), fields.at(3), 1, {}});
    if (kind.size() > 1) parameters.back().flavours = kind[1][0] - '0';
    if (fields.size() > 4) parameters.back().reach = reach_of(fields[4]);
  }
  return parameters;
}

}  // namespace

/// Parsed once: small lattices would wait for it.
const std::vector<ExpressionParameter>& parameters_of(const Kernel& expression) {
  static std::mutex busy;
  static std::map<std::string, std::vector<ExpressionParameter>, std::less<>> known;
  const std::lock_guard lock(busy);
  auto found = known.find(expression.signature);
  if (found == known.end()) {
    found = known.try_emplace(std::string(expression.signature)).first;
    found->second = parsed(found->first);  // names are parts of what stays
  }
  return found->second;
}

Arguments expression_arguments(const Kernel& expression, std::span<const ExpressionArgument> arguments) {
  const auto& parameters = parameters_of(expression);
  check_arguments(expression, parameters, arguments);
  const ExpressionKind kind = kind_of(arguments);
  const int flavours = flavours_of(parameters), columns = kind.rhs / flavours;
  const Domain& domain = kind.padded != nullptr ? *kind.padded->domain() : *kind.domain;
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

}  // namespace quarksmith
