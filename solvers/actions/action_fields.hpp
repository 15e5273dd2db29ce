/// \file
/// The fields of an action's statement: links of a configuration, fields of the caller, and fields made from these.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "runtime/fields/given_field.hpp"
#include "solvers/actions/link_store.hpp"
#include "solvers/links/link_program.hpp"

namespace quarksmith {

/// Whether a field of kind given_term can be added to the site term of an action.
bool takes_term(const ActionInfo& info);

/// The fields of one action on one device and configuration.
class ActionFields {
 public:
  /// \throws UsageError a field is missing, unknown, or of another kind or lattice; or the storage is for temporal
  /// gauge, but hops take other links than those of the configuration.
  ActionFields(ActionValues values, GivenFields given, const LinkStore& links);

  const ActionValues& values() const { return program_.values(); }
  const ActionInfo& info() const { return program_.info(); }
  const LinkProgram& program() const { return program_; }
  const LinkStore& links() const { return links_; }
  /// All fields in double; made on first use and kept by the LinkStore for all precisions.
  const StatementFields& in_double() const;
  /// One field as kernels take it. \param storage of links and matrices. \param depth of LinkField.
  std::shared_ptr<const LinkField> stored(int field, const PrecisionInfo& precision, std::string_view storage,
                                          int depth = 1) const;
  /// The field that is added to the site term; null if there is none.
  const GivenField* term() const;
  /// A spinor field of the caller.
  SpinorField spinor(int field, const PrecisionInfo& precision) const;
  /// Whether a storage can hold the matrices of a field: storages with fewer reals are for matrices of a group.
  bool holds(int field, const StorageInfo& storage) const;
  /// Deviation of the links of hops in this storage from those given. Collective.
  LinkDeviation deviation(std::string_view storage) const;
  /// The number of the field whose links hops take, of each length.
  int hops(int length) const { return info().links[length > 1]; }

 private:
  bool is_gauge(int field) const { return info().fields[std::size_t(field)].origin == Origin::gauge; }
  StatementFields make() const;
  void check() const;
  void check(std::string_view name, std::string_view kind, const GivenField& field) const;

  LinkProgram program_;
  GivenFields given_;
  LinkStore links_;
};

}  // namespace quarksmith
