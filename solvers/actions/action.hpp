/// \file
/// A discretisation of the Dirac operator as solvers see it: what its statement says, with values of its parameters,
/// which makes operators in each precision.
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
    int source = 0, sink = 0;  ///< of several flavours those of four-dimensional sources and quark fields
    GivenFields fields = {};   ///< that the statement takes besides the links
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
  /// Sites of the longest hop: what the domain of a solver is made for.
  int reach() const { return info().reach; }
  /// Whether there are even-odd forms; actions without one are solved on all sites.
  bool has_even_odd() const;
  /// Whether the even-odd form is M^+ M, Hermitian and positive: that of D^+ = -D beside a number.
  bool is_squared() const;
  /// Whether solutions have a quark field in the middle of a fifth dimension.
  bool has_midpoint() const { return !info().chain.empty() && slices() > 1; }
  /// That of M' = gamma_5 M^+ gamma_5, whose propagator S' gives those of this one backwards, S(x, y) = gamma_5 S'(y,
  /// x)^+ gamma_5; of several flavours that of the sink. None is known for some actions (ActionInfo::negated).
  std::optional<Action> adjoint() const;
  /// The operator for fields of a precision.
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add. A field is missing.
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const;
  /// Deviation of the stored links along which M hops from those given. Collective.
  LinkDeviation deviation(const LinkStore& links) const;
  /// The storage in which links of this group are kept by default, given that of a configuration's.
  std::string default_links(std::string_view of_gauge) const;

 private:
  ActionValues values_;
  Setting setting_;
};

}  // namespace quarksmith
