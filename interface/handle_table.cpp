// The open handles, and what is wrong with one that is not.
#include "interface/handle_table.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "interface/handle.hpp"

namespace quarksmith::interface {
namespace {

constexpr std::uint64_t mark = 0x51ull << 56;  // addresses of user space have 0 there
static_assert(sizeof(void*) == sizeof(std::uint64_t), "handles are numbers of 64 bits");

/// What the header calls a kind; a handle may be of any kind for some functions.
std::string name_of(HandleKind kind) {
  static constexpr std::array names = {
      "handle of this library", "quarksmith_context", "quarksmith_gauge",    "quarksmith_field", "quarksmith_operator",
      "quarksmith_solver",      "quarksmith_shifted", "quarksmith_dynamics", "quarksmith_quark", "quarksmith_result"};
  return names.at(std::size_t(kind));
}

}  // namespace

void* HandleTable::open(HandleKind kind, std::shared_ptr<Handle> object) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t number = mark | ++given_;
  open_.emplace(number, Open{kind, std::move(object)});
  return std::bit_cast<void*>(number);
}

HandleTable::All::iterator HandleTable::place_of(const void* handle, HandleKind kind, const char* name) {
  const auto refuse = [&](const std::string& what) {
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} {}", name, what));
  };
  if (handle == nullptr) refuse(fmt::format("is NULL; it takes a {}: create it first", name_of(kind)));
  const auto number = std::bit_cast<std::uint64_t>(handle);
  const auto found = open_.find(number);
  if (found == open_.end() && number > mark && number <= mark + given_)
    refuse(fmt::format("is not open: it was freed; it takes a {}: create it anew", name_of(kind)));
  if (found == open_.end())
    refuse(fmt::format("is no handle of this library (its value is {}); it takes a {}: create it anew",
                       fmt::ptr(handle), name_of(kind)));
  if (kind != HandleKind::any && kind != found->second.kind)
    refuse(fmt::format("is a handle of another kind, a {}; it takes a {}", name_of(found->second.kind), name_of(kind)));
  return found;
}

std::shared_ptr<Handle> HandleTable::find(const void* handle, HandleKind kind, const char* name,
                                          const SharedDomain* shared) {
  const std::unique_lock lock(mutex_);
  const std::shared_ptr<Handle>& object = place_of(handle, kind, name)->second.object;
  if (shared != nullptr && object->shared.get() != shared)
    throw StatusError(
        QUARKSMITH_BAD_ARGUMENT,
        fmt::format("{} and the other handles are of different contexts; create all of them from one context", name));
  return object;
}

std::shared_ptr<Handle> HandleTable::close(const void* handle, const char* name) {
  const std::unique_lock lock(mutex_);
  return std::move(open_.extract(place_of(handle, HandleKind::any, name)).mapped().object);
}

HandleTable& handle_table() {
  static HandleTable& all = *new HandleTable;
  return all;
}

}  // namespace quarksmith::interface
