#include "runs/measured_correlator.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

class MesonTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    c.propagators = nodes(quarks_);
    const std::vector<GammaPair> gammas = gamma_pairs_of(gammas_);
    for (const GammaPair& g : gammas) {
      const std::string &sink = meson_names()[g.sink], &source = meson_names()[g.source];
      c.structures.push_back(g.sink == g.source ? sink : sink + "," + source);
    }
    c.contract = [gammas](std::span<const Propagator* const> s, const ContractionPlace& place) {
      return meson_sums(*s[0], *s[1], gammas, place.phases);
    };
  }

 private:
  void list_kind(Members::Adder add) override {
    list_meson(add, quarks_);
    list_gammas(add, gammas_);
  }

  std::vector<std::string> quarks_, gammas_ = {"same"};
};

}  // namespace

extern constinit const MeasuredCorrelator meson = {.name = "meson", .table = correlator_table<MesonTable>};

}  // namespace quarksmith::runs::measured_correlators
