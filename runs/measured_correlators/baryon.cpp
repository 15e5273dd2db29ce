#include "runs/measured_correlator.hpp"
#include "solvers/measure/baryons.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

class BaryonTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    const BaryonLines lines = lines_of(quarks_, "interpolators", interpolators_);
    c.propagators = lines.nodes;
    std::vector<Baryon> baryons;
    for (const std::string& name : interpolators_)
      for (const Baryon& b : baryons_of(name, lines.letters)) {
        c.structures.push_back(b.label());
        baryons.push_back(b);
      }
    c.contract = [baryons](std::span<const Propagator* const> s, const ContractionPlace& place) {
      return baryon_sums(s, baryons, place.phases);
    };
  }

 private:
  void list_kind(Members::Adder add) override {
    list_baryon(add, quarks_);
    add("interpolators", interpolators_, "names of interpolating fields").required().count(1).among(baryon_names());
  }

  Member::Texts quarks_;
  std::vector<std::string> interpolators_;
};

}  // namespace

extern constinit const MeasuredCorrelator baryon = {.name = "baryon", .table = correlator_table<BaryonTable>};

}  // namespace quarksmith::runs::measured_correlators
