/// \file
/// What stands behind the handles of quarksmith.h, and the frame in which its functions run.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>

#include "interface/quarksmith.h"
#include "runtime/error.hpp"
#include "runtime/field.hpp"
#include "solvers/clover.hpp"
#include "solvers/solve.hpp"

namespace quarksmith::interface {

/// A lattice on a device and the lock of all handles made for it: a Device serves one thread at a time.
struct Session {
  explicit Session(DomainPointer d) : domain(std::move(d)) {}
  DomainPointer domain;
  std::mutex mutex;
};

/// What handles have in common. A handle of the caller is the address of this base.
struct Handle {
  explicit Handle(std::shared_ptr<Session> s);
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  virtual ~Handle();
  Device& device() const { return session->domain->device(); }
  const Lattice& lattice() const { return session->domain->lattice(); }

  std::shared_ptr<Session> session;
  std::string message;  ///< of the last call that failed
};

struct Context final : Handle {
  using Handle::Handle;
  static constexpr const char* kind = "quarksmith_context";
};

struct Gauge final : Handle {
  Gauge(std::shared_ptr<Session> s, HostGauge g) : Handle(std::move(s)), gauge(std::move(g)) {}
  static constexpr const char* kind = "quarksmith_gauge";
  HostGauge gauge;
};

struct Field final : Handle {
  Field(std::shared_ptr<Session> s, SpinorField f, const BasisInfo& b)
      : Handle(std::move(s)), spinors(std::move(f)), basis(&b) {}
  static constexpr const char* kind = "quarksmith_field";
  SpinorField spinors;
  const BasisInfo* basis;
};

struct Operator final : Handle {
  Operator(std::shared_ptr<Session> s, WilsonHopping h) : Handle(std::move(s)), hopping(std::move(h)) {}
  static constexpr const char* kind = "quarksmith_operator";
  WilsonHopping hopping;
};

struct SolverHandle final : Handle {
  SolverHandle(std::shared_ptr<Session> s, const HostGauge& gauge, const WilsonParameters& p,
               const SolveSettings& chosen)
      : Handle(s), settings(chosen), solver(gauge, s->domain, p, chosen) {}
  static constexpr const char* kind = "quarksmith_solver";
  SolveSettings settings;
  WilsonSolver solver;
};

/// An error with the status that the caller gets; other exceptions are mapped by their type.
class StatusError : public Error {
 public:
  StatusError(quarksmith_status s, const std::string& text) : Error(text), status(s) {}
  quarksmith_status status;
};

/// Keeps the exception that is being handled as message of the thread and of `handle`, if there is one.
quarksmith_status fail(const char* function, Handle* handle) noexcept;

/// \throws StatusError no open handle has this address: it was freed, or never was one. Nothing is read from it.
void require_open(const void* handle);

/// The operand of a call behind a handle.
/// \throws StatusError it is NULL, freed, foreign or of another kind.
template <class T>
T& as(const void* handle) {
  if (handle == nullptr)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("a {} is NULL; create it first", T::kind));
  require_open(handle);
  T* object = dynamic_cast<T*>(static_cast<Handle*>(const_cast<void*>(handle)));
  if (object == nullptr)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                      fmt::format("a handle of another kind stands where a {} is due", T::kind));
  return *object;
}

/// \throws StatusError the handles belong to different contexts.
void require_same_context(const Handle& a, const Handle& b);

/// \throws StatusError `pointer` is NULL; `name` is what the header calls it.
template <class P>
P* require(P* pointer, const char* name) {
  if (pointer == nullptr) throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} is NULL; pass its address", name));
  return pointer;
}

/// \throws StatusError the struct is NULL, or its size is not that of this version.
template <class S>
S& require_struct(S* s, const char* name) {
  require(s, name);
  if (s->size != sizeof(S))
    throw StatusError(QUARKSMITH_BAD_STRUCT,
                      fmt::format("a {0} has size {1}, this library knows {2} bytes; call {0}_init first, and compile "
                                  "with the header of version " QUARKSMITH_VERSION,
                                  name, s->size, sizeof(S)));
  return *s;
}

/// Runs `body` and turns what it throws into a status and a message.
template <class Body>
quarksmith_status guarded(const char* function, const Body& body) noexcept {
  try {
    body();
    return QUARKSMITH_OK;
  } catch (...) {
    return fail(function, nullptr);
  }
}

/// The same on the object behind a handle, under its lock, its device being that of the thread.
template <class T, class Body>
quarksmith_status call(const char* function, const void* handle, const Body& body) noexcept {
  std::unique_lock<std::mutex> lock;
  T* object = nullptr;
  try {
    object = &as<T>(handle);
    lock = std::unique_lock(object->session->mutex);
    object->device().attach();
    body(*object);
    return QUARKSMITH_OK;
  } catch (...) {
    return fail(function, lock.owns_lock() ? object : nullptr);
  }
}

/// Hands a new object to the caller.
template <class T, class Opaque, class... Arguments>
void give(Opaque** result, Arguments&&... arguments) {
  Handle* handle = new T(std::forward<Arguments>(arguments)...);
  *result = reinterpret_cast<Opaque*>(handle);
}

/// Sets the size of a struct of the caller, what `set` sets, and all else to zero.
template <class S, class Set>
quarksmith_status init(const char* function, S* s, const Set& set) noexcept {
  return guarded(function, [&] {
    *require(s, "the struct") = {};
    s->size = sizeof(S);
    set(*s);
  });
}
template <class S>
quarksmith_status init(const char* function, S* s) noexcept {
  return init(function, s, [](S&) {});
}

/// Copies a text into `size` bytes.
/// \throws StatusError there are too few.
void copy_text(const std::string& from, char* text, size_t size);

}  // namespace quarksmith::interface
