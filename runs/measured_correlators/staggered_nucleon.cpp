#include "runs/measured_correlator.hpp"
#include "solvers/measure/staggered_hadrons.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

class StaggeredNucleonTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    c.propagators = {node(quark_)};
    c.structures = {"nucleon"};
    c.contract = [](std::span<const Propagator* const> s, const ContractionPlace& place) {
      return staggered_nucleon_sums(*s[0], place.phases);
    };
  }

 private:
  void list_kind(Members::Adder add) override { list_propagator(add, quark_); }

  std::string quark_;
};

}  // namespace

extern constinit const MeasuredCorrelator staggered_nucleon = {
    .name = "staggered-nucleon", .staggered = true, .table = correlator_table<StaggeredNucleonTable>};

}  // namespace quarksmith::runs::measured_correlators
