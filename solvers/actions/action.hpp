/// \file
/// An action with values of its parameters, from which operators are made in each precision.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solvers/actions/action_fields.hpp"
#include "solvers/actions/dirac.hpp"

namespace quarksmith {

/// Any action of the table.
class Action {
 public:
  /// Properties of an action besides its parameters.
  struct Setting {
    BoundaryPhases boundary{1, 1, 1, -1};
    int source = 0, sink = 0;  ///< flavours of four-dimensional sources and of quark fields, if there are several
    GivenFields fields = {};   ///< fields that the statement takes besides the links
  };

  explicit Action(ActionValues values) : Action(std::move(values), Setting()) {}
  Action(ActionValues values, Setting setting) : values_(std::move(values)), setting_(std::move(setting)) {}
  /// An action from its name and the values of its parameters. \throws UnknownName, UsageError as ActionValues.
  Action(std::string_view name, const std::map<std::string, double>& parameters,
         const BoundaryPhases& boundary = {1, 1, 1, -1});

  /// Name as in options, such as `twisted-mass`.
  std::string name() const { return option_name(info().name); }
  const ActionInfo& info() const { return values_.info(); }
  const ActionValues& values() const { return values_; }
  const Setting& setting() const { return setting_; }
  /// Spins of a vector; see SpinorField.
  int spins() const { return info().spins; }
  int slices() const { return info().chain.empty() ? info().flavours : values_.slices(); }
  /// Sites of the longest hop, to be passed to the domain of a solver.
  int reach() const { return info().reach; }
  /// Whether there are even-odd forms; actions without one are solved on all sites.
  bool has_even_odd() const;
  /// Whether the even-odd form is a block of M^+ M, Hermitian and positive: if D^+ = -D and T is a number.
  bool is_squared() const;
  /// Whether solutions have a quark field in the middle of a fifth dimension.
  bool has_midpoint() const { return !info().chain.empty() && slices() > 1; }
  /// The action of M' = gamma_5 M^+ gamma_5, whose propagator S' gives that of this one backwards, S(x, y) = gamma_5
  /// S'(y, x)^+ gamma_5; for several flavours, of the flavour at the sink. None if it is not known
  /// (ActionInfo::negated).
  std::optional<Action> adjoint() const;
  /// The action with unit fields on another lattice in place of those that were given, for rehearsals.
  Action on(const Lattice& lattice) const;
  /// The operator for fields of a precision.
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add. A field is missing.
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const;
  /// Deviation of the stored links of hops from the given ones. Collective.
  LinkDeviation deviation(const LinkStore& links) const;
  /// The default storage of the links of hops, if `of_gauge` is that of the configuration's links.
  std::string default_links(std::string_view of_gauge) const;

 private:
  bool has_given_term() const;
  ActionValues values_;
  Setting setting_;
};

}  // namespace quarksmith
