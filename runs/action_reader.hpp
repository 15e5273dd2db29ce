/// \file
/// Reads the parameters of an action from texts: options of commands, keys of files, arguments of interfaces, under the
/// names that the statement of the action gives them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runs/describe.hpp"
#include "runtime/action_values.hpp"

namespace quarksmith::runs {

/// The name by which an action is chosen and recorded; for an extension of another action (`twisted-doublet`) the name
/// of that other one (`twisted-mass`).
std::string listed_name(const ActionInfo& action);
/// Names of the actions that users can choose and for which `has` is true.
std::vector<std::string> action_names(const std::function<bool(const ActionInfo&)>& has = [](const ActionInfo&) {
  return true;
});
/// The parameter of a name; null if the action has none.
const ActionParameter* find_parameter(const ActionInfo& action, std::string_view name);
/// The extensions of an action, each with the parameter that selects it when it is given.
std::vector<std::pair<const ActionInfo*, const ActionParameter*>> extensions(const ActionInfo& of);

class ActionReader {
 public:
  /// Texts by names (`csw_r`) of parameters and alternative parameters.
  using Texts = std::map<std::string, std::string, std::less<>>;

  /// The action of a name, or its extension if a parameter of that is given: `twisted-mass` with epsilon has two
  /// flavours. \throws UsageError there is no action of this name, or its statement was refused; the message says why.
  static const ActionInfo& meant(const std::string& name, const Texts& given);
  /// The parameters that a name determines: one, or those that follow from an alternative parameter.
  static std::vector<std::string_view> given_by(const ActionInfo& info, std::string_view name);

  /// \param given parameters; those of other actions are refused.
  /// \param slices of a fifth dimension; 1 where there is none.
  /// \throws Refusal a parameter belongs to other actions, is not a number, out of range, given twice or missing.
  ActionReader(const ActionInfo& info, const Texts& given, int slices, const Wording& wording);

  ActionValues values() const;
  /// The masses given, or the default; 0 for actions without a mass.
  std::vector<double> masses() const;

 private:
  /// The option that gave a parameter, its text and its numbers.
  struct Given {
    std::string by;  ///< name of the option
    std::string text;
    std::vector<ActionValues::Value> numbers;  ///< one, several masses, or one for each slice
  };
  void read(const ActionParameter& p, const std::string& text);
  void read(const ActionAlternative& s, const std::string& text);
  void add(const ActionParameter& p, Given g);
  void require(const ActionParameter& p) const;
  void require_one(const Given& g, const ActionParameter& p) const;
  double number_in(const std::string& text, const std::string& by) const;
  /// \throws Refusal always, with the name `by` and the reason `why`.
  [[noreturn]] void refuse(Refusal::Kind kind, const std::string& by, const std::string& why) const;

  const ActionInfo& info_;
  int slices_;
  const Wording& wording_;
  std::map<std::string, Given, std::less<>> given_;
};

}  // namespace quarksmith::runs
