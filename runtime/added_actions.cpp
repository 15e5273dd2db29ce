// Actions that a program adds to those of its build.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "runtime/action_info.hpp"
#include "runtime/checked_library.hpp"
#include "runtime/error.hpp"

namespace quarksmith {
namespace {

std::mutex additions;
std::deque<std::vector<ActionInfo>> action_tables;  // each addition makes another: who has found an action may keep it

bool holds(std::span<const ActionInfo> table, std::string_view name) {
  return std::ranges::find(table, name, &ActionInfo::name) != table.end();
}

}  // namespace

std::span<const ActionInfo> actions() {
  const std::lock_guard lock(additions);
  return action_tables.empty() ? built_actions() : action_tables.back();
}

void add_actions(const std::string& file) {
  std::string why;
  void* const library = load_checked(file, why);
  if (library == nullptr) throw Error(fmt::format("actions {}: {}", file, why));
  using Entry = const ActionModule* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "quarksmith_action_module"));
  const ActionModule* module = entry == nullptr ? nullptr : entry();
  if (module == nullptr || module->layout != ActionModule::current_layout)
    throw Error(fmt::format("actions {}: no library of actions of this version of Quarksmith", file));
  const std::lock_guard lock(additions);
  const std::span<const ActionInfo> before =
      action_tables.empty() ? built_actions() : std::span<const ActionInfo>(action_tables.back());
  for (const ActionInfo& a : module->actions)
    if (holds(built_actions(), a.name)) throw Error(fmt::format("actions {}: {} is built in", file, a.name));
  std::vector<ActionInfo> all;
  std::ranges::copy_if(before, std::back_inserter(all),
                       [&](const ActionInfo& a) { return !holds(module->actions, a.name); });
  all.insert(all.end(), module->actions.begin(), module->actions.end());
  action_tables.push_back(std::move(all));
}

}  // namespace quarksmith
