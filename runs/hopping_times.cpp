#include "runs/hopping_times.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

/// The hopping term without epilogue that bench and scaling time.
std::string kernel_name(const std::string& precision, const std::string& links) {
  return fmt::format("wilson_{}_r{}_nr_n1", precision, links);
}

double half_of(const Coordinates& extent) {
  double sites = 0.5;
  for (const int n : extent) sites *= n;
  return sites;
}

}  // namespace

void HoppingTimes::add(const std::string& precision, int rhs, double half_sites, double seconds,
                       const std::string& file) {
  if (!(seconds > launch_) || !(half_sites > 0))
    throw UsageError(
        fmt::format("{}: {:.3g} us for {} sites, but a launch alone takes {:.3g} us; give a smaller "
                    "--launch",
                    file, 1e6 * seconds, 2 * half_sites, 1e6 * launch_));
  site_[{precision, rhs}][half_sites] = (seconds - launch_) / half_sites;
}

void HoppingTimes::read(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("--measured {}: the file cannot be read", file.string()));
  const std::string name = file.string();
  try {
    const nlohmann::json j = nlohmann::json::parse(in);
    const Coordinates lattice = j.at("lattice").get<Coordinates>();
    if (device_.empty()) device_ = j.at("device").get<std::string>();
    if (j.contains("kernels")) {  // of bench
      for (const nlohmann::json& k : j.at("kernels")) {
        const std::string precision = k.at("precision"), kernel = k.at("name");
        if (kernel == kernel_name(precision, links_))
          add(precision, k.at("rhs"), half_of(lattice), 1e-6 * k.at("microseconds").get<double>(), name);
      }
      return;
    }
    if (j.at("links") != links_ || j.value("operator", "wilson") != "wilson") return;
    const Coordinates grid = j.at("grid").get<Coordinates>();
    const double parts = grid[0] * grid[1] * grid[2] * grid[3];
    for (const nlohmann::json& row : j.at("rows")) {
      const std::string precision = row.at("precision"), policy = row.at("policy");
      const double seconds = 1e-6 * row.at("microseconds").get<double>();
      if (policy == "alone")
        add(precision, row.at("rhs"), half_of(lattice) / parts, seconds, name);
      else
        shared_.push_back({precision, policy, row.at("rhs"), lattice, grid, seconds});
    }
  } catch (const nlohmann::json::exception& e) {
    throw UsageError(
        fmt::format("--measured {}: not what `quarksmith bench --json` or `quarksmith scaling --json` "
                    "writes: {}",
                    name, printable(e.what())));
  }
}

std::vector<std::string> HoppingTimes::precisions() const {
  std::vector<std::string> found;
  for (const PrecisionInfo& p : quarksmith::precisions())
    for (const auto& [key, times] : site_)
      if (key.first == p.name && (found.empty() || found.back() != p.name)) found.push_back(key.first);
  return found;
}

double HoppingTimes::seconds(const std::string& precision, int rhs, double half_sites) const {
  const auto found = site_.find({precision, rhs});
  if (found == site_.end()) {
    std::string known;
    for (const auto& [key, times] : site_)
      known += fmt::format("{}{} with {} right-hand side(s)", known.empty() ? "" : ", ", key.first, key.second);
    throw UsageError(fmt::format(
        "precision {}, {} right-hand side(s), {} reals a link: nothing was measured ({}); measure it with `quarksmith "
        "scaling --precision {} --reconstruct {} --batch {} --json FILE` on one device and give --measured FILE",
        precision, rhs, links_, known.empty() ? "no times at all" : "only " + known, precision, links_, rhs));
  }
  const auto& site = found->second;
  const auto above = site.lower_bound(half_sites);
  if (above == site.begin()) return launch_ + half_sites * above->second;
  const auto below = std::prev(above);
  double tau = below->second;
  if (above != site.end())
    tau += (above->second - tau) * std::log(half_sites / below->first) / std::log(above->first / below->first);
  return launch_ + half_sites * tau;
}

}  // namespace quarksmith::runs
