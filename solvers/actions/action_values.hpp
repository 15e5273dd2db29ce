/// \file
/// An action of the generated table with values of its parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/action_info.hpp"

namespace quarksmith {

/// \throws UnknownName no such action; the message lists those that exist.
const ActionInfo& find_action(std::string_view name);

/// A name of the table as options have it: `twisted_mass` -> `twisted-mass`.
std::string option_name(std::string_view name);

/// What an action's statement gives for values of its parameters.
class ActionValues {
 public:
  /// \param given by the names of parameters; those with a default may be left out.
  /// \throws UsageError a parameter that the action does not have, that is missing, or out of its range.
  ActionValues(const ActionInfo& info, const std::map<std::string, double>& given);

  const ActionInfo& info() const { return *info_; }
  /// In the order of ActionInfo::parameters.
  const std::vector<double>& all() const { return values_; }
  /// Of one of the numbers of ActionInfo; 0 if the action does not have it.
  double operator()(ActionNumber number) const { return number == nullptr ? 0 : number(values_.data()); }
  /// Of a parameter. \throws UsageError the action does not have it.
  double operator[](std::string_view parameter) const { return values_[place(parameter)]; }
  /// The same values but for one. \throws UsageError likewise, or it is out of its range.
  ActionValues with(std::string_view parameter, double value) const;
  /// Names and values as a message has them: `mass 0.1, mu 0.3`.
  std::string text() const;

 private:
  std::size_t place(std::string_view parameter) const;
  void set(std::size_t n, double value);

  const ActionInfo* info_;
  std::vector<double> values_;
};

}  // namespace quarksmith
