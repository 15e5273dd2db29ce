/// \file
/// An action of the generated table with values of its parameters.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/action_info.hpp"

namespace quarksmith {

/// \throws UnknownName there is no such action, or the generator refused it; the message lists all actions, or the
/// reason.
const ActionInfo& find_action(std::string_view name);
/// A statement of a smearing (generator/actions/stout.py). \throws UnknownName likewise.
const ActionInfo& find_smearing(std::string_view name);

/// The option name of an action or parameter: `twisted_mass` -> `twisted-mass`.
std::string option_name(std::string_view name);
/// Inverse of option_name.
std::string stated_name(std::string_view option);

/// Values of an action's parameters, with the numbers that its statement computes from them.
class ActionValues {
 public:
  using Value = ActionNumber::Value;
  /// Value of a parameter, or one for each slice of a fifth dimension.
  struct Numbers : std::vector<Value> {
    using std::vector<Value>::vector;
    Numbers(double x) : vector{Value(x)} {}
    Numbers(std::vector<Value> all) : vector(std::move(all)) {}
  };
  /// Values by names of parameters.
  using Given = std::map<std::string, Numbers>;

  /// \param given those with a default may be left out.
  /// \param slices of a fifth dimension; 1 where there is none.
  /// \throws UsageError a parameter is unknown, missing, out of range, or complex where it must be real; slices do not
  /// fit the action or the values.
  ActionValues(const ActionInfo& info, const Given& given, int slices = 1);
  ActionValues(const ActionInfo& info, const std::same_as<std::map<std::string, double>> auto& given, int slices = 1)
      : ActionValues(info, Given(given.begin(), given.end()), slices) {}

  const ActionInfo& info() const { return *info_; }
  int slices() const { return static_cast<int>(values_.size()); }
  /// Value of a number of ActionInfo in the first slice; 0 if the action does not have it.
  double operator()(const ActionNumber& number) const { return complex(number).real(); }
  Value complex(const ActionNumber& number, int slice = 0) const {
    return number(reals_[slice].data(), values_[slice].data());
  }
  /// Value of a number in every slice.
  std::vector<Value> of_slices(const ActionNumber& number) const;
  /// Value of a parameter in the first slice. \throws UsageError the action does not have it.
  double operator[](std::string_view parameter) const { return reals_[0][place(parameter)]; }
  /// Value of a parameter in every slice. \throws UsageError the action does not have it.
  std::vector<Value> all(std::string_view parameter) const;
  bool has(std::string_view parameter) const;
  /// A copy with one value changed.
  /// \throws UsageError the action does not have the parameter, or the value is out of its range.
  ActionValues with(std::string_view parameter, double value) const;
  /// Values of the parameters for which the operator is gamma_5 M^+ gamma_5; none if they are not known
  /// (ActionInfo::negated). With a fifth dimension this holds for quark fields in four dimensions, whose overlap
  /// operator is made of transfer matrices (arXiv:1206.5214), and the order of slices is reversed.
  std::optional<ActionValues> of_adjoint() const;
  bool operator==(const ActionValues&) const = default;
  /// Names and values as a message has them: `mass 0.1, mu 0.3`.
  std::string text() const;

 private:
  std::size_t place(std::string_view parameter) const;
  void set(int slice, std::size_t n, Value value);

  const ActionInfo* info_;
  std::vector<std::vector<Value>> values_;  // [slice][parameter]
  std::vector<std::vector<double>> reals_;
};

/// One number, all digits: `0.5` or `0.5:0.25` of a complex one.
std::string text_of(const ActionValues::Value& value);

}  // namespace quarksmith
