#include "runtime/expression.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

/// The field of Arguments with that name.
Operand& operand_of(Arguments& a, std::string_view name) {
  if (name == "x") return a.x;
  if (name == "y") return a.y;
  if (name == "z") return a.z;
  if (name == "w") return a.w;
  if (name == "in") return a.in;
  if (name == "term") return a.term;
  if (name == "links") return a.links;
  return a.out;
}

void set_number(Arguments& a, std::string_view name, Complex64 value) {
  ComplexScalar& c = name[0] == 'a' ? a.a : name[0] == 'b' ? a.b : a.c;
  if (name.size() == 1) c = {value.real(), value.imag()};
  if (name.ends_with(".re")) c.re = value.real();
  if (name.ends_with(".im")) c.im = value.real();
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

const Domain& domain_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->domain() : a.spinors()->domain();
}

/// What an argument is, in words.
std::string described(const ExpressionArgument& a) {
  if (a.is_number()) return a.number().imag() == 0 ? "a real number" : "a complex number";
  if (const LinkField* u = a.links())
    return fmt::format("a link field of {} in {}, {}", u->domain().lattice().text(), u->precision().name,
                       u->storage().name);
  const SpinorField& f = *a.spinors();
  return fmt::format("a spinor field of {} in {} with {} colour vectors a site and {} right-hand sides, {}",
                     f.domain().lattice().text(), f.precision().name, f.spins(), f.rhs(),
                     f.subset() == Subset::full ? "all sites" : "sites of one parity");
}

/// What an expression needs of all its fields.
struct Kind {
  const Domain* domain = nullptr;
  std::string_view precision, storage = "";
  int spins = 4, rhs = 1;
};

Kind kind_of(std::span<const ExpressionArgument> arguments) {
  Kind kind;
  for (const ExpressionArgument& a : arguments)
    if (const SpinorField* f = a.spinors(); f != nullptr && kind.domain == nullptr)
      kind = {&f->domain(), f->precision().name, "", f->spins(), f->rhs()};
  for (const ExpressionArgument& a : arguments)
    if (a.links() != nullptr && kind.domain == nullptr)
      kind.domain = &a.links()->domain(), kind.precision = a.links()->precision().name;
  return kind;
}

/// Why an argument does not serve; empty if it does.
std::string objection(const ExpressionParameter& p, const ExpressionArgument& a, const Kernel& k, const Kind& kind) {
  if (p.is_number()) {
    if (!a.is_number()) return "it must be a number";
    return p.kind == "real" && a.number().imag() != 0 ? "it must be real" : "";
  }
  if (a.is_number()) return "it must be a field";
  if (!alike(domain_of(a), *kind.domain)) return "all fields must be of one lattice on one device";
  if (const SpinorField* f = a.spinors()) {
    if (!p.is_spinor()) return "it must be a link field";
    if (f->precision().name != k.precision || f->spins() != k.spins || f->rhs() != kind.rhs)
      return "spinor fields must share precision, colour vectors and right-hand sides";
    if (f->slices() != 1) return "it has several slices; give by_slice()";
    return f->subset() == Subset::full ? "" : "it must hold all sites";
  }
  if (p.is_spinor()) return "it must be a spinor field";
  if (a.links()->precision().name != find_precision(k.precision).links) return "its precision is not that of the call";
  const std::string_view storage = p.kind == "links" ? k.links : "r18";
  return a.links()->storage().name == storage ? "" : fmt::format("its storage must be {}", storage);
}

const void* memory_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->operand().data : a.spinors()->operand().data;
}

