#include "solvers/measure/smearing.hpp"

#include <fmt/format.h>

#include <vector>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// Texts that are accepted: `forms`, then those of smearings.
std::string forms_with(std::vector<std::string> forms) {
  for (const SmearingKind* kind : listed<SmearingKind>()) forms.push_back(form_of(*kind));
  return one_of(std::vector<std::string_view>(forms.begin(), forms.end()));
}

QuarkSmearing one_smearing_of(const std::string& text, const std::string& subject, const std::string& forms) {
  const auto [name, numbers] = cut_at_colon(text);
  for (const SmearingKind* kind : listed<SmearingKind>())
    if (kind->name == name) return {kind, read_choice(numbers, kind->parameters, subject, form_of(*kind))};
  throw UsageError(fmt::format("{} is unknown; {}use {}", subject, suggestion(name, names_of<SmearingKind>()), forms));
}

QuarkSmearing smearing_of(const std::string& text, const std::string& subject, const std::string& forms) {
  const std::vector<std::string> parts = split(text, '/');
  QuarkSmearing all = one_smearing_of(parts[0], subject, forms);
  for (std::size_t n = 1; n < parts.size(); ++n) all.then.push_back(one_smearing_of(parts[n], subject, forms));
  return all;
}

}  // namespace

std::string form_of(const SmearingKind& kind) { return fmt::format("{}:{}", kind.name, form_of(kind.parameters)); }

QuarkSmearing quark_smearing_of(const std::string& text) {
  return smearing_of(text, fmt::format("smearing '{}'", text), forms_with({}));
}

QuarkSmearing sink_of(const std::string& text) {
  if (text == "point") return {};
  return smearing_of(text, fmt::format("sink '{}'", text), sink_forms());
}

std::string sink_forms() { return forms_with({"point"}); }

void smear(const QuarkSmearing& how, const std::shared_ptr<const LinkField>& links, SpinorField& psi,
           const std::function<void()>& look) {
  if (how) how.kind->smear(how.values, *links, psi, look);
  for (const QuarkSmearing& next : how.then) smear(next, links, psi, look);
}

}  // namespace quarksmith
