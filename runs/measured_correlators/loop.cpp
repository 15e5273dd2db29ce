#include <fmt/format.h>

#include <algorithm>

#include "runs/measured_correlator.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

constexpr std::pair<const char*, bool Dilution::*> dilutions[] = {{"spin", &Dilution::spin},
                                                                  {"colour", &Dilution::colour},
                                                                  {"even-odd", &Dilution::even_odd},
                                                                  {"time", &Dilution::time},
                                                                  {"space", &Dilution::space}};

class LoopTable final : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) override {
    LoopPlan loop{plan.number(plan.quarks, quark_),
                  group_ == "z2" ? 2 : 4,
                  static_cast<int>(count_),
                  static_cast<std::uint64_t>(seed_),
                  {},
                  {}};
    if (plan.quarks[loop.quark].action.spins() != 4)
      refuse(Refusal::Kind::contradicts, "quark",
             fmt::format(": kind loop is of Dirac quarks, '{}' is not; use another", quark_));
    for (const auto& [name, member] : dilutions)
      loop.dilution.*member = std::find(dilution_.begin(), dilution_.end(), name) != dilution_.end();
    if (loop.dilution.even_odd && loop.dilution.space && loop.dilution.time)
      refuse(Refusal::Kind::contradicts, "dilution",
             ": in space and time there is one site in each part; leave even-odd out");
    for (const GammaPair& g : gamma_pairs_of(gammas_)) {
      if (g.sink != g.source) refuse(Refusal::Kind::contradicts, "gammas", ": a loop has one; give names of one each");
      loop.gammas.push_back(g.sink);
      c.structures.push_back(meson_names()[g.sink]);
    }
    c.loop = loop;
  }

 private:
  void list_kind(Members::Adder add) override {
    std::vector<std::string> words;
    for (const auto& [name, member] : dilutions) words.emplace_back(name);
    add("quark", quark_, "one of [[quark]]").required().among(plan.names(plan.quarks));
    add("group", group_, "of noise").among(std::vector<std::string>{"z2", "z4"});
    add("count", count_, "noise vectors").required().range(1, 1000000);
    add("seed", seed_, "of noise").required().range(0, INT64_MAX);
    add("dilution", dilution_, "what a noise vector is split by").among(words).recent();
    list_gammas(add, gammas_);
  }

  std::string quark_, group_ = "z2";
  long long count_ = 1, seed_ = 0;
  std::vector<std::string> dilution_, gammas_ = {"same"};
};

}  // namespace

extern constinit const MeasuredCorrelator loop = {.name = "loop", .table = correlator_table<LoopTable>};

}  // namespace quarksmith::runs::measured_correlators
