/// \file
/// The handles of quarksmith.h: numbers in the guise of pointers, which a table turns into objects.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "interface/quarksmith.h"
#include "runtime/error.hpp"

namespace quarksmith::interface {

struct Handle;
struct SharedDomain;

/// An error with the status that the caller gets; other exceptions are mapped by their type.
class StatusError : public Error {
 public:
  StatusError(quarksmith_status s, const std::string& text) : Error(text), status(s) {}
  quarksmith_status status;
};

/// What stands behind a handle.
enum class HandleKind : std::uint8_t { any, context, gauge, field, op, solver, shifted, dynamics, quark, result };

/// All open handles of the process.
///
/// A handle is a number that holds a mark, the kind, a slot of the table and the generation of the slot, which grows
/// with every object that the slot gets: no number is ever given twice, so one that was freed stays freed. Nothing is
/// ever read from the address that it would be; its highest byte makes it one that no object can have.
class HandleTable {
 public:
  /// The handle of a new object.
  /// \throws StatusError there are too many.
  void* open(HandleKind kind, std::shared_ptr<Handle> object);

  /// The object of an open handle of a kind; `name` is that of the argument. \param shared if not null, its context.
  /// \throws StatusError there is none.
  std::shared_ptr<Handle> find(const void* handle, HandleKind kind, const char* name,
                               const SharedDomain* shared = nullptr);

  /// The same, and the handle is no longer open.
  std::shared_ptr<Handle> close(const void* handle, const char* name);

 private:
  struct Slot {
    std::uint32_t generation = 0;
    HandleKind kind = HandleKind::any;
    std::shared_ptr<Handle> object;
  };
  Slot& slot_of(const void* handle, HandleKind kind, const char* name);

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> unused_;  ///< slots without an object
};

/// The table of this process. It is never destroyed: programs free handles as they end.
HandleTable& handle_table();

}  // namespace quarksmith::interface
