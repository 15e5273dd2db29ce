#include "solvers/measure/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// The entry of a name, null if there is none.
template <class Kind>
const Kind* kind_of(std::string_view name) {
  const auto all = listed<Kind>();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Kind* kind) { return kind->name == name; });
  return found == all.end() ? nullptr : *found;
}

const SourceKind& a_point() { return *kind_of<SourceKind>("point"); }

SourceSettings read_source(const std::string& text, const std::string& said) {
  const auto [name, rest] = cut_at_colon(text);
  if (const SourceKind* kind = kind_of<SourceKind>(name))
    return {kind, read_choice(rest, kind->parameters, said, form_of(*kind)), {}};
  const SmearingKind* smearing = kind_of<SmearingKind>(name);
  if (smearing == nullptr) {
    std::vector<std::string> known = names_of<SourceKind>(), smeared = names_of<SmearingKind>();
    known.insert(known.end(), smeared.begin(), smeared.end());
    throw UsageError(fmt::format("{} is unknown; {}use {}", said, suggestion(name, known), source_forms()));
  }
  const std::string form = source_form_of(*smearing);
  const auto [place, numbers] = cut_at_colon(rest);
  return {&a_point(),
          read_choice(place, a_point().parameters, said, form),
          {smearing, read_choice(numbers, smearing->parameters, said, form)}};
}

}  // namespace

std::string form_of(const SourceKind& kind) { return fmt::format("{}:{}", kind.name, form_of(kind.parameters)); }

std::string source_form_of(const SmearingKind& kind) {
  return fmt::format("{}:{}:{}", kind.name, form_of(a_point().parameters), form_of(kind.parameters));
}

std::string source_forms(int spins) {
  std::vector<std::string> forms;
  for (const SourceKind* kind : listed<SourceKind>()) forms.push_back(form_of(*kind));
  if (spins == 4)
    for (const SmearingKind* kind : listed<SmearingKind>()) forms.push_back(source_form_of(*kind));
  return one_of(std::vector<std::string_view>(forms.begin(), forms.end()));
}

SourceSettings source_of(const std::string& text, const Lattice& lattice) {
  const std::string said = fmt::format("source '{}'", text);
  const SourceSettings s = read_source(text, said);
  for (std::size_t n = 0; n < s.values.size(); ++n) {
    const ChoiceParameter& p = s.kind->parameters[n];
    if (p.direction >= 0 && s.values[n].real >= lattice.global_extent(p.direction))
      throw UsageError(fmt::format("{}: coordinate {} = {} lies outside the {} lattice", said, p.name,
                                   s.values[n].whole, lattice.global_text()));
  }
  return s;
}

int SourceSettings::time() const {
  for (std::size_t n = 0; n < values.size(); ++n)
    if (kind->parameters[n].direction == 3) return static_cast<int>(values[n].whole);
  return 0;
}

void fill_source(const SourceSettings& settings, int spin, int colour, HostSpinor& source) {
  source.site.clear();
  settings.kind->fill(settings.values, source, 3 * spin + colour);
}

HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour) {
  HostSpinor source(lattice);
  settings.kind->fill(settings.values, source, 3 * spin + colour);
  return source;
}

}  // namespace quarksmith
