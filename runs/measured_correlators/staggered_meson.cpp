#include "runs/measured_correlator.hpp"
#include "solvers/measure/staggered_hadrons.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

std::vector<std::string> names_of_staggered_mesons() {
  std::vector<std::string> names;
  for (const StaggeredMeson& m : staggered_mesons()) names.emplace_back(m.name);
  return names;
}

class StaggeredMesonTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    c.propagators = nodes(quarks_);
    c.structures = mesons_;
    std::vector<StaggeredMeson> chosen;
    for (const int n : places_of(mesons_, names_of_staggered_mesons())) chosen.push_back(staggered_mesons()[n]);
    c.contract = [chosen](std::span<const Propagator* const> s, const ContractionPlace& place) {
      return staggered_meson_sums(*s[0], *s[1], chosen, place.phases);
    };
  }

 private:
  void list_kind(Members::Adder add) override {
    list_meson(add, quarks_);
    add("mesons", mesons_, "by their signs").required().count(1).among(names_of_staggered_mesons());
  }

  std::vector<std::string> quarks_, mesons_;
};

}  // namespace

extern constinit const MeasuredCorrelator staggered_meson = {
    .name = "staggered-meson", .staggered = true, .table = correlator_table<StaggeredMesonTable>};

}  // namespace quarksmith::runs::measured_correlators
