#include "solvers/links/representation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// Runs represent_R on links, or back_R, which has none.
void run(const char* which, Representation r, LinkField& out, const LinkField* links, const LinkField* z) {
  Device& device = out.domain().device();
  const Kernel& kernel = find(device.kernels(), {.operation = std::string(which) + std::string(name_of(r)),
                                                 .precision = out.precision().name,
                                                 .links = links != nullptr ? links->storage().name : "",
                                                 .colours = out.colours()});
  Arguments a = arguments_for(out.domain(), out.lanes());
  if (links != nullptr) a.links = links->operand();
  if (z != nullptr) a.x = z->operand();
  a.out = out.operand();
  device.run(kernel, a);
  out.changed();
}

}  // namespace

Representation representation_of(std::string_view name) {
  const auto found = std::find(std::begin(representation_names), std::end(representation_names), name);
  if (found == std::end(representation_names))
    unknown_name("representation", name, {std::begin(representation_names), std::end(representation_names)});
  return Representation(found - std::begin(representation_names));
}

int dimension(Representation r, int n) {
  switch (r) {
    case Representation::fundamental:
      return n;
    case Representation::adjoint:
      return n * n - 1;
    case Representation::symmetric:
      return n * (n + 1) / 2;
    case Representation::antisymmetric:
      return n * (n - 1) / 2;
  }
  return 0;
}

std::shared_ptr<const LinkField> represented(std::shared_ptr<const LinkField> links, Representation r) {
  if (r == Representation::fundamental) return links;
  const int colours = dimension(r, links->colours());
  if (colours > most_colours)
    throw UsageError(fmt::format("quarks in the {} representation of SU({}) have {} colours; fields have {} at most",
                                 name_of(r), links->colours(), colours, most_colours));
  auto result = std::make_shared<LinkField>(links->domain_pointer(), links->precision(), full_storage(colours));
  run("represent_", r, *result, links.get(), nullptr);
  return result;
}

void take_back(const LinkField& z, Representation r, LinkField& out) { run("back_", r, out, nullptr, &z); }

}  // namespace quarksmith
