#include <fmt/format.h>

#include "runs/measured_correlator.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

class ChromaCurrentsTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    c.propagators = nodes(quarks_);
    c.ahead = plan.nodes[c.propagators[0]].quark;
    c.work = 2;  // what is ahead of both
    c.structures = currents_;
    const std::string &links = quark_of(c.propagators[0]).smear_links(),
                      &others = quark_of(c.propagators[1]).smear_links();
    if (links != others)
      refuse(Refusal::Kind::contradicts, "quarks",
             fmt::format("are joined by links, which are {1} for '{0}' and {3} for '{2}'; give both the same "
                         "smear_links",
                         quarks_[0], links.empty() ? "not smeared" : links, quarks_[1],
                         others.empty() ? "not smeared" : others));
    const std::vector<int> currents = places_of(currents_, chroma_current_names());
    c.contract = [currents](std::span<const Propagator* const> s, const ContractionPlace& place) {
      return chroma_current_sums(*s[0], *s[1], currents, place.ahead_without_phase, place.phases);
    };
  }

 private:
  void list_kind(Members::Adder add) override {
    list_meson(add, quarks_);
    list_chosen(add, "currents", currents_, chroma_current_names());
  }

  std::vector<std::string> quarks_, currents_;
};

}  // namespace

extern constinit const MeasuredCorrelator chroma_currents = {.name = "chroma-currents",
                                                             .table = correlator_table<ChromaCurrentsTable>};

}  // namespace quarksmith::runs::measured_correlators
