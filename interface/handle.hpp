/// \file
/// Objects behind the handles of quarksmith.h, and the frame in which its functions run.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "interface/handle_table.hpp"
#include "interface/quarksmith.h"
#include "runtime/error.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/fields/given_field.hpp"
#include "runtime/fields/gauge_links.hpp"
#include "runtime/fields/link_check.hpp"
#include "runtime/lattice/partition.hpp"
#include "runtime/ranks/rank_groups.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/hmc/quark_term.hpp"

namespace quarksmith::interface {

/// A lattice on a device and the lock of all handles made for it: a Device serves one thread at a time.
struct SharedDomain {
  explicit SharedDomain(DomainPointer d) : domain(std::move(d)) {}
  DomainPointer domain;
  std::mutex mutex;
  std::shared_ptr<const RankGroups> groups = nullptr;  ///< whose ranks this is of; null: of no group
};

/// Base of objects behind handles. Owners are the table of handles and running calls; the last owner releases an object
/// under the lock of the domain.
struct Handle {
  explicit Handle(std::shared_ptr<SharedDomain> s) : shared(std::move(s)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  virtual ~Handle() = default;
  Device& device() const { return shared->domain->device(); }
  Communicator& ranks() const { return shared->domain->communicator(); }
  const Lattice& lattice() const { return shared->domain->lattice(); }
  Partition partition() const { return {shared->domain->communicator_pointer(), lattice().grid()}; }

  std::shared_ptr<SharedDomain> shared;
  std::string message;  ///< of the last call that failed
};

/// The shared domain, or a new one if the action has longer hops.
inline DomainPointer domain_for(const SharedDomain& shared, const Action& action) {
  const Domain& d = *shared.domain;
  if (action.reach() <= d.reach()) return shared.domain;
  return std::make_shared<Domain>(d.lattice(), d.device_pointer(), d.communicator_pointer(), action.reach());
}

/// Numbers of fields of actions, by names of the caller.
using NumbersByName = std::map<std::string, FieldNumbers, std::less<>>;

struct Context final : Handle {
  using Handle::Handle;
  static constexpr HandleKind kind = HandleKind::context;
};

struct Gauge final : Handle {
  Gauge(std::shared_ptr<SharedDomain> s, GaugeLinks g, const std::array<double, directions>& angles = {})
      : Handle(std::move(s)), given(std::move(g)), spread(angles) {}
  static constexpr HandleKind kind = HandleKind::gauge;

  /// On the domain of the context, in double with all reals; kept.
  const std::shared_ptr<const LinkField>& links() const {
    if (!links_) links_ = given.on(shared->domain);
    return links_;
  }

  GaugeLinks given;
  /// Angles of a site along each direction, in units of pi, that were divided out of all links; given.phase() has them.
  std::array<double, directions> spread{};
  NumbersByName fields;  ///< of actions

 private:
  mutable std::shared_ptr<const LinkField> links_;
};

struct Field final : Handle {
  Field(std::shared_ptr<SharedDomain> s, SpinorField f, const BasisInfo& b)
      : Handle(std::move(s)), spinors(std::move(f)), basis(&b) {}
  static constexpr HandleKind kind = HandleKind::field;
  SpinorField spinors;
  const BasisInfo* basis;
};

struct Dynamics final : Handle {
  Dynamics(std::shared_ptr<SharedDomain> s, const Gauge& start)
      : Handle(s),
        phase(start.given.phase()),
        fields(start.fields),
        links(start.given, for_long_hops(*s->domain)),
        momenta(links.cleared()) {}
  static constexpr HandleKind kind = HandleKind::dynamics;
  /// The domain of a context, with a reach of three sites if the lattice is large enough.
  static DomainPointer for_long_hops(const Domain& d) {
    const Coordinates& extent = d.lattice().extent();
    const int reach = *std::min_element(extent.begin(), extent.end()) > 2 ? 3 : 1;
    return std::make_shared<Domain>(d.lattice(), d.device_pointer(), d.communicator_pointer(), reach);
  }
  /// P += the force that `force` adds to its argument. \throws StatusError it is not finite; then P is unchanged.
  void kick(const std::function<void(LinkField&)>& force);

