// Slots, generations and what is wrong with a handle.
#include "interface/handle_table.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "interface/handle.hpp"

namespace quarksmith::interface {
namespace {

/// Bits of a handle, the lowest first: generation, slot, kind, mark.
constexpr int generation_bits = 32, slot_bits = 20, kind_bits = 4;
constexpr std::uint64_t mark = 0x51;  // addresses of user space have 0 there
constexpr std::uint32_t last_generation = std::numeric_limits<std::uint32_t>::max();
static_assert(sizeof(void*) == sizeof(std::uint64_t), "handles are numbers of 64 bits");

struct Number {
  std::uint64_t mark;
  HandleKind kind;
  std::uint32_t slot, generation;
};

void* to_handle(HandleKind kind, std::uint32_t slot, std::uint32_t generation) {
  return std::bit_cast<void*>(((mark << kind_bits | std::uint64_t(kind)) << slot_bits | slot) << generation_bits |
                              generation);
}

Number to_number(const void* handle) {
  const auto bits = std::bit_cast<std::uint64_t>(handle);
  const auto slot = bits >> generation_bits, kind = slot >> slot_bits;
  return {kind >> kind_bits, HandleKind(kind % (1u << kind_bits)), std::uint32_t(slot % (1u << slot_bits)),
          std::uint32_t(bits)};
}

std::string name_of(HandleKind kind) {
  static constexpr std::array names = {"handle", "context", "gauge",    "field", "operator",
                                       "solver", "shifted", "dynamics", "quark", "result"};
  return fmt::format("quarksmith_{}", names.at(std::size_t(kind)));
}

/// What the header calls a kind; a handle may be of any kind for some functions.
std::string wanted(HandleKind kind) {
  return kind == HandleKind::any ? "a handle of this library" : "a " + name_of(kind);
}

}  // namespace

void* HandleTable::open(HandleKind kind, std::shared_ptr<Handle> object) {
  const std::unique_lock lock(mutex_);
  if (unused_.empty()) {
    if (slots_.size() >> slot_bits != 0)
      throw StatusError(QUARKSMITH_OUT_OF_MEMORY,
                        fmt::format("{} handles are open or used up; free those that are done", slots_.size()));
    slots_.emplace_back();
    unused_.reserve(slots_.capacity());  // to close a handle takes no memory
    unused_.push_back(std::uint32_t(slots_.size() - 1));
  }
  const std::uint32_t n = unused_.back();
  unused_.pop_back();
  Slot& slot = slots_[n];
  slot.kind = kind;
  slot.object = std::move(object);
  return to_handle(kind, n, ++slot.generation);
}

HandleTable::Slot& HandleTable::slot_of(const void* handle, HandleKind kind, const char* name) {
  const auto refuse = [&](const std::string& what) {
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} {}", name, what));
  };
  if (handle == nullptr) refuse(fmt::format("is NULL; it takes {}: create it first", wanted(kind)));
  const Number n = to_number(handle);
  const bool known = n.mark == mark && n.slot < slots_.size() && n.generation > 0 &&
                     n.generation <= slots_[n.slot].generation && n.kind > HandleKind::any &&
                     n.kind <= HandleKind::result;
  if (!known)
    refuse(fmt::format("is no handle of this library (its value is {}); it takes {}: create it anew", fmt::ptr(handle),
                       wanted(kind)));
  Slot& slot = slots_[n.slot];
  if (n.generation < slot.generation || slot.object == nullptr)
    refuse(fmt::format("is a {} that is not open: it was freed; create it anew", name_of(n.kind)));
  if (n.kind != slot.kind)
    refuse(fmt::format("is no handle of this library; it takes {}: create it anew", wanted(kind)));
  if (kind != HandleKind::any && kind != slot.kind)
    refuse(fmt::format("is a handle of another kind, a {}; it takes {}", name_of(slot.kind), wanted(kind)));
  return slot;
}

std::shared_ptr<Handle> HandleTable::find(const void* handle, HandleKind kind, const char* name,
                                          const SharedDomain* shared) {
  const std::unique_lock lock(mutex_);
  const Slot& slot = slot_of(handle, kind, name);
  if (shared != nullptr && slot.object->shared.get() != shared)
    throw StatusError(
        QUARKSMITH_BAD_ARGUMENT,
        fmt::format("{} and the other handles are of different contexts; create all of them from one context", name));
  return slot.object;
}

std::shared_ptr<Handle> HandleTable::close(const void* handle, const char* name) {
  const std::unique_lock lock(mutex_);
  Slot& slot = slot_of(handle, HandleKind::any, name);
  if (slot.generation < last_generation) unused_.push_back(to_number(handle).slot);
  return std::exchange(slot.object, nullptr);
}

HandleTable& handle_table() {
  static HandleTable& all = *new HandleTable;
  return all;
}

}  // namespace quarksmith::interface
