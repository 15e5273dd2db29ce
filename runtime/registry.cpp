#include "runtime/registry.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {

// Defined by the generated registries, one for each target and width.
namespace QUARKSMITH_CPU_NAMESPACE {
std::span<const Kernel> kernels();
}
namespace QUARKSMITH_CPU_ONE_LANE_NAMESPACE {
std::span<const Kernel> kernels();
}

std::span<const Kernel> cpu_kernels() { return QUARKSMITH_CPU_NAMESPACE::kernels(); }
std::span<const Kernel> cpu_one_lane_kernels() { return QUARKSMITH_CPU_ONE_LANE_NAMESPACE::kernels(); }

const Kernel* try_find(std::span<const Kernel> kernels, const KernelQuery& q) {
  for (const Kernel& k : kernels)
    if (k.operation == q.operation && k.precision == q.precision && k.links == q.links && k.basis == q.basis &&
        k.dagger == q.dagger && k.epilogue == q.epilogue && k.complex_coefficients == q.complex_coefficients &&
        k.tile == q.tile && k.spins == q.spins)
      return &k;
  return nullptr;
}

namespace {

/// The row of a profile that would build the kernel asked for.
std::string profile_row(std::span<const Kernel> kernels, const KernelQuery& q) {
  bool hopping = !q.basis.empty();
  for (const Kernel& k : kernels) hopping = hopping || (k.operation == q.operation && k.family == "hopping");
  std::string row = fmt::format("[[kernel]]\noperator = \"{}\"\n", q.operation);
  if (hopping) row += fmt::format("dagger = [{}]\nepilogue = [\"{}\"]\n", q.dagger, q.epilogue);
  row += fmt::format("precision = [\"{}\"]\n", q.precision);
  if (!q.links.empty()) row += fmt::format("links = [{}]\n", q.links.substr(1));
  if (!q.basis.empty()) row += fmt::format("basis = [\"{}\"]\n", q.basis);
  if (hopping) row += fmt::format("tile = [{}]\n", q.tile);
  if (q.complex_coefficients) row += "coefficient = [\"complex\"]\n";
  return row;
}

template <class Info>
const Info& by_name(std::span<const Info> table, std::string_view kind, std::string_view name) {
  std::string known;
  for (const Info& info : table) {
    if (info.name == name) return info;
    known += known.empty() ? "" : ", ";
    known += info.name;
  }
  throw UsageError(fmt::format("{} '{}' is unknown; this build knows {}", kind, name, known));
}

}  // namespace

const Kernel& find(std::span<const Kernel> kernels, const KernelQuery& q) {
  if (const Kernel* kernel = try_find(kernels, q)) return *kernel;
  throw UsageError(fmt::format("this build has no kernel for what was asked; add to the profile and build again:\n{}",
                               profile_row(kernels, q)));
}

const PrecisionInfo& find_precision(std::string_view name) { return by_name(precisions(), "precision", name); }
const StorageInfo& find_storage(std::string_view name) { return by_name(storages(), "link storage", name); }

const BasisInfo& find_basis(std::string_view name) {
  for (const BasisInfo& b : bases())
    if (b.short_name == name) return b;
  return by_name(bases(), "basis", name);
}

}  // namespace quarksmith
