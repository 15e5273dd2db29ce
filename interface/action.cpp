// Actions of quarksmith.h.
#include "interface/action.hpp"

#include <cmath>

#include "runtime/fields/gauge.hpp"
#include "solvers/actions/action_reader.hpp"

namespace quarksmith::interface {
namespace {

/// A parameter as text, all digits; `slices` numbers if it has them.
std::string text_of(const quarksmith_parameter& p, int slices) {
  const auto one = [&](double re, double im) {
    require_finite(re, p.name);
    require_finite(im, p.name);
    return im == 0 ? fmt::format("{:.17g}", re) : fmt::format("{:.17g}:{:.17g}", re, im);
  };
  if (p.slices == nullptr) return one(p.value, p.imaginary);
  std::string text;
  for (int s = 0; s < slices; ++s) text += (s > 0 ? "," : "") + one(p.slices[2 * s], p.slices[2 * s + 1]);
  return text;
}

GivenFields fields_of(const quarksmith_action& a, const ActionInfo& info, const Lattice& lattice) {
  GivenFields fields;
  if (a.field_count < 0) refuse(fmt::format("{} fields; use 0 or more", a.field_count));
  if (a.field_count > 0) require(a.fields, "fields");
  for (int n = 0; n < a.field_count; ++n) {
    const std::string name = require(a.fields[n].name, "the name of a field");
    const auto* numbers = require(a.fields[n].numbers, "the numbers of a field");
    const auto all = info.fields;
    const auto field = std::find_if(all.begin(), all.end(),
                                    [&](const ActionField& f) { return f.origin == Origin::given && f.name == name; });
    if (field == all.end()) refuse(fmt::format("action {} takes no field {}", option_name(info.name), name));
    std::size_t count = std::size_t(lattice.sites());
    for (const int extent : extents_of(field->kind)) count *= std::size_t(extent);
    std::vector<Complex64> values(count);
    for (std::size_t k = 0; k < count; ++k) values[k] = {numbers[2 * k], numbers[2 * k + 1]};
    fields.emplace(name, std::make_shared<const GivenField>(given_field(field->kind, lattice, values)));
  }
  return fields;
}

}  // namespace

double require_finite(double number, std::string_view name) {
  if (!std::isfinite(number)) refuse(fmt::format("{} {}: use a finite number", name, number));
  return number;
}

Action action_of(const quarksmith_action* action, const std::array<Complex64, directions>& phases,
                 const Lattice& lattice) {
  const auto& a = require_struct(action, "quarksmith_action");
  const std::string name = require(a.name, "the name of the action");
  if (a.count < 0) refuse(fmt::format("{} parameters; use 0 or more", a.count));
  if (a.count > 0) require(a.parameters, "parameters");
  ActionReader::Texts texts;
  for (int n = 0; n < a.count; ++n) {
    const std::string given = require(a.parameters[n].name, "the name of a parameter");
    if (!texts.emplace(stated_name(given), text_of(a.parameters[n], a.slices)).second)
      refuse(fmt::format("parameter {} is given twice; give it once", given));
  }
  const ActionInfo& info = ActionReader::meant(name, texts);
  for (const auto& [given, text] : texts)
    if (std::none_of(actions().begin(), actions().end(),
                     [&, n = std::string_view(given)](const ActionInfo& other) { return takes(other, n); }))
      refuse(fmt::format("action {} has no parameter {}", name, given));
  if (a.slices < 1 || (info.chain.empty() && a.slices != 1))
    refuse(fmt::format("slices {} of action {}; use {}", a.slices, name,
                       info.chain.empty() ? "1: it has no fifth dimension" : "at least 1"));
  const ActionReader reader(info, texts, a.slices, {"", '-', "the action"});
  Action::Setting setting;
  for (int mu = 0; mu < directions; ++mu)
    setting.boundary[mu] = phase_of(require_finite(a.boundary[mu], "a member of boundary"));
  if (a.boundary_from_links != 0 && phases != std::array<Complex64, directions>{1, 1, 1, 1}) setting.boundary = phases;
  for (const int flavour : a.flavours)
    if (flavour != 0 && flavour != 1) refuse(fmt::format("flavour {}; use 0 or 1", flavour));
  setting.source = a.flavours[0];
  setting.sink = a.flavours[1];
  setting.fields = fields_of(a, info, lattice);
  return {reader.values(), std::move(setting)};
}

std::string links_of(const char* asked, const Action& action, const HostGauge& gauge) {
  return asked == nullptr ? action.default_links(default_links(gauge)) : std::string(find_storage(asked).name);
}

}  // namespace quarksmith::interface

using namespace quarksmith::interface;

quarksmith_status quarksmith_action_init(quarksmith_action* action) {
  return init(__func__, action, [](auto& a) {
    a.slices = 1;
    a.boundary[3] = 1;
    a.boundary_from_links = 1;
  });
}

double quarksmith_mass_of_kappa(double kappa) { return 1 / (2 * kappa) - 4; }