void check(const Kernel& k, std::span<const ExpressionParameter> parameters,
           std::span<const ExpressionArgument> arguments) {
  if (parameters.size() != arguments.size())
    throw UsageError(
        fmt::format("{} takes {} arguments, {} were given", k.operation, parameters.size(), arguments.size()));
  const Kind kind = kind_of(arguments);
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const ExpressionParameter& p = parameters[n];
    if (p.is_output() && !p.is_spinor() && kind.rhs > 1)
      throw UsageError(
          fmt::format("{}: {} is one field of links, its spinors have {} right-hand sides; call it for each",
                      k.operation, p.name, kind.rhs));
    if (const std::string why = objection(p, arguments[n], k, kind); !why.empty())
      throw UsageError(fmt::format("{}: {} is {}; {}", k.operation, p.name, described(arguments[n]), why));
    if (!p.is_output()) continue;
    for (std::size_t m = 0; m < parameters.size(); ++m)
      if (m != n && parameters[m].flag != "here" && !parameters[m].is_number() &&
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
    parameters.push_back({part.at(0), part.at(1), part.at(2), part.at(3)});
  }
  return parameters;
}

bool reads_neighbours(const Kernel& expression) { return expression.formula.find("shift(") != std::string_view::npos; }

Arguments expression_arguments(const Kernel& expression, std::span<const ExpressionArgument> arguments, Parity parity) {
  const auto parameters = parameters_of(expression);
  check(expression, parameters, arguments);
  const Kind kind = kind_of(arguments);
  Arguments a = arguments_for(*kind.domain, kind.domain->lanes(find_precision(kind.precision).element_bytes), kind.rhs);
  a.parity = int(parity);
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const ExpressionParameter& p = parameters[n];
    if (p.is_number())
      set_number(a, p.operand, arguments[n].number());
    else if (const LinkField* links = arguments[n].links())
      operand_of(a, p.operand) = links->operand();
    else
      operand_of(a, p.operand) = both_halves(*arguments[n].spinors());
  }
  return a;
}

std::vector<double> evaluate(std::string_view expression, std::span<const ExpressionArgument> arguments,
                             const ExpressionSettings& settings) {
  Kind kind = kind_of(arguments);
  if (kind.domain == nullptr) throw UsageError(fmt::format("{} was given no field", expression));
  Device& device = kind.domain->device();
  const auto kernels = device.kernels();
  // The storage that a record names is that of SU(3) links: of the first link field for which there is a kernel.
  const Kernel* kernel = nullptr;
  for (const ExpressionArgument& a : arguments)
    if (a.links() != nullptr && kernel == nullptr)
      kernel = try_find(kernels, {.operation = expression,
                                  .precision = kind.precision,
                                  .links = kind.storage = a.links()->storage().name,
                                  .basis = settings.basis,
                                  .spins = kind.spins});
  if (kernel == nullptr)
    kernel = try_find(
        kernels, {.operation = expression, .precision = kind.precision, .basis = settings.basis, .spins = kind.spins});
  if (kernel == nullptr)
    kernel = &find(kernels, {.operation = expression,
                             .precision = kind.precision,
                             .links = kind.storage,
                             .basis = settings.basis,
                             .spins = kind.spins});
  if (kernel->family != "expression") throw UsageError(fmt::format("{} is no lattice expression", expression));
  const auto parameters = parameters_of(*kernel);
  const bool writes_links = std::any_of(parameters.begin(), parameters.end(),
                                        [](const ExpressionParameter& p) { return p.is_output() && !p.is_spinor(); });
  if (kind.domain->lattice().parts() > 1 && (reads_neighbours(*kernel) || writes_links))
    throw UsageError(fmt::format("{} {}; run it on one rank", expression,
                                 writes_links ? "writes links, copies of which other ranks hold"
                                              : "reads neighbouring sites, which other ranks hold"));
  std::vector<double> sums(static_cast<std::size_t>(kernel->sums) * kind.rhs);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = expression_arguments(*kernel, arguments, parity);
    a.hops = hops_of(kind.domain->lattice(), {1, 1, 1, 1}, settings.boundary);
    if (kernel->sums == 0) {
      device.run(*kernel, a);
      continue;
    }
    const std::vector<double> half = reduce(*kind.domain, *kernel, a);
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += half[n];
  }
  return sums;
}

}  // namespace quarksmith
