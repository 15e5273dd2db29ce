#include "runs/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <vector>

#include "runtime/clock.hpp"

namespace quarksmith::runs {
namespace {

namespace fs = std::filesystem;

std::optional<double> read_number(const fs::path& file) {
  std::ifstream in(file);
  double number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// Zones of Linux powercap: microjoules of each processor package and, where they are counted apart, its memory.
class RaplMeter final : public EnergyMeter {
 public:
  RaplMeter(const fs::path& folder, std::string& why) {
    std::error_code none;
    bool unreadable = false;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      std::string name;
      std::ifstream(entry.path() / "name") >> name;
      if (!entry.path().filename().string().starts_with("intel-rapl:") ||
          !(name.starts_with("package") || name == "dram"))
        continue;
      const auto now = read_number(entry.path() / "energy_uj"),
                 range = read_number(entry.path() / "max_energy_range_uj");
      if (now && range) {
        zones_.push_back({entry.path() / "energy_uj", *now, *range});
      } else {
        unreadable = true;
      }
    }
    if (!zones_.empty() && !unreadable) return;
    zones_.clear();
    why = unreadable ? fmt::format("{}/intel-rapl:*/energy_uj cannot be read; ask for the permission", folder.string())
                     : fmt::format("{} has no intel-rapl zones; this machine does not report energy", folder.string());
  }
  bool ready() const { return !zones_.empty(); }
  double joules() override {
    for (Zone& zone : zones_) {
      const double now = read_number(zone.file).value_or(NAN);
      double step = now - zone.last;
      if (step < 0) step += zone.range;  // the counter began again
      total_ += 1e-6 * step;
      zone.last = now;
    }
    return total_;
  }
  std::string description() const override {
    return fmt::format("{} RAPL zone(s): processor packages and memory, all that runs on them", zones_.size());
  }

 private:
  struct Zone {
    fs::path file;
    double last, range;
  };
  std::vector<Zone> zones_;
  double total_ = 0;
};

}  // namespace

std::unique_ptr<EnergyMeter> open_energy_meter(const Device& device, const fs::path& powercap, std::string& why) {
  if (!device.pci_address().empty()) return device.energy_meter(why);
  auto meter = std::make_unique<RaplMeter>(powercap, why);
  return meter->ready() ? std::move(meter) : nullptr;
}

Energy energy_of(EnergyMeter& meter, Device& device, const std::function<void(int)>& work, double seconds) {
  const int each = std::clamp(static_cast<int>(0.005 / seconds), 1, 1 << 20);
  int call = 0;
  // Runs until the counter has moved, for `least` seconds more at any rate; returns where it stands then.
  const auto run_to_tick = [&](double least) {
    const double begin = now();
    double before = meter.joules(), last = before;
    do {
      before = last;
      for (int n = 0; n < each; ++n) work(call++);
      device.synchronize();
      last = meter.joules();
    } while ((last == before || now() - begin < least) && now() - begin < least + 2);
    return last == before ? NAN : last;
  };
  const double first = run_to_tick(0);
  if (std::isnan(first)) return {NAN, NAN};
  const int calls = call;
  const double begin = now(), drawn = run_to_tick(0.5) - first;
  return {drawn / (call - calls), drawn / (now() - begin)};
}

}  // namespace quarksmith::runs
