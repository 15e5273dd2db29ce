/// \file
/// The parameters of an action from text under the names that its statement has for them: options of commands, keys of
/// files, arguments of interfaces.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runs/describe.hpp"
#include "runtime/action_values.hpp"

namespace quarksmith::runs {

/// The name by which an action is chosen and recorded: of one that extends another (`twisted-doublet`) that of this.
std::string listed_name(const ActionInfo& action);
/// Names of the actions that users can choose and for which `has` is true.
std::vector<std::string> action_names(const std::function<bool(const ActionInfo&)>& has = [](const ActionInfo&) {
  return true;
});
/// Null if the action does not have it.
const ActionParameter* find_parameter(const ActionInfo& action, std::string_view name);
/// The actions that another one means if parameters are given that they alone have, and those parameters.
std::vector<std::pair<const ActionInfo*, const ActionParameter*>> extensions(const ActionInfo& of);

class ActionReader {
 public:
  /// Text by stated names (`csw_r`), of parameters and spellings.
  using Texts = std::map<std::string, std::string, std::less<>>;

  /// The action that a name and what is given beside it mean: `twisted-mass` with epsilon that of two flavours.
  /// \throws UsageError there is none of this name, or it was refused; the message says why.
  static const ActionInfo& meant(const std::string& name, const Texts& given);
  /// The parameters that a name gives: itself, or those of a spelling.
  static std::vector<std::string_view> given_by(const ActionInfo& info, std::string_view name);

  /// \param given names of the action alone, or of others.
  /// \param slices of a fifth dimension; 1 where there is none.
  /// \throws Refusal what belongs to other actions, is no number, out of its range, given twice or missing.
  ActionReader(const ActionInfo& info, const Texts& given, int slices, const Wording& wording);

  ActionValues values() const;
  /// The masses given, or the default; 0 for actions without a mass.
  std::vector<double> masses() const;

 private:
  /// The option that gave a parameter, its text and its numbers.
  struct Given {
    std::string by;  ///< the name of that
    std::string text;
    std::vector<ActionValues::Value> numbers;  ///< one, several masses, or one for each slice
  };
  void read(const ActionParameter& p, const std::string& text);
  void read(const ActionAlternative& s, const std::string& text);
  void add(const ActionParameter& p, Given g);
  void require(const ActionParameter& p) const;
  void require_one(const Given& g, const ActionParameter& p) const;
  double number_in(const std::string& text, const std::string& by) const;
  /// \throws Refusal `by why`
  [[noreturn]] void refuse(Refusal::Kind kind, const std::string& by, const std::string& why) const;

  const ActionInfo& info_;
  int slices_;
  const Wording& wording_;
  std::map<std::string, Given, std::less<>> given_;
};

}  // namespace quarksmith::runs
