#include <fmt/format.h>

#include "runs/measured_correlator.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

class WallCurrentsTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    c.propagators = {node(quark_)};
    PropagatorNode& of = plan.nodes[c.propagators[0]];
    c.ahead = of.quark;
    c.work = 2;
    c.structures = currents_;
    require_form(of);
    of.on_slices = true;
    const std::vector<int> currents = places_of(currents_, wall_current_names());
    c.contract = [currents, source = *meson_number(source_)](std::span<const Propagator* const>,
                                                             const ContractionPlace& place) {
      return wall_current_sums(*place.on_slices, source, currents, place.ahead, place.phases);
    };
  }

 private:
  void list_kind(Members::Adder add) override {
    list_propagator(add, quark_);
    add("source", source_, "the gamma at the source").among(meson_names());
    list_chosen(add, "currents", currents_, wall_current_names());
  }

  void require_form(const PropagatorNode& of) const {
    const Action& action = plan.quarks[of.quark].action;
    const auto refuse_it = [this](const std::string& why) { refuse(Refusal::Kind::contradicts, "quark", why); };
    if (!action.has_midpoint() || !has_conserved_current(action))
      refuse_it(
          fmt::format(": kind wall-currents is of isotropic domain-wall quarks of Shamir's form, which '{}' is "
                      "not; use another propagator, or kind meson",
                      of.name));
    if (of.of >= 0)
      refuse_it(
          fmt::format(": propagator '{}' has a smeared sink, where no current is conserved; use one with a point "
                      "sink",
                      of.name));
    if (action.slices() % 2 != 0)
      refuse_it(
          fmt::format(": quark '{}' has {} slices; axial currents change sign in the middle of an even number of "
                      "them",
                      plan.quarks[of.quark].name, action.slices()));
  }

  std::string quark_, source_ = "g5";
  std::vector<std::string> currents_;
};

}  // namespace

extern constinit const MeasuredCorrelator wall_currents = {.name = "wall-currents",
                                                           .table = correlator_table<WallCurrentsTable>};

}  // namespace quarksmith::runs::measured_correlators
