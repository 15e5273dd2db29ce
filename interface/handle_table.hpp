/// \file
/// The handles of quarksmith.h: numbers cast to pointers, each of which stands for an object.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

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

/// The kind of object behind a handle.
enum class HandleKind : std::uint8_t { any, context, gauge, field, op, solver, shifted, dynamics, quark, result };

/// All open handles of the process. Numbers are never reused, so that a freed handle stays invalid. Handles are never
/// dereferenced; their highest byte makes them addresses that no object can have.
class HandleTable {
 public:
  /// The handle of a new object.
  void* open(HandleKind kind, std::shared_ptr<Handle> object);

  /// The object of an open handle of a kind; `name` name of the argument in messages. \param shared if not null, its
  /// context.
  /// \throws StatusError there is none.
  std::shared_ptr<Handle> find(const void* handle, HandleKind kind, const char* name,
                               const SharedDomain* shared = nullptr);

  /// Returns the object of an open handle, and closes the handle. \throws StatusError the handle is not open.
  std::shared_ptr<Handle> close(const void* handle, const char* name);

 private:
  struct Open {
    HandleKind kind;
    std::shared_ptr<Handle> object;
  };
  using All = std::map<std::uint64_t, Open>;
  All::iterator place_of(const void* handle, HandleKind kind, const char* name);

  std::mutex mutex_;
  All open_;
  std::uint64_t given_ = 0;  ///< handles so far
};

/// The table of this process. It is never destroyed: programs free handles as they end.
HandleTable& handle_table();

}  // namespace quarksmith::interface
