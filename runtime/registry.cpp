#include "runtime/registry.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include "runtime/checked_library.hpp"
#include "runtime/error.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/text.hpp"

namespace quarksmith {

void add_tables(KernelModule& module);  // generated/tables.cpp

namespace {

/// The tables of all modules merged; later modules replace entries of the same name.
class Registry {
 public:
  Registry() {
    KernelModule built{KernelModule::current_layout, built_kernels(), {}, {}, {}, {}};
    add_tables(built);
    add(built);
    const char* files = std::getenv("QUARKSMITH_KERNELS");
    std::istringstream list(files == nullptr ? "" : files);
    for (std::string file; std::getline(list, file, ':');) add(load_module(file));
  }

  std::map<std::string_view, std::vector<Kernel>> kernels;  // by target
  std::vector<PrecisionInfo> precisions;
  std::vector<StorageInfo> storages;
  std::vector<BasisInfo> bases;
  std::vector<OperatorInfo> operators;

 private:
  static bool same(const OperatorInfo& a, const OperatorInfo& b) { return a.name == b.name && a.basis == b.basis; }
  template <class Entry>
  static bool same(const Entry& a, const Entry& b) {
    return a.name == b.name;
  }
  template <class Entry>
  static void merge(std::vector<Entry>& table, std::span<const Entry> more) {
    for (const Entry& entry : more) {
      const auto found = std::find_if(table.begin(), table.end(), [&](const Entry& e) { return same(e, entry); });
      if (found == table.end()) {
        table.push_back(entry);
      } else {
        *found = entry;
      }
    }
  }
  void add(const KernelModule& m) {
    for (const Target* t : targets()) merge(kernels[t->name], kernels_in(m.kernels, t->table()));
    merge(precisions, m.precisions);
    merge(storages, m.storages);
    merge(bases, m.bases);
    merge(operators, m.operators);
  }
};

const Registry& registry() {
  static const Registry all;
  return all;
}

}  // namespace

const KernelModule& load_module(const std::string& file) {
  const auto refuse = [&file](const std::string& why) -> Error {
    return Error(fmt::format("kernels {}: {}; make it again with `make kernel NAME=...`, or clear QUARKSMITH_KERNELS",
                             file, why));
  };
  std::string why;
  void* const library = load_checked(file, why);
  if (library == nullptr) throw refuse(why);
  using Entry = const KernelModule* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "quarksmith_kernel_module"));
  const KernelModule* module = entry == nullptr ? nullptr : entry();
  if (module == nullptr || module->layout != KernelModule::current_layout)
    throw refuse("no module of this version of Quarksmith");
  if (std::ranges::all_of(targets(), [&](const Target* t) { return kernels_in(module->kernels, t->table()).empty(); }))
    throw refuse(fmt::format("it holds no kernels for {}", targets().front()->table()));
  return *module;
}

std::span<const Kernel> kernels_in(std::span<const KernelTable> tables, std::string_view name) {
  const auto found = std::ranges::find(tables, name, &KernelTable::name);
  return found == tables.end() ? std::span<const Kernel>() : found->kernels;
}

std::span<const Kernel> kernels_of(std::string_view target) {
  const auto& all = registry().kernels;
  const auto found = all.find(target);
  return found == all.end() ? std::span<const Kernel>() : found->second;
}
std::span<const PrecisionInfo> precisions() { return registry().precisions; }
std::span<const StorageInfo> storages() { return registry().storages; }
std::span<const BasisInfo> bases() { return registry().bases; }
std::span<const OperatorInfo> operators() { return registry().operators; }

std::optional<std::size_t> place_in(std::span<const Kernel> table, const Kernel& kernel) {
  const std::less<const Kernel*> before;
  if (before(&kernel, table.data()) || !before(&kernel, table.data() + table.size())) return {};
  return static_cast<std::size_t>(&kernel - table.data());
}

bool fits(const Kernel& k, const KernelQuery& q) {
  // Who asks for an expression that the build lacks does not know whether its fields are links, or matrices that have
  // one storage.
  const bool links = k.links == q.links || (q.expression && k.links.empty());
  return k.operation == q.operation && k.precision == q.precision && links && k.basis == q.basis &&
         k.dagger == q.dagger && k.epilogue == q.epilogue && k.complex_coefficients == q.complex_coefficients &&
         k.tile == q.tile && k.spins == q.spins && (!k.links.empty() || k.colours == q.colours);
}

const Kernel* try_find(std::span<const Kernel> kernels, const KernelQuery& q) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return fits(k, q); });
  return found == kernels.end() ? nullptr : &*found;
}

namespace {

template <class Info>
const Info& by_name(std::span<const Info> table, std::string_view kind, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Info& info : table) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  unknown_name(kind, name, known);
}

}  // namespace

const PrecisionInfo& find_precision(std::string_view name) { return by_name(precisions(), "precision", name); }
const StorageInfo& find_storage(std::string_view name) { return by_name(storages(), "link storage", name); }

const StorageInfo& full_storage(int colours) {
  int most = 0;
  for (const StorageInfo& s : storages()) {
    if (s.colours == colours && s.group == "any" && !s.temporal) return s;
    most = std::max(most, s.colours);
  }
  throw UsageError(fmt::format("links of {} colours; use 1 to {}", colours, most));
}

const StorageInfo& algebra_storage(int colours) {
  for (const StorageInfo& s : storages())
    if (s.colours == colours && s.group.starts_with("su(")) return s;
  throw UsageError(fmt::format("momenta of {} colours; use 2 to {}", colours, most_colours));
}

const StorageInfo& compact_storage(int colours) {
  const StorageInfo* least = &full_storage(colours);
  for (const StorageInfo& s : storages())
    if (s.colours == colours && s.group.starts_with("SU(") && s.exact && !s.temporal && s.reals < least->reals)
      least = &s;
  return *least;
}

const BasisInfo& find_basis(std::string_view name) {
  for (const BasisInfo& b : bases())
    if (b.short_name == name) return b;
  return by_name(bases(), "basis", name);
}

}  // namespace quarksmith
