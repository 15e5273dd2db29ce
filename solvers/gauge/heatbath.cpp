#include "solvers/gauge/heatbath.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr double most_beta = 1e6;
constexpr std::uint64_t most_overrelax = 1000, most_sweeps = std::uint64_t(1) << 40;

}  // namespace

HeatbathRun::HeatbathRun(const HostGauge& start, DomainPointer domain, const HeatbathState& state)
    : state_(state), links_(upload(start, domain, find_precision("double"), full_storage(start.colours()))) {
  if (!(state.beta > 0 && state.beta <= most_beta))
    throw UsageError(fmt::format("beta = {}; use a positive number up to {}", state.beta, most_beta));
  if (state.overrelax < 0) throw UsageError(fmt::format("{} over-relaxation passes; use 0 or more", state.overrelax));
  const auto kernel = [&](std::string_view name) {
    return &find(domain->device().kernels(),
                 {.operation = name, .precision = "double", .links = links_.storage().name});
  };
  heatbath_ = kernel("heatbath");
  overrelax_ = kernel("overrelax");
  padded_ = domain->padded({{1, 1, 1, 1}, true}, int(sizeof(double)), "heatbath", false);
  if (padded_ == nullptr) return;
  Arguments all;
  padded_->restrict(all);  // to blocks 2 n + parity
  for (int n = 0; n < all.list_count; ++n) blocks_[all.list[n] % 2].push_back(all.list[n] / 2);
}

void HeatbathRun::pass(const Kernel& kernel, LinkField& links, std::uint64_t number) {
  for (int mu = 0; mu < directions; ++mu)
    for (int parity = 0; parity < 2; ++parity) {
      Arguments a = arguments_for(links.domain(), links.lanes());
      a.parity = parity;
      a.direction = mu;
      a.links = links.operand();
      a.a.re = state_.beta;
      a.random = {state_.seed, 8 * number + 2 * mu + parity};
      if (padded_ != nullptr) a.in = padded_->site_numbers();
      if (const std::vector<int>& blocks = blocks_[parity]; !blocks.empty()) {
        a.list = blocks.data();
        a.list_count = static_cast<int>(blocks.size());
      }
      links.domain().device().run(kernel, a);
      if (padded_ != nullptr) padded_->exchange(stored_sites(links));
    }
}

void HeatbathRun::sweep() {
  if (padded_ != nullptr) links_.read_in(*padded_, true);
  LinkField& links = padded_ != nullptr ? links_.write_in(*padded_, true) : links_;
  pass(*heatbath_, links, state_.sweeps);
  for (int i = 0; i < state_.overrelax; ++i) pass(*overrelax_, links, state_.sweeps);
  if (padded_ != nullptr)
    links_.written_in(*padded_);
  else
    links_.changed();
  ++state_.sweeps;
}

std::string state_text(const HeatbathState& s) {
  return nlohmann::ordered_json{
      {"beta", s.beta}, {"seed", s.seed}, {"overrelax", s.overrelax}, {"sweeps", s.sweeps}, {"start", s.start}}
      .dump();
}

HeatbathState state_of(const std::string& text, const std::string& file) {
  const auto damaged = [&](const std::string& why) {
    return Error(fmt::format("{}: its record {} is damaged: {}", file, heatbath_record, why));
  };
  try {
    const auto j = nlohmann::json::parse(text);
    // Numbers of another kind or size would be cut to fit.
    const auto count = [&](const char* key, std::uint64_t most) {
      const auto& value = j.at(key);
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
        throw damaged(fmt::format("{} is no number up to {}", key, most));
      return value.get<std::uint64_t>();
    };
    const double beta = j.at("beta");
    if (!(beta > 0 && beta <= most_beta)) throw damaged(fmt::format("beta is no positive number up to {}", most_beta));
    return {beta, count("seed", ~std::uint64_t(0)), static_cast<int>(count("overrelax", most_overrelax)),
            count("sweeps", most_sweeps), printable(j.at("start"))};
  } catch (const nlohmann::json::exception& e) {
    throw damaged(printable(e.what()));
  }
}

HostGauge start_gauge(const std::string& start, const Lattice& lattice, std::uint64_t seed, int colours) {
  if (start == "cold") return unit_gauge(lattice, colours);
  if (start == "hot") return hot_gauge(lattice, seed, colours);
  if (start.starts_with("weak:")) {
    const std::optional<double> epsilon = as_number(start.substr(5));
    if (epsilon && *epsilon >= 0 && *epsilon <= 100) return weak_gauge(lattice, *epsilon, seed, colours);
  }
  std::vector<std::string> kinds;
  for (const auto& [kind, number] : starts) kinds.emplace_back(kind);
  const std::string meant = suggestion(start.substr(0, start.find(':')), kinds);
  throw UsageError(fmt::format("start '{}' is unknown; {}use cold, hot or weak:EPS, EPS from 0 to 100", start, meant));
}

}  // namespace quarksmith
