#include "solvers/measure/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
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

SourceSettings read_source(const std::string& text, const std::string& subject) {
  const auto [name, rest] = cut_at_colon(text);
  if (const SourceKind* kind = kind_of<SourceKind>(name))
    return {kind, read_choice(rest, kind->parameters, subject, form_of(*kind)), {}};
  const SmearingKind* smearing = kind_of<SmearingKind>(name);
  if (smearing == nullptr) {
    std::vector<std::string> known = names_of<SourceKind>(), smeared = names_of<SmearingKind>();
    known.insert(known.end(), smeared.begin(), smeared.end());
    throw UsageError(fmt::format("{} is unknown; {}use {}", subject, suggestion(name, known), source_forms()));
  }
  const std::string form = source_form_of(*smearing);
  const auto [place, numbers] = cut_at_colon(rest);
  return {&a_point(),
          read_choice(place, a_point().parameters, subject, form),
          {smearing, read_choice(numbers, smearing->parameters, subject, form)}};
}

/// The time slice that a source's parameters name.
std::optional<int> slice_of(const SourceSettings& s) {
  for (std::size_t n = 0; n < s.values.size(); ++n)
    if (s.kind->parameters[n].direction == 3) return static_cast<int>(s.values[n].whole);
  return {};
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

SourceSettings source_of(const std::string& text) { return read_source(text, fmt::format("source '{}'", text)); }

SourceSettings source_of(const std::string& text, const Lattice& lattice) {
  const SourceSettings s = source_of(text);
  for (std::size_t n = 0; n < s.values.size(); ++n) {
    const ChoiceParameter& p = s.kind->parameters[n];
    if (p.direction >= 0 && s.values[n].real >= lattice.global_extent(p.direction))
      throw UsageError(fmt::format("source '{}': coordinate {} = {} lies outside the {} lattice", text, p.name,
                                   s.values[n].whole, lattice.global_text()));
  }
  return s;
}

int SourceSettings::time() const { return slice_of(*this).value_or(0); }

std::pair<int, int> SourceSettings::slices(const Lattice& lattice) const {
  const std::optional<int> one = slice_of(*this);
  return {one.value_or(0), one.value_or(lattice.global_extent(3) - 1)};
}

HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour) {
  HostSpinor source(lattice);
  const auto [first, last] = settings.slices(lattice);
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.global_coordinates(i);
    if (x[3] >= first && x[3] <= last)
      source.site[i][3 * spin + colour] = settings.kind->at(settings.values, lattice, i, x);
  }
  return source;
}

void set_source(const SourceSettings& settings, int spin, int colour, SpinorField& to, const BasisInfo& basis, int rhs,
                const SourcePhase& phase) {
  const Lattice& lattice = to.domain().lattice();
  const auto [first, last] = settings.slices(lattice);
  const int components = to.spins() * to.colours();
  upload_slices(to, basis, rhs, first, last, [&](long long i, Complex64* numbers) {
    std::fill_n(numbers, components, Complex64(0));
    Complex64& number = numbers[3 * spin + colour];
    number = settings.kind->at(settings.values, lattice, i, lattice.global_coordinates(i));
    if (phase) number *= phase(lattice.coordinates(i));
  });
}

}  // namespace quarksmith