  std::array<Complex64, directions> phase;  ///< boundary phases found in the links
  NumbersByName fields;
  EvolvingLinks links;
  LinkField momenta;
};

struct Quark final : Handle {
  Quark(std::shared_ptr<SharedDomain> s, std::shared_ptr<Dynamics> d, const FermionParameters& fermion,
        double tolerance)
      : Handle(std::move(s)),
        dynamics(std::move(d)),
        slices(fermion.action.slices()),
        spins(fermion.action.spins()),
        squared(fermion.action.is_squared()),
        term(fermion, dynamics->links, tolerance) {}
  static constexpr HandleKind kind = HandleKind::quark;
  std::shared_ptr<Dynamics> dynamics;
  int slices, spins;
  bool squared;  ///< whether the operator is A = M^+ M
  QuarkTerm term;
};

/// \throws StatusError the number is not finite.
double require_finite(double number, std::string_view name);

/// \throws StatusError QUARKSMITH_BAD_ARGUMENT
[[noreturn]] inline void refuse(const std::string& text) { throw StatusError(QUARKSMITH_BAD_ARGUMENT, text); }

/// Stores the message of the current exception for the thread and, unless it is null, for `handle`.
quarksmith_status fail(const char* function, Handle* handle) noexcept;

/// The object behind a handle that is an operand of a call; `name` is its name in quarksmith.h.
/// \throws StatusError the handle is NULL, freed, of another kind, or not made by this library.
template <class T>
std::shared_ptr<T> operand(const void* handle, const char* name) {
  return std::static_pointer_cast<T>(handle_table().find(handle, T::kind, name));
}

/// As operand, for an object that must belong to the context of `first`, whose lock the call holds.
/// \throws StatusError as operand, or it belongs to another context.
template <class T>
std::shared_ptr<T> operand(const void* handle, const char* name, const Handle& first) {
  return std::static_pointer_cast<T>(handle_table().find(handle, T::kind, name, first.shared.get()));
}

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

inline std::string text_of(const char* options) { return options == nullptr ? "" : options; }

/// What a call can refuse on one rank alone, before all of them work together: ranks agree on it once.
class Agreement {
 public:
  explicit Agreement(Communicator& ranks) : ranks_(ranks) {}
  /// To be called when the arguments are checked. \param same those that must be equal on all ranks: numbers, texts.
  /// \throws StatusError another rank has refused, or has others.
  template <class... A>
  void operator()(const A&... same) {
    tell(QUARKSMITH_OK, fmt::format("{}", std::tuple<const A&...>(same...)));
  }
  /// Tells the others that this rank has failed with the exception that is being handled, unless they have agreed.
  void refuse();

 private:
  /// \param text of the failure, or of what must be the same.
  void tell(quarksmith_status mine, const std::string& text);
  Communicator& ranks_;
  bool reached_ = false;
};

/// Runs `body` on the object behind a handle, under its lock, after attaching its device to this thread; turns
/// exceptions into a status and a message. A body that takes an Agreement is called on all ranks.
template <class T, class Body>
quarksmith_status call(const char* function, const char* name, const void* handle, const Body& body) noexcept {
  std::shared_ptr<SharedDomain> shared;
  std::unique_lock<std::mutex> lock;
  std::shared_ptr<T> object;  // after the lock: if another thread freed the handle meanwhile, it ends here, locked
  try {
    object = operand<T>(handle, name);
    shared = object->shared;
    lock = std::unique_lock(shared->mutex);
    operand<T>(handle, name);  // it may have been freed while this thread waited
    shared->domain->device().attach();
    if constexpr (std::is_invocable_v<Body, T&, Agreement&>) {
      Agreement agree(object->ranks());
      try {
        body(*object, agree);
      } catch (...) {
        agree.refuse();
        throw;
      }
    } else {
      body(*object);
    }
    return QUARKSMITH_OK;
  } catch (...) {
    return fail(function, lock.owns_lock() ? object.get() : nullptr);
  }
}

/// Hands a new object to the caller.
template <class T, class Opaque>
void give(Opaque** result, std::shared_ptr<T> made) {
  *result = static_cast<Opaque*>(handle_table().open(T::kind, std::move(made)));
}
template <class T, class Opaque, class... Arguments>
void give(Opaque** result, Arguments&&... arguments) {
  give(result, std::make_shared<T>(std::forward<Arguments>(arguments)...));
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
