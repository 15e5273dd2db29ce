#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runs/measured_correlator.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/baryons.hpp"
#include "solvers/measure/sequential.hpp"

namespace quarksmith::runs::measured_correlators {
namespace {

/// Currents in their order: the local ones together, each conserved one by itself.
std::vector<Complex64> contract_currents(const std::vector<Current>& currents, const Propagator& x, const Propagator& s,
                                         const ContractionPlace& place) {
  std::vector<Current> local;
  for (const Current& c : currents)
    if (!c.conserved) local.push_back(c);
  std::vector<std::vector<Complex64>> parts;
  if (!local.empty()) parts.push_back(three_point_sums(x, s, local, place.phases));
  for (const Current& c : currents) {
    if (!c.conserved) continue;
    const Propagator x_ahead = place.ahead(x, c.gamma), s_ahead = place.ahead(s, c.gamma);
    parts.push_back(conserved_three_point_sums(x, s, {&x_ahead, &s_ahead}, c.gamma, place.phases));
  }
  const std::size_t each = parts[0].size() / (local.empty() ? 1 : local.size());
  std::vector<Complex64> all(each * currents.size());
  for (std::size_t k = 0, l = 0, part = local.empty() ? 0 : 1; k < currents.size(); ++k) {
    const bool own = currents[k].conserved;
    const auto& from = own ? parts[part++] : parts[0];
    for (std::size_t n = 0; n < each; ++n) all[n * currents.size() + k] = own ? from[n] : from[n * local.size() + l];
    l += !own;
  }
  return all;
}

class ThreePointTable : public CorrelatorTable {
 public:
  using CorrelatorTable::CorrelatorTable;

  void complete(MeasureCorrelator& c) final {
    auto sequential = std::make_shared<SequentialSource>();
    complete_sink(*sequential);
    const PropagatorNode line = plan.nodes[sequential->inputs[sequential->line]];
    if (line.sink.has_derivative())
      refuse(Refusal::Kind::contradicts, "quarks",
             fmt::format(": propagator '{}', which carries the current, has a derivative at its sink; use another",
                         line.name));
    const int forward = line.of >= 0 ? line.of : sequential->inputs[sequential->line];
    sequential->separation = static_cast<int>(separation_);
    std::copy(sink_momentum_.begin(), sink_momentum_.end(), sequential->momentum.begin());
    const int quark = quark_.empty() ? line.quark : plan.number(plan.quarks, quark_);
    if (!plan.quarks[quark].action.adjoint())
      refuse(Refusal::Kind::contradicts, "quark",
             fmt::format("'{}' of action {}: its sequential propagator needs gamma_5 M^+ gamma_5 as M for other "
                         "parameters, and none are known; use a quark of another action",
                         plan.quarks[quark].name, plan.quarks[quark].action.name()));
    std::vector<Current> currents;
    for (const std::string& name : currents_) {
      currents.push_back(current_named(name));
      if (!currents.back().conserved) continue;
      c.work = 2;  // what is ahead of both
      const Action& action = plan.quarks[quark].action;
      if (quark != line.quark || action.slices() > 1 || !has_conserved_current(action))
        refuse(Refusal::Kind::contradicts, "currents",
               fmt::format(": {} belongs to one quark of an isotropic Wilson operator, with or without clover or "
                           "twisted mass; use V{}",
                           name, name.back()));
    }
    c.structures = currents_;
    c.propagators = {static_cast<int>(plan.nodes.size()), forward};
    c.ahead = quark;
    c.sequential = c.propagators[0];
    c.contract = [currents](std::span<const Propagator* const> s, const ContractionPlace& place) {
      return contract_currents(currents, *s[0], *s[1], place);
    };
    plan.nodes.push_back({c.name, quark, line.source, -1, line.sink, line.links, sequential});
  }

 protected:
  /// The two-point function at the sink, by which propagator it is derived, and how.
  virtual void complete_sink(SequentialSource& to) = 0;
  virtual void list_sink(Members::Adder& add) = 0;

 private:
  void list_kind(Members::Adder add) final {
    list_sink(add);
    add("separation", separation_, "of sink and source in time").required().range(0, plan.slices - 1);
    add("sink_momentum", Member::Integers{&sink_momentum_, 3}, "of the sink")
        .range(-most_momentum, most_momentum)
        .recent();
    add("quark", quark_, "between current and sink, if it is another").among(plan.names(plan.quarks)).recent();
    add("currents", currents_, "names of currents").required().count(1).among(current_names());
  }

  long long separation_ = 0;
  std::vector<long long> sink_momentum_;
  std::string quark_;
  std::vector<std::string> currents_;
};

/// Of a meson, with the current on the line of S1.
class MesonSinkTable final : public ThreePointTable {
 public:
  using ThreePointTable::ThreePointTable;

 private:
  void list_sink(Members::Adder& add) override {
    list_meson(add, quarks_);
    add("gamma", gamma_, "of the meson, or sink,source").required().parsed(gamma_pair_of);
  }
  void complete_sink(SequentialSource& to) override {
    to.inputs = nodes(quarks_);
    to.make = [gammas = gamma_pair_of(gamma_)](std::span<const Propagator* const> s, const SinkPlace& sink) {
      return sequential_source(*s[0], *s[1], gammas, sink);
    };
  }

  std::vector<std::string> quarks_;
  std::string gamma_;
};

/// Of a baryon, by its name and spin: `proton/up`.
class BaryonSinkTable final : public ThreePointTable {
 public:
  using ThreePointTable::ThreePointTable;

 private:
  void list_sink(Members::Adder& add) override {
    list_baryon(add, quarks_);
    add("interpolator", interpolator_, "a name with its spin: proton/up").required();
    add("line", line_, "the quark line that carries the current").required();
  }
  void complete_sink(SequentialSource& to) override {
    const std::string name = interpolator_.substr(0, interpolator_.find('/'));
    const BaryonLines lines = lines_of(quarks_, "interpolator", {name});
    to.inputs = lines.nodes;
    if (line_.size() != 1 || !quarks_.contains(line_))
      refuse(Refusal::Kind::word, "line",
             fmt::format("'{}'; use one of the quarks: {}", printable(line_), fmt::join(lines.letters, ", ")));
    to.line = lines.letters.find(line_);
    std::vector<std::string> known;
    for (const Baryon& b : baryons_of(name, lines.letters)) {
      known.push_back(b.label());
      if (known.back() == interpolator_)
        to.make = [b, at = static_cast<int>(to.line)](std::span<const Propagator* const> s, const SinkPlace& sink) {
          return sequential_source(s, b, at, sink);
        };
    }
    if (!to.make)
      refuse(Refusal::Kind::word, "interpolator",
             fmt::format("'{}' is unknown; use {}", printable(interpolator_), fmt::join(known, ", ")));
  }

  Member::Texts quarks_;
  std::string interpolator_, line_;
};

std::unique_ptr<CorrelatorTable> three_point_table(MeasurePlan& plan, TableReader& reader) {
  reader.text("name");  // that of the sequential propagator
  if (reader.word("of", {"meson", "baryon"}) == "meson") return std::make_unique<MesonSinkTable>(plan);
  return std::make_unique<BaryonSinkTable>(plan);
}

}  // namespace

extern constinit const MeasuredCorrelator three_point = {.name = "three-point", .table = three_point_table};

}  // namespace quarksmith::runs::measured_correlators
